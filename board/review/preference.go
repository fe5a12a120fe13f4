package review

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
)

// PreferencePath returns the file, below the bundle, of the preference that keeps a reason: it
// is named after the reason's first sentence. "" means that the sentence has no letter or digit.
func PreferencePath(reason string) string {
	if id := board.TitleID(firstSentence(reason)); id != "" {
		return "policies/" + id + ".md"
	}
	return ""
}

func firstSentence(s string) string {
	s, _, _ = strings.Cut(s, ". ")
	return strings.TrimRight(s, ".")
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
