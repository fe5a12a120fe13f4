package review

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

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
