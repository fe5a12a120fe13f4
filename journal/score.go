package journal

import (
	"fmt"
	"strings"
)

// Verdict is the result for one criterion.
type Verdict struct {
	Name   string `json:"name"`
	Met    bool   `json:"met"`
	Scored bool   `json:"scored"`           // false if odd cannot decide the criterion, which then does not count
	Reason string `json:"reason,omitempty"` // why it was missed, or is not scored
}

// Quality is how many of its type's criteria an entry meets.
type Quality struct {
	Score    int       `json:"score"`
	Max      int       `json:"max"` // 0 if the type has no criteria that odd can decide
	Level    string    `json:"level,omitempty"`
	Status   string    `json:"status"` // recorded, or draft for what is weak or insufficient
	Criteria []Verdict `json:"criteria"`
}

// Score counts the criteria of e's type that e meets, one point each. It reads only the entry, so that anybody can
// compute the score again. A criterion that odd cannot decide is listed and not counted.
func (r Registry) Score(e Entry) Quality {
	t, _ := r.find(e.Type, e.Facet)
	q := Quality{Status: "recorded", Criteria: []Verdict{}}
	for _, c := range t.Criteria {
		v := Verdict{Name: c.Name}
		if c.rule == nil {
			v.Reason = fmt.Sprintf("not mechanical, not scored: %s", c.Check)
		} else {
			v.Scored = true
			v.Reason = c.rule.whyMissed(e)
			v.Met = v.Reason == ""
			q.Max++
		}
		if v.Met {
			q.Score++
		} else if c.Gap != "" && v.Scored {
			v.Reason += "; " + c.Gap
		}
		q.Criteria = append(q.Criteria, v)
	}
	if q.Max == 0 {
		return q
	}
	q.Level = levelOf(q.Score, q.Max)
	if q.Level == "weak" || q.Level == "insufficient" {
		q.Status = "draft"
	}
	return q
}

// Mark writes q into the entry's columns; they are empty for a type without criteria.
func (e *Entry) Mark(q Quality) {
	e.Score, e.Max, e.Level = "", "", ""
	if q.Max > 0 {
		e.Score, e.Max, e.Level = fmt.Sprint(q.Score), fmt.Sprint(q.Max), q.Level
	}
}

// String returns the score on one line: "3 of 5, adequate, recorded".
func (q Quality) String() string {
	if q.Max == 0 {
		return "not scored, " + q.Status
	}
	return fmt.Sprintf("%d of %d, %s, %s", q.Score, q.Max, q.Level, q.Status)
}

// levelOf names a score out of max by the formula of canon: strong for all of it, adequate from three fifths, weak from
// two fifths, insufficient below.
func levelOf(score, max int) string {
	switch {
	case score >= max:
		return "strong"
	case 5*score >= 3*max:
		return "adequate"
	case 5*score >= 2*max:
		return "weak"
	}
	return "insufficient"
}

// splitWords returns the words of a text; the two characters \n count as a space.
func splitWords(s string) []string { return strings.Fields(strings.ReplaceAll(s, `\n`, " ")) }
