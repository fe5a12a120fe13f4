package approval

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

// atomList returns a line for each atom of a proposal, by type: the type, what the proposal
// does, the id, the first place that it comes from, and a title that says more than the id.
func atomList(atoms []ProposedAtom) (lines [][2]string) {
	atoms = slices.SortedStableFunc(slices.Values(atoms), func(a, b ProposedAtom) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(string(a.ID), string(b.ID)))
	})
	id, does := 0, len("changed")
	for _, a := range atoms {
		id, does = max(id, min(len(a.ID), 26)), max(does, len(a.effectWord()))
	}
	for i, a := range atoms {
		kind, title := a.Type, a.Title
		if i > 0 && atoms[i-1].Type == kind {
			kind = ""
		}
		if handoff.Slug(title) == string(a.ID) {
			title = ""
		}
		lines = append(lines, [2]string{kind, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s  %s", does, a.effectWord(), id, a.ID, a.firstSource(), title), " ")})
	}
	return lines
}

func (a ProposedAtom) effectWord() string {
	if a.at.Base == "" {
		return "new" + a.mark
	}
	return "changed" + a.mark
}

// firstSource returns the first place that an atom comes from, and how many more there are.
func (a ProposedAtom) firstSource() string {
	if len(a.Sources) == 0 {
		return "(no source)"
	}
	s, more := a.Sources[0], len(a.Sources)-1
	places := okf.ReadPlaces(s.Title)
	for _, s := range a.Sources[1:] {
		more += max(0, len(okf.ReadPlaces(s.Title))-1)
	}
	at := s.Resource
	if len(places) > 0 {
		at += ":" + strings.TrimPrefix(strings.TrimPrefix(okf.Places(places[:1]), "lines "), "line ")
		more += len(places) - 1
	}
	if more > 0 {
		at += fmt.Sprintf(" and %d more", more)
	}
	return at
}

// citation is a text that an atom cites, as the session read it.
type citation struct {
	Resource string   `json:"resource"`
	Heading  string   `json:"heading,omitempty"` // that it stands under, without marks
	From     int      `json:"from,omitempty"`    // its first line; 0 for a source that names no lines
	Lines    []string `json:"lines,omitempty"`
	Missing  string   `json:"missing,omitempty"` // why there are none
}

// citedBy reads the texts that an atom cites in the commit its session worked on.
func citedBy(r *repo.Repo, a ProposedAtom, base repo.OID) ([]citation, error) {
	files, err := r.Tree(base)
	if err != nil {
		return nil, err
	}
	var out []citation
	for _, s := range a.Sources {
		places := okf.ReadPlaces(s.Title)
		b, err := fs.ReadFile(files, s.Resource)
		switch {
		case err != nil:
			out = append(out, citation{Resource: s.Resource, Missing: "it is no file of the commit that the agent read"})
			continue
		case len(places) == 0:
			out = append(out, citation{Resource: s.Resource, Missing: "the atom names no lines of it"})
			continue
		}
		all := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		doc, _, _ := okf.ParsePage(s.Resource, b) // of what does not read there is no heading
		for _, p := range places {
			c := citation{Resource: s.Resource, From: p[0]}
			if p[1] > len(all) {
				c.Missing = fmt.Sprintf("it has %s", console.CountNoun(len(all), "line"))
			} else {
				c.Lines, c.Heading = all[p[0]-1:p[1]], headingAbove(doc, p[0])
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// headingAbove returns the last heading of a document above a line, "" for none.
func headingAbove(doc okf.Atom, line int) (heading string) {
	for _, h := range doc.Headings() {
		if h.Line < line {
			heading = h.Text
		}
	}
	return heading
}

// atomBeside shows an atom of a proposal, as a diff where it was there before, and the text that it
// cites, but where that is the text of the atom word for word.
func atomBeside(r *repo.Repo, a ProposedAtom, texts []citation) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", strings.Join(strings.Fields(fmt.Sprintf("%s %s: %s %s", a.effectWord(), a.Type, a.ID, console.Cell(a.Title))), " "))
	if a.hand != "" {
		fmt.Fprintf(&b, "Of this atom: %s. See what the proposal takes out of it.\n\n", a.hand)
	}
	if before, err := r.Blob(repo.OID(a.at.Base)); a.at.Base != "" && err == nil {
		b.Write(diff.Diff("a/"+a.at.Path, before, "b/"+a.at.Path, a.Bytes()))
	} else {
		b.WriteString(a.withoutProvenance())
	}
	if len(texts) == 0 {
		b.WriteString("\nThe atom names no source.\n")
	}
	same := a.at.Base == "" && isQuoteOf(a.Body(), texts)
	for _, c := range texts {
		under := ""
		if c.Heading != "" {
			under = fmt.Sprintf(", under %q", c.Heading)
		}
		switch {
		case c.Missing != "":
			fmt.Fprintf(&b, "\nsource %s: %s\n", c.Resource, c.Missing)
		case same:
			fmt.Fprintf(&b, "\nsource %s:%d%s: it has this text word for word\n", c.Resource, c.From, under)
		default:
			fmt.Fprintf(&b, "\nsource %s:%d%s\n", c.Resource, c.From, under)
			for i, l := range c.Lines {
				fmt.Fprintf(&b, "%5d  %s\n", c.From+i, l)
			}
		}
	}
	return b.String()
}

// provenance are the lines below sources and generated of front matter that have no room for words.
var provenance = regexp.MustCompile(`^(?:sources:|generated: \{by: \S+, at: \S+\}| +(?:- )?(?:id|resource|blob|text): \S+| +title: lines? [\d, -]+)\n?$`)

// withoutProvenance returns the file of an atom without what odd wrote of where it is from, which is shown
// beside it: the front matter's sources and generated, and the footnotes of its sources. A line of
// another form than odd's is shown.
func (a ProposedAtom) withoutProvenance() string {
	var out strings.Builder
	front, below, dropped := 0, false, false // below sources or generated
	for line := range strings.Lines(string(a.Bytes())) {
		inside := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---")
		switch {
		case strings.TrimRight(line, "\n") == "---" && front < 2:
			front, dropped = front+1, false
		case front == 1:
			key, _, _ := strings.Cut(line, ":")
			below = inside && below || key == "sources" || key == "generated"
			dropped = below && provenance.MatchString(line)
		case front == 2:
			note := slices.ContainsFunc(a.Sources, func(s okf.Source) bool {
				rest, ours := strings.CutPrefix(line, fmt.Sprintf("[^%s]: [%s, %s](%s", s.ID, s.Resource, s.Title, okf.LinkTo(a.at.Path, s.Resource)))
				return ours && lineAnchor.MatchString(rest)
			})
			dropped = note || dropped && line == "\n" // with the blank line below
		}
		if !dropped {
			out.WriteString(line)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

var (
	lineAnchor = regexp.MustCompile(`^#L\d+(?:-L\d+)?\)\n?$`)
	footnote   = regexp.MustCompile(`\[\^[^\]]+\]`)
	listMarker = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s`)
)

// isQuoteOf reports a body whose quoted lines are all lines of the citations, word for word and in their
// order, with nothing of the citations left over. Spaces and list markers do not count.
func isQuoteOf(body []byte, texts []citation) bool {
	var said, cited strings.Builder
	add := func(b *strings.Builder, line string) {
		b.WriteString(strings.Join(strings.Fields(listMarker.ReplaceAllString(line, "")), ""))
	}
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, ">") {
			add(&said, footnote.ReplaceAllString(line[1:], ""))
		}
	}
	for _, c := range texts {
		for _, line := range c.Lines {
			add(&cited, line)
		}
	}
	return said.Len() > 0 && said.String() == cited.String()
}

func runReviewAtom(ctx context.Context, env console.Env, name, id string, asJSON bool) error {
	v, t, p, err := workspace.Options{}.OpenProposal(ctx, env, name)
	if err != nil {
		return err
	}
	atoms := ProposedAtoms(v, p)
	if err := readHands(ctx, v, p, atoms); err != nil {
		return err
	}
	i := slices.IndexFunc(atoms, func(a ProposedAtom) bool { return string(a.ID) == id })
	if i < 0 {
		return verb.Refuse("state", "review %s: %s is not an atom of the proposal; odd review %[1]s --stat lists its atoms", t.ID, id)
	}
	texts, err := citedBy(v.Repo, atoms[i], repo.OID(p.Base))
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(env, struct {
			review.Path
			ID     okf.ID     `json:"id"`
			Effect string     `json:"effect"`
			Text   string     `json:"text"`
			Cited  []citation `json:"cited"`
		}{atoms[i].at, atoms[i].ID, atoms[i].effectWord(), string(atoms[i].Bytes()), texts})
	}
	shown := atomBeside(v.Repo, atoms[i], texts)
	if env.Terminal {
		shown = env.FoldedProse(shown)
	}
	if _, err = io.WriteString(env.Stdout, console.DiffText(env, shown)); err != nil || !env.Terminal || land.MayDecide(ctx, v.Clone, "review") != nil {
		return err
	}
	w, _, err := readWalk(v.Repo, p) // a person at a terminal saw it
	if _, seen := w.Of(atoms[i].at); err != nil || seen {
		return err
	}
	return keepWalk(v.Repo, t.ID, w.With(review.Decided{Path: atoms[i].at, ID: atoms[i].ID}))
}
