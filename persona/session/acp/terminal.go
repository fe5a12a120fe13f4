package acp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Bounds of terminals.
const (
	maxOutput    = 256 << 10 // bytes that are kept of one, the last
	maxTerminals = 8         // at once
)

// terminal is one command that runs for the agent.
type terminal struct {
	kill context.CancelFunc
	done chan struct{} // closed when it has ended

	mu   sync.Mutex
	out  []byte // the end of what it said
	lost bool
	most int
	exit sdk.TerminalExitStatus // once done
}

// Write keeps the end of what is written.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = append(t.out, p...)
	if over := len(t.out) - t.most; over > 0 {
		t.lost = true
		for over < len(t.out) && !utf8.RuneStart(t.out[over]) {
			over++
		}
		t.out = append(t.out[:0:0], t.out[over:]...)
	}
	return len(p), nil
}

// CreateTerminal implements the protocol's client: one command, allowed by its words.
func (c *client) CreateTerminal(_ context.Context, p sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	c.acting.Lock()
	defer c.acting.Unlock()
	id, err := c.startCommand(p)
	c.recordAct("terminal/create", "", map[string]any{"command": p.Command, "args": p.Args}, err)
	return sdk.CreateTerminalResponse{TerminalId: id}, protocolError(err)
}

// startCommand asks for a command and starts it. The agent's variables are none of its.
func (c *client) startCommand(p sdk.CreateTerminalRequest) (string, error) {
	var args any
	if len(p.Args) > 0 {
		args = asJSONValue(p.Args)
	}
	argv, err := argvOf(p.Command, args)
	if err != nil {
		return "", err
	}
	if err := c.hands().Run(argv, textsOf(map[string]any{"cwd": asJSONValue(p.Cwd)}, "cwd")...); err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel == nil || len(c.terminals) >= maxTerminals {
		return "", fmt.Errorf("at most %d terminals at once, and none outside of a turn; release one", maxTerminals)
	}
	t := &terminal{most: maxOutput, done: make(chan struct{})}
	if p.OutputByteLimit != nil && *p.OutputByteLimit > 0 {
		t.most = min(t.most, *p.OutputByteLimit)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.kill = cancel
	c.opened++
	id := "t" + strconv.Itoa(c.opened)
	c.terminals[id] = t
	program := cage.Program{Argv: argv, Dir: c.desk.Tree, Env: exec.Environment(c.s.Environ, nil, c.desk, c.r.Run), Stdout: t, Stderr: t, Desk: c.desk, Network: c.s.Commands}
	go func() {
		defer close(t.done)
		_, err := c.s.Cage.Run(ctx, program)
		t.setEnd(err)
	}()
	return id, nil
}

// setEnd keeps how the command ended.
func (t *terminal) setEnd(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var exit *cage.Exit
	switch {
	case err == nil:
		t.exit.ExitCode = new(0)
	case errors.As(err, &exit) && exit.Signal == "":
		t.exit.ExitCode = new(exit.Code)
	case errors.As(err, &exit):
		t.exit.Signal = new(exit.Signal)
	case errors.Is(err, context.Canceled):
		t.exit.Signal = new("killed")
	default:
		t.exit.ExitCode = new(127)
		t.out = append(t.out, session.Shown(err.Error())...)
	}
}

func (c *client) findTerminal(id string) (*terminal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.terminals[id]; t != nil {
		return t, nil
	}
	return nil, protocolError(fmt.Errorf("there is no terminal %q", id))
}

// TerminalOutput implements the protocol's client.
func (c *client) TerminalOutput(_ context.Context, p sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	t, err := c.findTerminal(p.TerminalId)
	if err != nil {
		return sdk.TerminalOutputResponse{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r := sdk.TerminalOutputResponse{Output: string(secrets.Redact(t.out)), Truncated: t.lost}
	select {
	case <-t.done:
		exit := t.exit
		r.ExitStatus = &exit
	default:
	}
	return r, nil
}

// WaitForTerminalExit implements the protocol's client.
func (c *client) WaitForTerminalExit(ctx context.Context, p sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	t, err := c.findTerminal(p.TerminalId)
	if err != nil {
		return sdk.WaitForTerminalExitResponse{}, err
	}
	select {
	case <-t.done:
	case <-ctx.Done():
		return sdk.WaitForTerminalExitResponse{}, ctx.Err()
	}
	return sdk.WaitForTerminalExitResponse{ExitCode: t.exit.ExitCode, Signal: t.exit.Signal}, nil
}

// KillTerminal implements the protocol's client.
func (c *client) KillTerminal(_ context.Context, p sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	t, err := c.findTerminal(p.TerminalId)
	if err == nil {
		t.kill()
		<-t.done
	}
	return sdk.KillTerminalResponse{}, err
}

// ReleaseTerminal implements the protocol's client.
func (c *client) ReleaseTerminal(_ context.Context, p sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	t, err := c.findTerminal(p.TerminalId)
	if err == nil {
		t.kill()
		<-t.done
		c.mu.Lock()
		delete(c.terminals, p.TerminalId)
		c.mu.Unlock()
	}
	return sdk.ReleaseTerminalResponse{}, err
}

// endTurns ends the turn for good, and every command.
func (c *client) endTurns() {
	c.mu.Lock()
	c.cancel = nil
	open := c.terminals
	c.terminals = nil
	c.mu.Unlock()
	for _, t := range open {
		t.kill()
		<-t.done
	}
}
