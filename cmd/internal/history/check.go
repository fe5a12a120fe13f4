// Package history has the verbs about what was committed: check judges files and commits, hook has
// git call check before a push, log lists what happened, and explain says what a code means.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/report"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/canon"
	"github.com/odd-cli/odd/okf/disk"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

// CheckVerb declares odd check.
func CheckVerb(env console.Env) *cli.Command {
	return verb.New("check [DIR]", "validate the atoms of a bundle, or the history of the board",
		"odd check\n"+
			"odd check knowledge --strict --now 2026-03-02T09:00:00Z\n"+
			"odd check --canon\n"+
			"odd check --range HEAD~1..HEAD\n"+
			"odd check --all\n\n"+
			"Without --range and --all, odd checks the atoms. Exit 1 means an error; with\n"+
			"--strict, a warning too. Notes never fail. Of more than 20 findings with one\n"+
			"code, the text shows five; --json and --github list every one.\n"+
			"--okf checks only OKF v0.2, the file format of atoms: codes that begin with\n"+
			"okf-. --canon checks reference documents instead: files with a `uri`, or in a\n"+
			"folder named canon.\n\n"+
			"Sources that have `blob` or `text` are compared with the repository's files. A\n"+
			"file that is gone, or no longer has the cited text, is a warning.\n\n"+
			"--range and --all check commits against 16 rules, called invariants: for\n"+
			"example, only a person approves, and ledgers are append-only. Exit 1 means a\n"+
			"finding: PATH:LINE: what is wrong; what to do [invariant N, COMMIT]. Stderr\n"+
			"says how much each rule judged, and what git alone cannot prove. Findings with\n"+
			"one cause, such as a rebase, are one; \"also\" in --json lists the others.\n"+
			"A.. means A..HEAD; an A of 40 zeros means from the first commit.\n\n"+
			"A commit counts as an agent's if its author or committer has the [agent]\n"+
			"address of odd.toml, or if it has an Odd-Run trailer. Otherwise it counts as a\n"+
			"person's. git does not prove names; [governance] require_signed makes\n"+
			"signatures a must.\n\n"+
			checkShapes,
		verb.Do(env, runCheck), append(report.Flags(),
			&cli.BoolFlag{Name: "strict", Usage: "treat warnings as errors, so that any of them fails"},
			&cli.BoolFlag{Name: "okf", Usage: "check only OKF v0.2, the file format of atoms, not odd's own rules"},
			&cli.BoolFlag{Name: "canon", Usage: "check reference documents (canon) instead: required keys, references, replacements"},
			&cli.BoolFlag{Name: "notes", Usage: "list notes too (--json always does)"},
			verb.AtFlag(),
			&cli.StringFlag{Name: "now", Usage: "use `TIME`, as 2026-03-02T09:00:00Z, to decide what is stale (default: now)"},
			&cli.StringFlag{Name: "range", Usage: "check the history rules (invariants) on the commits in `A..B` instead"},
			&cli.BoolFlag{Name: "all", Usage: "check the history rules on the whole history of the board"},
			&cli.BoolFlag{Name: "quiet", Usage: "with --range or --all, print only findings"},
			&cli.BoolFlag{Name: "explain", Usage: "print what each history rule read and recomputed; implies --all without --range"},
		)...)
}

// checkShapes tells what --json prints, a list of keys a line.
const checkShapes = "--json prints one object, and no list in it is null:\n" +
	"  of a bundle   status conformant atoms errors warnings notes findings\n" +
	"    findings    code severity path line message fix\n" +
	"  of --canon    status scanned documents errors warnings references findings\n" +
	"    references  found external placeholder prose dead allowed\n" +
	"    findings    rule_id severity location occurrence message\n" +
	"    location    path line\n" +
	"  of history    status commits machines rows findings acknowledged\n" +
	"    rows        invariant name evidence recomputed attested fix unit checked\n" +
	"    findings    invariant commit path line message fix also\n" +
	"status is OK with exit 0, FINDINGS with exit 1. fix says what to do."

type checkOptions struct {
	src           workspace.Source
	strict, notes bool
	okf           bool // conformance alone
	format        string
	now           time.Time
}

func readCheck(c *cli.Context, env console.Env) (checkOptions, error) {
	o := checkOptions{src: workspace.Source{Dir: c.Args().First(), Rev: c.String("at")}, strict: c.Bool("strict"), notes: c.Bool("notes"), okf: c.Bool("okf"), now: env.Now()}
	if c.Bool("quiet") {
		return o, verb.Usage("check: --quiet is about history; give it with --range or --all")
	}
	for _, flag := range []string{"notes", "now", "okf"} {
		if c.Bool("canon") && c.IsSet(flag) {
			return o, verb.Usage("check: --%s is about a bundle's atoms; leave it out with --canon", flag)
		}
	}
	var err error
	if s := c.String("now"); s != "" {
		if o.now, err = time.Parse(time.RFC3339, s); err != nil {
			return o, verb.Usage("check: --now %q; write it as 2026-03-02T09:00:00Z", s)
		}
	}
	o.format, err = report.Format(c)
	return o, err
}

type checkReport struct {
	Status     string        `json:"status"` // OK or FINDINGS, as the exit code has it
	Conformant bool          `json:"conformant"`
	Atoms      int           `json:"atoms"`
	Errors     int           `json:"errors"`
	Warnings   int           `json:"warnings"`
	Notes      int           `json:"notes"`
	Findings   []okf.Problem `json:"findings"`
}

func runCheck(c *cli.Context, env console.Env) error {
	if spec := c.String("range"); spec != "" || c.Bool("all") || c.Bool("explain") {
		return checkHistory(c, env, spec)
	}
	o, err := readCheck(c, env)
	if err != nil {
		return err
	}
	if c.Bool("canon") {
		return runCheckCanon(c.Context, env, o)
	}
	b, err := o.src.Load(c.Context, env)
	if err != nil {
		return err
	}
	found, err := findProblems(c.Context, b, env, o)
	if err != nil {
		return err
	}
	r := checkResult(b.Graph, found)
	if b.Graph.Len() == 0 && r.Status == "OK" && b.Rev == "" && (b.Named || b.Top == "") {
		return verb.Refuse("no-atoms", "check: %s: no atom is here (markdown file with a type); name the folder of the atoms, or run odd init", b.Root)
	}
	err = report.Print(env, o.format, r, locateProblems(b, env, r.Findings, o.notes))
	if o.format != report.JSON {
		console.Talk(env, "%s", r.summaryLine(o.notes))
		if b.Top == "" && !b.Named && b.Rev == "" && r.Status != "OK" {
			console.Talk(env, "there is no odd.toml here, so each file of this folder was checked as an atom; name the folder of the atoms, or run odd init")
		}
	}
	return verb.OrFault(err, r.Status != "OK")
}

// findProblems returns every finding about the bundle, in order of place.
func findProblems(ctx context.Context, b workspace.Bundle, env console.Env, o checkOptions) ([]okf.Problem, error) {
	found := slices.Concat(b.Problems, okf.Check(b.Graph, o.now), board.CheckTasks(b.Graph), board.CheckPreferences(b.Graph), contract.Check(b.Graph, contract.LoadRoster(b.Graph)), handoff.Unreadable(b.Graph))
	if !o.okf {
		more, err := compareFiles(ctx, b)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	if o.src == (workspace.Source{}) {
		found = append(found, board.CheckTeams(b.Graph, b.Config.Budget.Teams)...)
		if b.Top != "" {
			merging, err := checkMerges(ctx, b, env)
			if err != nil {
				return nil, err
			}
			found = append(found, merging...)
		}
	}
	slices.SortStableFunc(found, func(a, b okf.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), strings.Compare(a.Code, b.Code))
	})
	if o.okf {
		found = slices.DeleteFunc(found, func(p okf.Problem) bool { return !p.OfOKF() })
	}
	if o.strict {
		found = okf.Strict(found)
	}
	return found, nil
}

func checkResult(g *okf.Graph, found []okf.Problem) checkReport {
	r := checkReport{Conformant: okf.Conformant(found), Atoms: g.Len(), Findings: console.OrEmpty(found)}
	for _, p := range found {
		switch p.Severity {
		case okf.Error:
			r.Errors++
		case okf.Warn:
			r.Warnings++
		default:
			r.Notes++
		}
	}
	r.Status = report.Status(r.Errors)
	return r
}

// locateProblems gives problems the shape of a report; notes says whether notes are in it.
func locateProblems(b workspace.Bundle, env console.Env, ps []okf.Problem, notes bool) []report.Finding {
	var out []report.Finding
	for _, p := range ps {
		if p.Severity == okf.Info && !notes {
			continue
		}
		f := report.Finding{Rule: p.Code, Severity: p.Severity, File: b.TrackedPath(p.Path), Line: p.Line, Place: b.ShownPlace(env, p.Path, p.Line), Text: p.Message}
		if p.Hint != "" {
			f.Text += "; " + p.Hint
		}
		out = append(out, f)
	}
	return out
}

func (r checkReport) summaryLine(notes bool) string {
	parts := []string{console.CountNoun(r.Atoms, "atom"), console.CountNoun(r.Errors, "error"), console.CountNoun(r.Warnings, "warning")}
	if r.Notes > 0 {
		n := console.CountNoun(r.Notes, "note")
		if !notes {
			n += " (--notes lists them)"
		}
		parts = append(parts, n)
	}
	verdict := "OKF v0.2"
	if !r.Conformant {
		verdict = "not OKF v0.2"
	}
	return strings.Join(parts, ", ") + ": " + verdict
}

// compareFiles compares the bundle with the files of its repository: those that its sources
// name, and the listings of the folders where odd.toml names the bundle. Outside a
// repository there is nothing to compare with.
func compareFiles(ctx context.Context, b workspace.Bundle) ([]okf.Problem, error) {
	f := b.OpenRepoFiles(ctx)
	if f.Files == nil {
		return nil, nil
	}
	found := okf.CheckSources(b.Graph, f.Files, f.List)
	if b.Prefix != "" {
		own := fs.FS(disk.Dir(b.Root))
		if b.Rev != "" {
			var err error
			if own, err = fs.Sub(f.Files, b.Prefix); err != nil {
				return nil, err
			}
		}
		found = append(found, okf.CheckIndex(own, b.Graph)...)
	}
	return found, f.Err
}

func runCheckCanon(ctx context.Context, env console.Env, o checkOptions) error {
	l, b, err := atoms.ReadCanon(ctx, o.src, env)
	if err != nil {
		return err
	}
	r := l.Check()
	if o.strict {
		r = r.Strict()
	}
	r.Findings = console.OrEmpty(r.Findings)
	err = report.Print(env, o.format, r, locateCanon(b, env, r.Findings))
	if o.format != report.JSON {
		console.Talk(env, "%s, %s of canon, %s, %s", console.CountNoun(r.Scanned, "file"), console.CountNoun(r.Documents, "document"), console.CountNoun(r.Errors, "error"), console.CountNoun(r.Warnings, "warning"))
		n := r.References
		console.Talk(env, "references: %d found, %d dead, %d of another authority, %d patterns, %d phrases, %d allowed", n.Found, n.Dead, n.External, n.Placeholder, n.Prose, n.Allowed)
	}
	return verb.OrFault(err, r.Status != "OK")
}

func locateCanon(b workspace.Bundle, env console.Env, found []canon.Finding) []report.Finding {
	var out []report.Finding
	for _, f := range found {
		at := f.Location
		out = append(out, report.Finding{Rule: f.RuleID, Severity: f.Severity, File: b.TrackedPath(at.Path), Line: at.Line, Place: b.ShownPlace(env, at.Path, at.Line), Text: f.Message})
	}
	return out
}

// twoHands are the files of a bundle that two people write, besides its atoms. A run's
// are its own; where they were merged all the same, git's index or their reader tells.
var twoHands = []string{"pause.toml", "governance/*", "proposals/*.jsonl"}

// checkMerges returns findings about merges in the work tree that odd.toml lies in: files
// that one left unfinished, and what git should know for the next.
func checkMerges(ctx context.Context, b workspace.Bundle, env console.Env) ([]okf.Problem, error) {
	r, err := repo.Open(b.Top, env.Environ)
	if err != nil || r.Root() == "" {
		return nil, nil // nothing is merged there
	}
	folder, in := workspace.PathBelow(r, b.Top)
	lies, bundled := workspace.PathBelow(r, b.Root)
	if !in || !bundled {
		return halfMerged(b, nil), nil // a link leads to where git merges nothing
	}
	out := halfMerged(b, namesBelow(lies, r.Unmerged(ctx)))
	lines, err := MissingUnions(ctx, r, lies)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		out = append(out, okf.Problem{Code: "odd-merge-union", Severity: okf.Info, Path: "./" + workspace.AttributesFile, Line: 1,
			Message: "lacks the line " + line + ": two clones that both add there conflict when they are merged",
			Hint:    "add it; odd init writes the file where there is none"})
	}
	converted, err := FindConverted(ctx, r, lies)
	for _, c := range converted {
		p := okf.Problem{Code: "odd-converted", Severity: okf.Warn, Path: workspace.AttributesFile, Line: 1, Message: c.Error(), Hint: "until then odd refuses to write such files"}
		if c.File != "" {
			p.Path, p.Line = seenFrom(r, folder, lies, c.File), c.Line
			p.Message = strings.TrimPrefix(p.Message, fmt.Sprintf("%s:%d: ", c.File, c.Line))
		}
		out = append(out, p)
	}
	return out, err
}

// seenFrom returns where a file is from the bundle that lies in a folder of r's work tree, for
// a finding. folder is the one of odd.toml, whose own file is named as it is from there.
func seenFrom(r *repo.Repo, folder, lies, file string) string {
	if path.Join(folder, workspace.AttributesFile) == file {
		return workspace.AttributesFile
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.Root(), filepath.FromSlash(file))
	}
	rel, err := filepath.Rel(filepath.Join(r.Root(), filepath.FromSlash(lies)), file)
	if err != nil {
		return filepath.ToSlash(file) // on another drive
	}
	if rel == workspace.AttributesFile {
		return "./" + rel // of the bundle itself, not the one beside odd.toml
	}
	return filepath.ToSlash(rel)
}

// FindConverted returns the git attributes that would change the bytes of what odd writes.
// Each is named once.
func FindConverted(ctx context.Context, r *repo.Repo, root string) (out []repo.Converted, err error) {
	head, err := r.Ref("HEAD")
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return nil, err
	}
	ch := repo.Changes{}
	for _, name := range []string{"tasks/a.md", "journal/a.tsv", "ledger/a/a.jsonl", "proposals/a.jsonl", "governance/gates.jsonl", "pause.toml"} {
		ch[path.Join(root, name)] = []byte{'\n'}
	}
	all, err := r.Converted(ctx, head, ch)
	said := map[string]bool{}
	for _, c := range all {
		if by := fmt.Sprint(c.File, c.Line, c.Has); !said[by] {
			said[by] = true
			out = append(out, c)
		}
	}
	return out, err
}

// namesBelow returns the files that lie below a folder, as they are named from there.
func namesBelow(folder string, files []string) []string {
	var out []string
	for _, name := range files {
		if rel, in := strings.CutPrefix(name, folder+"/"); in || folder == "." {
			out = append(out, rel)
		}
	}
	return out
}

const conflictCode = "odd-conflict"

// halfMerged returns the files of the bundle that git's index has in conflict, and those with
// git's marks in them, but for what the bundle's own problems tell.
func halfMerged(b workspace.Bundle, conflicts []string) []okf.Problem {
	var out []okf.Problem
	seen := map[string]bool{}
	for _, p := range b.Problems {
		seen[p.Path] = seen[p.Path] || p.Code == conflictCode
	}
	files := disk.Dir(b.Root)
	add := func(file string, certain bool) {
		p := &okf.Problem{Code: conflictCode, Severity: okf.Error, Line: 1, Message: "a merge is not finished", Hint: "mend the conflict, git add it and git commit; git status says how to undo it instead"}
		_ = files.ReadMany([]string{file}, func(_ string, text []byte) error { // no link, no pipe, nothing too large
			if marked := okf.Conflict(text); marked != nil {
				p, certain = marked, true
			}
			return nil
		})
		if p.Path = file; certain && !seen[file] {
			seen[file] = true
			out = append(out, *p)
		}
	}
	for _, pattern := range twoHands {
		names, _ := fs.Glob(files, pattern)
		for _, name := range names {
			add(name, false)
		}
	}
	for _, name := range conflicts {
		add(name, true)
	}
	return out
}

// MissingUnions returns the lines that the .gitattributes of the bundle at root lacks, without
// which two clones that add to one file conflict.
func MissingUnions(ctx context.Context, r *repo.Repo, root string) ([]string, error) {
	lines := []string{"journal/*.tsv merge=union", "index.md merge=union"}
	sample := []string{path.Join(root, "journal/a.tsv"), path.Join(root, "terms/index.md")}
	var out []string
	union, err := r.MergesByUnion(ctx, sample...)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		if !union[i] {
			out = append(out, line)
		}
	}
	return out, nil
}
