package surface

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Kinds lists the kinds a say may have under the contract: its mode's, where
// canon names them, or all. Two more are a kind where canon names them not, so
// that they can be counted or refused by name: a question anywhere, and what
// closes an exploration early.
func Kinds(c contract.Contract) []string {
	for _, row := range contract.Modes() {
		if row.Mode == c.Mode && row.Emits != nil {
			more := []string{"question"}
			if c.Mode == contract.Exploration {
				more = []string{"decision", "recommendation"}
			}
			return append(row.Emits, more...)
		}
	}
	return deliver.Kinds()
}

func unknownKind(l look) (out []contract.Refusal) {
	kinds, markers := Kinds(l.c), deliver.Markers()
	for i, s := range l.o.Says {
		if !slices.Contains(kinds, s.Kind) {
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("says[%d] has kind %q%s", i, s.Kind, inMode(l.c)),
				Way:     "use one of " + strings.Join(kinds, ", "),
			})
		}
		if s.Marker != "" && !slices.Contains(markers, s.Marker) {
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("says[%d] has marker %q", i, s.Marker),
				Way:     "use one of " + strings.Join(markers, ", "),
			})
		}
	}
	return out
}

// inMode is " in MODE", "" where there is none.
func inMode(c contract.Contract) string {
	if c.Mode == "" {
		return ""
	}
	return " in " + string(c.Mode)
}

func clarifyingQuestion(l look) (out []contract.Refusal) {
	if l.c.Engagement == contract.Assistant {
		return nil
	}
	for i, s := range l.o.Says {
		asks := s.Kind == "question" && l.c.Mode != contract.Exploration
		if asks || s.Marker == "yielding" {
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("says[%d] waits for an answer%s, and nobody is there to give one", i, inMode(l.c)),
				Way:     "name the one unknown as a reversion, or end with handoff_insufficient",
			})
		}
	}
	return out
}

func unnamedReversion(l look) (out []contract.Refusal) {
	for i, s := range l.o.Says {
		if s.Kind == "reversion" && deliver.Blank(s.Text) {
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("says[%d] reverts and names no cause", i),
				Way:     "name the one unknown in one sentence",
			})
		}
	}
	return out
}

// isComplete reports whether the output has to hold what the contract asks for: a
// turn that goes on does not.
func (l look) isComplete() bool { return l.c.Engagement != contract.Assistant || l.turn == "done" }

func noDeliverable(l look) []contract.Refusal {
	rule, want := l.c.Surface, l.c.Deliverable
	prose := rule.Narrative && want == deliver.SchemaCommentary && len(l.o.Says) > 0
	if l.o.Deliverable != nil || !l.isComplete() || !rule.Structured && (want == "" || prose) {
		return nil
	}
	if want == "" {
		want = "a deliverable, one of " + strings.Join(deliver.Schemas(), ", ")
	}
	return []contract.Refusal{{Message: "nothing was handed over", Way: "hand over " + want}}
}

func wrongDeliverable(l look) []contract.Refusal {
	d, want := l.o.Deliverable, l.c.Deliverable
	if d == nil || want == "" || d.Schema == want {
		return nil
	}
	return []contract.Refusal{{Message: fmt.Sprintf("%s was handed over, want %s", d.Schema, want), Way: "hand over " + want}}
}

func incompleteDeliverable(l look) []contract.Refusal {
	d := l.o.Deliverable
	if d == nil || !l.isComplete() {
		return nil
	}
	missing := d.Missing()
	if len(missing) == 0 {
		return nil
	}
	list := strings.Join(missing, ", ")
	return []contract.Refusal{{Message: d.Schema + " is incomplete: " + list, Way: "say " + list}}
}

// boundFindings returns what the contract's handoffs bound a resolver by.
func (l look) boundFindings() map[string]deliver.Disposition {
	found := map[string]deliver.Disposition{}
	for _, h := range l.c.Handoffs {
		maps.Copy(found, h.Findings)
	}
	return found
}

func (l look) listRemedies() []deliver.Remedy {
	if d := l.o.Deliverable; d != nil && d.Remediation != nil {
		return d.Remediation.Remedies
	}
	return nil
}

func outsideFindings(l look) (out []contract.Refusal) {
	known := l.boundFindings()
	for i, r := range l.listRemedies() {
		if _, ok := known[r.Finding]; !ok && r.Finding != "" {
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("remedies[%d] is for %q, which the handoff does not name", i, r.Finding),
				Way:     "remedy one of " + joinIDs(known) + "; what is new goes back by a reversion",
			})
		}
	}
	return out
}

// joinIDs returns the ids of findings in order, "none" for none.
func joinIDs(findings map[string]deliver.Disposition) string {
	if len(findings) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(findings)), ", ")
}

func unansweredFinding(l look) (out []contract.Refusal) {
	d := l.o.Deliverable
	if d == nil || d.Remediation == nil || !l.isComplete() {
		return nil
	}
	open := l.boundFindings()
	for _, r := range l.listRemedies() {
		delete(open, r.Finding)
	}
	for _, id := range slices.Sorted(maps.Keys(open)) {
		out = append(out, contract.Refusal{
			Message: fmt.Sprintf("finding %s has no remedy", id),
			Way:     "say what was changed for it, or why nothing was",
		})
	}
	return out
}

func againstDisposition(l look) (out []contract.Refusal) {
	known := l.boundFindings()
	for i, r := range l.listRemedies() {
		reason := !deliver.Blank(r.Why)
		switch disposition := known[r.Finding]; {
		case disposition == deliver.Accept && len(r.Changed) > 0:
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("remedies[%d] changes something for %s, which was accepted", i, r.Finding),
				Way:     "leave it, and say why",
			})
		case (disposition == deliver.Accept || disposition == deliver.Pivot) && !reason:
			out = append(out, contract.Refusal{
				Message: fmt.Sprintf("remedies[%d] gives no reason for %s, which is to %s", i, r.Finding, disposition),
				Way:     "say why",
			})
		}
	}
	return out
}

func tooManyEmissions(l look) []contract.Refusal {
	n, limit := l.o.countEmissions(), l.c.Surface.MaxEmissions
	if limit <= 0 || n <= limit {
		return nil
	}
	return []contract.Refusal{{
		Message: fmt.Sprintf("%d emissions, the surface %s takes %d", n, l.c.Surface.Name, limit),
		Way:     "say less, and what matters most first",
	}}
}
