package board

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Decline records that a person does not want one atom, for the source text it came from.
// They left it out of an approval or rejected its proposal, which its task records. Or they
// deleted the atom, which git history records. Deleting the line from the task's file, or
// reverting the commit, lifts the decline.
type Decline struct {
	ID             okf.ID
	Text           string // okf.Grounds of the atom
	By, At, Reason string
}

// Endorsement is a person's approval of a proposal that more people must approve. The
// proposal stays in review until they have.
type Endorsement struct{ By, At, Proposal string }

// Endorsers returns the addresses of those who endorsed the proposal that t waits with.
func (t Task) Endorsers() (out []string) {
	for _, e := range t.Endorsed {
		if e.Proposal == t.Result.Commit && e.Proposal != "" {
			out = append(out, strings.TrimPrefix(e.By, "human:"))
		}
	}
	return out
}

// String says who declined it, when and why.
func (d Decline) String() string {
	day, _, _ := strings.Cut(d.At, "T")
	s := fmt.Sprintf("declined by %s on %s", d.By, day)
	if d.Reason != "" {
		s += ": " + d.Reason
	}
	return s
}

// Declines returns what people declined, newest first. It leaves out
// declines of the task with the id again: whoever makes that task ready asks for its atoms once
// more.
func Declines(tasks []Task, again okf.ID) (out []Decline) {
	for _, t := range tasks {
		if t.ID != again {
			out = append(out, t.Declined...)
		}
	}
	slices.SortStableFunc(out, func(a, b Decline) int { return strings.Compare(b.At, a.At) })
	return out
}

// DeclinedBefore returns a function that describes the newest decline of an atom with its
// grounds, "" for none. declines are newest first.
func DeclinedBefore(declines []Decline) func(id okf.ID, grounds string) string {
	all := map[[2]string]Decline{}
	for _, d := range slices.Backward(declines) {
		all[[2]string{string(d.ID), d.Text}] = d
	}
	return func(id okf.ID, grounds string) string {
		if d, ok := all[[2]string{string(id), grounds}]; ok {
			return d.String()
		}
		return ""
	}
}

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
