package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/explain"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/okf"
)

func explainVerb(env Env) *cli.Command {
	return verb("explain [CODE]", "say what a code in a message means, such as [state]",
		"odd explain stale_base\n"+
			"odd explain A_TEN_SYNTAX\n"+
			"odd explain\n\n"+
			"Without CODE, it lists every code with its meaning.",
		do(env, runExplain), jsonFlag())
}

func runCodes(env Env, asJSON bool) error {
	if asJSON {
		return printJSON(env, explain.Codes())
	}
	talk(env, "odd explain CODE explains one code, such as odd explain state; these are all")
	if !env.Terminal {
		rows := [][]string{}
		for _, c := range explain.Codes() {
			rows = append(rows, []string{c.Code, c.Kind, c.Means})
		}
		return printRows(env, rows)
	}
	kind := ""
	for _, c := range explain.Codes() {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(env.Stdout, "%s\n", explain.Sentence(kind))
		}
		fmt.Fprint(env.Stdout, layout.Fold("  "+c.Code+"  "+c.Means, env.terminalWidth()), "\n")
	}
	return nil
}

func runExplain(c *cli.Context, env Env) error {
	if c.NArg() == 0 {
		return runCodes(env, c.Bool("json"))
	}
	typed := strings.Trim(c.Args().First(), " []")
	all := explain.Codes()
	found := slices.DeleteFunc(slices.Clone(all), func(c explain.Code) bool { return !c.IsNamed(typed) })
	if len(found) == 0 {
		var known []string
		for _, c := range all {
			known = append(known, c.Code)
		}
		way := "odd explain without one lists them"
		if near := okf.Nearest(typed, known); near != "" {
			way = "did you mean " + near + "?"
		}
		return fmt.Errorf("explain: unknown code %q; %s", typed, way)
	}
	if c.Bool("json") {
		return printJSON(env, found)
	}
	out := foldedOutput(env)
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
