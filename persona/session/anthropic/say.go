package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/odd-cli/odd/persona/session/loop"
)

// exchangeBody is an exchange as the API takes it.
type exchangeBody struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	Stream    bool      `json:"stream"`
	Thinking  *kind     `json:"thinking,omitempty"`
	System    []block   `json:"system,omitempty"`
	Tools     []tool    `json:"tools,omitempty"`
	Messages  []message `json:"messages"`
}

// kind is an object that has a type and no more.
type kind struct {
	Type string `json:"type"`
}

// ephemeral lets the cache of prompts end behind what it is set on.
var ephemeral = &kind{"ephemeral"}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
	Cache       *kind           `json:"cache_control,omitempty"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is a part of a message: text, a call, or what a call gave.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Call    string          `json:"tool_use_id,omitempty"`
	Content []block         `json:"content,omitempty"`
	Failed  bool            `json:"is_error,omitempty"`
	Cache   *kind           `json:"cache_control,omitempty"`

	native json.RawMessage // a block as the API wrote it, sent in place of the rest
}

func (b block) MarshalJSON() ([]byte, error) {
	if b.native != nil {
		return b.native, nil
	}
	type plain block
	return json.Marshal(plain(b))
}

func (m *model) bodyOf(x loop.Exchange) exchangeBody {
	r := exchangeBody{Model: m.s.Model, MaxTokens: x.MaxTokens, Stream: true}
	if m.s.Thinking != "" {
		r.Thinking = &kind{m.s.Thinking}
	}
	if x.System != "" {
		r.System = []block{{Type: "text", Text: x.System, Cache: ephemeral}}
	}
	for _, t := range x.Tools {
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = ephemeral
	}
	for _, msg := range x.Messages {
		r.Messages = append(r.Messages, messageOf(msg))
	}
	left := 2 // messages of the user behind which the cache ends
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if at := r.Messages[i]; at.Role == "user" && len(at.Content) > 0 {
			at.Content[len(at.Content)-1].Cache = ephemeral
			left--
		}
	}
	return r
}

// messageOf is one message: the API's own where it came from there.
func messageOf(m loop.Message) message {
	if m.Role == loop.Assistant {
		return message{"assistant", assistantBlocks(m)}
	}
	out := message{Role: "user"}
	for _, r := range m.Results {
		out.Content = append(out.Content, block{Type: "tool_result", Call: r.ID, Content: textOf(r.Text), Failed: r.Failed})
	}
	out.Content = append(out.Content, textOf(m.Text)...)
	return out
}

// textOf is a block of text; the API takes no empty one.
func textOf(s string) []block {
	if s == "" {
		return nil
	}
	return []block{{Type: "text", Text: s}}
}

// assistantBlocks are the blocks of an answer, as they came or, where they came from
// elsewhere, rebuilt. The API takes no answer of nothing.
func assistantBlocks(m loop.Message) []block {
	var blocks []block
	var native []json.RawMessage
	if json.Unmarshal(m.Native, &native) == nil && len(native) > 0 {
		for _, b := range native {
			blocks = append(blocks, block{native: b})
		}
		return blocks
	}
	if m.Text != "" || len(m.Calls) == 0 {
		blocks = textOf(cmp.Or(m.Text, "(nothing)"))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, block{Type: "tool_use", ID: c.ID, Name: c.Name, Input: objectOrEmpty(c.Args)})
	}
	return blocks
}

// objectOrEmpty is the arguments of a call where they are a JSON object, and an empty one
// where they are not: the API takes no other.
func objectOrEmpty(args json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return args
}
