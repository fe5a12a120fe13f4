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
		head = append(head, name+" "+p.peers.Words["version: "+name])
	}
	var rows [][]string
	var bars []bar
	for _, j := range append(slices.Clone(peerJobs), "create, with a commit") {
		row, best, bestName := []string{j}, 0.0, ""
		for i, name := range names {
			row = append(row, p.peerCell(name, j, n))
			if ms, ok := p.peers.ms(name+": "+j, n); ok {
				bars = append(bars, bar{j, name, ms, i})
				if name != "odd" && (best == 0 || ms < best) {
					best, bestName = ms, name
				}
			}
		}
		rows = append(rows, append(row, p.ahead(j, n, best, bestName)))
	}
	p.table(append(head, "odd beside the fastest other"), rows)
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

// ahead says by how much odd is ahead, or behind and why.
func (p *page) ahead(j string, n int, best float64, name string) string {
	ms, ok := p.peers.ms("odd: "+j, n)
	switch {
	case !ok || best == 0:
		return ""
	case ms <= best:
		return fmt.Sprintf("%.1f × faster than %s", best/ms, name)
	}
	return fmt.Sprintf("**%.1f × slower than %s**: %s", ms/best, name, behind[j+" "+name])
}

// behind says why odd is slower at a job than a tool.
var behind = map[string]string{
	"search ripgrep":         "it prints lines as it meets them; odd ranks atoms, and shows what each is",
	"search git grep":        "it prints lines as it meets them; odd ranks atoms, and shows what each is",
	"create taskwarrior":     "it appends a line to one file; odd checks the board and writes a file that git can merge",
	"show taskwarrior":       "one file of its own format, read at once; odd looks for hand edits of every file",
	"list all taskwarrior":   "one file of its own format, read at once; odd looks for hand edits of every file",
	"list ready taskwarrior": "one file of its own format, read at once; odd looks for hand edits of every file",
	"search taskwarrior":     "one file of its own format, read at once; odd looks for hand edits of every file",
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
