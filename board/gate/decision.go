package gate

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

var taskDone = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^task (\S+) done$`) })

// maxDecision is how many bytes a text of a decision may have.
const maxDecision = 2000

// ReadDecisions reads decisions.jsonl strictly. Ids rise by one from D-0001. A superseded
// decision stands above and was not superseded before. The error names the line.
func ReadDecisions(text []byte) ([]Decision, error) {
	var out []Decision
	err := eachLine(text, func(line []byte) error {
		var d Decision
		if err := decodeExact(line, &d); err != nil {
			return err
		}
		if want := fmt.Sprintf("D-%04d", len(out)+1); d.ID != want {
			return fmt.Errorf("id %q, want %s", d.ID, want)
		}
		err := d.checkDecision()
		if d.Supersedes != "" && !slices.ContainsFunc(InForce(out), func(old Decision) bool { return old.ID == d.Supersedes }) {
			err = errors.Join(err, fmt.Errorf("supersedes %q, which is no decision in force above it", d.Supersedes))
		}
		out = append(out, d)
		return err
	})
	return out, err
}

// checkDecision checks one decision without the others.
func (d Decision) checkDecision() error {
	errs := []error{checkMoment(d.TS), checkText("decision", d.Decision, maxDecision), checkText("tradeoffs", d.Tradeoffs, maxDecision),
		checkKnown("confidence", d.Confidence, []string{"low", "med", "high"})}
	if n := len(d.Rationale); n < 1 || n > 3 {
		errs = append(errs, fmt.Errorf("%d rationale; a decision has one to three", n))
	}
	for _, r := range d.Rationale {
		errs = append(errs, checkText("rationale", r, maxDecision))
	}
	for _, r := range d.Revisit {
		errs = append(errs, checkText("revisit trigger", r, maxDecision))
	}
	return errors.Join(append(errs, checkBy(d.By), checkAct(d.Act))...)
}

// InForce returns the decisions that no other supersedes, in their order.
func InForce(ds []Decision) []Decision {
	gone := map[string]bool{}
	for _, d := range ds {
		gone[d.Supersedes] = true
	}
	return slices.DeleteFunc(slices.Clone(ds), func(d Decision) bool { return gone[d.ID] })
}

// Due returns the first revisit trigger that has come: a date or time that is not after now,
// or "task ID done" for a task that is done. Other words never come by themselves. It
// returns "" for none.
func (d Decision) Due(now time.Time, done func(task string) bool) string {
	for _, r := range d.Revisit {
		if m := taskDone().FindStringSubmatch(r); m != nil {
			if done != nil && done(m[1]) {
				return r
			}
			continue
		}
		for _, layout := range []string{time.DateOnly, time.RFC3339} {
			if at, err := time.Parse(layout, r); err == nil && !now.Before(at) {
				return "since " + r
			}
		}
	}
	return ""
}

// Decision is one line of decisions.jsonl.
type Decision struct {
	ID         string    `json:"id"` // D-0001 …
	TS         time.Time `json:"ts"`
	Decision   string    `json:"decision"`
	Rationale  []string  `json:"rationale"` // 1 to 3
	Tradeoffs  string    `json:"tradeoffs"`
	Confidence string    `json:"confidence"`                 // low, med, high
	Revisit    []string  `json:"revisit_triggers,omitempty"` // a date, "task ID done", or words
	Supersedes string    `json:"supersedes,omitempty"`
	By         string    `json:"by"`
	Act        string    `json:"act"` // the gate row it was made at
}

// dateLike matches what is meant as a date, and must then be one.
var dateLike = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}$`) })

// sayDecision is the way out for a decision that says too little.
const sayDecision = "give --rationale, --tradeoffs and --confidence"

// appendDecision returns b with d as its last line. It fills in the id and checks d as
// ReadDecisions does. It also refuses a revisit trigger that looks like a date and is none,
// because that would never come.
func appendDecision(b []byte, d Decision) ([]byte, Decision, error) {
	before, err := ReadDecisions(b)
	if err != nil {
		return nil, Decision{}, err
	}
	d.ID, d.TS = fmt.Sprintf("D-%04d", len(before)+1), d.TS.UTC().Truncate(time.Second)
	for _, s := range d.Revisit {
		if _, err := time.Parse(time.DateOnly, s); dateLike().MatchString(s) && err != nil {
			return nil, Decision{}, fmt.Errorf("%s: revisit trigger %q is not a day; write it as 2026-07-01", d.ID, s)
		}
	}
	line, err := printLine(d)
	if err != nil {
		return nil, Decision{}, err
	}
	out := append(slices.Clone(b), line...)
	all, err := ReadDecisions(out)
	if err != nil { // the one just added, of which no reader knows a line yet
		return nil, Decision{}, errors.New(strings.ReplaceAll(strings.TrimPrefix(err.Error(), fmt.Sprintf("line %d: ", len(before)+1)), "\n", ", "))
	}
	return out, all[len(all)-1], nil
}

// mayDecide returns why a gate does not allow the decision, "" if it does. Framing decides
// only with the act that locks the frame; evaluation only supersedes.
func mayDecide(g Gate, act string, d Decision) string {
	switch {
	case !May(g, act, "decisions"):
		return fmt.Sprintf("the %s gate takes a decision only together with %s", g, strings.Join(decidingActs(g), " or "))
	case g == EvaluationGate && d.Supersedes == "":
		return "the evaluation gate only supersedes decisions; name the old one with --supersedes D-…, or decide after odd gate commitment"
	}
	return ""
}

func decidingActs(g Gate) []string {
	return slices.DeleteFunc(slices.Clone(acts[g]), func(act string) bool { return !May(g, act, "decisions") })
}

// Decide makes a decision under the gate passed last, without another act. It follows that
// gate's rules and names its row. The files are one commit with decisions.jsonl alone. The
// error is a Refusals.
func Decide(s Slow, made Decision, by string, now time.Time) (Outcome, error) {
	d := &pendingAct{Act: Act{By: by, Now: now.UTC().Truncate(time.Second)}, slow: s}
	if d.readMemory(); len(d.no) > 0 {
		return Outcome{}, d.no
	}
	last, ok := d.chain.End()
	if !ok {
		d.refuse("decision", "run odd gate framing first", "decide: no gate was ever passed")
		return Outcome{}, d.no
	}
	d.Gate = last.Gate
	d.checkPerson()
	made.By, made.TS, made.Act = by, d.Now, last.ID
	if why := mayDecide(last.Gate, last.Act, made); why != "" {
		d.refuse("decision", "", "decide: %s", why)
	}
	if last.Gate == Emergency {
		d.refuse("decision", "run odd gate framing first", "decide: an emergency takes its decision with it, and no other")
	}
	b, written, err := appendDecision(s.Decisions, made)
	if err != nil {
		d.refuse("decision", sayDecision, "decide: %v", err)
	}
	if len(d.no) > 0 {
		return Outcome{}, d.no
	}
	return Outcome{Files: map[string][]byte{DecisionsPath: b}, Row: last, Lease: d.before, Decision: written}, nil
}
