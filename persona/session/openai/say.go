package openai

import (
	"cmp"
	"encoding/json"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/odd-cli/odd/persona/session/loop"
)

// request is an exchange as servers take it.
func (m *model) request(x loop.Exchange) sdk.ChatCompletionRequest {
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
		r.Messages = append(r.Messages, messages(msg)...)
	}
	for _, t := range x.Tools {
		r.Tools = append(r.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	return r
}

// messages are one message: the results of calls are one each. A message of
// nothing is refused by many, so that nothing has a text too.
func messages(m loop.Message) []sdk.ChatCompletionMessage {
	if m.Role == loop.Assistant {
		out := sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: m.Text}
		for _, c := range m.Calls {
			out.ToolCalls = append(out.ToolCalls, sdk.ToolCall{ID: c.ID, Type: sdk.ToolTypeFunction, Function: sdk.FunctionCall{Name: cmp.Or(c.Name, "unnamed"), Arguments: object(c.Args)}})
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

// object is the arguments of a call where they are a JSON object, and an empty one
// where they are not.
func object(args json.RawMessage) string {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return "{}"
	}
	return string(args)
}
