package cmd

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/okf"
)

func opPrompt(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "prompt",
		Usage:     "print the briefs (prompts) that agents got for a change",
		ArgsUsage: "OP",
		Description: "odd op prompt 7QK2ZP\n\n" +
			"OP is the id that odd op list prints, or the end of it.",
		Flags:  []cli.Flag{jsonFlag()},
		Action: do(env, runOpPrompt),
	})
}

// prompt is one brief of an op, as --json prints it.
type prompt struct {
	File string `json:"file"` // in the run's tree
	Text string `json:"text"`
}

func runOpPrompt(c *cli.Context, env Env) error {
	name, err := opArg(c, env)
	if err != nil {
		return err
	}
	v, s, err := opOpen(c.Context, env, name)
	if err != nil {
		return err
	}
	o := s.Op()
	all, err := v.prompts(o)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(env, all)
	}
	for i, p := range all {
		if _, err := fmt.Fprintf(env.Stdout, "%s==> %s <==\n%s\n", strings.Repeat("\n", min(i, 1)), p.File, strings.TrimRight(okf.Visible(p.Text), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// prompts are the briefs that the run of an op kept, those of its last session
// behind those of the sessions before it.
func (v *view) prompts(o pipeline.Op) ([]prompt, error) {
	lost := refuse("artifacts", "op prompt %s: the files of %s are not in this clone; run git fetch origin 'refs/odd/run/*:refs/odd/run/*'", o.ID, o.Run)
	oid, err := v.repo.Ref("refs/odd/run/" + o.Run)
	if err != nil {
		return nil, lost
	}
	tree, err := v.repo.Tree(oid)
	if err != nil {
		return nil, err
	}
	own, err := fs.Glob(tree, "*/"+o.ID)
	if err != nil || len(own) != 1 {
		return nil, lost
	}
	dir := path.Dir(own[0])
	var names []string
	for _, pattern := range []string{"/*/brief*.md", "/brief*.md"} {
		some, err := fs.Glob(tree, dir+pattern)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(some, func(a, b string) int { return ordinal(a) - ordinal(b) })
		names = append(names, some...)
	}
	out := []prompt{}
	for _, name := range names {
		b, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, err
		}
		out = append(out, prompt{name, string(b)})
	}
	return out, nil
}

// ordinal orders the files of sessions: by the session's number, which ends its
// folder's name, then by the turn's, which a later brief's name has.
func ordinal(name string) int {
	last := func(s string) int {
		n, _ := strconv.Atoi(s[strings.LastIndexByte(s, '.')+1:])
		return n
	}
	return last(path.Base(path.Dir(name)))*10_000 + last(strings.TrimSuffix(path.Base(name), ".md"))
}
