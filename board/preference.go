package board

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// PreferenceTag is the tag of a policy that every session is told, whatever its task.
const PreferenceTag = "preference"

// Preferences returns the preferences in force. Every session is told them, so a person must
// have verified each; unverified are those that nobody has.
func Preferences(g *okf.Graph) (verified, unverified []*okf.Atom) {
	for _, a := range g.OfType(func(typ string) bool { return strings.EqualFold(typ, "policy") }) {
		switch {
		case !slices.Contains(a.Tags, PreferenceTag) || strings.EqualFold(a.Status, "deprecated") || strings.EqualFold(a.Status, "draft"):
		case a.Tier() == okf.HumanReviewed:
			verified = append(verified, a)
		default:
			unverified = append(unverified, a)
		}
	}
	return verified, unverified
}

// CheckPreferences warns about preferences that no session is told.
func CheckPreferences(g *okf.Graph) (out []okf.Problem) {
	_, unverified := Preferences(g)
	for _, a := range unverified {
		out = append(out, okf.Problem{Code: "odd-preference-unverified", Severity: okf.Warn, Path: a.Path, Line: a.Line("tags"),
			Message: "no session is told this preference, because no person has verified it",
			Hint:    "add the lines confidence: verified and verified: [{by: \"human:ADDRESS\", at: DATE}]"})
	}
	return out
}

var forbids = regexp.MustCompile(`(?i)^[-*]?\s*(never|do not|don't) (touch|change|edit|modify|write|delete)\b`)

// ForbiddenPaths returns what the lines of a text such as "never touch docs/api" forbid to
// change: the files of the board that they name, and the folders as DIR/**. The folder of odd's
// own files is never among them.
func ForbiddenPaths(text string, files fs.FS, root string) (out []string) {
	for line := range strings.Lines(text) {
		if !forbids.MatchString(line) {
			continue
		}
		for _, word := range strings.Fields(line) {
			name := strings.TrimPrefix(strings.TrimRight(strings.TrimLeft(word, "\"'`("), ".,;:!?\"'`)"), "./")
			isPath := strings.ContainsAny(name, "/.")
			name = strings.TrimSuffix(name, "/")
			info, err := fs.Stat(files, name)
			if !isPath || err != nil || root == name || strings.HasPrefix(root, name+"/") {
				continue // a word that is also a folder's name, or the folder of odd's own files
			}
			if info.IsDir() {
				name += "/**"
			}
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
