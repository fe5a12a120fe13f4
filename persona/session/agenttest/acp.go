package agenttest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"
)

// Step is one thing that an agent of the Agent Client Protocol does in a turn. $TREE
// stands for its working directory in every text.
type Step struct {
	Say     string         `json:"say,omitempty"`    // a piece of a message
	Write   string         `json:"write,omitempty"`  // a file, with Content
	Run     []string       `json:"run,omitempty"`    // a command in a terminal, waited for
	Start   []string       `json:"start,omitempty"`  // a command in a terminal that is killed and released
	Ask     string         `json:"ask,omitempty"`    // permission for a call of this kind, on Path, with Input
	Edit    string         `json:"edit,omitempty"`   // a file, with Content, without asking
	Raw     string         `json:"raw,omitempty"`    // bytes on the line
	Stop    string         `json:"stop,omitempty"`   // the turn ends for this reason
	Cost    float64        `json:"cost,omitempty"`   // told in dollars
	Hang    bool           `json:"hang,omitempty"`   // until the turn is cancelled
	Deaf    bool           `json:"deaf,omitempty"`   // until the line is gone, whatever is said
	Leave   bool           `json:"leave,omitempty"`  // goes away
	Fail    int            `json:"fail,omitempty"`   // the turn fails with this code
	Title   string         `json:"title,omitempty"`  // of Ask's call
	Always  bool           `json:"always,omitempty"` // Ask offers allow_always and reject_always alone
	Path    string         `json:"path,omitempty"`
	Content string         `json:"content,omitempty"`
	Input   map[string]any `json:"input,omitempty"`
}

// Agent is an agent of the Agent Client Protocol that does what it is told: the nth
// prompt does Turns[n-1].
type Agent struct {
	sdk.Agent // what is not below nobody asks for
	Turns     [][]Step
	Loads     bool // it offers session/load
	Login     bool // it wants a login first, for which it takes a key of its environment
	NoKey     bool // and has none
	Mute      bool // it never says hello

	mu     sync.Mutex
	conn   *sdk.AgentSideConnection
	out    io.Writer
	tree   string
	turn   int
	heard  []string
	leave  func()
	cancel chan struct{}
	once   sync.Once
}

// Serve speaks as the agent until the line is gone. leave takes the line away.
func (a *Agent) Serve(in io.Reader, out io.Writer, leave func()) {
	a.out, a.leave, a.cancel = out, leave, make(chan struct{})
	held := heldReader{in, make(chan struct{})}
	a.conn = sdk.NewAgentSideConnection(a, out, held)
	a.conn.SetLogger(slog.New(slog.DiscardHandler))
	close(held.ready)
	<-a.conn.Done()
}

// heldReader gives nothing before ready is closed: a connection reads, and calls the
// agent, before the function that makes it has returned it.
type heldReader struct {
	io.Reader
	ready chan struct{}
}

func (r heldReader) Read(p []byte) (int, error) {
	<-r.ready
	return r.Reader.Read(p)
}

// Heard are the client's answers so far, and what was said to the agent.
func (a *Agent) Heard() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.heard...)
}

func (a *Agent) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = append(a.heard, fmt.Sprintf(format, args...))
}

// Initialize implements sdk.Agent.
func (a *Agent) Initialize(ctx context.Context, p sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	if a.Mute {
		<-ctx.Done()
	}
	a.note("hello read %v write %v terminal %v", p.ClientCapabilities.Fs.ReadTextFile, p.ClientCapabilities.Fs.WriteTextFile, p.ClientCapabilities.Terminal)
	return sdk.InitializeResponse{ProtocolVersion: sdk.ProtocolVersionNumber, AgentCapabilities: sdk.AgentCapabilities{LoadSession: a.Loads}, AuthMethods: []sdk.AuthMethod{{Agent: &sdk.AuthMethodAgent{Id: "browser", Name: "Browser"}}, {Agent: &sdk.AuthMethodAgent{Id: "some-api-key", Name: "Key"}}}}, nil
}

// Authenticate implements sdk.Agent.
func (a *Agent) Authenticate(_ context.Context, p sdk.AuthenticateRequest) (sdk.AuthenticateResponse, error) {
	a.note("login by %s", p.MethodId)
	if a.NoKey {
		return sdk.AuthenticateResponse{}, sdk.NewAuthRequired(nil)
	}
	a.Login = false
	return sdk.AuthenticateResponse{}, nil
}

// NewSession implements sdk.Agent.
func (a *Agent) NewSession(_ context.Context, p sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	if a.Login {
		return sdk.NewSessionResponse{}, sdk.NewAuthRequired(nil)
	}
	a.tree = p.Cwd
	a.note("new with %d servers", len(p.McpServers))
	for _, s := range p.McpServers {
		if s.Stdio != nil && s.Stdio.Name == "odd" {
			a.note("odd is served by %s %s", s.Stdio.Command, strings.Join(s.Stdio.Args, " "))
		}
	}
	return sdk.NewSessionResponse{SessionId: "s-1"}, nil
}

// LoadSession implements sdk.AgentLoader: it repeats what was said before.
func (a *Agent) LoadSession(ctx context.Context, p sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	a.tree = p.Cwd
	a.note("load %s", p.SessionId)
	return sdk.LoadSessionResponse{}, a.update(ctx, sdk.UpdateAgentMessageText("```atom\nbroken, and said long ago\n"))
}

// Cancel implements sdk.Agent.
func (a *Agent) Cancel(context.Context, sdk.CancelNotification) error {
	a.once.Do(func() { close(a.cancel) })
	a.note("cancel")
	return nil
}

func (a *Agent) update(ctx context.Context, u sdk.SessionUpdate) error {
	return a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: "s-1", Update: u})
}

// Prompt implements sdk.Agent.
func (a *Agent) Prompt(ctx context.Context, p sdk.PromptRequest) (sdk.PromptResponse, error) {
	if len(p.Prompt) == 1 && p.Prompt[0].Text != nil {
		first, rest, _ := strings.Cut(p.Prompt[0].Text.Text, "\n")
		if list, _, ok := strings.Cut(strings.TrimPrefix(rest, "\n"), "\n\n"); ok && strings.HasPrefix(list, "- ") {
			first += "  " + list
		}
		a.note("prompt %s", first)
	}
	if a.turn++; a.turn > len(a.Turns) {
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	}
	for n, s := range a.Turns[a.turn-1] {
		b, err := json.Marshal(s)
		if err == nil {
			tree, _ := json.Marshal(a.tree)
			err = json.Unmarshal(bytes.ReplaceAll(b, []byte("$TREE"), bytes.Trim(tree, `"`)), &s)
		}
		if err != nil {
			return sdk.PromptResponse{}, err
		}
		switch {
		case s.Stop != "":
			return sdk.PromptResponse{StopReason: sdk.StopReason(s.Stop)}, nil
		case s.Fail != 0:
			return sdk.PromptResponse{}, &sdk.RequestError{Code: s.Fail, Message: s.Content}
		case s.Hang:
			<-a.cancel
			return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
		case s.Deaf:
			<-a.conn.Done()
			return sdk.PromptResponse{}, ctx.Err()
		}
		if err := a.step(ctx, n, s); err != nil {
			return sdk.PromptResponse{}, err
		}
	}
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: &sdk.Usage{InputTokens: 7, OutputTokens: 3, TotalTokens: 10}}, nil
}

func (a *Agent) step(ctx context.Context, n int, s Step) error {
	switch {
	case s.Say != "":
		return a.update(ctx, sdk.UpdateAgentMessageText(s.Say))
	case s.Cost > 0:
		return a.update(ctx, sdk.SessionUpdate{UsageUpdate: &sdk.SessionUsageUpdate{SessionUpdate: "usage_update", Size: 100, Used: 10, Cost: &sdk.Cost{Amount: s.Cost, Currency: "USD"}}})
	case s.Write != "":
		_, err := a.conn.WriteTextFile(ctx, sdk.WriteTextFileRequest{SessionId: "s-1", Path: s.Write, Content: s.Content})
		a.note("write: %s", tellError(err))
	case s.Edit != "":
		return os.WriteFile(s.Edit, []byte(s.Content), 0o600)
	case s.Raw != "":
		_, err := io.WriteString(a.out, s.Raw)
		return err
	case s.Leave:
		a.leave()
	case len(s.Run) > 0:
		a.run(ctx, s.Run, false)
	case len(s.Start) > 0:
		a.run(ctx, s.Start, true)
	case s.Ask != "":
		return a.ask(ctx, sdk.ToolCallId(fmt.Sprint("c", n)), s)
	}
	return nil
}

func tellError(err error) string {
	if err == nil {
		return "done"
	}
	return err.Error()
}

func (a *Agent) run(ctx context.Context, argv []string, kill bool) {
	t, err := a.conn.CreateTerminal(ctx, sdk.CreateTerminalRequest{SessionId: "s-1", Command: argv[0], Args: argv[1:]})
	if err != nil {
		a.note("run: %s", tellError(err))
		return
	}
	if kill {
		_, _ = a.conn.KillTerminal(ctx, sdk.KillTerminalRequest{SessionId: "s-1", TerminalId: t.TerminalId})
	}
	e, err := a.conn.WaitForTerminalExit(ctx, sdk.WaitForTerminalExitRequest{SessionId: "s-1", TerminalId: t.TerminalId})
	o, err2 := a.conn.TerminalOutput(ctx, sdk.TerminalOutputRequest{SessionId: "s-1", TerminalId: t.TerminalId})
	_, err3 := a.conn.ReleaseTerminal(ctx, sdk.ReleaseTerminalRequest{SessionId: "s-1", TerminalId: t.TerminalId})
	code, signal := -1, ""
	if e.ExitCode != nil {
		code = *e.ExitCode
	}
	if e.Signal != nil {
		signal = *e.Signal
	}
	a.note("run: %d %s %q cut %v %s %s %s", code, signal, o.Output, o.Truncated, tellError(err), tellError(err2), tellError(err3))
}

// ask tells of a call first, as agents do, and then asks with its id alone.
func (a *Agent) ask(ctx context.Context, id sdk.ToolCallId, s Step) error {
	opts := []sdk.ToolCallStartOpt{sdk.WithStartKind(sdk.ToolKind(s.Ask))}
	if s.Path != "" {
		opts = append(opts, sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: s.Path}}))
	}
	if s.Input != nil {
		opts = append(opts, sdk.WithStartRawInput(s.Input))
	}
	if err := a.update(ctx, sdk.StartToolCall(id, cmp.Or(s.Title, "call "+s.Ask), opts...)); err != nil {
		return err
	}
	options := []sdk.PermissionOption{{Kind: sdk.PermissionOptionKindAllowAlways, Name: "always", OptionId: "always"}, {Kind: sdk.PermissionOptionKindRejectAlways, Name: "never", OptionId: "never"}}
	if !s.Always {
		options = append(options, sdk.PermissionOption{Kind: sdk.PermissionOptionKindAllowOnce, Name: "once", OptionId: "once"}, sdk.PermissionOption{Kind: sdk.PermissionOptionKindRejectOnce, Name: "no", OptionId: "no"})
	}
	r, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{SessionId: "s-1", Options: options, ToolCall: sdk.ToolCallUpdate{ToolCallId: id}})
	chosen := "cancelled"
	if r.Outcome.Selected != nil {
		chosen = string(r.Outcome.Selected.OptionId)
	}
	a.note("ask %s %s: %s %s", s.Ask, filepath.Base(s.Path), chosen, tellError(err))
	return nil
}

// ACP plays an agent on stdin and stdout: args name a file of steps, one a line, that
// its first turn does.
func ACP(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(stderr, "acp: want a file of steps")
		return 9
	}
	f, err := os.Open(args[0])
	if err != nil {
		fmt.Fprintln(stderr, "acp:", err)
		return 9
	}
	defer f.Close()
	var steps []Step
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var s Step
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			fmt.Fprintln(stderr, "acp:", err)
			return 9
		}
		steps = append(steps, s)
	}
	a := &Agent{Turns: [][]Step{steps}}
	a.Serve(stdin, stdout, func() {
		for _, end := range []any{stdout, stdin} {
			if c, ok := end.(io.Closer); ok {
				c.Close()
			}
		}
	})
	return 0
}
