package contract

import (
	"fmt"
	"strings"
)

// RoleNames lists the roles.
func RoleNames() []Role {
	return []Role{Explorer, Planner, Builder, Validator, Resolver, General, Observer}
}

// SurfaceNames lists the surfaces.
func SurfaceNames() []Surface {
	return []Surface{RealTimeStream, Audit, SidebarChat, Mentorship, StrategicTranslation, CodeOutput, SynthesisLedger, Conversational}
}

// EngagementNames lists the engagements.
func EngagementNames() []Engagement { return []Engagement{Assistant, Agent} }

// VoiceNames lists the voices.
func VoiceNames() []Voice { return []Voice{VoicePersona, VoiceNeutral, VoiceStrict} }

// ModeNames lists the modes, in the order work passes them.
func ModeNames() []Mode { return []Mode{Exploration, Planning, Execution, Validation, Resolution} }

// Named is the one of all that s names, however it is spelled: case, "_" and
// "-" do not count. The error says which was most likely meant, or which there are.
func Named[T ~string](s string, all []T) (T, error) {
	want := fold(s)
	best, least := "", max(2, len(want)/3)
	list := make([]string, len(all))
	for i, v := range all {
		if fold(string(v)) == want {
			return v, nil
		}
		list[i] = string(v)
		if d := edits(want, fold(string(v))); d <= least {
			best, least = string(v), d-1
		}
	}
	if best != "" {
		return "", fmt.Errorf("%q is not known; did you mean %q?", s, best)
	}
	return "", fmt.Errorf("%q is not known; want one of %s", s, strings.Join(list, ", "))
}

// fold is a name as names are compared.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}

// edits is the number of single-byte edits between two names (Levenshtein).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
