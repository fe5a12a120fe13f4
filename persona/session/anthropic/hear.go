package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
)

// answer is an answer as it comes.
type answer struct {
	message sdk.Message
	args    map[int64]*strings.Builder // of the calls, by block, as the model wrote them
	whole   bool                       // its last event came
}

// hear takes one event.
func (a *answer) hear(e sdk.MessageStreamEventUnion, progress func(string)) error {
	switch {
	case e.Type == "message_stop":
		a.whole = true
	case e.Type != "content_block_delta":
	case e.Delta.Type == "text_delta":
		progress(e.Delta.Text)
	case e.Delta.Type == "input_json_delta":
		if a.args == nil {
			a.args = map[int64]*strings.Builder{}
		}
		if a.args[e.Index] == nil {
			a.args[e.Index] = &strings.Builder{}
		}
		a.args[e.Index].WriteString(e.Delta.PartialJSON)
	}
	return a.message.Accumulate(e)
}

// reply is the answer as package loop takes it. asked is the model that was asked.
func (a *answer) reply(asked string) loop.Reply {
	r := loop.Reply{Message: loop.Message{Role: loop.Assistant}, Stop: stop(a.message.StopReason), Model: cmp.Or(string(a.message.Model), asked), Tokens: tokens(a.message.Usage)}
	var text []string
	var native []string
	for i, b := range a.message.Content {
		switch b.Type {
		case "text":
			if b.Text == "" {
				continue // which the API would not take back
			}
			text = append(text, b.Text)
		case "tool_use":
			r.Message.Calls = append(r.Message.Calls, loop.ToolCall{ID: b.ID, Name: b.Name, Args: a.argumentsOf(int64(i), b.Input)})
		}
		native = append(native, b.RawJSON())
	}
	r.Message.Text = strings.Join(text, "\n")
	if len(native) > 0 {
		r.Message.Native = json.RawMessage("[" + strings.Join(native, ",") + "]")
	}
	if len(r.Message.Calls) > 0 && r.Stop == loop.StopEnd {
		r.Stop = loop.StopTools
	}
	return r
}

// argumentsOf returns what the model wrote as the arguments of block i, JSON or not; whole is
// what the block began with.
func (a *answer) argumentsOf(i int64, whole json.RawMessage) json.RawMessage {
	if b := a.args[i]; b != nil && b.Len() > 0 {
		return json.RawMessage(b.String())
	}
	if len(whole) == 0 {
		return json.RawMessage("{}")
	}
	return whole
}

// tokens are what an answer is billed for.
func tokens(u sdk.Usage) session.Tokens {
	return session.Tokens{Input: max(u.InputTokens, 0), Output: max(u.OutputTokens, 0), CacheRead: max(u.CacheReadInputTokens, 0), CacheWrite: max(u.CacheCreationInputTokens, 0)}
}

// stop is why an answer ended. A reason that is not known is an end, because what
// came is whole.
func stop(r sdk.StopReason) loop.Stop {
	switch r {
	case sdk.StopReasonToolUse:
		return loop.StopTools
	case sdk.StopReasonMaxTokens:
		return loop.StopLength
	case sdk.StopReasonRefusal:
		return loop.StopRefusal
	}
	return loop.StopEnd
}
