// Package agents has the verb agent, which runs, watches and audits single sessions and hands work
// over between them, and the verb mcp, which serves the board to an agent.
package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/governance"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/persona/contract"
)

func invokeVerb(env console.Env) *cli.Command {
	return verb.New("run", "run one agent now, or show which rules it would run under",
		"odd agent run --contract-role explorer --task \"What stops the ferry?\"\n"+
			"odd agent run --contract-role explorer --task \"Which tides matter?\" --dry-run\n"+
			"odd agent run --contract-role explorer --dry-run --brief \\\n"+
			"  --task \"Which tides matter?\"\n"+
			"odd agent run --contract-role validator --surface audit \\\n"+
			"  --handoff run-01kjpw-claims --dry-run\n\n"+
			"--dry-run --brief prints the brief: the task, the rules, and the processes and\n"+
			"policies of its --role. Only the part \"anchor\" is missing; odd writes it\n"+
			"when the session starts.\n\n"+
			"Each contract role has a mode: what its session may do and must hand over.\n\n"+
			"  role       mode         hands over        may change files\n"+
			"  explorer   exploration  ideas             no\n"+
			"  planner    planning     a plan            no\n"+
			"  builder    execution    build claims      yes\n"+
			"  validator  validation   findings          no\n"+
			"  resolver   resolution   fixes             yes\n"+
			"  observer   -            comments          no\n"+
			"  general    -            atoms for a task  by its task\n\n"+
			"To run a model, set [session] substrate in odd.toml to claude, acp, anthropic,\n"+
			"openai or exec. The default, extract, uses no model: it only turns documents\n"+
			"into atoms, and cannot answer a question.\n\n"+
			"An agent of your own: set [session] substrate = \"exec\" and [substrate.exec]\n"+
			"argv = [\"./my-agent\"]. If it costs nothing, it needs no budget:\n"+
			"odd config set substrate.exec.free true. odd runs it in a scratch clone,\n"+
			"without a shell. It gets the brief on stdin, and may simply edit the files in\n"+
			"its working directory that the task's --path allows: odd takes what changed.\n"+
			"Its stdout must end with the block odd.finish.1; without it, the session\n"+
			"counts as failed. A whole agent.sh, for argv = [\"sh\", \"./agent.sh\"]:\n\n"+
			"  brief=$(cat)                             # the task, its rules and its files\n"+
			"  echo \"Low water is at six.\" >>docs/tides.md\n"+
			"  echo '```json'\n"+
			"  echo '{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}'\n"+
			"  echo '```'\n\n"+
			"To propose atoms instead, it prints them; the part \"emission\" of the brief\n"+
			"lists the blocks it may print.\n\n"+
			"With --engagement assistant, the agent may ask you questions. At a terminal,\n"+
			"an empty line sends your answer (/help shows more); from a pipe, each line is\n"+
			"one answer. If stdin ends while a question is open, the session counts as\n"+
			"paused (\"yielded\"), not as failed.",
		verb.Do(env, runInvoke), invokeFlags()...)
}

// maxFanOut is the most sessions of one invocation: their reservations and
// leases add up.
const maxFanOut = 100

func invokeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "contract-role", Usage: "role of the agent in the chain, see the table above"},
		verb.ProfileFlag(),
		&cli.StringFlag{Name: "participants", Usage: "add the persona `PROFILES` to the same session, separated by commas"},
		verb.RoleFlag(),
		verb.SurfaceFlag(""),
		verb.EngagementFlag(),
		verb.VoiceFlag(),
		&cli.StringFlag{Name: "task", Usage: "run `TASK`: the id of a task on the board, or a question in words"},
		verb.HandoffFlag(),
		verb.ArtifactFlag(),
		&cli.StringSliceFlag{Name: "tool", Usage: "allow only the tool `NAME`; repeatable (default: all that the role may use)"},
		&cli.StringSliceFlag{Name: "mcp", Usage: "add the MCP server `NAME` of odd.toml; repeatable"},
		&cli.IntFlag{Name: "fan-out", DefaultText: "1", Usage: "run `N` separate sessions on the same input"},
		&cli.StringFlag{Name: "override", Usage: "allow this session several `MODES`, separated by commas, with --reason and --risk; a person confirms it at a terminal"},
		&cli.StringFlag{Name: "reason", Usage: "with --override, say exactly why, in `TEXT`"},
		&cli.StringSliceFlag{Name: "risk", Usage: "with --override, name a `RISK` that you accept; repeatable"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the rules of the session; start and write nothing"},
		&cli.BoolFlag{Name: "brief", Usage: "with --dry-run, print the brief that the agent would read"},
		&cli.BoolFlag{Name: "sends", Usage: "with --dry-run, print what would leave odd, and who would get it"},
		&cli.BoolFlag{Name: "explain", Usage: "print why each tool is allowed or not; start and write nothing"},
	}
}

// calledFor returns the call the flags mean. Names are judged where the contract is resolved.
func calledFor(c *cli.Context) (contract.Call, error) {
	call := contract.Call{
		Persona: c.String("persona"), Participants: splitCommas(c.String("participants")), WorkRole: c.String("role"),
		Role: contract.Role(c.String("contract-role")), Surface: contract.Surface(c.String("surface")),
		Engagement: contract.Engagement(c.String("engagement")), Voice: contract.Voice(c.String("voice")),
		Tools: c.StringSlice("tool"), MCP: c.StringSlice("mcp"), Artifact: c.String("artifact"),
	}
	if call.Role == "" && call.Persona == "" && slices.ContainsFunc(contract.Roles(), func(r contract.RoleRow) bool { return string(r.Role) == call.WorkRole }) {
		return call, verb.Usage("agent run: --role %[1]s: this names a role atom; for the contract's role, write --contract-role %[1]s", call.WorkRole)
	}
	if !c.IsSet("override") {
		if c.IsSet("reason") || c.IsSet("risk") {
			return call, verb.Usage("agent run: --reason and --risk go with --override")
		}
		return call, nil
	}
	call.Override = &contract.Override{Reason: c.String("reason"), Risks: c.StringSlice("risk")}
	for _, m := range splitCommas(c.String("override")) {
		call.Override.Modes = append(call.Override.Modes, contract.Mode(m))
	}
	return call, nil
}

func splitCommas(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func runInvoke(c *cli.Context, env console.Env) error {
	ctx, brief, sends, asJSON := c.Context, c.Bool("brief"), c.Bool("sends"), c.Bool("json")
	n := c.Int("fan-out")
	switch {
	case n < 0 || n > maxFanOut || c.IsSet("fan-out") && n == 0:
		return verb.Usage("agent run: --fan-out wants a number from 1 to %d", maxFanOut)
	case (brief || sends) && !c.Bool("dry-run"):
		return verb.Usage("agent run: --brief and --sends go with --dry-run")
	}
	call, err := calledFor(c)
	if err != nil {
		return err
	}
	if env.Getenv("ODD_RUN") != "" {
		return verb.Refuse("in-session", "agent run: a session does not spawn another; hand over instead")
	}
	w, err := workspace.Open(ctx, env)
	if err != nil {
		return err
	}
	o, inv, err := newInvocation(w, c, call)
	if err != nil {
		return err
	}
	p := console.NewProgress(env)
	talks := &dialogue{env: env, progress: p}
	o.Progress, o.Reply = p.SetLine, talks.answerTurn
	if brief || sends {
		b, to, err := drain.BriefFor(ctx, w.Repo, o, inv)
		if sends && err == nil {
			return printSends(env, b, to, asJSON)
		}
		return printBrief(env, b, err, asJSON)
	}
	if c.Bool("dry-run") || c.Bool("explain") || call.Override != nil {
		made, err := drain.Resolve(ctx, w.Repo, o, inv)
		if c.Bool("dry-run") || c.Bool("explain") {
			for _, no := range agent.Speechless(w.Config, made.Role) {
				console.Talk(env, "no session would be held: %s; %s [%s]", no.Message, no.Way, no.Code)
			}
			return printContract(env, made, err, c.Bool("explain"), asJSON)
		}
		if err != nil {
			return printContract(env, made, err, false, asJSON)
		}
		if o.Person, err = confirmOverride(ctx, w, call.Override); err != nil {
			return err
		}
	}
	var report drain.Report
	if o.Task != "" {
		report, err = drain.Run(ctx, w.Repo, o)
	} else {
		report, err = drain.Invoke(ctx, w.Repo, o, inv)
	}
	p.ClearLine()
	for _, s := range spokenIn(report) {
		if talks.lines != nil && talks.shown < len(s.Said) {
			talks.showSays(s.Said[talks.shown:])
		}
	}
	return printInvoked(env, report, err, asJSON)
}

// newInvocation returns the drain's part of what was asked: a task of the board, or words.
func newInvocation(w *workspace.Clone, c *cli.Context, call contract.Call) (drain.Options, drain.Invocation, error) {
	task := strings.TrimSpace(c.String("task"))
	inv := drain.Invocation{Title: console.OneLine(task), Sessions: c.Int("fan-out")}
	o, err := runs.Options(w)
	if err != nil {
		return o, inv, err
	}
	o.Call, o.Handoffs, o.Invoked = call, c.StringSlice("handoff"), true
	if call.Override != nil {
		who, err := land.CheckDecider(c.Context, w.Repo, "agent run --override", land.PersonPlace(w))
		if err != nil {
			return o, inv, err
		}
		o.Person = "human:" + who.Email // of a contract that is only shown; a session needs a Human
	}
	v, err := w.ReadBoard(c.Context, false)
	if err != nil {
		return o, inv, err
	}
	switch found, err := v.Graph.Find(task); {
	case task == "":
	case err == nil && found.Type == board.Type:
		o.Task = string(found.ID)
	case !strings.ContainsAny(task, " \t\n"):
		_, err := v.FindTask(task)
		return o, inv, fmt.Errorf("agent run: %w; name a task, or say in words what is asked", err)
	}
	switch {
	case o.Task == "":
		return o, inv, nil
	case inv.Sessions > 1:
		return o, inv, verb.Usage("agent run: --fan-out is for sessions without a task; a task has one proposal")
	case call.WorkRole != "":
		return o, inv, verb.Usage("agent run: --role: the task names its role; odd task edit %s --role changes it", o.Task)
	}
	return o, inv, nil
}

// confirmOverride returns the person who confirms at a terminal what a session may do at once.
func confirmOverride(ctx context.Context, w *workspace.Clone, o *contract.Override) (string, error) {
	page := fmt.Sprintf("This session may do in one go what is otherwise done in sessions of their own: %s.\nReason: %s\nRisks that you accept: %s\nAll that it makes is tagged override-produced.\n",
		console.JoinWords(o.Modes), o.Reason, strings.Join(o.Risks, "; "))
	h, err := land.Confirm(ctx, w, page, "agent run --override", "override", false)
	return h.By(), err
}

// AgentVerb declares odd agent.
func AgentVerb(env console.Env) *cli.Command {
	return verb.Group("agent", "run one agent now, outside odd drain; audits, handoffs, personas",
		"odd agent run --contract-role explorer --task \"What stops the ferry?\"\n"+
			"odd agent audit HEAD~1..HEAD\n"+
			"odd agent handoff list\n\n"+
			"odd drain runs agents for the tasks on the board. The commands here run an\n"+
			"agent by hand, or show the files that agents work from: its context, handoffs\n"+
			"(files in which one role passes work to the next) and personas (who an agent\n"+
			"speaks as).",
		invokeVerb(env), auditVerb(env), observeVerb(env),
		verb.New("context [TASK]", "print the state of the board that an agent is given",
			"odd agent context\n"+
				"odd agent context read-the-handbook\n\n"+
				"The parts are lease, decisions, artifacts, progress and signals (tasks that\n"+
				"wait, failed or changed).",
			verb.On(env, workspace.OpenCurrent, governance.RunContext)), handoffVerb(env), atoms.PersonaVerb(env))
}
