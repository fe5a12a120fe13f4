package handoff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
)

// Refusal is the error for an act or a merge that is refused, with every reason.
type Refusal struct {
	Code    string // "merge", "reversion" or "skip"
	Reasons []string
}

// Error returns one line a reason.
func (r Refusal) Error() string { return strings.Join(r.Reasons, "\n") }

// Refused returns the reason code.
func (r Refusal) Refused() string { return r.Code }

// refuse returns the Refusal of reasons, nil for none.
func refuse(code string, reasons []string) error {
	if len(reasons) == 0 {
		return nil
	}
	return Refusal{code, reasons}
}

// Act is a person's deviation from the five transitions: a reversion to an earlier mode, or
// the skip of a mode. It is only a journal entry; earlier handoffs stay valid.
type Act struct {
	Artifact string
	From, To contract.Mode // of a reversion
	Mode     contract.Mode // of a skip: the one left out
	Reason   string
	Risks    []string // of a skip: what is accepted
	Received []string // handoffs that stay valid, by path
	By, At   string   // human:ann@example.org, RFC 3339
}

// Told is an act as a journal entry of type D.
type Told struct {
	Title, Content                         string
	Rationale, Alternatives, Reversibility string // fields of a decision
}

// Reversion returns the journal entry of a reversion. Its content begins "REVERSION:
// execution → planning: " and the artifact. It is refused if it does not lead back, if its
// reason is not specific, or if the reason asks more than one question.
func (a Act) Reversion() (Told, error) {
	var no []string
	from, to := slices.Index(contract.ModeNames(), a.From), slices.Index(contract.ModeNames(), a.To)
	switch {
	case a.From == contract.Resolution && a.To == contract.Validation:
		no = append(no, "resolution → validation is re-validation, no reversion; hand over with odd agent handoff new")
	case from < 0 || to < 0 || to >= from:
		no = append(no, fmt.Sprintf("%s → %s leads to no earlier mode; the modes are %s", a.From, a.To, modeList()))
	}
	no = append(no, a.whyVague()...)
	if n := strings.Count(a.Reason, "?"); n > 1 {
		no = append(no, fmt.Sprintf("the reason asks %d questions; a reversion names one unknown and asks one", n))
	}
	if err := refuse("reversion", no); err != nil {
		return Told{}, err
	}
	kept := "nothing was handed over yet"
	if len(a.Received) > 0 {
		kept = "what was handed over stays valid: " + strings.Join(a.Received, ", ")
	}
	return Told{
		Title:         fmt.Sprintf("Reversion from %s to %s: %s", a.From, a.To, a.Artifact),
		Content:       fmt.Sprintf("REVERSION: %s → %s: %s, by %s at %s. It binds what is next: a %s in a fresh session.", a.From, a.To, a.Artifact, a.By, a.At, Worker(a.To)),
		Rationale:     a.Reason,
		Alternatives:  fmt.Sprintf("to go on in %s without it", a.From),
		Reversibility: kept,
	}, nil
}

// Skip returns the journal entry of a skip. Its content begins "SKIP: validation: " and the
// artifact. It is refused without a specific reason and without a named risk.
func (a Act) Skip() (Told, error) {
	var no []string
	if !slices.Contains(contract.ModeNames(), a.Mode) {
		no = append(no, fmt.Sprintf("%q is no mode; the modes are %s", a.Mode, modeList()))
	}
	no = append(no, a.whyVague()...)
	if !slices.ContainsFunc(a.Risks, func(s string) bool { return !contract.Riskless(s) }) {
		no = append(no, "no risk is accepted; name what the artifact goes without")
	}
	if err := refuse("skip", no); err != nil {
		return Told{}, err
	}
	return Told{
		Title:         fmt.Sprintf("Skip of %s: %s", a.Mode, a.Artifact),
		Content:       fmt.Sprintf("SKIP: %s: %s, by %s at %s. It binds the project to the risks that are accepted: %s", a.Mode, a.Artifact, a.By, a.At, addStop(strings.Join(a.Risks, "; "))),
		Rationale:     a.Reason,
		Alternatives:  fmt.Sprintf("a %s in a fresh session", Worker(a.Mode)),
		Reversibility: fmt.Sprintf("%s can still be entered later", a.Mode),
	}, nil
}

func (a Act) whyVague() []string {
	if why := contract.Vague(a.Reason); why != "" {
		return []string{"the reason " + why + "; say what happened or what is not known"}
	}
	return nil
}

// addStop adds a full stop unless s ends a sentence already.
func addStop(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") {
		return s
	}
	return s + "."
}

func modeList() string {
	var out []string
	for _, m := range contract.ModeNames() {
		out = append(out, string(m))
	}
	return strings.Join(out, ", ")
}
