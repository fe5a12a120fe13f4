package anthropic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/loop"
)

// answer is an answer as it comes.
type answer struct {
	model, stop string
	used        usage
	blocks      []*part
	whole       bool // its last event came
}

// part is a block of an answer.
type part struct {
	Type, ID, Name              string
	Input                       json.RawMessage
	Text, Thinking, Signature   string          // as the block began
	began                       json.RawMessage // all of that
	text, args, thought, signed strings.Builder // what was added
}

// usage is what the API counts; what an event does not tell stays as it was.
type usage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
}

// failure is why the API does not answer.
type failure struct{ Type, Message string }

// event is one of the stream, of whichever type.
type event struct {
	Type    string
	Message struct {
		Model string
		Usage *usage
	}
	Index int
	Block json.RawMessage `json:"content_block"`
	Delta struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		Stop                            string `json:"stop_reason"`
	}
	Usage *usage
	Error failure
}

// hear takes one event. The API may add types of events, which say nothing to odd.
func (a *answer) hear(data []byte, progress func(string)) *endpoint.Problem {
	e := event{Usage: &a.used}
	e.Message.Usage = &a.used
	if err := json.Unmarshal(data, &e); err != nil {
		return &endpoint.Problem{Err: fmt.Errorf("an event of the answer: %w", err)}
	}
	switch e.Type {
	case "error":
		return &endpoint.Problem{Kind: e.Error.Type, Text: e.Error.Message}
	case "message_start":
		a.model = e.Message.Model
	case "content_block_start":
		p := &part{began: e.Block}
		if err := json.Unmarshal(e.Block, p); err != nil || e.Index != len(a.blocks) {
			return &endpoint.Problem{Err: fmt.Errorf("block %d of the answer does not begin as one", e.Index)}
		}
		a.blocks = append(a.blocks, p)
	case "content_block_delta":
		if e.Index < 0 || e.Index >= len(a.blocks) {
			return &endpoint.Problem{Err: fmt.Errorf("block %d of the answer goes on and did not begin", e.Index)}
		}
		p := a.blocks[e.Index]
		p.text.WriteString(e.Delta.Text)
		p.args.WriteString(e.Delta.PartialJSON)
		p.thought.WriteString(e.Delta.Thinking)
		p.signed.WriteString(e.Delta.Signature)
		if e.Delta.Type == "text_delta" {
			progress(e.Delta.Text)
		}
	case "message_delta":
		a.stop = cmp.Or(e.Delta.Stop, a.stop)
	case "message_stop":
		a.whole = true
	}
	return nil
}

// reply is the answer as package loop takes it. asked is the model that was asked.
func (a *answer) reply(asked string) loop.Reply {
	r := loop.Reply{Message: loop.Message{Role: loop.Assistant}, Stop: stopOf(a.stop), Model: cmp.Or(a.model, asked), Tokens: a.used.tokens()}
	var text []string
	var native []json.RawMessage
	for _, p := range a.blocks {
		switch p.Type {
		case "text":
			s := p.Text + p.text.String()
			if s == "" {
				continue // which the API would not take back
			}
			text = append(text, s)
			native = append(native, encoded(block{Type: p.Type, Text: s}))
		case "thinking":
			native = append(native, encoded(struct {
				Type      string `json:"type"`
				Thinking  string `json:"thinking"`
				Signature string `json:"signature"`
			}{p.Type, p.Thinking + p.thought.String(), p.Signature + p.signed.String()}))
		case "tool_use":
			args := p.arguments()
			r.Message.Calls = append(r.Message.Calls, loop.ToolCall{ID: p.ID, Name: p.Name, Args: args})
			native = append(native, encoded(block{Type: p.Type, ID: p.ID, Name: p.Name, Input: object(args)}))
		default:
			native = append(native, p.began)
		}
	}
	r.Message.Text = strings.Join(text, "\n")
	if len(native) > 0 {
		r.Message.Native = encoded(native)
	}
	if len(r.Message.Calls) > 0 && r.Stop == loop.StopEnd {
		r.Stop = loop.StopTools
	}
	return r
}

// encoded is a value as JSON with its < and & as they are. Each value here has a JSON.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// arguments returns what the model wrote as the arguments of a call, JSON or not.
func (p *part) arguments() json.RawMessage {
	if p.args.Len() > 0 {
		return json.RawMessage(p.args.String())
	}
	if len(p.Input) == 0 {
		return json.RawMessage("{}")
	}
	return p.Input
}

// tokens are what an answer is billed for.
func (u usage) tokens() session.Tokens {
	return session.Tokens{Input: max(u.Input, 0), Output: max(u.Output, 0), CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0)}
}

// stopOf is why an answer ended. A reason that is not known is an end, because what
// came is whole.
func stopOf(reason string) loop.Stop {
	switch reason {
	case "tool_use":
		return loop.StopTools
	case "max_tokens":
		return loop.StopLength
	case "refusal":
		return loop.StopRefusal
	}
	return loop.StopEnd
}
