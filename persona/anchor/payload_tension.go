package anchor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// tensions reads every line of the section that was meant as one.
func (s *part) tensions() (all []Tension, unread int) {
	seen := map[int]int{}
	for _, e := range s.entries {
		if len(all)+unread == MaxTensions {
			s.fail(Problem{Code: TenCount, At: "TENSIONS", Line: s.at(e), Text: fmt.Sprintf("more than %d tensions; the rest is not read", MaxTensions), Want: "the tensions that matter"})
			break
		}
		t, meant, ok := s.tension(e, len(all)+unread+1)
		if meant && !ok {
			unread++
		}
		if !ok {
			continue
		}
		if at := seen[t.N]; t.N > 0 && at > 0 {
			s.fail(Problem{Code: TenDup, At: tensionAt(t.N, 0), Line: s.at(e), Text: fmt.Sprintf("L%d stands a second time; it is on line %d already", t.N, at), Want: "each ordinal once"})
		}
		seen[t.N] = s.at(e)
		all = append(all, t)
	}
	return all, unread
}

// tension reads one entry. What was meant as one and is not is told; anything
// else is talk.
func (s *part) tension(e *octave.Entry, place int) (t Tension, meant, ok bool) {
	text, meant := s.meantTension(e)
	if !meant {
		return Tension{}, false, false
	}
	t, bad := scanTension(text)
	t.Line = s.at(e)
	if bad != nil {
		bad.At, bad.Line = tensionAt(t.N, place), t.Line
		bad.Text = fmt.Sprintf("line %d looks like a tension but %s", t.Line, bad.Text)
		s.fail(*bad)
	}
	return t, true, bad == nil
}

// meantTension returns the text of an entry that was meant as a tension, its ordinal in front.
func (s *part) meantTension(e *octave.Entry) (text string, meant bool) {
	label := tensionOrdinal().FindString(e.Key + "::")
	switch e.Kind {
	case octave.Pair, octave.Item:
		if text = e.Value.Text; e.Value.Kind == octave.List {
			text = e.Value.Raw
		}
		if label != "" && tensionOrdinal().MatchString(text) {
			label = ""
		}
		mine := label != "" || e.Key == "" || homes()[strings.ToUpper(e.Key)] == "" && looksLike(text)
		return label + text, mine
	case octave.Loose:
		return strings.Trim(e.Text, `"`), looksLike(e.Text)
	}
	return "", false
}

// tensionAt names a tension: its ordinal, or its place among the others.
func tensionAt(n, index int) string {
	if n > 0 {
		return "TENSIONS.L" + strconv.Itoa(n)
	}
	return "TENSIONS[" + strconv.Itoa(index) + "]"
}
