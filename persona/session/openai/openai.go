// Package openai is the substrate of chat completions as OpenAI began them and as
// many others answer them, hosted or on this machine, with odd's own toolbox.
//
//	[session]
//	substrate = "openai"
//	model = "…"
//	[substrate.openai]
//	base_url = "http://127.0.0.1:11434/v1"   # default https://api.openai.com/v1
//	key_env = "OPENAI_API_KEY"               # the default; may be unset elsewhere than at OpenAI
//	max_tokens = 8192                        # of one answer
//	free = true                              # a model on this machine
//
// It uses github.com/sashabaranov/go-openai: with it a stripped odd is 0.1 MB larger
// and starts as fast as without, where the official library makes it 20.5 MB larger
// and a tenth slower to start (linux/amd64, go 1.26, 200 starts each). Package
// endpoint dials.
//
// # What servers do differently, and what holds here
//
//   - Usage is asked for in the stream. A server that sends none leaves the tokens
//     unknown, and with them the cost, unless the substrate is free.
//   - Calls come in pieces, several at once, numbered or not, with an id or none. A
//     piece belongs to the call of its number, or else of its id, or else to the last
//     one; a name behind arguments that are whole begins another call. A call without an
//     id, or with one that was given already, gets one of odd's.
//   - finish_reason says tool_calls, function_call or stop behind calls: what counts
//     is that there are some. length and max_tokens cut an answer off,
//     content_filter and a refusal declined it; anything else is an end. An answer
//     without any is one that broke off.
//   - The bound of an answer is max_completion_tokens at OpenAI and max_tokens
//     elsewhere; max_tokens_key in odd.toml says otherwise.
//   - Reasoning beside the answer is neither kept nor given back.
//   - Arguments that are no JSON object reach the toolbox as they were written, and go
//     back to the server as {}: some cannot read a conversation that holds others.
//   - A server that writes its tool calls into the text is not supported: such calls
//     are text, and a session that makes none ends without an outcome. Name a
//     template that parses tool calls (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice).
//   - A server that cuts a conversation silently to its context cannot be told from
//     one that does not: give a model on this machine a context as long as the
//     session's (Ollama: OLLAMA_CONTEXT_LENGTH).
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// The defaults of a Substrate.
const (
	DefaultBaseURL = "https://api.openai.com/v1"
	DefaultKeyEnv  = "OPENAI_API_KEY"
)

// The keys that bound an answer.
const (
	MaxTokens           = "max_tokens"
	MaxCompletionTokens = "max_completion_tokens"
)

// Substrate holds sessions with a model that answers chat completions.
type Substrate struct {
	Model        string
	BaseURL      string        // without /chat/completions; "" is DefaultBaseURL
	Key          string        // the API key, "" sends none
	MaxTokensKey string        // MaxTokens, MaxCompletionTokens, or "" for what the server's name suggests
	Timeout      time.Duration // of one answer; 0 is the session's
	Environ      []string      // of odd itself, for its proxy
	Tools        toolbox.Options
	Talk         loop.Options
}

// Hosted reports an address of OpenAI itself, where nothing is answered without a key.
func Hosted(base string) bool {
	u, err := url.Parse(cmp.Or(base, DefaultBaseURL))
	return err == nil && u.Hostname() == "api.openai.com"
}

// Run holds one session.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	m := s.newModel()
	defer m.line.Close()
	talk := s.Talk
	talk.Model = s.Model
	return loop.Run(ctx, "openai", m, s.Tools, r, talk)
}

func (s Substrate) newModel() *model {
	m := &model{s: s, line: endpoint.Open(endpoint.Options{Secret: s.Key, Environ: s.Environ})}
	c := sdk.DefaultConfig(s.Key)
	c.BaseURL, c.HTTPClient, c.EmptyMessagesLimit = cmp.Or(s.BaseURL, DefaultBaseURL), m.line, emptyLines
	m.api = sdk.NewClientWithConfig(c)
	return m
}

// emptyLines bounds the comments by which a server keeps a line open; the answer's
// bytes are bounded anyhow.
const emptyLines = 1 << 20

// mostCalls ends an answer whose pieces name ever more calls, each of which would be
// looked for among all the others.
const mostCalls = 4096

// model answers exchanges.
type model struct {
	s    Substrate
	api  *sdk.Client
	line *endpoint.Line
}

// Answer sends one exchange and reads the stream that answers it.
func (m *model) Answer(ctx context.Context, x loop.Exchange) (loop.Reply, error) {
	ctx, cancel := endpoint.Within(ctx, m.s.Timeout)
	defer cancel()
	stream, err := m.api.CreateChatCompletionStream(ctx, m.buildRequest(x))
	if err != nil {
		return loop.Reply{}, m.line.Fault(readProblem(ctx, err))
	}
	defer stream.Close()
	var a answer
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return loop.Reply{}, m.line.Fault(readProblem(ctx, err))
		}
		if a.takeChunk(chunk, x.Progress); len(a.calls) > mostCalls {
			return loop.Reply{}, m.line.Fault(endpoint.Problem{Kind: "server_error", Text: fmt.Sprintf("the answer asks for more than %d calls", mostCalls)})
		}
	}
	if a.finish == "" {
		return loop.Reply{}, m.line.Fault(endpoint.Problem{Err: errors.New("the answer broke off before its end")})
	}
	return a.loopReply(m.s.Model, len(x.Messages)), nil
}

// readProblem reads an error of the library.
func readProblem(ctx context.Context, err error) endpoint.Problem {
	var api *sdk.APIError
	var other *sdk.RequestError
	switch {
	case ctx.Err() != nil:
		return endpoint.Problem{Err: context.Cause(ctx)}
	case errors.As(err, &other): // which may wrap an empty one of the other kind
		return endpoint.Problem{Status: other.HTTPStatusCode, Text: serverError(other.Body)}
	case errors.As(err, &api):
		kind, _ := api.Code.(string)
		return endpoint.Problem{Status: api.HTTPStatusCode, Kind: cmp.Or(kind, api.Type), Text: api.Message}
	case errors.Is(err, sdk.ErrReasoningToolsRequireResponses), errors.Is(err, sdk.ErrChatCompletionInvalidModel):
		return endpoint.Problem{Kind: "model_not_found", Err: err}
	}
	return endpoint.Problem{Err: err}
}

// serverError returns what a server says in a form of its own: an error that is a text, or the
// body as it is.
func serverError(body []byte) string {
	var o struct {
		Error, Message, Detail any
	}
	if json.Unmarshal(body, &o) == nil {
		for _, v := range []any{o.Error, o.Message, o.Detail} {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
	}
	return string(body)
}

func (m *model) buildRequest(x loop.Exchange) sdk.ChatCompletionRequest {
	r := sdk.ChatCompletionRequest{Model: m.s.Model, StreamOptions: &sdk.StreamOptions{IncludeUsage: true}}
	switch {
	case m.s.MaxTokensKey == MaxCompletionTokens, m.s.MaxTokensKey == "" && Hosted(m.s.BaseURL):
		r.MaxCompletionTokens = x.MaxTokens
	default:
		//lint:ignore SA1019 servers that only follow the API know no other name
		r.MaxTokens = x.MaxTokens
	}
	if x.System != "" {
		r.Messages = append(r.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: x.System})
	}
	for _, msg := range x.Messages {
		r.Messages = append(r.Messages, splitMessage(msg)...)
	}
	for _, t := range x.Tools {
		r.Tools = append(r.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	return r
}

// splitMessage returns one message: the results of calls are one each. A message of
// nothing is refused by many, so that nothing has a text too.
func splitMessage(m loop.Message) []sdk.ChatCompletionMessage {
	if m.Role == loop.Assistant {
		out := sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: m.Text}
		for _, c := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, sdk.ToolCall{ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: cmp.Or(c.Name, "unnamed"), Arguments: objectOrEmpty(c.Args)}})
		}
		if len(out.ToolCalls) == 0 {
			out.Content = cmp.Or(out.Content, nothing)
		}
		return []sdk.ChatCompletionMessage{out}
	}
	var out []sdk.ChatCompletionMessage
	for _, r := range m.Results {
		out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleTool, ToolCallID: r.ID, Content: cmp.Or(r.Text, nothing)})
	}
	if m.Text != "" || len(out) == 0 {
		out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: cmp.Or(m.Text, nothing)})
	}
	return out
}

// nothing stands where a message has no text.
const nothing = "(nothing)"

// objectOrEmpty is the arguments of a call where they are a JSON object, and an empty one
// where they are not.
func objectOrEmpty(args json.RawMessage) string {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return "{}"
	}
	return string(args)
}
