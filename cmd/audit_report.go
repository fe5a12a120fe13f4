package cmd

import (
	"fmt"
	"slices"

	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/audit"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// auditReport is what an audit came to. Its verdict and its counts are computed
// from the findings; a session that did not come to any has failed the change.
type auditReport struct {
	Range    string           `json:"range"`
	Base     string           `json:"base,omitempty"` // where the change begins
	Head     string           `json:"head,omitempty"`
	Persona  string           `json:"persona,omitempty"`
	Run      string           `json:"run,omitempty"`
	Claims   string           `json:"claims,omitempty"` // where they are from
	Files    int              `json:"files"`
	Records  int              `json:"records_left_out"` // files of odd's own records, which are not audited
	Cut      int              `json:"cut"`              // bytes of the change that the session was not shown
	Outcome  string           `json:"outcome,omitempty"`
	Failure  string           `json:"failure,omitempty"`
	Verdict  deliver.Verdict  `json:"verdict,omitempty"`
	Summary  *deliver.Summary `json:"summary,omitempty"`
	Findings []audit.Judged   `json:"findings"`
	Touched  []string         `json:"judged_by_base,omitempty"` // what of the rules the change alters
	Hints    []contract.Hint  `json:"hints,omitempty"`
	Handoff  string           `json:"handoff,omitempty"`

	near string // a file of the change that is there at its end
}

// newReport compares what the session said with the change.
func (a *auditRun) newReport(o auditOptions, said drain.Spoken) auditReport {
	r := auditReport{
		Range: o.spec, Base: string(a.from), Head: string(a.to), Run: a.run, Claims: a.claims.Path, Files: len(a.change.Files), Records: a.change.Records, Cut: a.cut,
		Outcome: said.Outcome, Touched: a.rules.Touched(a.change, a.contract), Hints: said.Hints, Handoff: said.Handoff, Findings: []audit.Judged{},
	}
	for _, f := range a.change.Files {
		if f.Blob != "" && r.near == "" {
			r.near = f.Path
		}
	}
	if p := a.contract.Persona; p != nil {
		r.Persona = p.Ref()
	}
	d := said.Deliverable
	if said.Outcome != string(session.Completed) || d == nil || d.Findings == nil {
		r.Verdict, r.Failure = deliver.Fail, or(said.Reason, "the session came to no findings and did not say that there are none")
		return r
	}
	s := deliver.Summarize(d.Findings.Findings)
	r.Summary, r.Verdict = &s, s.Verdict
	if r.Cut > 0 && r.Verdict == deliver.Pass {
		r.Verdict = deliver.NeedsHumanReview
	}
	r.Findings = audit.Locate(d.Findings.Findings, a.change, a.head)
	return r
}

func printAudit(env Env, o auditOptions, r auditReport) error {
	if err := printFound(env, o.format, r, audit.Codes(), r.locateFindings()); err != nil || r.Verdict == "" {
		return err
	}
	for _, t := range r.Touched {
		talk(env, "judged by the version before the change: %s", t)
	}
	for _, h := range r.Hints {
		talk(env, "hint, %s: %s", h.Detector, h.Message)
	}
	sum := "not judged"
	if r.Summary != nil {
		sum = r.Summary.String()
	}
	talk(env, "%s, %s, claims from %s: %s: %s, %s", r.Range, countNoun(r.Files, "file"), r.Claims, or(r.Persona, "a validator"), r.Verdict, sum)
	return nil
}

// locateFindings gives the findings the shape of a report.
func (r auditReport) locateFindings() []reportFinding {
	var out []reportFinding
	if r.Failure != "" {
		out = append(out, reportFinding{rule: "audit-failed", severity: okf.Error, near: r.near, place: r.Range, text: r.Failure})
	}
	if r.Cut > 0 {
		out = append(out, reportFinding{rule: "audit-unseen", severity: okf.Warn, near: r.near, place: r.Range,
			text: fmt.Sprintf("the session was not shown %d bytes of the change; split it, or look at them", r.Cut)})
	}
	rules := audit.Codes()
	for _, f := range r.Findings {
		l := reportFinding{rule: "audit-" + string(f.Classification), severity: okf.Warn, near: r.near, place: f.Location, text: describeFinding(f)}
		if i := slices.IndexFunc(rules, func(r okf.Code) bool { return r.Name == l.rule }); i >= 0 {
			l.severity = rules[i].Severity
		}
		if f.Disposition == deliver.Accept && l.severity == okf.Error {
			l.severity = okf.Warn
		}
		if f.Found {
			l.file, l.line = f.Path, f.Line
		}
		out = append(out, l)
	}
	return out
}

// describeFinding returns a finding in one line.
func describeFinding(f audit.Judged) string {
	text := fmt.Sprintf("%s: %s; seen: %s; disposition: %s", f.ID, f.Claim, f.Evidence, f.Disposition)
	if f.Suggestion != "" {
		text += "; suggested: " + f.Suggestion
	}
	if !f.Found {
		text += "; location not found: " + f.Location
	}
	return text
}
