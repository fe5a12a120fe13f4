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
	if who, ok := strings.CutPrefix(d.By, "human:"); !ok || checkText("by", who, maxKey) != nil {
		errs = append(errs, fmt.Errorf("by %q is not a person; want human:ADDRESS", d.By))
	}
	if !gateID().MatchString(d.Act) {
		errs = append(errs, fmt.Errorf("act %q is no gate row; want G-0001", d.Act))
	}
	return errors.Join(errs...)
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
