package drain

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
)

// mostRelated is how many atoms a brief has at most that were found by the words of its task.
const mostRelated = 5

// related returns, as a brief has them, the atoms found for a task that none of known has.
// A task that reads documents gets none: it is there to find atoms.
func (s *snapshot) related(t board.Task, known ...[]invoke.Ref) []invoke.Ref {
	if t.Kind == "extract" {
		return nil
	}
	refs, out := slices.Concat(known...), []invoke.Ref(nil)
	for _, a := range relatedAtoms(s.graph, t.Title, func(a *okf.Atom) bool {
		return slices.ContainsFunc(refs, func(r invoke.Ref) bool { return r.Path == s.file(a.Path) })
	}) {
		out = append(out, invoke.Ref{Path: s.file(a.Path), Blob: a.Blob, Title: cmp.Or(a.Title, string(a.ID)), Text: a.Body()})
	}
	return out
}

// goalOf returns the title of the goal that t serves, with its description, and the goal itself.
// It returns "" for none in force.
func (s *snapshot) goalOf(t board.Task) (string, invoke.Ref) {
	a := s.graph.Target(t.Goal, "")
	if t.Goal == "" || a == nil || a.Type != board.GoalType || strings.EqualFold(a.Status, "deprecated") {
		return "", invoke.Ref{}
	}
	return cmp.Or(a.Title, string(a.ID)) + lead(": ", a.Description), invoke.Ref{Path: s.file(a.Path), Blob: a.Blob, Text: a.Body()}
}

// mostPreferences is how many preferences a brief has at most.
const mostPreferences = 12

// preferences returns the preferences in force, as a brief has them: those that share words with
// the title of t first, then the latest.
func (s *snapshot) preferences(t board.Task) (out []invoke.Ref) {
	words := topicWords(t.Title)
	all, _ := board.Preferences(s.graph)
	slices.SortStableFunc(all, func(a, b *okf.Atom) int {
		return cmp.Or(cmp.Compare(countWords(b, words), countWords(a, words)), lastTouched(b).Compare(lastTouched(a)), cmp.Compare(a.ID, b.ID))
	})
	for _, a := range first(all, mostPreferences) {
		out = append(out, invoke.Ref{Path: s.file(a.Path), Blob: a.Blob, Title: cmp.Or(a.Title, string(a.ID)), Text: a.Body()})
	}
	return out
}

// relatedAtoms returns the atoms that share words with the title of a task, best first, but
// those that are known. So what a person approved reaches an agent before anybody has linked it
// to the agent's role.
func relatedAtoms(g *okf.Graph, title string, known func(*okf.Atom) bool) []*okf.Atom {
	words := topicWords(title)
	if len(words) == 0 {
		return nil
	}
	hits, _ := g.SearchWhere(strings.Join(words, " "), func(a *okf.Atom) bool { return saysHowToWork(a) && !known(a) }, 4*mostRelated)
	var out []*okf.Atom
	for _, h := range hits {
		if len(out) == mostRelated || h.Score < hits[0].Score/3 {
			break
		}
		if a := g.ByID(h.ID); countWords(a, words) >= min(2, len(words)) {
			out = append(out, a)
		}
	}
	return out
}

// saysHowToWork reports an atom in force of a type that is of use to an agent by itself.
func saysHowToWork(a *okf.Atom) bool {
	return slices.Contains([]string{"policy", "process", "decision", "term", "system"}, strings.ToLower(a.Type)) && !strings.EqualFold(a.Status, "deprecated")
}

// topicWords returns the words of a title that can tell what a task is about, in lower case:
// those of four letters and more that are no function words, and short names in capitals.
func topicWords(title string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		low := strings.ToLower(w)
		long := len([]rune(w)) >= 4 && !slices.Contains(functionWords, low)
		name := len([]rune(w)) >= 2 && strings.ToUpper(w) == w && strings.ContainsFunc(w, unicode.IsLetter)
		if (long || name) && !slices.Contains(out, low) {
			out = append(out, low)
		}
	}
	return out
}

// functionWords are the words of four letters and more that every text has.
var functionWords = strings.Fields("about after again also been before between both could does down each every from have here into just like " +
	"make more most much must need once only other over same should some such than that their them then there these they this those " +
	"under until upon very want were what when where which while will with within without would your")

// countWords returns how many of the words stand in the title, the description or the body of
// an atom, a plural's ending aside.
func countWords(a *okf.Atom, words []string) int {
	text, n := strings.ToLower(a.Title+"\n"+a.Description+"\n"+string(a.Body())), 0
	for _, w := range words {
		if len(w) > 4 {
			w = strings.TrimSuffix(w, "s")
		}
		if strings.Contains(text, w) {
			n++
		}
	}
	return n
}
