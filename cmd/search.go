package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
)

func search(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "search",
		Usage:       "find atoms by words, best first",
		ArgsUsage:   "WORD…",
		Description: "odd search publishing rules\nodd search --type policy --limit 3 sources",
		Flags: readFlags(
			&cli.IntFlag{Name: "limit", Value: 10, Usage: "print at most `N`; 0 prints all"},
			&cli.StringFlag{Name: "type", Usage: "only atoms of `TYPE`"},
		),
		Action: func(c *cli.Context) error {
			query := strings.TrimSpace(strings.Join(c.Args().Slice(), " "))
			if query == "" {
				return usage("search: want words to search for; see odd help search")
			}
			if c.Int("limit") < 0 {
				return usage("search: --limit %d; want 0 or more", c.Int("limit"))
			}
			return runSearch(c.Context, env, query, searchOptions{src: sourceFor(c), typ: c.String("type"), limit: c.Int("limit"), json: c.Bool("json")})
		},
	})
}

type searchOptions struct {
	src   source
	typ   string
	limit int
	json  bool
}

func runSearch(ctx context.Context, env Env, query string, o searchOptions) error {
	b, err := o.src.open(ctx, env)
	if err != nil {
		return err
	}
	hits, more := b.search(query, o)
	if len(hits) == 0 {
		return none(env, o.json, []okf.Hit{}, "no atom of %d has %q%s", len(b.graph.Atoms()), query, b.instead(query))
	}
	if o.json {
		return printJSON(env, b.hitsJSON(hits))
	}
	if env.Terminal {
		for _, h := range hits {
			if _, err := fmt.Fprint(env.Stdout, b.hitText(env, h)); err != nil {
				return err
			}
		}
	} else if err := printRows(env, b.hitRows(env, hits)); err != nil {
		return err
	}
	if more > 0 {
		talk(env, "%d more; --limit 0 prints all", more)
	}
	return nil
}

// search is the hits to print, and how many more there are.
func (b bundle) search(query string, o searchOptions) (hits []okf.Hit, more int) {
	var keep func(*okf.Atom) bool
	if o.typ != "" {
		keep = func(a *okf.Atom) bool { return strings.EqualFold(a.Type, o.typ) }
	}
	hits, total := b.graph.SearchWhere(query, keep, o.limit)
	return hits, total - len(hits)
}

// hitJSON is an atom that was found; score is only good for comparing the hits
// of one search.
type hitJSON struct {
	atomLine
	Score float64 `json:"score"`
	Line  int     `json:"line,omitempty"`
	Text  string  `json:"text,omitempty"`
}

func (b bundle) hitsJSON(hits []okf.Hit) []hitJSON {
	var out []hitJSON
	for _, h := range hits {
		out = append(out, hitJSON{lineOf(b.graph.ByID(h.ID)), h.Score, h.Line, okf.Visible(h.Text)})
	}
	return out
}

// instead offers a query that may have been meant.
func (b bundle) instead(query string) string {
	if s := b.graph.Spell(query); s != "" {
		return "; did you mean " + s + "?"
	}
	return ""
}

func (b bundle) hitRows(env Env, hits []okf.Hit) [][]string {
	var rows [][]string
	for _, h := range hits {
		rows = append(rows, []string{okf.Visible(string(h.ID)), okf.Visible(h.Type), okf.Visible(h.Title), b.place(env, h.Path, h.Line), okf.Visible(h.Text)})
	}
	return rows
}

// hitText is a hit for a person: what it is, then where and the line itself.
func (b bundle) hitText(env Env, h okf.Hit) string {
	bold, faint, plain := "", "", ""
	if env.color() {
		bold, faint, plain = "\x1b[1m", "\x1b[2m", "\x1b[0m"
	}
	head := okf.Visible(string(h.ID))
	if h.Title != "" {
		head += plain + "  " + okf.Visible(h.Title)
	}
	text := fmt.Sprintf("%s%s%s %s(%s)%s\n", bold, head, plain, faint, okf.Visible(h.Type), plain)
	if h.Text == "" {
		return text
	}
	return text + fmt.Sprintf("    %s%s:%s %s\n", faint, b.place(env, h.Path, h.Line), plain, okf.Visible(h.Text))
}
