package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
)

// needsLogin is the protocol's code of an agent that wants its user to log in first.
const needsLogin = -32000

// openSession says hello and opens a session, or goes on with one. no is why there is none.
func (t *talk) openSession(ctx context.Context) (no *session.Emission) {
	fail := func(what string, err error) *session.Emission {
		e := failRequest(what, err)
		return &e
	}
	hello, err := t.conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber,
		ClientInfo:      &sdk.Implementation{Name: "odd", Version: "1"},
		// Agents read the desk themselves: one takes the protocol's answer for a file that
		// is not there for a fault, and could make no file.
		ClientCapabilities: sdk.ClientCapabilities{Fs: sdk.FileSystemCapabilities{WriteTextFile: true}, Terminal: true},
	})
	if err != nil {
		return fail("initialize", err)
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		e := session.FailTransport(session.Permanent, fmt.Sprintf("the agent speaks version %d of the protocol, and odd speaks %d", hello.ProtocolVersion, sdk.ProtocolVersionNumber))
		return &e
	}
	t.loads = hello.AgentCapabilities.LoadSession
	servers := t.reachableServers(hello.AgentCapabilities.McpCapabilities.Http)
	if t.loads && t.r.Thread != "" {
		t.id = sdk.SessionId(t.r.Thread)
		if _, err := t.conn.LoadSession(ctx, sdk.LoadSessionRequest{SessionId: t.id, Cwd: t.desk.Tree, McpServers: servers}); err == nil {
			return nil
		}
	}
	opened, err := t.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: t.desk.Tree, McpServers: servers})
	if wantsLogin(err) && t.logIn(ctx, hello.AuthMethods) {
		opened, err = t.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: t.desk.Tree, McpServers: servers})
	}
	if err != nil {
		return fail("session/new", err)
	}
	t.id = opened.SessionId
	return nil
}

func wantsLogin(err error) bool {
	var no *sdk.RequestError
	return errors.As(err, &no) && no.Code == needsLogin
}

// logIn logs in by the way that takes a key from the agent's environment, if it offers
// one: agents call it api-key, with their own words around.
func (t *talk) logIn(ctx context.Context, ways []sdk.AuthMethod) bool {
	for _, way := range ways {
		id := ""
		switch {
		case way.EnvVar != nil:
			id = way.EnvVar.Id
		case way.Agent != nil && strings.Contains(way.Agent.Id, "api-key"):
			id = way.Agent.Id
		}
		if id != "" {
			if _, err := t.conn.Authenticate(ctx, sdk.AuthenticateRequest{MethodId: id}); err == nil {
				return true
			}
		}
	}
	return false
}

// reachableServers are those of the contract that the agent can reach.
func (t *talk) reachableServers(http bool) []sdk.McpServer {
	out := []sdk.McpServer{}
	for _, s := range t.client.servers {
		switch {
		case len(s.Argv) > 0:
			env := []sdk.EnvVariable{}
			for _, kv := range s.Values(t.s.Environ) {
				name, v, _ := strings.Cut(kv, "=")
				env = append(env, sdk.EnvVariable{Name: name, Value: v})
			}
			out = append(out, sdk.McpServer{Stdio: &sdk.McpServerStdio{Name: s.Name, Command: s.Argv[0], Args: append([]string{}, s.Argv[1:]...), Env: env}})
		case http:
			headers := []sdk.HttpHeader{}
			if token := s.Token(t.s.Environ); token != "" {
				headers = append(headers, sdk.HttpHeader{Name: "Authorization", Value: "Bearer " + token})
			}
			out = append(out, sdk.McpServer{Http: &sdk.McpServerHttpInline{Name: s.Name, Type: "http", Url: s.URL, Headers: headers}})
		}
	}
	return out
}

// runTurn sends one prompt and waits for its end. When ctx ends, or odd has heard
// enough, the agent is told, and given a moment.
func (t *talk) runTurn(ctx context.Context, prompt string) session.Emission {
	t.turns++
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.client.beginTurn(cancel)
	type answer struct {
		r   sdk.PromptResponse
		err error
	}
	end, over := context.WithCancel(context.WithoutCancel(ctx))
	defer over()
	answers := make(chan answer, 1)
	go func() {
		r, err := t.conn.Prompt(end, sdk.PromptRequest{SessionId: t.id, Prompt: []sdk.ContentBlock{sdk.TextBlock(prompt)}})
		answers <- answer{r, err}
	}()
	select {
	case a := <-answers:
		if context.Cause(ctx) == nil {
			return t.turnEmission(a.r, a.err)
		}
	case <-ctx.Done():
		wait, done := context.WithTimeout(end, grace)
		defer done()
		go t.conn.Cancel(wait, sdk.CancelNotification{SessionId: t.id})
		select {
		case <-answers:
		case <-wait.Done():
		}
	}
	return t.endedByOdd(ctx)
}

func (t *talk) endedByOdd(ctx context.Context) session.Emission {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTooLarge):
		return session.Fail(session.TooLarge, fmt.Sprintf("the agent said more than %d bytes in a turn; raise max_bytes or say less", t.s.maxBytes()))
	case errors.Is(cause, errOverBudget):
		return session.Fail(session.OverBudget, "the agent told of a cost over what may be spent")
	}
	return session.Fail(session.Interruption(ctx), "")
}

// turnEmission is what a turn came to that the agent ended.
func (t *talk) turnEmission(r sdk.PromptResponse, err error) session.Emission {
	if err != nil {
		return failRequest("session/prompt", err)
	}
	t.client.addTokens(r.Usage)
	said := t.client.wordsOfTurn()
	switch r.StopReason {
	case sdk.StopReasonMaxTurnRequests:
		return session.Fail(session.TurnLimit, "the agent used up its own requests in one turn; split the task")
	case sdk.StopReasonRefusal:
		return session.Emission{Outcome: session.Refused, Detail: "the agent refused to go on", Raw: said}
	case sdk.StopReasonCancelled:
		if t.client.listDenials() != "" {
			break // it ends its turn at a denial
		}
		return session.FailTransport(session.TransientTransport, "the agent cancelled the turn, and nobody asked it to")
	case sdk.StopReasonMaxTokens:
		if e := session.Read(said); e.Outcome != session.Failed {
			return e
		}
		return session.FailTransport(session.ContextOverflow, "the answer was cut off at the model's limit of tokens")
	}
	return session.Read(said)
}

// failRequest returns a request of odd's that came to nothing.
func failRequest(what string, err error) session.Emission {
	if wantsLogin(err) {
		return session.FailTransport(session.Permanent, what+": the agent wants a login first; name what it needs of your environment in [substrate.acp] env: "+explainError(err))
	}
	var no *sdk.RequestError
	class := exec.ClassOf(err.Error())
	if errors.As(err, &no) && no.Code == -32601 {
		class = session.Permanent
	}
	return session.FailTransport(class, what+": "+explainError(err))
}

// explainError returns what went wrong, in the agent's words. The library answers for an agent
// that is gone, as the protocol's internal error.
func explainError(err error) string {
	var no *sdk.RequestError
	if !errors.As(err, &no) {
		return err.Error()
	}
	data, _ := no.Data.(map[string]any)
	detail, _ := data["error"].(string)
	switch {
	case strings.HasPrefix(detail, "peer disconnected"), strings.HasSuffix(detail, "broken pipe"):
		return "the agent ended before it answered; is [substrate.acp] argv a command that speaks the Agent Client Protocol?"
	case data == nil && no.Data == nil:
		return fmt.Sprintf("%s (%d)", no.Message, no.Code)
	}
	return err.Error()
}

func (s Substrate) maxBytes() int {
	if s.MaxBytes > 0 {
		return s.MaxBytes
	}
	return exec.DefaultMaxBytes
}
