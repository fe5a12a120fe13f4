package anchor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// readTensions reads every line of the section that was meant as one.
func (s *payloadSection) readTensions() (all []Tension, unread int) {
	seen := map[int]int{}
	for _, e := range s.entries {
		if len(all)+unread == maxTensions {
			s.fail(Problem{Code: TenCount, At: "TENSIONS", Line: e.Line, Text: fmt.Sprintf("more than %d tensions; the rest is not read", maxTensions), Want: "the tensions that matter"})
			break
		}
		t, meant, ok := s.readTension(e, len(all)+unread+1)
		if meant && !ok {
			unread++
		}
		if !ok {
			continue
		}
		if at := seen[t.N]; t.N > 0 && at > 0 {
			s.fail(Problem{Code: TenDup, At: tensionAt(t.N, 0), Line: e.Line, Text: fmt.Sprintf("L%d stands a second time; it is on line %d already", t.N, at), Want: "each ordinal once"})
		}
		seen[t.N] = e.Line
		all = append(all, t)
	}
	return all, unread
}

// readTension reads one entry. An entry that looks like a tension and is none is a
// problem; any other text is ignored.
func (s *payloadSection) readTension(e *octave.Entry, place int) (t Tension, meant, ok bool) {
	text, meant := s.tensionText(e)
	if !meant {
		return Tension{}, false, false
	}
	t, bad := scanTension(text)
	t.Line = e.Line
	if bad != nil {
		bad.At, bad.Line = tensionAt(t.N, place), t.Line
		bad.Text = fmt.Sprintf("line %d looks like a tension but %s", t.Line, bad.Text)
		s.fail(*bad)
	}
	return t, true, bad == nil
}

// tensionText returns the text of an entry that was meant as a tension, its ordinal in front.
func (s *payloadSection) tensionText(e *octave.Entry) (text string, meant bool) {
	label := tensionOrdinal().FindString(e.Key + "::")
	switch e.Kind {
	case octave.Pair, octave.Item:
		if text = e.Value.Text; e.Value.Kind == octave.List {
			text = e.Value.Raw
		}
		if label != "" && tensionOrdinal().MatchString(text) {
			label = ""
		}
		mine := label != "" || e.Key == "" || keySections()[strings.ToUpper(e.Key)] == "" && looksLikeTension(text)
		return label + text, mine
	case octave.Loose:
		return strings.Trim(e.Text, `"`), looksLikeTension(e.Text)
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
