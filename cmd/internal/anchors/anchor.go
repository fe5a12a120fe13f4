// Package anchors has the verb anchor, by which an agent's session binds to a role and gets a
// permit, and the hook of an agent's harness that checks each tool call against the permit.
package anchors

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/reconcile/policy"
)

// AnchorVerb declares odd anchor.
func AnchorVerb(env console.Env) *cli.Command {
	return verb.Group("anchor", "give an agent's session a role and the right to write files",
		"odd anchor hook install\n"+
			"odd anchor identity shore-lead\n"+
			"odd anchor ls\n\n"+
			"An agent in a harness such as Claude Code can write any file. With the hook,\n"+
			"its tools may write only after it has opened a session for a role, shown that\n"+
			"it has read the rules of the role, and said what it will do. It then gets a\n"+
			"permit: the paths it may write, and until when. odd drain does this for its\n"+
			"own agents.\n\n"+
			"A person runs odd anchor hook install once. Then, in each session, the agent\n"+
			"runs:\n"+
			"  1. identity ROLE  prints the rules of the role, and the template BIND\n"+
			"  2. context TOKEN  takes BIND, filled in; prints the next template\n"+
			"  3. proof TOKEN    takes TENSIONS and COMMIT; prints the permit\n\n"+
			"A tension names a rule, the line it applies to, and what the agent will do\n"+
			"about it. COMMIT names the output, and the command that checks it. After\n"+
			"identity --mode express, express TOKEN with COMMIT replaces steps 2 and 3. The\n"+
			"templates are in OCTAVE, a text format of nested KEY::VALUE lines.",
		anchorIdentity(env),
		anchorStage(env, "context", "send BIND, to show that the agent read the rules of its role",
			anchor.Desk.Context),
		anchorStage(env, "proof", "send TENSIONS and COMMIT, and get the permit to write",
			anchor.Desk.Proof),
		anchorStage(env, "express", "send only COMMIT, and get the permit (identity --mode express)",
			anchor.Desk.Express),
		verb.New("verify [TOKEN]", "check whether the permit of a session is still valid",
			"odd anchor verify TOKEN\n"+
				"odd anchor verify\n\n"+
				"A permit ends with its time, or when the branch or the rules of the role\n"+
				"change. Without TOKEN, odd checks every session that has one. Exit 3: one is\n"+
				"not valid.",
			verb.On(env, Open, runAnchorVerify)),
		verb.New("renew TOKEN", "extend the permit of a session",
			"odd anchor renew TOKEN\n\n"+
				"The permit then ends [anchor] ttl from now. odd renews a permit at most three\n"+
				"times, and at the latest 15 minutes after it ended.",
			verb.On(env, Open, runAnchorRenew)),
		verb.New("release TOKEN", "end a session and its permit",
			"odd anchor release TOKEN\n\n"+
				"odd removes what it kept of the session. Sessions that nobody ends are removed\n"+
				"a day after their time by the next odd anchor identity.",
			verb.On(env, Open, runAnchorRelease)),
		verb.New("ls", "list sessions, and those of odd drain that ended",
			"odd anchor ls\n\n"+
				"The columns are token, state, step, role, mode, branch, topic, end of the\n"+
				"permit, run and error code.",
			verb.On(env, Open, runAnchorLs)),
		anchorGate(env), anchorHook(env))
}

func anchorIdentity(env console.Env) *cli.Command {
	return verb.New("identity ROLE", "open a session for a role, and print the rules and a template",
		"odd anchor identity shore-lead\n"+
			"odd anchor identity shore-lead --mode express\n"+
			"odd anchor identity shore-lead --mode untracked\n\n"+
			"ROLE is a role atom or a file ROLE.oct.md in [anchor] constitutions. The first\n"+
			"line of the answer has the TOKEN for the next step.",
		verb.On(env, Open, runAnchorIdentity),
		&cli.StringFlag{Name: "mode", Value: string(anchor.Full), Usage: "full (3 steps), lite (full, but less to prove), express (2 steps) or untracked (may only read)"},
		&cli.StringFlag{Name: "strictness", Usage: "how many tensions to state: quick (1), default (2) or deep (3) (default: default; with lite: quick)"},
		&cli.StringFlag{Name: "topic", Usage: "describe the work in `TEXT` (default: from the branch name)"},
		&cli.StringFlag{Name: "session", Usage: "the `ID` that the harness gives its session; the hook finds the permit by it"})
}

func runAnchorIdentity(c *cli.Context, env console.Env, a *Anchorage) error {
	q := anchor.IdentityRequest{
		Role: c.Args().First(), Mode: anchor.Mode(c.String("mode")), Strictness: anchor.Strictness(c.String("strictness")), Topic: c.String("topic"),
		HarnessSession: c.String("session"),
	}
	return printAnchor(env, "anchor identity", a.Desk.Identity(q), c.Bool("json"))
}

func anchorStage(env console.Env, name, about string, stage func(anchor.Desk, string, []byte) anchor.Result) *cli.Command {
	return verb.New(name+" TOKEN FILE|-", about,
		"odd anchor "+name+" TOKEN answer.oct\nodd anchor "+name+" TOKEN - < answer.oct\n\n"+
			"TOKEN is in the answer of odd anchor identity. FILE is the template that the\n"+
			"step before printed, filled in. Exit 3: it was refused; the answer says why\n"+
			"and has the template again. The third refusal of a step ends the session.",
		verb.On(env, Open, func(c *cli.Context, env console.Env, a *Anchorage) error {
			payload, err := console.ReadInput(env, c.Args().Get(1), anchor.MaxPayload) // one byte more is the stage's to refuse
			if err != nil {
				return err
			}
			return printAnchor(env, verb.Name(c), stage(a.Desk, c.Args().First(), payload), c.Bool("json"))
		}))
}

func runAnchorVerify(c *cli.Context, env console.Env, a *Anchorage) error {
	tokens := c.Args().Slice()
	if len(tokens) == 0 {
		held, err := a.Desk.Permits("")
		if err != nil {
			return err
		}
		for _, v := range held {
			tokens = append(tokens, v.Token)
		}
	}
	all, bad := []anchor.Verdict{}, []anchor.Problem{}
	for _, token := range tokens {
		v := a.Desk.Verify(token)
		all = append(all, v)
		if !v.Valid {
			bad = append(bad, v.Errors...)
		}
	}
	var value any = all
	if c.NArg() > 0 {
		value = all[0]
	}
	if err := console.Show(env, c.Bool("json"), value, verdictRows(all)...); err != nil || len(bad) == 0 {
		return err
	}
	return anchorRefused(env, "anchor verify", bad)
}

// verdictRows returns a row for each session, and behind it one for each thing
// that is wrong with it or has changed.
func verdictRows(all []anchor.Verdict) [][]string {
	rows := [][]string{}
	for _, v := range all {
		row := []string{v.Token, "holds"}
		if !v.Valid {
			row[1] = "does not hold"
		}
		if p := v.Permit; p != nil {
			row = append(row, p.Role, string(p.Tier), p.Branch, console.FormatTime(p.ExpiresAt))
		}
		rows = append(rows, row)
		for _, p := range v.Errors {
			rows = append(rows, []string{v.Token, "error", p.String()})
		}
		for _, p := range v.Warnings {
			rows = append(rows, []string{v.Token, "warning", p.String()})
		}
	}
	return rows
}

func runAnchorRenew(c *cli.Context, env console.Env, a *Anchorage) error {
	return printAnchor(env, "anchor renew", a.Desk.Renew(c.Args().First()), c.Bool("json"))
}

func runAnchorRelease(c *cli.Context, env console.Env, a *Anchorage) error {
	token := c.Args().First()
	role, err := a.Desk.Release(token)
	if no := anchor.Refusal(nil); errors.As(err, &no) && no.Refused() == string(anchor.TokenUnknown) {
		return fmt.Errorf("anchor release %s: no such session; odd anchor ls lists them", token)
	}
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]string{"token": token, "role": role}, []string{token, "released", role})
}

func runAnchorLs(c *cli.Context, env console.Env, a *Anchorage) error {
	all, err := a.Desk.List()
	if err != nil {
		return err
	}
	all = append(all, drainedSessions(c.Context, env)...)
	var rows [][]string
	if env.Terminal && len(all) > 0 {
		rows = [][]string{{"token", "state", "step", "role", "mode", "branch", "topic", "until", "run", "error"}}
	}
	for _, s := range all {
		trouble := ""
		if s.Problem != nil {
			trouble = string(s.Problem.Code)
		}
		rows = append(rows, []string{s.Token, s.State, string(s.Stage), s.Role, string(s.Mode), s.Branch, s.Focus, console.FormatTime(s.Expires), s.By, trouble})
	}
	if len(all) == 0 {
		console.Talk(env, "no session; odd anchor identity ROLE opens one")
	}
	return console.Show(env, c.Bool("json"), console.OrEmpty(all), rows...)
}

// listedFor is how long ended sessions of odd drain are listed.
const listedFor = 30 * 24 * time.Hour

// drainedSessions returns the sessions that the ledger says a drain has had, none where no board
// is read.
func drainedSessions(ctx context.Context, env console.Env) (out []anchor.Listed) {
	v, err := workspace.OpenFiles(ctx, env)
	if err != nil {
		return nil
	}
	permits, _ := v.State.Permits() // of a damaged ledger odd check tells
	for _, p := range permits {
		if env.Now().Sub(p.At) <= listedFor {
			out = append(out, anchor.Listed{Token: p.Token, State: "archived", Role: p.Role, Expires: p.At, By: cmp.Or(p.Dead, p.Run)})
		}
	}
	return out
}

// printAnchor prints what a stage answered. A refusal is told on stdout as
// every answer is, for it is what the agent reads next; stderr has its codes.
func printAnchor(env console.Env, verbName string, r anchor.Result, asJSON bool) error {
	r.Errors = console.OrEmpty(r.Errors)
	if err := console.ShowText(env, asJSON, r, okf.Visible(anchorPage(r))); err != nil || r.Success {
		return err
	}
	return anchorRefused(env, verbName, r.Errors)
}

// anchorRefused tells the codes of problems on stderr. That a session which is named is
// not there is a fault, as of every name; the rest are refusals.
func anchorRefused(env console.Env, verbName string, ps []anchor.Problem) error {
	codes := anchor.CodesOf(ps)
	if slices.Equal(codes, []string{string(anchor.TokenUnknown)}) {
		console.Talk(env, "%s: no such session; odd anchor ls lists them [%s]", verbName, codes[0])
		return verb.ExitCode(verb.ExitFault)
	}
	console.Talk(env, "%s: refused [%s]", verbName, strings.Join(codes, ", "))
	return verb.ExitCode(verb.ExitRefused)
}

// anchorPage returns an answer as a page: where the session stands, what was found,
// what to mend, the template, and the next command at the end.
func anchorPage(r anchor.Result) string {
	labelled := func(label, text string) string { return strings.TrimSuffix(label+text, label) }
	parts := []string{strings.TrimSpace(r.Stage+" "+r.Token) + map[bool]string{true: " (over)"}[r.Terminal], labelled("Constitution: ", r.ConstitutionPath), r.ConstitutionExcerpt}
	if r.ServerArm != nil && r.Anchor == "" {
		parts = append(parts, armLines(*r.ServerArm))
	}
	parts = append(parts, cmp.Or(r.Guidance, problemLines(r.Errors)), labelled("Warnings:\n", problemLines(r.Warnings)), r.Template, r.Anchor)
	if r.Permit != nil {
		parts = append(parts, permitLines(*r.Permit))
	}
	page := ""
	for _, part := range append(parts, labelled("Next: ", r.NextStep)) {
		if part = strings.TrimRight(part, "\n"); part != "" {
			page += part + "\n\n"
		}
	}
	return strings.TrimSuffix(page, "\n")
}

func problemLines(ps []anchor.Problem) (lines string) {
	for _, p := range ps {
		lines += "- " + p.String() + "\n"
	}
	return lines
}

// armLines returns what the server found, a member a line, without an envelope that
// could be taken for a template.
func armLines(a anchor.Arm) string {
	lines := []string{
		"ARM, as the server found it:",
		"  phase " + cmp.Or(a.Phase, "-"),
		fmt.Sprintf("  branch %s, %d ahead, %d behind", a.Branch, a.Ahead, a.Behind),
		"  head " + a.Head,
		fmt.Sprintf("  focus %s (%s)", a.Focus, a.FocusSource),
		fmt.Sprintf("  %d files changed", len(a.Files)),
	}
	for i, f := range a.Files {
		if i == 10 {
			lines = append(lines, fmt.Sprintf("    and %d more", len(a.Files)-i))
			break
		}
		lines = append(lines, "    "+f.XY+" "+f.Path)
	}
	return strings.Join(append(lines, "  "+a.Hash), "\n")
}

func permitLines(p anchor.Permit) string {
	return fmt.Sprintf("Permit: %s, %s, until %s\n  may write %s", p.Role, p.Tier, console.FormatTime(p.ExpiresAt), policy.Terms{Allow: p.Allow, Deny: p.Deny}.Writable())
}
