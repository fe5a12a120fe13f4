package overview

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/okf"
)

// The most entries of a kind that the text names; the rest is counted.
const textEntries = 12

// maxEntry is the most one entry of the text may be, in bytes.
const maxEntry = 400

// Markdown is the context as text: the five headings in their order, one line an
// entry, so that no text of an agent or a file begins a line of its own. The
// same context makes the same bytes.
func (c Context) Markdown() string {
	var p page
	p.addHeading("lease")
	p.addLease(c.Lease)
	p.addHeading("decisions")
	for _, d := range c.Decisions {
		p.addEntry("%s (%s%s): %s", d.ID, d.Confidence, leadIn(", due ", d.Due), d.Decision.Decision)
	}
	p.addHeading("artifacts")
	for _, a := range c.Artifacts {
		p.addEntry("%s %s, %s%s%s", a.ID, a.Status, a.State, leadIn(" on ", a.Branch), a.turnsText()+leadIn(": ", a.Title))
	}
	p.addHeading("progress")
	p.addProgress(c.Progress)
	p.addHeading("signals")
	p.addSignals(c.Signals)
	return p.close()
}

// page writes headings with entries.
type page struct {
	strings.Builder
	entries, left int
}

// addHeading ends the part before and begins one.
func (p *page) addHeading(name string) {
	if p.Len() > 0 {
		p.endSection()
		p.WriteByte('\n')
	}
	p.entries, p.left = 0, 0
	fmt.Fprintf(p, "## %s\n\n", name)
}

// endSection says what a part left out, or that it has nothing.
func (p *page) endSection() {
	switch {
	case p.left > 0:
		fmt.Fprintf(p, "- and %d more\n", p.left)
	case p.entries == 0:
		p.WriteString("- none\n")
	}
}

func (p *page) close() string {
	p.endSection()
	return p.String()
}

// addEntry writes one line while the part has room.
func (p *page) addEntry(format string, args ...any) {
	if p.entries >= textEntries {
		p.left++
		return
	}
	p.addLine(format, args...)
}

// addLine writes one line, room or not.
func (p *page) addLine(format string, args ...any) {
	p.entries++
	p.WriteString("- " + okf.Clip(okf.OneLine(fmt.Sprintf(format, args...)), maxEntry) + "\n")
}

func (a ArtifactStatus) turnsText() string {
	switch a.Turns {
	case -1:
		return ""
	case 1:
		return ", 1 drained task old"
	}
	return fmt.Sprintf(", %d drained tasks old", a.Turns)
}

func (p *page) addLease(l LeaseContext) {
	switch {
	case l.ID == "" && !l.Required:
		p.addLine("leases are off")
		return
	case l.ID == "":
		p.addLine("none%s%s", leadIn(": ", l.Verdict.Text), leadIn("; ", l.Verdict.Way))
		return
	}
	p.addLine("%s %s, stance %s: %s", l.ID, l.State, l.Stance, l.validityText())
	if l.Required {
		p.addLine("the stance %s", gate.StanceCost(l.Stance, l.HeldBack))
	}
	for _, s := range [][2]string{
		{"frame", l.Frame}, {"success", strings.Join(l.Success, "; ")}, {"not", strings.Join(l.NonGoals, "; ")},
		{"milestone", strings.Join(l.Milestone, ", ")}, {"kinds", strings.Join(l.Kinds, ", ")}, {"paths", strings.Join(l.Paths, ", ")},
	} {
		if s[1] != "" {
			p.addLine("%s: %s", s[0], s[1])
		}
	}
}

// validityText returns what is left of a lease, or why it is not valid.
func (l LeaseContext) validityText() string {
	v := l.Verdict
	if !v.Valid {
		return "not valid [" + v.Code + "]" + leadIn(", ", v.Text) + leadIn("; ", v.Way)
	}
	parts := []string{"valid"}
	if l.ExpiresAt != nil {
		parts = append(parts, "until "+l.ExpiresAt.UTC().Format(time.RFC3339))
	}
	if l.MaxTasks > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d tasks left", v.Tasks, l.MaxTasks))
	}
	if l.Budget > 0 {
		parts = append(parts, fmt.Sprintf("$%s of $%s left", budget.MicroUSD(v.Budget), budget.MicroUSD(l.Budget)))
	}
	return strings.Join(parts, ", ")
}

func (p *page) addProgress(v ProgressView) {
	if v.Silent > 0 {
		p.addLine("tasks that ran since one last reached review or done: %d", v.Silent)
	}
	for _, group := range []struct {
		name  string
		tasks []TaskLine
	}{{"running", v.Running}, {"next", v.Next}, {"blocked", v.Blocked}, {"done", v.Done}} {
		for _, t := range firstOf(group.tasks, textEntries/2) {
			p.addLine("%s: %s%s%s", group.name, t.ID, leadIn(" (", t.Note)+strings.Repeat(")", min(len(t.Note), 1)), leadIn(": ", t.Title))
		}
		if n := len(group.tasks) - textEntries/2; n > 0 {
			p.addLine("%s: and %d more", group.name, n)
		}
	}
}

func (p *page) addSignals(s Signals) {
	if s.Paused != "" {
		p.addLine("paused: %s", s.Paused)
	}
	if s.Task != "" {
		p.addLine("%s is %s%s", s.Task, s.State, leadIn("; ", s.Waits))
	}
	for _, b := range s.Before {
		p.addEntry("%s %s", s.Task, b)
	}
	for _, l := range firstOf(s.Lessons, textEntries/2) {
		p.addLine("lesson: %s", l)
	}
	for _, o := range s.Proposals {
		p.addEntry("%s %s, %s proposes the %s gate: %s", o.ID, o.Severity, o.Source, o.Gate, o.Reason)
	}
}

// leadIn is s behind what introduces it, "" for an empty s.
func leadIn(intro, s string) string {
	if s == "" {
		return ""
	}
	return intro + s
}

func firstOf[T any](list []T, n int) []T { return list[:min(len(list), n)] }
