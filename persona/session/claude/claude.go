// Package claude is the substrate of the Claude Code command line, run without a
// terminal on the session's desk, one invocation a turn.
//
//	[session]
//	substrate = "claude"
//	[substrate.claude]
//	env = ["ANTHROPIC_API_KEY"]   # or CLAUDE_CODE_OAUTH_TOKEN, as claude setup-token makes it
//	argv = ["claude"]             # the default; a path where it is not on PATH
//	model = "sonnet"              # default: [session] model, or else the program's own
//
// # An invocation
//
//	claude -p --output-format stream-json --verbose --input-format text
//	  --session-id UUID | --resume=UUID      the conversation, by which the next turn goes on
//	  --max-turns N --max-budget-usd X       what is left of the session's
//	  --permission-mode dontAsk              what is not allowed does not run, and nobody is asked
//	  --tools … --allowedTools … --disallowedTools …
//	  --settings FILE --setting-sources ""   no settings of the user or of the repository
//	  --mcp-config FILE --strict-mcp-config  no servers but these
//
// The brief is its standard input. The text of its result is the emission, read as
// package session reads every text; files it edits on the desk are the change. A
// result without any block is asked for once more, by resuming.
//
// # Tools
//
// Who only reads gets Read, Grep and Glob; who may change something Edit and Write
// besides; Bash only for the commands that a person has listed. Every other tool of
// the program is refused by name.
//
// Each use of a tool goes to a hook, "odd anchor gate --hook claude --ask SOCKET",
// which asks this session's odd over that socket, so that one judge decides about
// every act: Request.Allow. No answer is a no. The program runs a tool all the same
// when its hook cannot be started, unless it knows onFailure (2.1.295 and later);
// what it may do then is held by the tools listed above and by the cage.
//
// # Promises
//
//  1. Settings, servers and the socket lie beside the desk, where the program may
//     read them and not write: they are part of no change, and it cannot loosen them.
//  2. Its environment is PATH, LANG and what Env names, with the desk's own home: it
//     knows no login of the user but what Env hands it.
//  3. Every turn is asked for with what was spent. What a result tells of its cost is
//     taken to the micro-dollar, rounded up; where none is told it is unknown.
//  4. Whether a result is a failure is_error says, not its subtype. No result at all
//     is a crash, and a failure of the transport.
//  5. Lines of unknown types are passed over; one over 16 MiB ends the session.
//  6. Seen is false: a subagent or a command can do what no hook was asked about.
package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
)

// Substrate runs the program.
type Substrate struct {
	Argv     []string       // how it is started; empty is ["claude"]
	Dir      string         // absolute; where relative parts of Argv start: the repository's root
	Model    string         // "" is the program's own choice
	Env      []string       // names it may see besides PATH and LANG
	Environ  []string       // the environment of odd itself, "NAME=value"
	Free     bool           // the configuration says that it costs no money
	Commands [][]string     // beginnings of the commands it may run; none: it has no shell
	Odd      string         // odd's own executable, absolute, for the hook and as a server of the bundle; "" is the one that runs
	Servers  []servers.Spec // that a person configured; a session is handed those its contract grants and servers.Handed lets it have
	Cage     cage.Cage      // how it is held
	Network  cage.Network   // what it reaches; without a network it reaches no model
}

// maxLine bounds one line of the program's output.
const maxLine = 16 << 20

// errTooLarge ends a program whose line is over that.
var errTooLarge = errors.New(session.TooLarge)

// nudge is what a result without a block is answered with.
const nudge = "Your answer held no block that odd reads, so nothing of it counts yet. If the work is done, answer now with your emission: " +
	"its blocks as the brief describes them, and at the end\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"

// Run holds one session: an invocation, and one more where it declared nothing.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	spent := session.Usage{CostKnown: true}
	if e, ok := r.BeginTurn(ctx, spent); !ok {
		return e, nil
	}
	t, err := s.openTalk(ctx, r)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate claude: %w", err)
	}
	defer t.close()
	e, err := t.runOnce(ctx, r.Brief, spent)
	if err != nil || !hasNoResult(e) || ctx.Err() != nil {
		return e, err
	}
	if no, ok := r.BeginTurn(ctx, e.Usage); !ok {
		return t.signEmission(no, e.Usage), nil
	}
	return t.runOnce(ctx, []byte(nudge), e.Usage)
}

// hasNoResult reports a result that holds nothing for odd, where one more turn may
// still be paid for.
func hasNoResult(e session.Emission) bool {
	return e.Failure == session.Silent && !session.Emits(e.Raw) && e.Thread != "" && e.Usage.CostKnown
}

// talk is one session with the program, over its invocations.
type talk struct {
	s      Substrate
	r      session.Request
	desk   session.Desk
	dir    string // odd's own, beside the desk
	gate   *gate
	handed []servers.Spec
	thread string
	read   []string // of the command itself
	kept   bool     // the desk outlives the session, and the conversation with it
	calls  []session.Call
	said   []byte // the transcript
	held   string
	clear  func()
}

// runOnce runs the program once. What it costs is added to spent.
func (t *talk) runOnce(ctx context.Context, brief []byte, spent session.Usage) (session.Emission, error) {
	argv, no := t.buildArgv(spent)
	if no != nil {
		return t.signEmission(*no, spent), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &stream{t: t, full: func() { cancel(errTooLarge) }}
	said := exec.NewTalk()
	held, err := t.s.Cage.Run(ctx, cage.Program{OwnSockets: true, Argv: argv, Dir: t.desk.Tree, Env: t.buildEnv(), Stdin: bytes.NewReader(brief), Stdout: out, Stderr: said,
		Desk: t.desk, Network: t.s.Network, Read: t.readablePlaces(), Write: []string{t.gate.socket}})
	out.readLastLine()
	if _, ok := errors.AsType[*cage.Unheld](err); ok {
		return session.Emission{}, fmt.Errorf("substrate claude: %w", err)
	}
	t.held = held.String()
	t.said = append(t.said, said.Text()...)
	t.calls = append(t.calls, t.gate.addCodes(out.calls)...)
	e := out.buildEmission(ctx, err, said)
	if t.kept && out.result != nil {
		t.thread = out.threadName(t.thread)
	}
	used := out.sumUsage(t.s)
	if errors.As(err, new(*cage.NotStarted)) {
		used.CostKnown = true // nothing ran
	}
	return t.signEmission(e, spent.Plus(used)), nil
}

// signEmission returns e with what is known of the whole session.
func (t *talk) signEmission(e session.Emission, u session.Usage) session.Emission {
	e.Usage, e.Calls, e.Transcript, e.Sandbox = u, t.calls, t.said, t.held
	if t.kept {
		e.Thread = t.thread
	}
	return e
}
