package verify

import (
	"fmt"
	"slices"
	"strings"
)

// foldByCause keeps one finding of those with the same cause: in the earliest commit, the
// one of the lowest invariant. It lists the others in Also, so one mistake is one finding
// and nothing is hidden.
func foldByCause(all []Finding) []Finding {
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
	return fmt.Sprintf("%s:%d [invariant %d, %s]", f.Path, f.Line, f.Invariant, shortID(string(f.Commit)))
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
