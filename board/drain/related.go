package drain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/overview"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
)

// mostRelated is how many atoms a brief has at most that were found by the words of its task.
const mostRelated = 5

// findRelated returns, as a brief has them, the atoms found for a task that none of known has.
// A task that reads documents gets none: it is there to find atoms.
func (s *snapshot) findRelated(t board.Task, known ...[]invoke.Ref) []invoke.Ref {
	if t.Kind == "extract" {
		return nil
	}
	refs, out := slices.Concat(known...), []invoke.Ref(nil)
	for _, a := range relatedAtoms(s.graph, t.Title, func(a *okf.Atom) bool {
		return slices.ContainsFunc(refs, func(r invoke.Ref) bool { return r.Path == s.pathOf(a.Path) })
	}) {
		out = append(out, invoke.Ref{Path: s.pathOf(a.Path), Blob: a.Blob, Title: cmp.Or(a.Title, string(a.ID)), Text: a.Body()})
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
	return joinDetail(cmp.Or(a.Title, string(a.ID)), a.Description), invoke.Ref{Path: s.pathOf(a.Path), Blob: a.Blob, Text: a.Body()}
}

// mostPreferences is how many preferences a brief has at most.
const mostPreferences = 12

// listPreferences returns the preferences in force, as a brief has them: those that share words with
// the title of t first, then the latest.
func (s *snapshot) listPreferences(t board.Task) (out []invoke.Ref) {
	words := topicWords(t.Title)
	all, _ := board.Preferences(s.graph)
	slices.SortStableFunc(all, func(a, b *okf.Atom) int {
		return cmp.Or(cmp.Compare(countWords(b, words), countWords(a, words)), overview.LastTouched(b).Compare(overview.LastTouched(a)), cmp.Compare(a.ID, b.ID))
	})
	for _, a := range firstOf(all, mostPreferences) {
		out = append(out, invoke.Ref{Path: s.pathOf(a.Path), Blob: a.Blob, Title: cmp.Or(a.Title, string(a.ID)), Text: a.Body()})
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
// an atom.
func countWords(a *okf.Atom, words []string) int {
	return countWordsIn(a.Title+"\n"+a.Description+"\n"+string(a.Body()), words)
}

// countWordsIn returns how many of the words stand in a text, a plural's ending aside.
func countWordsIn(text string, words []string) (n int) {
	text = strings.ToLower(text)
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

// findDeclines returns the declines that hold for t on the commit base: those on tasks, and the
// atoms that people deleted, newest first.
func (bw *boardWriter) findDeclines(ctx context.Context, t board.Task, base repo.OID) ([]board.Decline, error) {
	gone, err := bw.deletedAtoms(ctx, base)
	if err != nil {
		return nil, fmt.Errorf("what people deleted: %w", err)
	}
	all := board.Declines(bw.at.tasks(), t.ID)
	for _, g := range gone {
		back, _, err := bw.repo.Find(base, g.Path)
		if err != nil {
			return nil, err
		}
		moved, err := bw.at.graph.Find(string(g.Decline.ID))
		if back == "" && (err != nil || bw.at.pathOf(moved.Path) == g.Path) {
			all = append(all, g.Decline)
		}
	}
	slices.SortStableFunc(all, func(a, b board.Decline) int { return strings.Compare(b.At, a.At) })
	return all, nil
}

// deletions are the atoms that people deleted up to a commit. A clone keeps them, so that
// each commit is read once.
type deletions struct {
	Root, Agent string // of odd.toml
	Tip         repo.OID
	Atoms       []deletion // the newest first
}

type deletion struct {
	Path    string
	Decline board.Decline
}

const deletedCache = "deleted"

// deletedAtoms returns the atoms that people deleted in the history of tip.
func (bw *boardWriter) deletedAtoms(ctx context.Context, tip repo.OID) ([]deletion, error) {
	cfg := bw.at.cfg
	var known deletions
	if json.Unmarshal(bw.repo.Cached(deletedCache), &known) != nil || known.Root != cfg.Root || known.Agent != cfg.AgentEmail {
		known = deletions{}
	}
	if known.Tip != "" {
		if in, err := bw.repo.Ancestor(ctx, known.Tip, tip); err != nil || !in {
			known = deletions{} // of another branch, or of commits that are gone
		}
	}
	if known.Tip == tip {
		return known.Atoms, nil
	}
	files, err := bw.repo.Deletions(ctx, known.Tip, tip, cfg.Root, path.Join(cfg.Root, "tasks"), path.Join(cfg.Root, "ledger"))
	if err != nil {
		return nil, err
	}
	var atoms []deletion
	for _, f := range files {
		a, err := bw.declinedBy(f)
		if err != nil {
			return nil, err
		}
		if a.ID != "" {
			atoms = append(atoms, deletion{f.Path, a})
		}
	}
	known = deletions{cfg.Root, cfg.AgentEmail, tip, append(atoms, known.Atoms...)}
	b, _ := json.Marshal(known)       // texts
	_ = bw.repo.Keep(deletedCache, b) // the next one reads it again
	return known.Atoms, nil
}

// declinedBy is the decline that a deletion is, without an id where no person deleted an
// atom.
func (bw *boardWriter) declinedBy(f repo.Deletion) (board.Decline, error) {
	c, err := bw.repo.Commit(f.Commit)
	if err != nil || len(c.Parents) == 0 || strings.EqualFold(c.Author.Email, bw.at.cfg.AgentEmail) {
		return board.Decline{}, err
	}
	blob, mode, err := bw.repo.Find(c.Parents[0], f.Path)
	if err != nil || mode != "100644" {
		return board.Decline{}, err
	}
	b, err := bw.repo.Blob(blob)
	if err != nil {
		return board.Decline{}, err
	}
	a, err := okf.Parse(strings.TrimPrefix(f.Path, bw.at.cfg.Root+"/"), b)
	if err != nil {
		return board.Decline{}, nil // what nobody can read, nobody emits again
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	return board.Decline{ID: a.ID, Text: okf.Grounds(&a), By: "human:" + c.Author.Email, At: c.Author.When.UTC().Format(time.RFC3339),
		Reason: fmt.Sprintf("deleted in %.10s, %s", c.OID, okf.Visible(okf.Legible(subject)))}, nil
}
