package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/reconcile/policy"
)

// changeCard is what a person is shown of the op that waits with a proposal.
type changeCard struct {
	Op        string             `json:"op"`
	Tier      string             `json:"tier"`
	Because   []string           `json:"because,omitempty"`
	Until     string             `json:"until,omitempty"`  // it expires
	Landed    string             `json:"landed,omitempty"` // by itself: where, and how it goes again
	Held      string             `json:"held,omitempty"`   // why it did not land by itself, a code
	Mended    string             `json:"mended,omitempty"` // what odd wrote otherwise in its names
	Rationale string             `json:"rationale,omitempty"`
	Findings  []policy.Finding   `json:"findings,omitempty"`
	Checks    []pipeline.Checked `json:"checks,omitempty"`
	Lost      bool               `json:"dossier_lost,omitempty"` // what the run kept is not in this clone
}

// readJudgement returns what t's op was judged on, which waits with the proposal or landed
// it; nil where the proposal holds atoms alone.
func (v *view) readJudgement(t board.Task, landed *pipeline.Op) (*changeCard, error) {
	s, ok, err := v.findWaiting(t)
	if err != nil || !ok && landed == nil {
		return nil, err
	}
	var o pipeline.Op
	j := &changeCard{}
	if ok {
		o = s.Op()
		j.Until, j.Held = formatTime(o.Until), o.Fact(pipeline.FactHeld)
	} else {
		o = *landed
		j.Landed = landedOn(o)
	}
	j.Op, j.Tier, j.Mended = o.ID, o.Fact(pipeline.FactTier), o.Fact(pipeline.FactMended)
	b, ok := v.keptFile(o, "op.json")
	d, err := pipeline.ReadDossier(b)
	if !ok || err != nil || d.Op != o.ID {
		j.Lost = true
		return j, nil
	}
	j.Rationale, j.Because, j.Findings, j.Checks = d.Rationale, d.Because, d.Findings, d.Checks
	return j, nil
}

// addChecked adds what the checks said of it on what is there now.
func (j *changeCard) addChecked(c drain.Checked) {
	for _, line := range c.Ran {
		j.Checks = append(j.Checks, pipeline.Checked{Phase: "merged", Says: line, Passed: true})
	}
}

// most is how many lines of one kind the card shows.
const most = 12

// cardLines returns its lines of the card.
func (j *changeCard) cardLines() (out [][2]string) {
	if j == nil {
		return nil
	}
	list := func(key string, all []string) {
		for i, text := range all[:min(most, len(all))] {
			out = append(out, [2]string{[]string{key, ""}[min(i, 1)], text})
		}
		if n := len(all) - most; n > 0 {
			out = append(out, [2]string{"", fmt.Sprintf("… and %d more; odd review --json lists all", n)})
		}
	}
	out = [][2]string{{"change", j.Op + ", can be approved until " + j.Until}, {"risk tier", j.Tier + tierAsks(j.Tier)}}
	if j.Landed != "" {
		out = [][2]string{{"change", j.Op}, {"risk tier", j.Tier + tierAsks(j.Tier)}, {"merged", "without approval, as odd.toml allows, as " + j.Landed}}
	}
	if j.Held != "" {
		out = append(out, [2]string{"not merged", "because " + pipeline.ExplainHeld(pipeline.Held(j.Held)) + " [" + j.Held + "]"})
	}
	if j.Mended != "" {
		out = append(out, [2]string{"odd fixed", j.Mended})
	}
	list("because", decidingReasons(j.Because, j.Tier))
	list("reasoning", breakLines(j.Rationale))
	var findings, checks []string
	for _, f := range j.Findings {
		findings = append(findings, severityWord(f)+f.Error())
	}
	for _, c := range j.Checks {
		checks = append(checks, string(c.Phase)+": "+c.Says)
		if c.Output != "" {
			checks = append(checks, strings.Split(strings.TrimSpace(c.Output), "\n")...)
		}
	}
	list("finding", findings)
	list("checks", checks)
	switch {
	case j.Lost:
		out = append(out, [2]string{"reasoning", "its reasons and checks are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'"})
	case len(checks) == 0:
		out = append(out, [2]string{"checks", "nothing was checked: no test or check ran; set [pipeline] validate in odd.toml to run your tests"})
	}
	return out
}

// tierAsks says what a risk tier asks of a person.
func tierAsks(tier string) string {
	switch pipeline.Tier(tier) {
	case pipeline.SafeAuto:
		return ": no rule asks for a person"
	case pipeline.NotifyApply:
		return ": a person must see it before it is merged"
	case pipeline.ApprovalRequired:
		return ": a person must approve it"
	}
	return ""
}

// decidingReasons returns the reasons that made the tier, in words; JSON lists all, as codes.
func decidingReasons(because []string, tier string) (out []string) {
	rules := pipeline.RiskRules()
	for _, line := range because {
		code, rest, _ := strings.Cut(line, " (")
		of, met, _ := strings.Cut(rest, ")")
		switch i := slices.IndexFunc(rules, func(r pipeline.Ruling) bool { return r.Code == code }); {
		case i < 0:
			out = append(out, line)
		case of == tier || len(because) == 1:
			out = append(out, rules[i].Meaning+met+" ["+code+"]")
		}
	}
	return out
}

// severityWord returns how a finding's line begins.
func severityWord(f policy.Finding) string {
	if f.Severity == policy.Hard {
		return "error: "
	}
	return "warning: "
}

// breakLines returns a text in lines of a readable length.
func breakLines(s string) (out []string) {
	line := ""
	for _, w := range strings.Fields(s) {
		if len(line)+len(w) > 96 && line != "" {
			out, line = append(out, line), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
