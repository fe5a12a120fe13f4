package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal/proof"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkHistory reads the command line of odd check --range and --all.
func checkHistory(c *cli.Context, env Env, spec string) error {
	if err := noArgs(c); err != nil {
		return err
	}
	for _, flag := range []string{"strict", "notes", "now", "canon", "sarif", "github"} {
		if c.IsSet(flag) {
			return usage("check: --%s is about a bundle, not about history; leave it out with --range and --all", flag)
		}
	}
	if spec != "" && c.Bool("all") {
		return usage("check: --range or --all, not both")
	}
	if spec == "" {
		to, err := boardEnd(env)
		if err != nil {
			return err
		}
		spec = "0.." + to
	}
	return runRange(c.Context, env, spec, c.Bool("json"))
}

// boardEnd is where all of history ends: the board branch, into which a target
// is merged too, or HEAD where odd.toml names none.
func boardEnd(env Env) (string, error) {
	_, cfg, err := findConfig(env.Dir)
	if err != nil || cfg.Branch == "" {
		return "HEAD", err
	}
	return "refs/heads/" + cfg.Branch, nil
}

// tellEvery is how many commits pass between two words of progress: about half a second.
const tellEvery = 500

// runRange re-proves the invariants over the commits of spec, A..B. The rows of
// the proof go to stderr, the findings to stdout.
func runRange(ctx context.Context, env Env, spec string, asJSON bool) error {
	r, err := repo.Open(env.Dir)
	if errors.Is(err, repo.ErrNotRepo) {
		return refuse("no-repository", "%s: not a git repository; --range reads its history", env.Dir)
	}
	if err != nil {
		return err
	}
	if r.Shallow() {
		return refuse("shallow", "this clone is shallow, so its history cannot be judged; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	from, to, err := ends(ctx, r, spec)
	if err != nil {
		return err
	}
	p := newProgress(env)
	report, err := proof.CheckTelling(ctx, r, from, to, func(done, all int) {
		if done%tellEvery == 0 {
			p.line(fmt.Sprintf("%d of %s", done, many(all, "commit")))
		}
	})
	p.done()
	if err != nil {
		return fmt.Errorf("check %s: %w", spec, err)
	}
	if asJSON {
		err = printJSON(env, report)
	} else {
		err = printProof(env, report)
	}
	if err == nil && len(report.Findings) > 0 {
		err = exitCode(exitFault)
	}
	return err
}

// ends resolves the two ends of A..B. A missing B is HEAD. An A of zeros, which
// is what a forge calls the state before a branch's first push, is the beginning.
func ends(ctx context.Context, r *repo.Repo, spec string) (from, to repo.OID, err error) {
	a, b, ok := strings.Cut(spec, "..")
	if !ok || a == "" || strings.HasPrefix(b, ".") {
		return "", "", usage("check: --range %q; write it as A..B, or use --all", spec)
	}
	if strings.Trim(a, "0") != "" {
		if from, err = r.Resolve(ctx, a); err != nil {
			return "", "", fmt.Errorf("check --range: %s: %w", a, err)
		}
	}
	if to, err = r.Resolve(ctx, or(b, "HEAD")); err != nil {
		return "", "", fmt.Errorf("check --range: %s: %w", or(b, "HEAD"), err)
	}
	return from, to, nil
}

func printProof(env Env, report proof.Report) error {
	found := map[int]int{}
	for _, f := range report.Findings {
		found[f.Invariant]++
		line := strings.ReplaceAll(okf.Visible(f.String()), "\n", " ")
		if _, err := fmt.Fprintln(env.Stdout, line); err != nil {
			return err
		}
	}
	talk(env, "%s", many(report.Commits, "commit"))
	for _, row := range report.Rows {
		talk(env, "%2d %-21s %5d judged, %s", row.Invariant, row.Name, row.Checked, many(found[row.Invariant], "finding"))
	}
	return nil
}
