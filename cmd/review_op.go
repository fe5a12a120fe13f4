package cmd

import (
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

// addLines adds its lines to the card of its proposal, at most so many of one kind.
func (j *changeCard) addLines(b *card) {
	if j == nil {
		return
	}
	const most, more = 12, "; odd review --json lists all"
	if j.Landed == "" {
		b.line("change", "%s, can be approved until %s", j.Op, j.Until)
		b.line("risk tier", "%s%s", j.Tier, tierAsks(j.Tier))
	} else {
		b.line("change", "%s", j.Op)
		b.line("risk tier", "%s%s", j.Tier, tierAsks(j.Tier))
		b.line("merged", "without approval, as odd.toml allows, as %s", j.Landed)
	}
	if j.Held != "" {
		b.line("not merged", "because %s [%s]", pipeline.ExplainHeld(pipeline.Held(j.Held)), j.Held)
	}
	b.line("odd fixed", "%s", j.Mended)
	b.list("because", decidingReasons(j.Because, j.Tier), most, more)
	b.list("reasoning", breakLines(j.Rationale), most, more)
	var findings, checks []string
	for _, f := range j.Findings {
		word := "warning: "
		if f.Severity == policy.Hard {
			word = "error: "
		}
		findings = append(findings, word+f.Error())
	}
	for _, c := range j.Checks {
		checks = append(checks, string(c.Phase)+": "+c.Says)
		if c.Output != "" {
			checks = append(checks, strings.Split(strings.TrimSpace(c.Output), "\n")...)
		}
	}
	b.list("finding", findings, most, more)
	b.list("checks", checks, most, more)
	switch {
	case j.Lost:
		b.line("reasoning", "its reasons and checks are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'")
	case len(checks) == 0:
		b.line("checks", "nothing was checked: no test or check ran; set [pipeline] validate in odd.toml to run your tests")
	}
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
