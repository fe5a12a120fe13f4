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
	Input      float64 `json:"input_tokens"`
	Output     float64 `json:"output_tokens"`
	CacheRead  float64 `json:"cache_read_input_tokens"`
	CacheWrite float64 `json:"cache_creation_input_tokens"`
}

// failure is why the API does not answer.
type failure struct{ Type, Message string }

// event is one of the stream, of a type that says something to odd.
type event struct {
	Message struct {
		Model string
		Usage *usage
	}
	Index int
	Block json.RawMessage `json:"content_block"`
	Delta json.RawMessage
	Usage *usage
	Error failure
}

// delta is what an event adds, of a type that says something to odd.
type delta struct {
	Text, Thinking, Signature string
	PartialJSON               string `json:"partial_json"`
	Stop                      string `json:"stop_reason"`
}

// takeEvent takes one event by its name and its data. The API may add types of events and of
// what they add, whatever these hold; they say nothing to odd.
func (a *answer) takeEvent(name, data string, progress func(string)) *endpoint.Problem {
	data = strings.TrimSpace(data)
	if data == "" || a.whole {
		return nil
	}
	bad := func(err error) *endpoint.Problem {
		return &endpoint.Problem{Err: fmt.Errorf("an event of the answer: %w", err)}
	}
	of := kind{}
	err := json.Unmarshal([]byte(data), &of)
	if of.Type = cmp.Or(of.Type, name); err != nil && of.Type != "error" {
		return bad(err)
	}
	switch of.Type {
	case "message_stop":
		a.whole = true
		return nil
	case "error", "message_start", "content_block_start", "content_block_delta", "message_delta":
	default:
		return nil
	}
	e := event{Usage: &a.used}
	e.Message.Usage = &a.used
	err = json.Unmarshal([]byte(data), &e)
	if of.Type == "error" {
		return &endpoint.Problem{Kind: e.Error.Type, Text: cmp.Or(e.Error.Message, data)}
	}
	if err != nil {
		return bad(err)
	}
	switch of.Type {
	case "message_start":
		a.model = e.Message.Model
	case "content_block_start":
		p := &part{began: e.Block}
		if err := json.Unmarshal(e.Block, p); err != nil || p.Type == "" || e.Index != len(a.blocks) {
			return bad(fmt.Errorf("block %d does not begin as one", e.Index))
		}
		a.blocks = append(a.blocks, p)
	default:
		if err := a.addContent(of.Type, e, progress); err != nil {
			return bad(err)
		}
	}
	return nil
}

// addContent takes what an event adds to the answer or to one of its blocks.
func (a *answer) addContent(typ string, e event, progress func(string)) error {
	var is kind
	var d delta
	if e.Delta == nil {
		return nil
	}
	if err := json.Unmarshal(e.Delta, &is); err != nil {
		return err
	}
	switch is.Type {
	case "", "text_delta", "input_json_delta", "thinking_delta", "signature_delta":
		if err := json.Unmarshal(e.Delta, &d); err != nil {
			return err
		}
	}
	if typ == "message_delta" {
		a.stop = cmp.Or(d.Stop, a.stop)
		return nil
	}
	if e.Index < 0 || e.Index >= len(a.blocks) {
		return fmt.Errorf("block %d goes on and did not begin", e.Index)
	}
	p := a.blocks[e.Index]
	p.text.WriteString(d.Text)
	p.args.WriteString(d.PartialJSON)
	p.thought.WriteString(d.Thinking)
	p.signed.WriteString(d.Signature)
	if d.Text != "" {
		progress(d.Text)
	}
	return nil
}

// loopReply is the answer as package loop takes it. asked is the model that was asked.
func (a *answer) loopReply(asked string) loop.Reply {
	r := loop.Reply{Message: loop.Message{Role: loop.Assistant}, Stop: stopOf(a.stop), Model: cmp.Or(a.model, asked), Tokens: a.used.billedTokens()}
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
			native = append(native, encodeJSON(block{Type: p.Type, Text: s}))
		case "thinking":
			native = append(native, encodeJSON(struct {
				Type      string `json:"type"`
				Thinking  string `json:"thinking"`
				Signature string `json:"signature"`
			}{p.Type, p.Thinking + p.thought.String(), p.Signature + p.signed.String()}))
		case "tool_use":
			args := p.callArguments()
			r.Message.Calls = append(r.Message.Calls, loop.ToolCall{ID: p.ID, Name: p.Name, Args: args})
			native = append(native, encodeJSON(block{Type: p.Type, ID: p.ID, Name: p.Name, Input: objectOrEmpty(args)}))
		default:
			native = append(native, p.began)
		}
	}
	r.Message.Text = strings.Join(text, "\n")
	if len(native) > 0 {
		r.Message.Native = encodeJSON(native)
	}
	if len(r.Message.Calls) > 0 && r.Stop == loop.StopEnd {
		r.Stop = loop.StopTools
	}
	return r
}

// encodeJSON returns a value as JSON with its < and & as they are. Each value here has a JSON.
func encodeJSON(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// callArguments returns what the model wrote as the arguments of a call, JSON or not.
func (p *part) callArguments() json.RawMessage {
	if p.args.Len() > 0 {
		return json.RawMessage(p.args.String())
	}
	if len(p.Input) == 0 {
		return json.RawMessage("{}")
	}
	return p.Input
}

// mostTokens is more than any answer has; a larger count is a fault of the server.
const mostTokens = 1 << 40

// billedTokens are what an answer is billed for.
func (u usage) billedTokens() session.Tokens {
	count := func(n float64) int64 { return int64(min(max(n, 0), mostTokens)) }
	return session.Tokens{Input: count(u.Input), Output: count(u.Output), CacheRead: count(u.CacheRead), CacheWrite: count(u.CacheWrite)}
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
