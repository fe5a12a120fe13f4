// Package anthropic is the substrate of the Messages API, with odd's own toolbox.
//
//	[session]
//	substrate = "anthropic"
//	model = "…"
//	[substrate.anthropic]
//	key_env = "ANTHROPIC_API_KEY"   # the name of the variable, the default
//	max_tokens = 8192               # of one answer
//
// It posts and reads JSON of its own: the official client library has every service of
// the API in it, which was a fifth of the program. Nothing is tried again. Package
// endpoint dials.
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
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

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

// version is the API's, whose shapes say.go and hear.go write and read:
// https://docs.claude.com/en/api/messages and /en/api/messages-streaming.
const version = "2023-06-01"

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
	m := s.newModel()
	defer m.line.Close()
	talk := s.Talk
	talk.Model = s.Model
	return loop.Run(ctx, "anthropic", m, s.Tools, r, talk)
}

func (s Substrate) newModel() *model {
	return &model{s: s, line: endpoint.Open(endpoint.Options{Secret: s.Key, Environ: s.Environ})}
}

// model answers exchanges.
type model struct {
	s    Substrate
	line *endpoint.Line
}

// Answer sends one exchange and reads the stream that answers it.
func (m *model) Answer(ctx context.Context, x loop.Exchange) (loop.Reply, error) {
	body, err := json.Marshal(m.bodyOf(x))
	if err != nil {
		return loop.Reply{}, fmt.Errorf("substrate anthropic: %w", err)
	}
	ctx, cancel := endpoint.Within(ctx, m.s.Timeout)
	defer cancel()
	a, p := m.postRequest(ctx, body, x.Progress)
	switch {
	case p == nil:
		return a.loopReply(m.s.Model), nil
	case ctx.Err() != nil:
		p = &endpoint.Problem{Err: context.Cause(ctx)}
	}
	return loop.Reply{}, m.line.Fault(*p)
}

// postRequest sends a request and reads its answer, or says why there is none.
func (m *model) postRequest(ctx context.Context, body []byte, progress func(string)) (*answer, *endpoint.Problem) {
	address := strings.TrimSuffix(cmp.Or(m.s.BaseURL, DefaultBaseURL), "/") + "/v1/messages"
	status, stream, err := m.line.Post(ctx, address, map[string]string{"Anthropic-Version": version, "X-Api-Key": m.s.Key}, body)
	if err != nil {
		return nil, &endpoint.Problem{Err: err}
	}
	defer stream.Close()
	if status/100 != 2 {
		return nil, readRefusal(status, stream)
	}
	var a answer
	for e, err := range sse.Read(stream, &sse.ReadConfig{MaxEventSize: endpoint.DefaultMaxBytes}) {
		if err != nil {
			return nil, &endpoint.Problem{Err: err}
		}
		if p := a.takeEvent(e.Type, e.Data, progress); p != nil {
			return nil, p
		}
		if a.whole {
			break
		}
	}
	switch {
	case !a.whole:
		return nil, &endpoint.Problem{Err: errors.New("the answer broke off before its end")}
	case a.stop == "model_context_window_exceeded":
		return nil, &endpoint.Problem{Kind: "context_length_exceeded", Text: "the answer did not fit the model's context"}
	}
	return &a, nil
}

// mostRefusal bounds what is read of an answer that is no stream.
const mostRefusal = 64 << 10

// readRefusal reads an answer that is no stream, which may be the API's or something's on
// the way there.
func readRefusal(status int, answer io.Reader) *endpoint.Problem {
	body, err := io.ReadAll(io.LimitReader(answer, mostRefusal))
	var said struct{ Error failure }
	if json.Unmarshal(body, &said) != nil {
		said.Error = failure{}
	}
	return &endpoint.Problem{Status: status, Kind: said.Error.Type, Text: cmp.Or(said.Error.Message, string(body)), Err: err}
}
