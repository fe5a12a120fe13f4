package approval

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
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
func atomList(atoms []review.Atom) (lines [][2]string) {
	atoms = slices.SortedStableFunc(slices.Values(atoms), func(a, b review.Atom) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(string(a.ID), string(b.ID)))
	})
	id, does := 0, len("changed")
	for _, a := range atoms {
		id, does = max(id, min(len(a.ID), 26)), max(does, len(effectWord(a)))
	}
	for i, a := range atoms {
		kind, title := a.Type, a.Title
		if i > 0 && atoms[i-1].Type == kind {
			kind = ""
		}
		if handoff.Slug(title) == string(a.ID) {
			title = ""
		}
		lines = append(lines, [2]string{kind, strings.TrimRight(fmt.Sprintf("%-*s  %-*s  %s  %s", does, effectWord(a), id, a.ID, firstSource(a), title), " ")})
	}
	return lines
}

func effectWord(a review.Atom) string {
	if a.At.Base == "" {
		return "new" + a.Mark
	}
	return "changed" + a.Mark
}

// firstSource returns the first place that an atom comes from, and how many more there are.
func firstSource(a review.Atom) string {
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

// atomHeading names an atom, and says what the proposal does with it.
func atomHeading(a review.Atom) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s: %s %s", effectWord(a), a.Type, a.ID, console.Cell(a.Title))), " ")
}

// atomBeside shows an atom of a proposal, as a diff where it was there before, and the text that it
// cites, each text once: a new atom may have that of a source word for word, and two sources the same.
func atomBeside(r *repo.Repo, a review.Atom, texts []review.Citation) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n", atomHeading(a))
	if a.Hand != "" {
		fmt.Fprintf(&b, "Of this atom: %s. See what the proposal takes out of it.\n\n", a.Hand)
	}
	if before, err := r.Blob(repo.OID(a.At.Base)); a.At.Base != "" && err == nil {
		b.Write(diff.Diff("a/"+a.At.Path, before, "b/"+a.At.Path, a.Bytes()))
	} else {
		b.WriteString(a.WithoutProvenance())
	}
	if len(texts) == 0 {
		b.WriteString("\nThe atom names no source.\n")
	}
	var shown []byte // the text of the atom, where it is not shown as a diff
	if a.At.Base == "" {
		shown = a.Body()
	}
	repeats := review.Repeats(shown, a.Sources, texts)
	for i, c := range texts {
		under := ""
		if c.Heading != "" {
			under = ", under \"" + c.Heading + "\""
		}
		switch {
		case c.Missing != "":
			fmt.Fprintf(&b, "\nsource %s: %s\n", c.Resource, c.Missing)
		case repeats[i] == review.InAtom:
			fmt.Fprintf(&b, "\nsource %s:%d%s: it has this text word for word\n", c.Resource, c.From, under)
		case repeats[i] != i:
			same := texts[repeats[i]]
			fmt.Fprintf(&b, "\nsource %s:%d%s: the same text as %s:%d\n", c.Resource, c.From, under, same.Resource, same.From)
		default:
			fmt.Fprintf(&b, "\nsource %s:%d%s\n", c.Resource, c.From, under)
			for i, l := range c.Lines {
				fmt.Fprintf(&b, "%5d  %s\n", c.From+i, l)
			}
		}
	}
	return b.String()
}

func reviewAtom(ctx context.Context, v *workspace.Board, p review.Proposal, id string, asJSON bool) error {
	env := v.Env
	atoms := ProposedAtoms(v, p)
	if err := readHands(ctx, v, p, atoms); err != nil {
		return err
	}
	i := slices.IndexFunc(atoms, func(a review.Atom) bool { return string(a.ID) == id })
	if i < 0 {
		return verb.Refuse("state", "review %s: %s is not an atom of the proposal; odd review %[1]s --stat lists its atoms", p.Task, id)
	}
	texts, err := citedBy(v.Repo, atoms[i], repo.OID(p.Base))
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(env, struct {
			review.Path
			ID     okf.ID            `json:"id"`
			Effect string            `json:"effect"`
			Text   string            `json:"text"`
			Cited  []review.Citation `json:"cited"`
		}{atoms[i].At, atoms[i].ID, effectWord(atoms[i]), string(atoms[i].Bytes()), texts})
	}
	shown := atomBeside(v.Repo, atoms[i], texts)
	if env.Terminal {
		shown = env.FoldedProse(shown)
	}
	if _, err = io.WriteString(env.Stdout, console.DiffText(env, shown)); err != nil || !env.Terminal || land.MayDecide(ctx, v.Clone, "review") != nil {
		return err
	}
	w, _, err := readWalk(v.Repo, p) // a person at a terminal saw it
	if _, seen := w.Of(atoms[i].At); err != nil || seen {
		return err
	}
	return keepWalk(v.Repo, p.Task, w.With(review.Decided{Path: atoms[i].At, ID: atoms[i].ID}))
}

// citedBy reads the texts that an atom cites in the commit its session worked on.
func citedBy(r *repo.Repo, a review.Atom, base repo.OID) ([]review.Citation, error) {
	files, err := r.Tree(base)
	if err != nil {
		return nil, err
	}
	return review.Cite(files, a.Sources), nil
}
