package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/audit"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// auditRun is a change, and what it is judged by.
type auditRun struct {
	repo     *repo.Repo
	from, to repo.OID
	base     fs.FS // the files where the change begins
	head     fs.FS // and where it ends
	cfg      config.Config
	rules    audit.Rules
	change   audit.Change
	claims   handoff.Handoff
	contract contract.Contract
	cut      int    // bytes of the patch that no brief holds
	run      string // of the record, "" off it
}

// openAudit reads the change, and the rules that held before it.
func openAudit(ctx context.Context, env Env, o auditOptions) (*auditRun, error) {
	r, err := repo.Open(env.Dir, env.Environ)
	if errors.Is(err, repo.ErrNotRepo) {
		return nil, refuse("no-repository", "%s: not a git repository; a change is two commits of one", env.Dir)
	}
	if err != nil {
		return nil, err
	}
	if r.Shallow() {
		return nil, refuse("shallow", "this clone is shallow, so nobody can say where a change begins; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	a := &auditRun{repo: r}
	if a.from, a.to, err = resolveChange(ctx, r, o.spec); err != nil {
		return nil, err
	}
	if a.base, err = r.Tree(a.from); err != nil {
		return nil, err
	}
	if a.head, err = r.Tree(a.to); err != nil {
		return nil, err
	}
	if err := a.readRules(env); err != nil {
		return nil, err
	}
	return a, a.readChanges(ctx)
}

func (a *auditRun) readRules(env Env) error {
	b, err := fs.ReadFile(a.base, "odd.toml")
	if errors.Is(err, fs.ErrNotExist) {
		return refuse("no-config", "odd.toml: not in %s, where the change begins; a change is judged by the rules before it", a.from)
	}
	if err != nil {
		return err
	}
	if a.cfg, err = config.Parse("odd.toml", b); err != nil {
		return fmt.Errorf("%s: %w", a.from, err)
	}
	tree, err := a.repo.TreeOID(a.from, a.cfg.Root)
	if err != nil {
		return err
	}
	if tree == "" {
		return refuse("no-bundle", "%s: no such folder in %s, where the change begins", a.cfg.Root, a.from)
	}
	bundle, err := fs.Sub(a.base, a.cfg.Root)
	if err != nil {
		return err
	}
	g, _, err := loadTree(env, a.repo, bundle)
	a.rules = audit.Rules{Graph: g, Root: a.cfg.Root}
	return err
}

// readChanges reads what differs, as files, as a patch and as commits, without odd's
// own records.
func (a *auditRun) readChanges(ctx context.Context) error {
	a.change = audit.Change{Base: string(a.from), Head: string(a.to)}
	diff, err := a.repo.Diff(ctx, a.from, a.to)
	if err != nil {
		return err
	}
	var own []string
	for _, c := range diff {
		if a.isOwnRecord(c) {
			own = append(own, c.Path)
			continue
		}
		a.change.Files = append(a.change.Files, audit.File{Path: c.Path, Blob: string(c.New)})
	}
	a.change.Records = len(own)
	for c, err := range a.repo.Log(ctx, a.from, a.to) {
		if err != nil {
			return err
		}
		only, err := a.recordsOnly(ctx, c)
		if err != nil {
			return err
		}
		if !only {
			a.change.Commits = append(a.change.Commits, audit.Commit{ID: string(c.OID), Message: c.Message})
		}
	}
	slices.Reverse(a.change.Commits)
	a.change.Patch, err = a.repo.PatchWithout(ctx, a.from, a.to, own)
	return err
}

// isOwnRecord reports a file of odd's own records, an ordinary one on both sides.
func (a *auditRun) isOwnRecord(c repo.Change) bool {
	for _, mode := range []string{c.OldMode, c.NewMode} {
		if mode != "" && mode != "100644" {
			return false
		}
	}
	from, at := a.head, c.Path
	if c.New == "" {
		from = a.base
	}
	b, err := fs.ReadFile(from, at)
	return err == nil && a.rules.Own(at, b)
}

// recordsOnly reports a commit that changes odd's own records and nothing else:
// what it says is a run's account and no claim of the change.
func (a *auditRun) recordsOnly(ctx context.Context, c repo.Commit) (bool, error) {
	if a.change.Records == 0 || len(c.Parents) != 1 {
		return false, nil
	}
	diff, err := a.repo.Diff(ctx, c.Parents[0], c.OID)
	return len(diff) > 0 && !slices.ContainsFunc(diff, func(c repo.Change) bool { return !a.isOwnRecord(c) }), err
}

func (a *auditRun) runOffRecord(ctx context.Context, env Env) (drain.Spoken, error) {
	sub, err := a.newSubstrate(env)
	if err != nil {
		return drain.Spoken{}, err
	}
	cfg, given := a.cfg.Session, a.givenToSession()
	in := invoke.Input{
		Run: "an audit off the record", Contract: a.contract, Prompts: given.Prompts, Canon: given.Canon, Artifacts: given.Artifacts,
		Handoffs: []handoff.Handoff{a.claims}, Limits: invoke.Limits{Turns: cfg.MaxTurns, Timeout: cfg.Timeout, Cap: cfg.Cap},
	}
	req := session.Request{
		Run: "audit", Task: "audit", Files: given.Files, Graph: given.Rules, BundleRoot: a.cfg.Root, By: "odd/" + oddVersion(), Now: env.Now().UTC(),
		MaxTurns: cfg.MaxTurns, MaxAtoms: cfg.MaxAtoms, Timeout: cfg.Timeout, Progress: func(string) {},
	}
	res, err := invoke.Run(ctx, invoke.Session{Contract: a.contract, Brief: invoke.Compose(in), Request: req, Substrate: sub})
	return drain.Spoke(a.contract, res), err
}

func (a *auditRun) newSubstrate(env Env) (session.Substrate, error) {
	held, err := drain.Caged(env.Cage, a.cfg.Sandbox, a.repo.CommonDir())
	if err != nil {
		return nil, err
	}
	return drain.Substrate(a.cfg, a.base, a.repo.Root(), env.Environ, held)
}

func (a *auditRun) givenToSession() *drain.Given {
	g := &drain.Given{Rules: a.rules.Graph, Claims: a.claims, Canon: a.rules.Canon(), Prompts: a.rules.Prompts(a.contract), Files: a.head}
	g.Artifacts, a.cut = a.change.Artifacts()
	return g
}

// runOnRecord runs the session on record: under the lock and the budget of the board,
// with its claims, its findings and what it cost in the board's history. What
// runs is what odd.toml named where the change begins; the board pays for it.
func (a *auditRun) runOnRecord(ctx context.Context, env Env, o auditOptions) (drain.Spoken, error) {
	w, opts, p, err := openDrain(ctx, env)
	if err != nil {
		return drain.Spoken{}, err
	}
	opts.Call, opts.Invoked, a.run = a.newCall(o), true, opts.Run
	opts.Substrate = func(cfg config.Config, _ fs.FS) (session.Substrate, error) {
		if cfg.Session.Substrate != a.cfg.Session.Substrate || cfg.Free() != a.cfg.Free() {
			return nil, refuse("config-moved", "the board's odd.toml names another substrate than the change begins with (%s, %s); audit from a later commit", cfg.Session.Substrate, a.cfg.Session.Substrate)
		}
		return a.newSubstrate(env)
	}
	report, err := drain.Invoke(ctx, w.repo, opts, drain.Invocation{Title: "audit of " + a.change.Name(), Given: a.givenToSession()})
	p.clearLine()
	if err == nil && len(report.Said) != 1 {
		err = fmt.Errorf("audit: run %s came to %s", report.Run, countNoun(len(report.Said), "session"))
	}
	if err != nil {
		return drain.Spoken{}, err
	}
	return report.Said[0], nil
}
