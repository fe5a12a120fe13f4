package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

func searchVerb(env Env) *cli.Command {
	return verb("search WORD…", "find atoms (notes) by words, best match first",
		"odd search weather limits\n"+
			"odd search --type policy --limit 3 weather\n\n"+
			"An atom is one markdown file with a `type` in its front matter. In a pipe,\n"+
			"each match is one line: id, type, title, place and the text that matched.",
		do(env, runSearch), readFlags(
			&cli.IntFlag{Name: "limit", Value: 10, Usage: "print at most `N` atoms; 0 prints all"},
			&cli.StringFlag{Name: "type", Usage: "find only atoms of `TYPE`: policy, process, role, term, …"},
		)...)
}

func runSearch(c *cli.Context, env Env) error {
	query, typ, limit := strings.TrimSpace(strings.Join(c.Args().Slice(), " ")), c.String("type"), c.Int("limit")
	if query == "" {
		return usage("search: no words given; want words to search for: odd search WORD")
	}
	if limit < 0 {
		return usage("search: --limit %d; want 0 or more", limit)
	}
	b, err := sourceFor(c).loadBundle(c.Context, env)
	if err != nil {
		return err
	}
	hits, total := served.Search(b.graph, query, typ, limit)
	if more := total - len(hits); more > 0 && !c.Bool("json") {
		defer talk(env, "%d more found; --limit 0 prints all", more)
	}
	if len(hits) > 0 && env.Terminal && !c.Bool("json") {
		var page strings.Builder
		for _, h := range hits {
			page.WriteString(b.hitText(env, h))
		}
		return printPage(env, page.String())
	}
	nothing := ""
	if total == 0 {
		nothing = b.whyNothing(query, typ)
	}
	return showList(env, c.Bool("json"), hits, nothing, func(h served.Found) []string {
		return []string{string(h.ID), h.Type, titleCell(h.Title), b.shownPlace(env, h.Path, h.Line), okf.Visible(h.Text)}
	})
}

// whyNothing says that no atom has a query; of a type that none has, which there are.
func (b bundle) whyNothing(query, typ string) string {
	all := b.graph.Atoms()
	if len(all) == 0 {
		return fmt.Sprintf("%s: no atom is here (markdown file with a type); run odd init, or name another folder with --bundle DIR", b.root)
	}
	if typ == "" {
		fewer := ""
		if strings.Contains(strings.TrimSpace(query), " ") {
			fewer = "; try fewer words"
		}
		among := map[bool]string{true: " in " + b.root}[b.top == "" && b.rev == ""]
		return fmt.Sprintf("no atom of %d%s has %q%s%s", len(all), among, query, b.spellHint(query), fewer)
	}
	var types []string
	n := 0
	for _, a := range all {
		if types = append(types, a.Type); strings.EqualFold(a.Type, typ) {
			n++
		}
	}
	if n > 0 {
		return fmt.Sprintf("no %s of %d has %q%s", typ, n, query, b.spellHint(query))
	}
	slices.Sort(types)
	return fmt.Sprintf("no atom has the type %q; the types are %s%s", typ, strings.Join(slices.Compact(types), ", "), b.spellHint(query))
}

// spellHint offers a query that may have been meant.
func (b bundle) spellHint(query string) string {
	if s := b.graph.Spell(query); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

// hitText returns a hit for a person: what it is, then where and the line itself.
func (b bundle) hitText(env Env, h served.Found) string {
	text := env.paintText("1", okf.Visible(string(h.ID)))
	if h.Title != "" {
		text += "  " + cell(titleCell(h.Title))
	}
	text += " " + env.paintText("2", "("+okf.Visible(h.Type)+")") + "\n"
	if h.Text == "" {
		return text
	}
	return text + "    " + env.paintText("2", b.shownPlace(env, h.Path, h.Line)+":") + " " + okf.Visible(h.Text) + "\n"
}

func getVerb(env Env) *cli.Command {
	return verb("get ATOM", "print one atom (note), found by id, path, uri or file name",
		"odd get shore-lead\n"+
			"odd get processes/open-the-jetty.md --json\n"+
			"odd get weather-limits --body\n\n"+
			"ATOM is the id of an atom, its path below the bundle, its uri, or its file\n"+
			"name without .md. All commands that take an ATOM find it so.",
		do(env, runGet), readFlags(&cli.BoolFlag{Name: "body", Usage: "print the text without the front matter"})...)
}

func runGet(c *cli.Context, env Env) error {
	b, a, err := readAtom(c, env, c.Args().First())
	if err != nil {
		return err
	}
	if len(a.Bytes()) == 0 {
		return fmt.Errorf("%s: the file changed while odd read it; run the command again", b.shownPlace(env, a.Path, 0))
	}
	if c.Bool("json") {
		return printJSON(env, served.WholeOf(b.graph, a))
	}
	text := a.Bytes()
	if c.Bool("body") {
		text = a.Body()
	}
	return printText(env, string(text))
}

// orEmpty returns s, which JSON shows as [] where it is nil.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
