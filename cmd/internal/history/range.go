package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/cmd/internal/report"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkHistory re-proves the invariants over the commits that --range names, or all. What was judged
// and what stays attested goes to stderr, unless quiet; the findings, and what --explain asks for, to stdout.
func checkHistory(c *cli.Context, env console.Env, spec string) error {
	if c.NArg() > 0 {
		return verb.Usage("check: unexpected argument %q; see odd help check", c.Args().First())
	}
	for _, flag := range []string{"strict", "notes", "now", "okf", "canon", "at"} {
		if c.IsSet(flag) {
			return verb.Usage("check: --%s is about a bundle, not about history; leave it out with --range and --all", flag)
		}
	}
	if _, err := verb.OneFlag(c, "range", "all"); err != nil {
		return err
	}
	if spec == "" {
		to, err := boardEnd(env)
		if err != nil {
			return err
		}
		spec = "0.." + to
	}
	format, err := report.Format(c)
	if err != nil {
		return err
	}
	r, err := workspace.OpenHistory(env)
	if err != nil {
		return err
	}
	from, to, err := workspace.ResolveRange(c.Context, r, "check", spec)
	if err != nil {
		return err
	}
	p, quiet, explain := console.NewProgress(env), c.Bool("quiet"), c.Bool("explain") && format == report.Text
	defer debug.SetGCPercent(debug.SetGCPercent(checkGC))
	result, err := verify.CheckScope(c.Context, r, verify.Scope{From: from, To: to, Tell: func(done, all int) {
		if done%tellEvery(all, p.Live) == 0 && !quiet {
			p.SetLine(fmt.Sprintf("checking history: %d of %s", done, console.CountNoun(all, "commit")))
		}
	}})
	p.ClearLine()
	if err != nil {
		return fmt.Errorf("check %s: %w", spec, err)
	}
	proved := newHistoryResult(result)
	err = printProof(env, proved, format)
	if format != report.JSON && !quiet {
		tellProof(env, result, explain)
	}
	if err == nil && explain {
		err = printExplained(env, result)
	}
	return verb.OrFault(err, proved.Status != "OK")
}

// boardEnd returns where all of history ends: the board branch, into which a target
// is merged too, or HEAD where odd.toml names none. A clone of one branch may have the
// board only as its remote's.
func boardEnd(env console.Env) (string, error) {
	_, cfg, err := workspace.FindConfig(env.Dir)
	if err != nil || cfg.Branch == "" {
		return "HEAD", err
	}
	end := "refs/heads/" + cfg.Branch
	if r, err := repo.Open(env.Dir, env.Environ); err == nil {
		remote := "refs/remotes/" + cmp.Or(cfg.Remote, "origin") + "/" + cfg.Branch
		if _, none := r.Ref(end); errors.Is(none, repo.ErrNoRef) {
			if _, err := r.Ref(remote); err == nil {
				return remote, nil
			}
			return "", verb.Refuse("branch", "check: this clone has no branch %s, which [board] branch names; run git fetch %s %[1]s:%[1]s", cfg.Branch, cmp.Or(cfg.Remote, "origin"))
		}
	}
	return end, nil
}

// tellEvery returns how many commits pass between two words of progress: about half a second's on a line that is
// rewritten, and elsewhere so many that there are ten lines at most.
func tellEvery(all int, live bool) int {
	const few = 500
	if live {
		return few
	}
	return max(few, (all+9)/10)
}

// checkGC is the percentage of garbage at which a check of history collects it. What it keeps is small, and the ledgers
// that it reads one after the other are large.
const checkGC = 400

type historyResult struct {
	Status string `json:"status"` // OK or FINDINGS, as the exit code has it
	verify.Report
}

func newHistoryResult(result verify.Report) historyResult {
	return historyResult{report.Status(len(result.Findings)), result}
}

// printProof prints the findings, one line each, or as code scanning and forges read them.
func printProof(env console.Env, result historyResult, format string) error {
	if format != report.Text {
		var found []report.Finding
		for _, f := range result.Findings {
			at := report.Finding{Rule: rules.RuleOf(f.Invariant), Severity: okf.Error, File: f.Path, Line: f.Line, Text: f.Text() + " (commit " + string(f.Commit) + ")"}
			found = append(found, at)
		}
		for _, k := range result.Known {
			found = append(found, report.Finding{Rule: rules.RuleOf(k.Invariant), Severity: okf.Info, File: k.Path, Line: k.Line, Text: fmt.Sprintf("acknowledged by %s, %s: %s (commit %s)", k.By, k.Reason, k.Message, k.Commit)})
		}
		return report.Print(env, format, result, found)
	}
	out, lines := console.FoldedOutput(env), []string(nil)
	for _, f := range result.Findings {
		lines = append(lines, f.String())
	}
	for _, k := range result.Known {
		lines = append(lines, fmt.Sprintf("acknowledged by %s at %s, %s: %s:%d: %s [invariant %d, %s]", k.By, k.Gate, k.Reason, k.Path, k.Line, k.Message, k.Invariant, console.ShortID(k.Commit)))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, strings.ReplaceAll(okf.Visible(line), "\n", " ")); err != nil {
			return err
		}
	}
	return nil
}

// tellMend says what a person can do about findings, of which there may be none.
func tellMend(env console.Env, found []rules.Finding) {
	if len(found) > 0 {
		console.Talk(env, "a finding stays as long as its commit: mend what it did, then record it as known with odd gate evaluation --acknowledge %s:%d --reason WHY", console.ShortID(found[0].Commit), found[0].Invariant)
	}
}

// tellProof says how much was judged, and how to see the rest.
func tellProof(env console.Env, result verify.Report, explained bool) {
	known := ""
	if n := len(result.Known); n > 0 {
		known = fmt.Sprintf(", %d acknowledged", n)
	}
	console.Talk(env, "checked %s, %d of them by odd or an agent: %s%s", console.CountNoun(result.Commits, "commit"), result.Machines, console.CountNoun(len(result.Findings), "finding"), known)
	tellMend(env, result.Findings)
	if !explained {
		console.Talk(env, "--explain shows what each check read and recomputed, and everything that git cannot prove; odd check alone checks the files")
	}
}

// printExplained prints for each invariant what was read and recomputed, and what git cannot
// prove, in lines that fit.
func printExplained(env console.Env, result verify.Report) error {
	var b strings.Builder
	for i, row := range result.Rows {
		head := strings.Repeat("\n", min(i, 1)) + layout.Fold(fmt.Sprintf("%d %s", row.N, row.Promise), env.TerminalWidth())
		fmt.Fprintf(&b, "%s\n%s checked: %d\n", head, row.Unit, row.Checked)
		for _, part := range []string{"read: " + row.Reads, "recomputed: " + row.Compares, "not provable from git: " + row.Attested} {
			b.WriteString(layout.Fold("  "+part, env.TerminalWidth()) + "\n")
		}
	}
	_, err := io.WriteString(env.Stdout, b.String())
	return err
}
