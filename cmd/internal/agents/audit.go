package agents

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/report"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/audit"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

func auditVerb(env console.Env) *cli.Command {
	return verb.New("audit BASE..HEAD", "let an agent review a range of commits; exit 1 for blockers",
		"odd agent audit origin/main..HEAD --persona audit-reviewer\n"+
			"odd agent audit main.. --claims pull-request.md\n\n"+
			"The agent reviews what HEAD changed since it left BASE. odd takes the persona,\n"+
			"the prompts and odd.toml from the commit where it left, so that a change\n"+
			"cannot change its own reviewer. Exit 1: a blocker that nobody accepted, or no\n"+
			"findings because the session failed. odd leaves out the journal, ledger,\n"+
			"handoffs and proposals of the bundle; odd check --range checks those.",
		verb.Do(env, runAudit), append(report.Flags(),
			&cli.StringFlag{Name: "persona", Value: "audit-reviewer", Usage: "let the agent review as persona `PROFILE`: NAME or NAME@VERSION"},
			&cli.StringFlag{Name: "claims", Usage: "check the claims in `FILE`, a handoff or a description (default: the commit messages)"},
			&cli.BoolFlag{Name: "strict", Usage: "also exit 1 where a person has to decide: accepted blockers, findings that need a new plan, a change too long to be shown whole"},
			&cli.BoolFlag{Name: "no-record", Usage: "write no record; only for an agent that costs no money"},
		)...)
}

type auditOptions struct {
	spec, persona, claims, format string
	strict, dry                   bool
}

func runAudit(c *cli.Context, env console.Env) error {
	o := auditOptions{spec: c.Args().First(), persona: c.String("persona"), claims: c.String("claims"), strict: c.Bool("strict"), dry: c.Bool("no-record")}
	var err error
	if o.format, err = report.Format(c); err != nil {
		return err
	}
	if env.Getenv("ODD_RUN") != "" {
		return verb.Refuse("in-session", "audit: a session does not spawn another; hand over instead")
	}
	a, err := openAudit(c.Context, env, o)
	if err != nil {
		return err
	}
	if told := a.change.LeftOut(); told != "" {
		console.Talk(env, "%s: %s", o.spec, told)
	}
	if len(a.change.Files) == 0 {
		console.Talk(env, "%s: nothing to audit", o.spec)
		return printAudit(env, o, auditReport{Range: o.spec, Records: a.change.Records, Findings: []audit.Judged{}})
	}
	if err := a.resolveContract(env, o); err != nil {
		return err
	}
	var said drain.Spoken
	switch {
	case !o.dry:
		said, err = a.runOnRecord(c.Context, env, o)
	case !a.cfg.Free():
		return verb.Refuse("unrecorded-money", "audit --no-record: substrate %q can cost money, and nothing would say how much; leave --no-record out", a.cfg.Session.Substrate)
	default:
		said, err = a.runOffRecord(c.Context, env)
	}
	if err != nil {
		return err
	}
	r := a.newReport(o, said)
	if err := printAudit(env, o, r); err != nil {
		return err
	}
	return verb.OrFault(nil, r.Verdict == deliver.Fail || o.strict && r.Verdict != deliver.Pass)
}

// resolveContract resolves the session's contract from the profiles of the base, and
// lists every refusal.
func (a *auditRun) resolveContract(env console.Env, o auditOptions) error {
	var err error
	if a.claims, err = a.readClaims(env, o.claims); err != nil {
		return err
	}
	call := a.newCall(o)
	call.Handoffs = []contract.Handoff{a.claims.Handoff}
	c, no := contract.Resolve(call, contract.World{Roster: contract.LoadRoster(a.rules.Graph), Servers: a.cfg.ServerNames()})
	if no = slices.Concat(no, agent.Speechless(a.cfg, contract.Validator), a.refuseSelfJudged()); len(no) > 0 {
		for i, one := range no {
			if one.Code == "unknown-persona" || one.Code == "unknown-version" {
				no[i].Way += "; a profile judges a change only once it has landed before it, on " + string(a.from)
			}
		}
		return no
	}
	a.contract = c
	return nil
}

func (a *auditRun) newCall(o auditOptions) contract.Call {
	return contract.Call{Persona: o.persona, Role: contract.Validator, Surface: contract.Audit, Engagement: contract.Agent, Artifact: a.change.Name()}
}

func (a *auditRun) readClaims(env console.Env, file string) (handoff.Handoff, error) {
	if file == "" {
		return a.change.Messages(), nil
	}
	b, err := console.ReadFile(env, file)
	if err != nil {
		return handoff.Handoff{}, err
	}
	return a.change.Stated(file, b)
}

// refuseSelfJudged refuses a change of the program that would judge it: it would run as
// the change has it.
func (a *auditRun) refuseSelfJudged() contract.Refusals {
	if a.cfg.Session.Substrate != "exec" {
		return nil
	}
	var no contract.Refusals
	for i, arg := range a.cfg.Agent("exec").Argv {
		if !strings.HasPrefix(arg, "./") && (i > 0 || !strings.Contains(arg, "/")) {
			continue
		}
		tool := path.Clean(arg)
		if slices.ContainsFunc(a.change.Files, func(f audit.File) bool {
			return f.Path == tool || path.Dir(tool) != "." && strings.HasPrefix(f.Path, path.Dir(tool)+"/")
		}) {
			no = append(no, contract.Refusal{Code: "self-audit", Message: fmt.Sprintf("the change alters %s or what lies beside it, which would judge it", tool),
				Way: "check out " + string(a.from) + ", or let a person judge this change"})
		}
	}
	return no
}

// resolveChange resolves BASE..HEAD, or BASE...HEAD, to the commit where HEAD left
// BASE, and HEAD.
func resolveChange(ctx context.Context, r *repo.Repo, spec string) (base, head repo.OID, err error) {
	start, head, err := workspace.ResolveRange(ctx, r, "audit "+spec, strings.Replace(spec, "...", "..", 1))
	if err == nil && start != "" {
		base, err = r.MergeBase(ctx, start, head)
	}
	if err == nil && base == "" {
		err = verb.Refuse("unrelated", "audit %s: the two have no commit in common", spec)
	}
	return base, head, err
}

// auditReport is what an audit came to. Its verdict and its counts are computed
// from the findings; a session that did not come to any has failed the change.
type auditReport struct {
	Range    string           `json:"range"`
	Base     string           `json:"base,omitempty"` // where the change begins
	Head     string           `json:"head,omitempty"`
	Persona  string           `json:"persona,omitempty"`
	Run      string           `json:"run,omitempty"`
	Claims   string           `json:"claims,omitempty"` // where they are from
	Files    int              `json:"files"`
	Records  int              `json:"records_left_out"` // files of odd's own records, which are not audited
	Cut      int              `json:"cut"`              // bytes of the change that the session was not shown
	Outcome  string           `json:"outcome,omitempty"`
	Failure  string           `json:"failure,omitempty"`
	Verdict  deliver.Verdict  `json:"verdict,omitempty"`
	Summary  *deliver.Summary `json:"summary,omitempty"`
	Findings []audit.Judged   `json:"findings"`
	Touched  []string         `json:"judged_by_base,omitempty"` // what of the rules the change alters
	Hints    []contract.Hint  `json:"hints,omitempty"`
	Handoff  string           `json:"handoff,omitempty"`
}

func (a *auditRun) newReport(o auditOptions, said drain.Spoken) auditReport {
	r := auditReport{
		Range: o.spec, Base: string(a.from), Head: string(a.to), Run: a.run, Claims: a.claims.Path, Files: len(a.change.Files), Records: a.change.Records, Cut: a.cut,
		Outcome: said.Outcome, Touched: a.rules.Touched(a.change, a.contract), Hints: said.Hints, Handoff: said.Handoff, Findings: []audit.Judged{},
	}
	if p := a.contract.Persona; p != nil {
		r.Persona = p.Ref()
	}
	d := said.Deliverable
	if said.Outcome != string(session.Completed) || d == nil || d.Findings == nil {
		r.Verdict, r.Failure = deliver.Fail, cmp.Or(said.Reason, "the session came to no findings and did not say that there are none")
		return r
	}
	s := deliver.Summarize(d.Findings.Findings)
	r.Summary, r.Verdict = &s, s.Verdict
	if r.Cut > 0 && r.Verdict == deliver.Pass {
		r.Verdict = deliver.NeedsHumanReview
	}
	r.Findings = audit.Locate(d.Findings.Findings, a.change, a.head)
	return r
}

func printAudit(env console.Env, o auditOptions, r auditReport) error {
	if err := report.Print(env, o.format, r, r.locateFindings()); err != nil || r.Verdict == "" {
		return err
	}
	for _, t := range r.Touched {
		console.Talk(env, "judged by the version before the change: %s", t)
	}
	for _, h := range r.Hints {
		console.Talk(env, "hint, %s: %s", h.Detector, h.Message)
	}
	sum := "not judged"
	if r.Summary != nil {
		sum = r.Summary.String()
	}
	console.Talk(env, "%s, %s, claims from %s: %s: %s, %s", r.Range, console.CountNoun(r.Files, "file"), r.Claims, cmp.Or(r.Persona, "a validator"), r.Verdict, sum)
	return nil
}

func (r auditReport) locateFindings() []report.Finding {
	var out []report.Finding
	if r.Failure != "" {
		out = append(out, report.Finding{Rule: "audit-failed", Severity: okf.Error, Place: r.Range, Text: r.Failure})
	}
	if r.Cut > 0 {
		out = append(out, report.Finding{Rule: "audit-unseen", Severity: okf.Warn, Place: r.Range,
			Text: fmt.Sprintf("the session was not shown %d bytes of the change; split it, or look at them", r.Cut)})
	}
	rules := audit.Codes()
	for _, f := range r.Findings {
		l := report.Finding{Rule: "audit-" + string(f.Classification), Severity: okf.Warn, Place: f.Location, Text: describeFinding(f)}
		if i := slices.IndexFunc(rules, func(r okf.Code) bool { return r.Name == l.Rule }); i >= 0 {
			l.Severity = rules[i].Severity
		}
		if f.Disposition == deliver.Accept && l.Severity == okf.Error {
			l.Severity = okf.Warn
		}
		if f.Found {
			l.File, l.Line = f.Path, f.Line
		}
		out = append(out, l)
	}
	return out
}

func describeFinding(f audit.Judged) string {
	text := fmt.Sprintf("%s: %s; seen: %s; disposition: %s", f.ID, f.Claim, f.Evidence, f.Disposition)
	if f.Suggestion != "" {
		text += "; suggested: " + f.Suggestion
	}
	if !f.Found {
		text += "; location not found: " + f.Location
	}
	return text
}

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

func openAudit(ctx context.Context, env console.Env, o auditOptions) (*auditRun, error) {
	r, err := workspace.OpenHistory(env)
	if err != nil {
		return nil, err
	}
	a := &auditRun{repo: r}
	if a.from, a.to, err = resolveChange(ctx, r, o.spec); err != nil {
		return nil, err
	}
	if a.head, err = r.Tree(a.to); err != nil {
		return nil, err
	}
	before, err := workspace.Source{Rev: string(a.from)}.Load(ctx, env)
	if _, reason := verb.Status(err); reason == "no-config" || reason == "no-bundle" {
		return nil, verb.Refuse(reason, "audit %s: the commit %s, where the change begins, has no odd.toml or no bundle, and a change is judged by the rules before it; begin at a later commit", o.spec, a.from)
	}
	if err != nil {
		return nil, err
	}
	a.base, a.cfg, a.rules = before.Files, before.Config, audit.Rules{Graph: before.Graph, Root: before.Config.Root}
	return a, a.readChanges(ctx)
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

func (a *auditRun) runOffRecord(ctx context.Context, env console.Env) (drain.Spoken, error) {
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
		Run: "audit", Task: "audit", Files: given.Files, Graph: given.Rules, BundleRoot: a.cfg.Root, By: "odd/" + console.Version(), Now: env.Now().UTC(),
		MaxTurns: cfg.MaxTurns, MaxAtoms: cfg.MaxAtoms, Timeout: cfg.Timeout, Progress: func(string) {},
	}
	res, err := invoke.Run(ctx, invoke.Session{Contract: a.contract, Brief: invoke.Compose(in), Request: req, Substrate: sub})
	return drain.Spoke(a.contract, res), err
}

func (a *auditRun) newSubstrate(env console.Env) (session.Substrate, error) {
	held, err := agent.Hold(env.Cage, a.cfg.Sandbox, a.repo.CommonDir())
	if err != nil {
		return nil, err
	}
	return agent.Host{Environ: env.Environ}.Substrate(a.cfg, a.base, a.repo.Root(), held)
}

func (a *auditRun) givenToSession() *drain.Given {
	g := &drain.Given{Rules: a.rules.Graph, Claims: a.claims, Canon: a.rules.Canon(), Prompts: a.rules.Prompts(a.contract), Files: a.head}
	g.Artifacts, a.cut = a.change.Artifacts()
	return g
}

// runOnRecord runs the session on record: under the lock and the budget of the board,
// with its claims, its findings and what it cost in the board's history. What
// runs is what odd.toml named where the change begins; the board pays for it.
func (a *auditRun) runOnRecord(ctx context.Context, env console.Env, o auditOptions) (drain.Spoken, error) {
	w, opts, p, err := runs.Open(ctx, env)
	if err != nil {
		return drain.Spoken{}, err
	}
	opts.Call, opts.Invoked, a.run = a.newCall(o), true, opts.Run
	opts.Substrate = func(cfg config.Config, _ fs.FS) (session.Substrate, error) {
		if cfg.Session.Substrate != a.cfg.Session.Substrate || cfg.Free() != a.cfg.Free() {
			return nil, verb.Refuse("config-moved", "the board's odd.toml names another substrate than the change begins with (%s, %s); audit from a later commit", cfg.Session.Substrate, a.cfg.Session.Substrate)
		}
		return a.newSubstrate(env)
	}
	report, err := drain.Invoke(ctx, w.Repo, opts, drain.Invocation{Title: "audit of " + a.change.Name(), Given: a.givenToSession()})
	p.ClearLine()
	if err == nil && len(report.Said) != 1 {
		err = fmt.Errorf("audit: run %s came to %s", report.Run, console.CountNoun(len(report.Said), "session"))
	}
	if err != nil {
		return drain.Spoken{}, err
	}
	return report.Said[0], nil
}
