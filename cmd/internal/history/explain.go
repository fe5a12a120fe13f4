package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/explain"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/okf"
)

// ExplainVerb declares odd explain.
func ExplainVerb(env console.Env) *cli.Command {
	return verb.New("explain [CODE...]", "say what a code in a message means, such as [state]",
		"odd explain stale_base\n"+
			"odd explain invariant 3\n"+
			"odd explain A_TEN_SYNTAX\n"+
			"odd explain\n"+
			"odd explain write permit\n\n"+
			"Without CODE, it lists the groups of codes; the name of a group lists its\n"+
			"codes.",
		verb.Do(env, runExplain))
}

// printGroups prints the groups of codes: how many codes each has, and the first.
func printGroups(env console.Env, all []explain.Code) error {
	console.Talk(env, "odd explain CODE explains one code, such as odd explain state; odd explain GROUP lists the codes of a group")
	var rows [][]string
	for len(all) > 0 {
		kind := all[0].Kind
		n := slices.IndexFunc(append(slices.Clone(all), explain.Code{}), func(c explain.Code) bool { return c.Kind != kind })
		rows = append(rows, []string{kind, console.CountNoun(n, "code"), "such as " + all[0].Code})
		all = all[n:]
	}
	return console.PrintRows(env, rows)
}

func runExplain(c *cli.Context, env console.Env) error {
	all, typed := explain.Codes(), strings.Trim(strings.Join(c.Args().Slice(), " "), " []")
	found := slices.DeleteFunc(slices.Clone(all), func(c explain.Code) bool { return !c.IsNamed(typed) })
	group := slices.DeleteFunc(slices.Clone(all), func(c explain.Code) bool { return !strings.EqualFold(c.Kind, typed) })
	switch {
	case c.NArg() == 0 && c.Bool("json"):
		return console.PrintJSON(env, all)
	case c.NArg() == 0:
		return printGroups(env, all)
	case len(found) == 0 && len(group) > 0:
		return console.ShowList(env, c.Bool("json"), group, "", func(c explain.Code) []string { return []string{c.Code, c.Means} })
	case len(found) == 0:
		var known []string
		for _, c := range all {
			known = append(known, c.Code)
		}
		way := "odd explain without one lists the groups of codes"
		if near := okf.Nearest(typed, known); near != "" {
			way = "did you mean " + near + "?"
		}
		return fmt.Errorf("explain: unknown code %q; %s", typed, way)
	case c.Bool("json"):
		return console.PrintJSON(env, found)
	}
	out := console.FoldedOutput(env)
	for _, c := range found {
		fmt.Fprintf(out, "%s (%s)\n  %s\n", c.Code, c.Kind, c.Means)
		if c.Example != "" {
			fmt.Fprintf(out, "  for example: %s\n", c.Example)
		}
		if c.Fix != "" {
			fmt.Fprintf(out, "  what to do: %s\n", c.Fix)
		}
	}
	return nil
}
