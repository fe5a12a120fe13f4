// Package anthropic is the substrate of the Messages API, with odd's own toolbox.
//
//	[session]
//	substrate = "anthropic"
//	model = "…"
//	[substrate.anthropic]
//	key_env = "ANTHROPIC_API_KEY"   # the name of the variable, the default
//	max_tokens = 8192               # of one answer
//
// It uses the official client library and of that one service only, made by hand,
// so that none of the library's own settings is read from the environment, nothing
// is retried and nothing is traced. Package endpoint dials.
//
// # What is sent
//
//   - The conversation as package loop holds it. An answer of the model goes back to
//     it block by block as it came, thinking and its signatures too.
//   - Marks of the prompt cache, at most four: behind the tools, the system prompt
//     and the last two messages of the user. What one turn wrote the next one reads,
//     as long as nothing before it was compacted.
//   - thinking, where odd.toml names it: "adaptive" or "disabled"; else the model's
//     own default holds.
//
// # What is read
//
// The stream, as it comes: text is progress, everything is the answer. Tokens are the
// last that the stream told: input is what no cache gave, and tokens written to
// the cache are told apart from those read. They are written for five minutes, for which the
// price table's cache_write_usd stands. An answer that ends before its last event, or that is
// no stream of this API, is a transport that failed.
//
// A refusal of the model, or of the filter before it, is an answer; an answer that
// the model's context cut short is a context overflow.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// The defaults of a Substrate.
const (
	DefaultBaseURL = "https://api.anthropic.com"
	DefaultKeyEnv  = "ANTHROPIC_API_KEY"
)

// Substrate holds sessions with a model of the Messages API.
type Substrate struct {
	Model    string
	BaseURL  string        // without /v1/messages; "" is DefaultBaseURL
	Key      string        // the API key
	Thinking string        // "adaptive", "disabled", or "" for the model's default
	Timeout  time.Duration // of one answer; 0 is the session's
	Environ  []string      // of odd itself, for its proxy
	Tools    toolbox.Options
	Talk     loop.Options
}

// Run holds one session.
func (s Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	m := s.model()
	defer m.line.Close()
	talk := s.Talk
	talk.Model = s.Model
	return loop.Run(ctx, "anthropic", m, s.Tools, r, talk)
}

// model is a connection to the API.
func (s Substrate) model() *model {
	m := &model{s: s, line: endpoint.Open(endpoint.Options{Secret: s.Key, Environ: s.Environ})}
	m.api = sdk.NewMessageService(
		option.WithBaseURL(cmp.Or(s.BaseURL, DefaultBaseURL)), option.WithAPIKey(s.Key), option.WithHTTPClient(m.line),
		option.WithMaxRetries(0), option.WithoutOpenTelemetry(),
	)
	return m
}

// model answers exchanges.
type model struct {
	s    Substrate
	api  sdk.MessageService
	line *endpoint.Line
}

// Answer sends one exchange and reads the stream that answers it.
func (m *model) Answer(ctx context.Context, x loop.Exchange) (loop.Reply, error) {
	p, err := m.params(x)
	if err != nil {
		return loop.Reply{}, err
	}
	ctx, cancel := endpoint.Within(ctx, m.s.Timeout)
	defer cancel()
	stream := m.api.NewStreaming(ctx, p)
	defer stream.Close()
	var a answer
	for stream.Next() {
		if err := a.hear(stream.Current(), x.Progress); err != nil {
			return loop.Reply{}, m.line.Fault(endpoint.Problem{Err: err})
		}
	}
	if err := stream.Err(); err != nil {
		return loop.Reply{}, m.line.Fault(problem(ctx, err))
	}
	if !a.whole {
		return loop.Reply{}, m.line.Fault(endpoint.Problem{Err: errors.New("the answer broke off before its end")})
	}
	if a.message.StopReason == sdk.StopReasonModelContextWindowExceeded {
		return loop.Reply{}, m.line.Fault(endpoint.Problem{Kind: "context_length_exceeded", Text: "the answer did not fit the model's context"})
	}
	return a.reply(m.s.Model), nil
}

// problem reads an error of the library.
func problem(ctx context.Context, err error) endpoint.Problem {
	var api *sdk.Error
	switch {
	case ctx.Err() != nil:
		return endpoint.Problem{Err: context.Cause(ctx)}
	case !errors.As(err, &api):
		return endpoint.Problem{Err: err}
	}
	var said struct {
		Error struct{ Message string }
	}
	p := endpoint.Problem{Status: api.StatusCode, Kind: string(api.Type()), Text: api.RawJSON()}
	if json.Unmarshal([]byte(api.RawJSON()), &said) == nil && said.Error.Message != "" {
		p.Text = said.Error.Message
	}
	return p
}
