package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

// readFlags are the flags of every verb that only reads the bundle.
func readFlags(more ...cli.Flag) []cli.Flag {
	return append(more, &cli.StringFlag{Name: "bundle", Usage: bundleHelp}, jsonFlag())
}

func edgeFlag(usage string) cli.Flag {
	return &cli.StringSliceFlag{Name: "edge", Usage: usage + " edges of `KIND`: owner, uses, … or link; may be repeated"}
}

// edgeKinds reads the values of --edge; none means all.
func edgeKinds(c *cli.Context) ([]okf.EdgeKind, error) {
	var known []string
	var out []okf.EdgeKind
	for _, k := range append(okf.EdgeKinds(), okf.Link) {
		known = append(known, string(k))
	}
	for _, name := range c.StringSlice("edge") {
		name = strings.ReplaceAll(strings.TrimSpace(name), "-", "_")
		if name == "owns" {
			return nil, usage("%s: there is no edge owns; a process names its owner: --edge owner", c.Command.Name)
		}
		if !strings.Contains(" "+strings.Join(known, " ")+" ", " "+name+" ") || name == "" {
			return nil, usage("%s: unknown edge %q; want one of %s", c.Command.Name, name, strings.Join(known, " "))
		}
		out = append(out, okf.EdgeKind(name))
	}
	return out, nil
}

// completeAtoms completes an argument with the ids of the bundle in the current
// directory.
func completeAtoms(env Env) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		cli.DefaultCompleteWithFlags(c.Command)(c)
		b, err := openBundle(c.Context, env, "")
		if err != nil {
			return // a completion has nobody to tell
		}
		for _, a := range b.graph.Atoms() {
			fmt.Fprintln(env.Stdout, a.ID)
		}
	}
}

// readAtom opens the bundle and finds an atom in it.
func readAtom(ctx context.Context, env Env, dir, name string) (bundle, *okf.Atom, error) {
	b, err := openBundle(ctx, env, dir)
	if err != nil {
		return b, nil, err
	}
	a, err := b.find(name)
	return b, a, err
}

// find names the unreadable files beside what it does not find: the atom may be in one.
func (b bundle) find(name string) (*okf.Atom, error) {
	a, err := b.graph.Find(name)
	if err == nil {
		return a, nil
	}
	bad := 0
	for _, p := range b.problems {
		if p.Severity == okf.Error {
			bad++
		}
	}
	if bad > 0 {
		return nil, fmt.Errorf("%w; %s in files that were not read, odd check lists them", err, count(bad, "error"))
	}
	return nil, err
}

// count is "1 thing" or "2 things".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// place is where a line of the bundle is, as the person's shell sees it.
// odd.toml lies beside the bundle.
func (b bundle) place(env Env, path string, line int) string {
	full := filepath.Join(b.root, filepath.FromSlash(path))
	if path == "odd.toml" && b.prefix != "" {
		full = filepath.Join(strings.TrimSuffix(b.root, filepath.FromSlash(b.prefix)), path)
	}
	if rel, err := filepath.Rel(env.Dir, full); err == nil {
		full = rel
	}
	if line < 1 {
		return full
	}
	return fmt.Sprintf("%s:%d", full, line)
}

// atomLine is an atom as lists show it.
type atomLine struct {
	ID          okf.ID   `json:"id"`
	Path        string   `json:"path"` // below the bundle's root
	Type        string   `json:"type"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Confidence  string   `json:"confidence"`
	Tier        okf.Tier `json:"tier"`
	Status      string   `json:"status,omitempty"`
	URI         string   `json:"uri,omitempty"`
	Blob        string   `json:"blob"`
}

func lineOf(a *okf.Atom) atomLine {
	return atomLine{
		ID: a.ID, Path: a.Path, Type: a.Type, Title: a.Title, Description: a.Description, Confidence: a.Confidence().String(),
		Tier: a.Tier(), Status: a.Status, URI: a.URI, Blob: a.Blob,
	}
}

// cells are the id, type and title of an atom, as far as they can be seen.
func cells(a *okf.Atom) []string {
	return []string{okf.Visible(string(a.ID)), okf.Visible(a.Type), okf.Visible(a.Title)}
}

// arrow is a hop seen from one of its ends, and the other end.
func arrow(h okf.Hop, from okf.ID) (dir string, far okf.ID) {
	if h.From == from {
		return "->", h.To
	}
	return "<-", h.From
}

// trail is a path in one line: editor <-owner- publish -uses-> cms.
func trail(start okf.ID, path []okf.Hop) string {
	var b strings.Builder
	b.WriteString(string(start))
	at := start
	for _, h := range path {
		dir, far := arrow(h, at)
		if dir == "->" {
			fmt.Fprintf(&b, " -%s-> %s", h.Kind, far)
		} else {
			fmt.Fprintf(&b, " <-%s- %s", h.Kind, far)
		}
		at = far
	}
	return okf.Visible(b.String())
}

// none is the result of a reading verb that found nothing: empty data, and talk.
func none(env Env, asJSON bool, empty any, format string, args ...any) error {
	talk(env, format, args...)
	if asJSON {
		return printJSON(env, empty)
	}
	return nil
}
