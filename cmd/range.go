package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkHistory re-proves the invariants over the commits that --range names, or all. What was judged
// and what stays attested goes to stderr, unless quiet; the findings, and what --explain asks for, to stdout.
func checkHistory(c *cli.Context, env Env, spec string) error {
	if c.NArg() > 0 {
		return usage("check: unexpected argument %q; see odd help check", c.Args().First())
	}
	for _, flag := range []string{"strict", "notes", "now", "okf", "canon", "at"} {
		if c.IsSet(flag) {
			return usage("check: --%s is about a bundle, not about history; leave it out with --range and --all", flag)
		}
	}
	if _, err := oneFlag(c, "range", "all"); err != nil {
		return err
	}
	if spec == "" {
		to, err := boardEnd(env)
		if err != nil {
			return err
		}
		spec = "0.." + to
	}
	format, err := formatOf(c)
	if err != nil {
		return err
	}
	r, err := historyHere(env)
	if err != nil {
		return err
	}
	from, to, err := resolveRange(c.Context, r, "check", spec)
	if err != nil {
		return err
	}
	p, quiet, explain := newProgress(env), c.Bool("quiet"), c.Bool("explain") && format == asText
	defer debug.SetGCPercent(debug.SetGCPercent(checkGC))
	report, err := verify.CheckScope(c.Context, r, verify.Scope{From: from, To: to, Tell: func(done, all int) {
		if done%tellEvery == 0 && !quiet {
			p.setLine(fmt.Sprintf("checking history: %d of %s", done, countNoun(all, "commit")))
		}
	}})
	p.clearLine()
	if err != nil {
		return fmt.Errorf("check %s: %w", spec, err)
	}
	proved := newHistoryResult(report)
	err = printProof(env, proved, format)
	if format != asJSON && !quiet {
		tellProof(env, report, explain)
	}
	if err == nil && explain {
		err = printExplained(env, report)
	}
	return orFault(err, proved.Status != "OK")
}

// boardEnd returns where all of history ends: the board branch, into which a target
// is merged too, or HEAD where odd.toml names none. A clone of one branch may have the
// board only as its remote's.
func boardEnd(env Env) (string, error) {
	_, cfg, err := findConfig(env.Dir)
	if err != nil || cfg.Branch == "" {
		return "HEAD", err
	}
	end := "refs/heads/" + cfg.Branch
	if r, err := repo.Open(env.Dir, env.Environ); err == nil {
		remote := "refs/remotes/" + or(cfg.Remote, "origin") + "/" + cfg.Branch
		if _, none := r.Ref(end); errors.Is(none, repo.ErrNoRef) {
			if _, err := r.Ref(remote); err == nil {
				return remote, nil
			}
			return "", refuse("branch", "check: this clone has no branch %s, which [board] branch names; run git fetch %s %[1]s:%[1]s", cfg.Branch, or(cfg.Remote, "origin"))
		}
	}
	return end, nil
}

// tellEvery is how many commits pass between two words of progress: about half a second.
const tellEvery = 500

// checkGC is the percentage of garbage at which a check of history collects it. What it keeps is small, and the ledgers
// that it reads one after the other are large.
const checkGC = 400

type historyResult struct {
	Status string `json:"status"` // OK or FINDINGS, as the exit code has it
	verify.Report
}

func newHistoryResult(report verify.Report) historyResult {
	return historyResult{statusOf(len(report.Findings)), report}
}

// historyHere opens the repository whose history is to be judged, and refuses where
// there is none, or not all of it.
func historyHere(env Env) (*repo.Repo, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) {
		return nil, refuse("no-repository", "%s: not a git repository, so there is no history; odd check without --range and --all checks files alone", env.Dir)
	}
	if err == nil {
		err = checkObjectFormat(r)
	}
	if err == nil && r.Shallow() {
		return nil, refuse("shallow", "this clone is shallow, so part of its history is missing; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	return r, err
}

// resolveRange resolves the two ends of A..B. A missing B is HEAD. An A of zeros, which
// is what a forge calls the state before a branch's first push, is the beginning.
func resolveRange(ctx context.Context, r *repo.Repo, verb, spec string) (from, to repo.OID, err error) {
	a, b, ok := strings.Cut(spec, "..")
	if !ok || a == "" || strings.HasPrefix(b, ".") {
		return "", "", usage("%s: %q; write the range as A..B", verb, spec)
	}
	if strings.Trim(a, "0") != "" {
		from, err = r.Resolve(ctx, a)
	}
	if err == nil {
		to, err = r.Resolve(ctx, or(b, "HEAD"))
	}
	if err != nil {
		return "", "", fmt.Errorf("%s: %w", verb, err)
	}
	return from, to, nil
}

// printProof prints the findings, one line each, or as code scanning and forges read them.
func printProof(env Env, report historyResult, format string) error {
	if format != asText {
		var found []reportFinding
		for _, f := range report.Findings {
			at := reportFinding{rule: rules.RuleOf(f.Invariant), severity: okf.Error, file: f.Path, line: f.Line, text: f.Text() + " (commit " + string(f.Commit) + ")"}
			found = append(found, at)
		}
		for _, k := range report.Known {
			found = append(found, reportFinding{rule: rules.RuleOf(k.Invariant), severity: okf.Info, file: k.Path, line: k.Line, text: fmt.Sprintf("acknowledged by %s, %s: %s (commit %s)", k.By, k.Reason, k.Message, k.Commit)})
		}
		return printFound(env, format, report, proofRules(), found)
	}
	var lines []string
	for _, f := range report.Findings {
		lines = append(lines, f.String())
	}
	for _, k := range report.Known {
		lines = append(lines, fmt.Sprintf("acknowledged by %s at %s, %s: %s:%d: %s [invariant %d, %s]", k.By, k.Gate, k.Reason, k.Path, k.Line, k.Message, k.Invariant, shortID(k.Commit)))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(env.Stdout, strings.ReplaceAll(okf.Visible(line), "\n", " ")); err != nil {
			return err
		}
	}
	return nil
}

func proofRules() []okf.Code {
	var out []okf.Code
	for _, r := range rules.Table() {
		out = append(out, okf.Code{Name: r.Rule(), Severity: okf.Error, About: fmt.Sprintf("%d %s: %s", r.N, r.Name, r.Compares)})
	}
	return out
}

// tellProof says how much was judged, and how to see the rest.
func tellProof(env Env, report verify.Report, explained bool) {
	known := ""
	if n := len(report.Known); n > 0 {
		known = fmt.Sprintf(", %d acknowledged", n)
	}
	talk(env, "checked %s, %d of them by odd or an agent: %s%s", countNoun(report.Commits, "commit"), report.Machines, countNoun(len(report.Findings), "finding"), known)
	if !explained {
		talk(env, "--explain shows what each check read and recomputed, and everything that git cannot prove; odd check alone checks the files")
	}
}

// printExplained prints for each invariant what was read and recomputed, and what git cannot
// prove, in lines that fit.
func printExplained(env Env, report verify.Report) error {
	var b strings.Builder
	for i, row := range report.Rows {
		head := strings.Repeat("\n", min(i, 1)) + layout.Fold(fmt.Sprintf("%d %s", row.N, row.Promise), env.terminalWidth())
		fmt.Fprintf(&b, "%s\n%s checked: %d\n", head, row.Unit, row.Checked)
		for _, part := range []string{"read: " + row.Reads, "recomputed: " + row.Compares, "not provable from git: " + row.Attested} {
			b.WriteString(layout.Fold("  "+part, env.terminalWidth()) + "\n")
		}
	}
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}
