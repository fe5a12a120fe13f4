package atoms

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
)

// SearchVerb declares odd search.
func SearchVerb(env console.Env) *cli.Command {
	return verb.New("search WORD…", "find atoms (notes) by words, best match first",
		"odd search weather limits\n"+
			"odd search --type policy --limit 3 weather\n\n"+
			"An atom is one markdown file with a `type` in its front matter. In a pipe,\n"+
			"each match is one line: id, type, title, place and the text that matched.",
		workspace.OnBundle(env, runSearch), workspace.ReadFlags(
			&cli.IntFlag{Name: "limit", Value: 10, Usage: "print at most `N` atoms; 0 prints all"},
			&cli.StringFlag{Name: "type", Usage: "find only atoms of `TYPE`: policy, process, role, term, …"},
		)...)
}

func runSearch(c *cli.Context, env console.Env, b workspace.Bundle) error {
	query, typ, limit := strings.TrimSpace(strings.Join(c.Args().Slice(), " ")), c.String("type"), c.Int("limit")
	if query == "" {
		return verb.Usage("search: no words given; want words to search for: odd search WORD")
	}
	if limit < 0 {
		return verb.Usage("search: --limit %d; want 0 or more", limit)
	}
	hits, total := served.Search(b.Graph, query, typ, limit)
	if more := total - len(hits); more > 0 && !c.Bool("json") {
		defer console.Talk(env, "%d more found; --limit 0 prints all", more)
	}
	if n := b.CountUnread(); n > 0 && !c.Bool("json") {
		defer console.Talk(env, "%s cannot be read, so nothing is found in there: odd check says why", console.CountNoun(n, "file"))
	}
	if len(hits) > 0 && env.Terminal && !c.Bool("json") {
		var page strings.Builder
		for _, h := range hits {
			page.WriteString(hitText(b, env, h))
		}
		return console.PrintPage(env, page.String())
	}
	nothing := ""
	if total == 0 {
		nothing = whyNothing(b, query, typ)
	}
	return console.ShowList(env, c.Bool("json"), hits, nothing, func(h served.Found) []string {
		return []string{string(h.ID), h.Type, console.TitleCell(h.Title), b.ShownPlace(env, h.Path, h.Line), okf.Visible(h.Text)}
	})
}

// whyNothing says that no atom has a query; of a type that none has, which there are.
func whyNothing(b workspace.Bundle, query, typ string) string {
	all := b.Graph.Atoms()
	if len(all) == 0 {
		return fmt.Sprintf("%s: no atom is here (markdown file with a type); run odd init, or name another folder with --bundle DIR", b.Root)
	}
	if typ == "" {
		fewer := ""
		if strings.Contains(strings.TrimSpace(query), " ") {
			fewer = "; try fewer words"
		}
		among := map[bool]string{true: " in " + b.Root}[b.Top == "" && b.Rev == ""]
		return fmt.Sprintf("no atom of %d%s has %q%s%s; git grep -i searches all files", len(all), among, query, spellHint(b, query), fewer)
	}
	var types []string
	n := 0
	for _, a := range all {
		if types = append(types, a.Type); strings.EqualFold(a.Type, typ) {
			n++
		}
	}
	if n > 0 {
		return fmt.Sprintf("no %s of %d has %q%s", typ, n, query, spellHint(b, query))
	}
	slices.Sort(types)
	return fmt.Sprintf("no atom has the type %q; the types are %s%s", typ, strings.Join(slices.Compact(types), ", "), spellHint(b, query))
}

// spellHint offers a query that may have been meant.
func spellHint(b workspace.Bundle, query string) string {
	if s := b.Graph.Spell(query); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

// hitText returns a hit for a person: what it is, then where and the line itself.
func hitText(b workspace.Bundle, env console.Env, h served.Found) string {
	text := env.Paint("1", okf.Visible(string(h.ID)))
	if h.Title != "" {
		text += "  " + console.Cell(console.TitleCell(h.Title))
	}
	text += " " + env.Paint("2", "("+okf.Visible(h.Type)+")") + "\n"
	if h.Text == "" {
		return text
	}
	return text + "    " + env.Paint("2", b.ShownPlace(env, h.Path, h.Line)+":") + " " + okf.Visible(h.Text) + "\n"
}

// GetVerb declares odd get.
func GetVerb(env console.Env) *cli.Command {
	return verb.New("get ATOM", "print one atom (note), found by id, path, uri or file name",
		"odd get shore-lead\n"+
			"odd get processes/open-the-jetty.md --json\n"+
			"odd get weather-limits --body\n\n"+
			"ATOM is the id of an atom, its path below the bundle, its uri, or its file\n"+
			"name without .md. All commands that take an ATOM find it so.",
		workspace.OnAtom(env, runGet), workspace.ReadFlags(&cli.BoolFlag{Name: "body", Usage: "print the text without the front matter"})...)
}

func runGet(c *cli.Context, env console.Env, b workspace.Bundle, a *okf.Atom) error {
	if len(a.Bytes()) == 0 {
		return fmt.Errorf("%s: the file changed while odd read it; run the command again", b.ShownPlace(env, a.Path, 0))
	}
	if c.Bool("json") {
		return console.PrintJSON(env, served.WholeOf(b.Graph, a))
	}
	text := a.Bytes()
	if c.Bool("body") {
		text = a.Body()
	}
	return console.PrintText(env, string(text))
}
