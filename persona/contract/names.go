package contract

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// DetectionOnly is a role of earlier contracts. Resolve reads it as validator on the
// surface audit (the default) and as observer on any other.
const DetectionOnly Role = "detection-only"

// Unknown is the error for a name that is not in a closed list. Near has the names that may
// have been meant, best first; All is the list.
type Unknown struct {
	What, Name string
	Near, All  []string
}

// Error names the thing and the way out.
func (u *Unknown) Error() string { return fmt.Sprintf("unknown %s %q; %s", u.What, u.Name, u.Way()) }

// Way returns the way out: the nearest names, or all of them.
func (u *Unknown) Way() string {
	switch {
	case len(u.Near) > 0:
		return "did you mean " + joinOr(mapSlice(u.Near, strconv.Quote)) + "?"
	case len(u.All) > 0:
		return "want one of " + strings.Join(u.All, ", ")
	}
	return "there is none"
}

// Refused returns the reason code: unknown-role, unknown-surface and so on.
func (u *Unknown) Refused() string { return "unknown-" + foldName(u.What) }

// RoleNames lists the roles.
func RoleNames() []Role { return mapSlice(Roles(), func(r RoleRow) Role { return r.Role }) }

// SurfaceNames lists the surfaces.
func SurfaceNames() []Surface {
	return mapSlice(surfaceRows(), func(r SurfaceRow) Surface { return r.Name })
}

// EngagementNames lists the engagements.
func EngagementNames() []Engagement { return []Engagement{Assistant, Agent} }

// VoiceNames lists the voices.
func VoiceNames() []Voice { return []Voice{VoicePersona, VoiceNeutral, VoiceStrict} }

// ModeNames lists the modes in the order of work.
func ModeNames() []Mode { return mapSlice(Modes(), func(r ModeRow) Mode { return r.Mode }) }

// parseMode reads a mode regardless of case, "_", "-" and spaces. The error is an *Unknown.
func parseMode(s string) (Mode, error) { return parseName("mode", s, ModeNames()) }

// ParseRole reads a role; DetectionOnly is one of them.
func ParseRole(s string) (Role, error) {
	return parseName("role", s, append(RoleNames(), DetectionOnly))
}

// ParseSurface reads a surface: real_time_stream is real-time-stream.
func ParseSurface(s string) (Surface, error) { return parseName("surface", s, SurfaceNames()) }

// parseEngagement reads an engagement.
func parseEngagement(s string) (Engagement, error) {
	return parseName("engagement", s, EngagementNames())
}

// parseVoice reads a voice.
func parseVoice(s string) (Voice, error) { return parseName("voice", s, VoiceNames()) }

// Named returns the element of all that s names in any spelling. The error suggests the
// nearest ones, or lists all.
func Named[T ~string](s string, all []T) (T, error) {
	v, err := parseName("name", s, all)
	if u := new(Unknown); errors.As(err, &u) {
		return "", fmt.Errorf("%q is not known; %s", s, u.Way())
	}
	return v, err
}

func mapSlice[T, N any](rows []T, name func(T) N) []N {
	out := make([]N, len(rows))
	for i, r := range rows {
		out[i] = name(r)
	}
	return out
}

func parseName[T ~string](what, s string, known []T) (T, error) {
	for _, k := range known {
		if squashName(string(k)) == squashName(s) {
			return k, nil
		}
	}
	all := mapSlice(known, func(k T) string { return string(k) })
	return "", &Unknown{What: what, Name: s, Near: nearestNames(s, all), All: all}
}

// squashName returns a name in the form in which closed lists compare it.
func squashName(s string) string { return strings.ReplaceAll(foldName(s), "-", "") }

// foldName returns a name in lower case with "-" for "_" and spaces.
func foldName(s string) string {
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// nearestNames lists up to three of known that name may mean: within the distance of a
// misspelling, or one begins with the other.
func nearestNames(name string, known []string) []string {
	want := foldName(name)
	type match struct {
		name string
		away int
	}
	var found []match
	for _, k := range known {
		have := foldName(k)
		away := okf.Distance(want, have)
		if len(want) >= 3 && (strings.HasPrefix(have, want) || strings.HasPrefix(want, have)) {
			away = min(away, 1)
		}
		if away < okf.Far && away < len(have) {
			found = append(found, match{k, away})
		}
	}
	slices.SortFunc(found, func(a, b match) int { return cmp.Or(cmp.Compare(a.away, b.away), cmp.Compare(a.name, b.name)) })
	var out []string
	for _, m := range found[:min(3, len(found))] {
		out = append(out, m.name)
	}
	return out
}

// joinOr formats "a", "a or b", "a, b or c".
func joinOr(list []string) string {
	last := len(list) - 1
	if last < 1 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}
