//go:build bench

package bench

import (
	"fmt"
	"slices"
	"strings"
)

// beside shows odd and its peers at the same jobs.
func (p *page) beside() {
	p.say("## Beside others")
	p.say("The same items for all: bodies of 650 bytes, every fifth waits for the one before it, one word in every 500th. Whole commands, the least of up to five, in ms. Stores whose format is files were written as files, others filled by their import. A cell is empty where a tool has no such command.")
	var names []string
	for _, x := range tools() {
		if p.peers.Words["version: "+x.name] != "" {
			names = append(names, x.name)
		}
	}
	for _, n := range p.peers.measured("odd: show") {
		p.say("### %s items", number(float64(n)))
		p.peerTable(names, n)
	}
	p.peerNotes(names)
	p.atOnce(names)
}

func (p *page) peerTable(names []string, n int) {
	head := []string{"job"}
	for _, name := range names {
		if name != "odd" {
			name += " " + p.peers.Words["version: "+name]
		}
		head = append(head, name)
	}
	var rows [][]string
	var bars []bar
	for _, j := range append(slices.Clone(peerJobs), "create, with a commit") {
		row := []string{j}
		for i, name := range names {
			row = append(row, p.peerCell(name, j, n))
			if ms, ok := p.peers.ms(name+": "+j, n); ok {
				bars = append(bars, bar{j, name, ms, i})
			}
		}
		rows = append(rows, append(row, p.ahead(names, j, n)))
	}
	p.table(append(head, "odd beside the others"), rows)
	p.picture(fmt.Sprintf("peers-%d", n), barPlot{fmt.Sprintf("The same jobs on %s items", number(float64(n))), "ms, logarithmic", bars}, "odd and its peers at the same jobs")
}

func (p *page) peerCell(name, j string, n int) string {
	if p.peers.find(name+": "+j, n) != nil {
		return p.peers.cell(name+": "+j, n)
	}
	if p.peers.Words[fmt.Sprintf("%s: %s, %d", name, j, n)] != "" {
		return "failed"
	}
	return ""
}

// ahead says that odd is the fastest and by how much, or which tools are
// faster, by how much and why.
func (p *page) ahead(names []string, j string, n int) string {
	ours, ok := p.peers.ms("odd: "+j, n)
	next, nextName, faster := 0.0, "", []string(nil)
	for _, name := range names {
		ms, has := p.peers.ms(name+": "+j, n)
		if !has || name == "odd" {
			continue
		}
		if next == 0 || ms < next {
			next, nextName = ms, name
		}
		if ms < ours {
			faster = append(faster, fmt.Sprintf("**%s is %.1f × as fast**: %s", name, ours/ms, behind[name]))
		}
	}
	switch {
	case !ok || next == 0:
		return ""
	case faster == nil:
		return fmt.Sprintf("the fastest, %.1f × as fast as %s", next/ours, nextName)
	}
	return strings.Join(faster, "; ")
}

// behind says what a tool that is faster at a job does less.
var behind = map[string]string{
	"ripgrep":     "a floor, it prints lines as it meets them; odd ranks atoms and shows what each is",
	"git grep":    "a floor, it prints lines as it meets them; odd ranks atoms and shows what each is",
	"taskwarrior": "it keeps one file in a format of its own, out of git; odd asks every file for hand edits, and two people's changes merge",
}

// peerNotes lists what was not measured, and why.
func (p *page) peerNotes(names []string) {
	var notes []string
	for key, why := range p.peers.Words {
		if name, ok := strings.CutPrefix(key, "missing: "); ok {
			notes = append(notes, fmt.Sprintf("* %s was not measured. %s", name, why))
		} else if !strings.HasPrefix(key, "version: ") {
			notes = append(notes, fmt.Sprintf("* %s items: %s", key, why))
		}
	}
	slices.Sort(notes)
	p.say("%s", strings.Join(append(notes, "* Task Master has no search and lists no ready tasks, only the next one, which is what is timed; OpenSpec's items are changes, it keeps no order among them."), "\n"))
}

// atOnce shows what eight processes at once leave behind.
func (p *page) atOnce(names []string) {
	var rows [][]string
	for _, name := range names {
		if f := p.peers.find("at once: stored of 40, "+name, 0); f != nil {
			claims := "no such command"
			if c := p.peers.find("at once: claimed, "+name, 0); c != nil {
				claims = fmt.Sprintf("%.0f claimed, %.0f of them twice", c.Value, p.peers.find("at once: doubled, "+name, 0).Value)
			}
			rows = append(rows, []string{name, fmt.Sprintf("%.0f of 40", f.Value), number(p.peers.find("at once: ms, "+name, 0).Value), claims})
		}
	}
	p.say("### Eight at once")
	p.say("Five rounds of eight creates started together, and three of eight claims.")
	p.table([]string{"tool", "stored", "ms, all five", "claims"}, rows)
}
