package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

// Finding is one thing in history that an invariant forbids.
type Finding struct {
	Invariant int       `json:"invariant"`
	Commit    repo.OID  `json:"commit"`
	Path      string    `json:"path"` // in the repository
	Line      int       `json:"line"` // 1-based
	Message   string    `json:"message"`
	Way       string    `json:"fix"`            // out of it
	Also      []Finding `json:"also,omitempty"` // findings with the same cause, folded into this one
	Cause     string    `json:"-"`              // same for all findings of one mistake, "" for none
}

// String returns "path:line: message; way [invariant N, commit]".
func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s [invariant %d, %s]", f.Path, f.Line, f.Text(), f.Invariant, ShortID(string(f.Commit)))
}

// What returns what is wrong, and where else the same mistake shows.
func (f Finding) What() string { return f.Message + f.formatAlso() }

// Text returns What and the way out.
func (f Finding) Text() string {
	if f.Way == "" {
		return f.What()
	}
	return f.What() + "; " + f.Way
}

// ShortID shortens the id of an object for people.
func ShortID(oid string) string { return oid[:min(10, len(oid))] }

// Fold keeps one finding of those with the same cause: in the earliest commit, the one of the lowest invariant. It
// lists the others in Also, so one mistake is one finding and nothing is hidden.
func Fold(all []Finding) []Finding {
	first := map[string]int{}       // by cause, the index in all
	alike := map[string][]Finding{} // by cause
	for i, f := range all {
		if f.Cause == "" {
			continue
		}
		alike[f.Cause] = append(alike[f.Cause], f)
		at, in := first[f.Cause]
		if !in || f.Commit == all[at].Commit && f.Invariant < all[at].Invariant {
			first[f.Cause] = i
		}
	}
	out := []Finding{}
	for i, f := range all {
		if f.Cause != "" && first[f.Cause] != i {
			continue
		}
		for _, o := range alike[f.Cause] {
			if o.formatPlace() != f.formatPlace() || o.Message != f.Message {
				f.Also = append(f.Also, o)
			}
		}
		out = append(out, f)
	}
	return out
}

// formatPlace returns "path:line [invariant N, commit]".
func (f Finding) formatPlace() string {
	return fmt.Sprintf("%s:%d [invariant %d, %s]", f.Path, f.Line, f.Invariant, ShortID(string(f.Commit)))
}

// fewPlaces is how many places the text of a finding names. JSON has all.
const fewPlaces = 3

// formatAlso names the places of the findings in Also.
func (f Finding) formatAlso() string {
	var places []string
	for _, o := range f.Also {
		if p := o.formatPlace(); !slices.Contains(places, p) && p != f.formatPlace() {
			places = append(places, p)
		}
	}
	switch n := len(places); {
	case n == 0:
		return ""
	case n <= fewPlaces:
		return fmt.Sprintf(" (the same cause: %s)", strings.Join(places, ", "))
	default:
		return fmt.Sprintf(" (the same cause: %s, and %d more)", strings.Join(places[:fewPlaces], ", "), n-fewPlaces)
	}
}

// Key is how the row that acknowledges a finding names it: COMMIT:INVARIANT:PATH.
func (f Finding) Key() string { return fmt.Sprintf("%s:%d:%s", f.Commit, f.Invariant, f.Path) }
