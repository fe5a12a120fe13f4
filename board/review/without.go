package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// LeftOut is an atom of a proposal that a person does not take. A line of the trailer
// Odd-Without names it: "ID", or "ID REASON".
type LeftOut struct {
	ID     okf.ID `json:"id"`
	Reason string `json:"reason,omitempty"`
}

func (l LeftOut) String() string { return strings.TrimSpace(string(l.ID) + " " + l.Reason) }

// Without returns p without the atoms in left, and their paths. has maps ids to the paths of
// p's atoms. It refuses an id that is no atom of p, and to leave out everything.
func (p Proposal) Without(left []LeftOut, has map[okf.ID]Path) (rest Proposal, out []Path, err error) {
	for _, l := range left {
		w, ok := has[l.ID]
		switch {
		case !ok:
			return p, nil, refuse("state", "approve %s: --without %s is not an atom of the proposal; its atoms are %s", p.Task, l.ID, atomNames(has))
		case slices.Contains(out, w):
			return p, nil, refuse("state", "approve %s: --without names %s twice; name it once", p.Task, l.ID)
		}
		out = append(out, w)
	}
	rest = p
	rest.Paths = slices.DeleteFunc(slices.Clone(p.Paths), func(w Path) bool { return slices.Contains(out, w) })
	if len(out) > 0 && len(rest.Paths) == 0 {
		return p, nil, refuse("state", "approve %s: --without leaves nothing to approve; odd reject %[1]s --reason \"why\" turns all of it down", p.Task)
	}
	return rest, out, nil
}

func atomNames(has map[okf.ID]Path) string {
	var ids []string
	for id := range has {
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	return cmp.Or(strings.Join(ids, ", "), "none")
}

// NamedIn reads lines of the trailer Odd-Without. An id may contain spaces, so the longest
// id that begins a line counts. ok is false if a line names none.
func NamedIn(lines []string, ids map[okf.ID]Path) (left []LeftOut, ok bool) {
	for _, line := range lines {
		l := LeftOut{}
		for id := range ids {
			if len(id) > len(l.ID) && (line == string(id) || strings.HasPrefix(line, string(id)+" ")) {
				l = LeftOut{id, strings.TrimSpace(line[len(id):])}
			}
		}
		if l.ID == "" {
			return nil, false
		}
		left = append(left, l)
	}
	return left, true
}

// Decline returns a task's file with what h did not take among its declines.
func Decline(file []byte, t board.Task, left []board.Decline, h Human, now time.Time) ([]byte, error) {
	if len(left) == 0 {
		return file, nil
	}
	s := newStamp(h, now)
	var all []map[string]string
	for _, d := range t.Declined {
		all = append(all, declineKeys(d))
	}
	for _, d := range left {
		d.By, d.At = s.By, s.At
		all = append(all, declineKeys(d))
	}
	return okf.Edit(file, okf.Set{Key: "declined", Value: all})
}

func declineKeys(d board.Decline) map[string]string {
	m := map[string]string{"id": string(d.ID), "text": d.Text, "by": d.By, "at": d.At}
	if d.Reason != "" {
		m["reason"] = d.Reason
	}
	return m
}

// PreferencePath returns the file, below the bundle, of the preference that keeps a reason: it
// is named after the reason's first sentence. "" means that the sentence has fewer than two
// words: no one word tells a session what to do, and index.md and log.md are no atoms.
func PreferencePath(reason string) string {
	id := board.TitleID(firstSentence(reason))
	if !strings.Contains(id, "-") {
		return ""
	}
	return "policies/" + id + ".md"
}

// firstSentence ends at the first full stop that has three words before it: "e.g." ends none.
func firstSentence(s string) string {
	for i := 0; ; {
		n := strings.Index(s[i:], ". ")
		if n < 0 {
			return strings.TrimRight(s, ".")
		}
		if i += n; len(strings.Fields(s[:i])) >= 3 {
			return s[:i]
		}
		i += 2
	}
}

// Preference returns the policy that keeps the reason h gave for rejecting t. Its title is the
// reason's first sentence, and h vouches for it.
func Preference(t board.Task, reason string, h Human, now time.Time) (okf.Atom, error) {
	if h == (Human{}) {
		return okf.Atom{}, refuse("not-a-person", "reject %s: no person confirmed it", t.ID)
	}
	return okf.New(PreferencePath(reason), []okf.Field{
		{Key: "type", Value: "policy"}, {Key: "title", Value: firstSentence(reason)},
		{Key: "tags", Value: []any{board.PreferenceTag}}, {Key: "confidence", Value: okf.Verified.String()}, {Key: "verified", Value: []okf.Stamp{newStamp(h, now)}},
	}, fmt.Sprintf("%s\n\nSaid on %s, when the proposal of [%s](../%s) was rejected.\n", reason, now.UTC().Format(time.DateOnly), t.ID, t.Path))
}
