// Package acp is the substrate of any program that speaks the Agent Client Protocol:
// the agents of editors. odd is the client, where an editor would be.
//
//	[session]
//	substrate = "acp"
//	[substrate.acp]
//	argv = ["gemini", "--acp"]
//	env = ["GEMINI_API_KEY"]
//
// # A session
//
// The program is started on the session's desk. odd says that it writes files and runs
// terminals, opens a session there with odd's own server over the bundle and the servers
// the contract grants, and sends the brief as one prompt: a turn. An agent that wants a
// login is logged in by the key in its environment, if it can. What the agent says in the
// turn is the emission, read as package session reads every text; files it changed on the
// desk are the change. A turn without any block is asked for once more. Some agents end
// their turn at a denial: they are told why and asked again, up to five times. A
// conversation goes on by session/load where the agent offers that, and else begins anew
// with its brief.
//
// # What the agent asks
//
//	session/request_permission  Request.Allow for each act that the call stands for; yes is
//	                            allow_once, never allow_always, and no is reject_once
//	fs/read_text_file           is not offered: agents read the desk themselves
//	fs/write_text_file          Request.Allow, then that file of the tree
//	terminal/create             Request.Allow for its words; it runs in the cage, with the
//	                            environment of a check and not the agent's
//
// A command is words, or one line of plain words, which odd splits itself: no shell reads
// it. A call to execute that shows no arguments has its command as its title.
//
// A kind of call that nobody knows, and one that does not say what it touches, is
// denied. One whose title names a tool of a server that odd handed over is asked of
// Request.Allow; the tools of odd's own server change nothing, and are allowed.
//
// # Promises
//
//  1. The agent ends with its session and takes all it started with it: first it is
//     told that the turn is cancelled, then it is killed.
//  2. What it says is bounded: a message by 8 MiB, its words by MaxBytes, a terminal's
//     output by 256 KiB of its end.
//  3. Its cost is what its last usage_update told in US dollars, to the micro-dollar and
//     rounded up; without one it is unknown. A turn that passes what may be spent is cancelled.
//  4. A line that is no message is passed over. An agent that goes away in a turn is a
//     failure of the transport.
//  5. Seen is false: an agent may touch its desk without asking.
package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
)

// Substrate runs one agent a session.
type Substrate struct {
	Argv     []string
	Dir      string         // absolute; where relative parts of Argv start: the repository's root
	Env      []string       // names the agent may see besides PATH and LANG
	Environ  []string       // the environment of odd itself, "NAME=value"
	Free     bool           // the configuration says that it costs no money
	MaxBytes int            // of what the agent says in a turn; 0 is exec.DefaultMaxBytes
	Odd      string         // odd's own executable, absolute, as a server of the bundle; "" is the one that runs
	Servers  []servers.Spec // that a person configured; a session is handed those its contract grants and servers.Handed lets it have
	Cage     cage.Cage      // how it and its terminals are held
	Network  cage.Network   // what the agent reaches
	Commands cage.Network   // what its terminals reach

	dial func(context.Context) (*line, error) // tests: an agent in this process
}

// line is a started agent. end ends it and says how it ended.
type line struct {
	in   io.Writer
	out  io.Reader
	end  func() (held string, err error)
	said *exec.Talk
}

// The patience with an agent that is told to stop.
const grace = 300 * time.Millisecond

// mostDenials is how often a turn that came to nothing by a denial is followed by another.
const mostDenials = 5

// Why a turn is cancelled by odd itself.
var (
	errTooLarge   = errors.New(session.TooLarge)
	errOverBudget = errors.New(session.OverBudget)
)

const nudge = "Your answer held no block that odd reads, so nothing of it counts yet. If the work is done, answer now with your emission: " +
	"its blocks as the brief describes them, and at the end\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"

// Run holds one session: a turn, and one more where it declared nothing.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if len(s.Argv) == 0 && s.dial == nil {
		return session.Emission{}, errors.New("substrate acp: no argv; set [substrate.acp] argv in odd.toml")
	}
	if e, ok := r.BeginTurn(ctx, session.Usage{CostKnown: true}); !ok {
		return e, nil
	}
	desk, clear, err := exec.Place(ctx, r)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate acp: %w", err)
	}
	defer clear()
	if s.Odd == "" {
		if s.Odd, err = os.Executable(); err != nil {
			return session.Emission{}, fmt.Errorf("substrate acp: %w", err)
		}
	}
	l, err := s.startAgent(ctx, desk, r)
	if _, ok := errors.AsType[*cage.Unheld](err); ok {
		return session.Emission{}, fmt.Errorf("substrate acp: %w", err)
	}
	if err != nil {
		e := session.FailTransport(session.Permanent, "the agent cannot be started: "+err.Error()+"; install it, or set [substrate.acp] argv in odd.toml")
		e.Usage = session.Usage{Turns: 1, CostKnown: true} // nothing ran
		return e, nil
	}
	t := &talk{s: s, r: r, desk: desk, line: l, client: newClient(s, r, desk)}
	rest, listen := splitUpdates(l.out, t.client)
	t.conn = sdk.NewClientSideConnection(t.client, l.in, rest)
	t.conn.SetLogger(slog.New(slog.DiscardHandler)) // it reads already: set before there is anything to read
	go listen()
	e := t.holdTurns(ctx)
	t.client.endTurns()
	held, ended := l.end()
	return t.signEmission(ctx, e, held, ended), nil
}

// startAgent starts the agent's program. It ends with end and not with ctx, so that it can
// be told first.
func (s Substrate) startAgent(ctx context.Context, desk session.Desk, r session.Request) (*line, error) {
	if s.dial != nil {
		return s.dial(ctx)
	}
	argv, read := exec.Words(s.Argv, s.Dir)
	said := exec.NewTalk()
	p, err := s.Cage.Start(context.WithoutCancel(ctx), cage.Program{Argv: argv, Dir: desk.Tree, Env: exec.Surroundings(s.Environ, s.Env, desk, r),
		Stderr: said, Desk: desk, Network: s.Network, Read: append(read, s.Odd)})
	if err != nil {
		return nil, err
	}
	end := func() (string, error) {
		p.Kill()
		err := p.Wait()
		p.Stdout.Close()
		return p.Held.String(), err
	}
	return &line{in: p.Stdin, out: p.Stdout, end: end, said: said}, nil
}

// talk is one session with the agent.
type talk struct {
	s      Substrate
	r      session.Request
	desk   session.Desk
	line   *line
	conn   *sdk.ClientSideConnection
	client *client
	id     sdk.SessionId
	loads  bool // the agent goes on with conversations
	turns  int
}

// holdTurns opens the session and takes its turns.
func (t *talk) holdTurns(ctx context.Context) session.Emission {
	if no := t.openSession(ctx); no != nil {
		return *no
	}
	e := t.runTurn(ctx, string(t.r.Brief))
	for asked, denials := false, 0; e.Failure == session.Silent && !session.Emits(e.Raw) && ctx.Err() == nil; {
		again, no := nudge, t.client.listDenials()
		switch {
		case no != "" && denials < mostDenials:
			denials++
			again = "These calls were denied, each for the reason given; go on without them:\n\n" + no + "\n" + nudge
		case asked:
			return e
		}
		asked = true
		if no, ok := t.r.BeginTurn(ctx, t.sumUsage()); !ok {
			return no
		}
		e = t.runTurn(ctx, again)
	}
	return e
}

func (t *talk) sumUsage() session.Usage {
	u := t.client.reportedUsage()
	u.Turns = t.turns
	if t.s.Free {
		u.Cost, u.CostKnown = 0, true
	}
	return u
}

// signEmission returns e with what is known of the whole session. ended is how the program did.
func (t *talk) signEmission(ctx context.Context, e session.Emission, held string, ended error) session.Emission {
	if why := session.Interruption(ctx); why != "" {
		e = session.Fail(why, "")
	}
	if _, ok := errors.AsType[*cage.Full](ended); ok {
		e = session.Fail(session.DiskFull, ended.Error())
	}
	if e.Failure == session.Transport && e.Class != session.Permanent {
		e.Detail += t.line.said.LastLine()
	}
	if t.turns = max(t.turns, 1); t.loads && t.r.Desk != nil {
		e.Thread = string(t.id)
	}
	e.Usage, e.Sandbox = t.sumUsage(), held
	e.Calls, e.Transcript = t.client.notedCalls()
	e.Transcript = append(e.Transcript, t.line.said.Text()...)
	return e
}
