package handoff

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/persona/contract"
)

// Shortfall records that the receiver of a handoff could not work from it. This is neither
// a disagreement nor a finding. Nothing is handed on, and the work waits for a person to
// choose one of the ways.
type Shortfall struct {
	Type     string        `json:"type"` // handoff_insufficient
	Handoff  string        `json:"handoff"`
	Path     string        `json:"path"`
	Blob     string        `json:"blob"` // as the receiver read it
	From     contract.Mode `json:"from"`
	To       contract.Mode `json:"to"`
	Artifact string        `json:"artifact,omitempty"`
	Missing  []string      `json:"missing"` // what it should have held, as the receiver says
	Ways     []Way         `json:"proposed_resolution"`
}

// Way is one way out, and the command for it. The person fills in the words in capitals.
type Way struct {
	Name    string `json:"name"` // fresh-upstream, clarification or operator-override
	Says    string `json:"says"`
	Command string `json:"command"`
}

// Insufficient makes the record for a handoff that its receiver could not work from. The
// minimum content that Read found missing comes first, then what the receiver says.
func Insufficient(h Handoff, missing []string) Shortfall {
	all := append([]string{}, h.Missing...)
	all = append(all, missing...)
	up, down := Worker(h.From), Worker(h.To)
	about := ""
	if h.Artifact != "" {
		about = " --artifact " + quoteShell(h.Artifact)
	}
	fresh := fmt.Sprintf("odd agent run --contract-role %s%s%s", up, about, taskFlag(up))
	for _, d := range h.Derives {
		fresh += " --handoff " + quoteShell(d)
	}
	return Shortfall{
		Type: "handoff_insufficient", Handoff: h.ID, Path: h.Path, Blob: h.Blob, From: h.From, To: h.To, Artifact: h.Artifact, Missing: all,
		Ways: []Way{
			{"fresh-upstream", fmt.Sprintf("a fresh %s session makes a better handoff", up), fresh},
			{"clarification", "the author of the handoff adds what is missing to it", clarifyCommand(h)},
			{"operator-override", "an operator declares that the work goes on without it", fmt.Sprintf("odd agent run --contract-role %s%s%s --handoff %s --override %s,%s --reason REASON --risk RISK",
				down, about, taskFlag(down), quoteShell(h.ID), h.From, h.To)},
		},
	}
}

// taskFlag returns the flag that a role which changes files needs.
func taskFlag(r contract.Role) string {
	if r == contract.Builder || r == contract.Resolver {
		return " --task TASK"
	}
	return ""
}

// clarifyCommand returns the author's command: one more sentence or, for lists of objects,
// another handoff that derives from this one.
func clarifyCommand(h Handoff) string {
	if h.Deliverable.Findings == nil && h.Deliverable.Remediation == nil {
		return fmt.Sprintf("odd agent handoff clarify %s KEY SENTENCE", quoteShell(h.ID))
	}
	return fmt.Sprintf("odd agent handoff new --from %s --to %s --derives %s --from-json FILE", h.From, h.To, quoteShell(h.ID))
}

// Entry returns the journal entry, of type H. Its content begins "INSUFFICIENT: planning →
// execution" and names the handoff's path and blob, so that FellShort finds it.
func (s Shortfall) Entry(file string) (title, content string) {
	title = fmt.Sprintf("Handoff insufficient: %s to %s", s.From, s.To)
	ways := make([]string, len(s.Ways))
	for i, w := range s.Ways {
		ways[i] = fmt.Sprintf("%s (%s)", w.Says, w.Command)
	}
	return title, fmt.Sprintf("INSUFFICIENT: %s → %s: %s (%s) cannot be worked from. Missing: %s. Blocked by a decision of a person, who owns it; the ways out are: %s.",
		s.From, s.To, file, s.Blob, strings.Join(s.Missing, "; "), strings.Join(ways, ", or "))
}

// Short is the journal entry of a handoff that could not be worked from.
type Short struct {
	From, To   contract.Mode
	File, Blob string
}

var short = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)\tINSUFFICIENT: (\w+) → (\w+): ([^\t\n]+?) \(([0-9a-f]{40,64})\) cannot be worked from\. `)
})

// FellShort returns those entries of a journal, in order.
func FellShort(journal []byte) (out []Short) {
	for _, m := range short().FindAllSubmatch(journal, -1) {
		out = append(out, Short{contract.Mode(m[1]), contract.Mode(m[2]), string(m[3]), string(m[4])})
	}
	return out
}

// quoteShell quotes s as one word of a command line.
func quoteShell(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@+=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
