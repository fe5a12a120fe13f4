package anthropic

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// params are an exchange as the API takes it.
func (m *model) params(x loop.Exchange) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: sdk.Model(m.s.Model), MaxTokens: int64(x.MaxTokens)}
	if x.System != "" {
		p.System = []sdk.TextBlockParam{{Text: x.System, CacheControl: sdk.NewCacheControlEphemeralParam()}}
	}
	for i, t := range x.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return p, err
		}
		if i == len(x.Tools)-1 {
			tool.CacheControl = sdk.NewCacheControlEphemeralParam()
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	for _, msg := range x.Messages {
		p.Messages = append(p.Messages, messageParam(msg))
	}
	mark(p.Messages)
	switch m.s.Thinking {
	case "adaptive":
		p.Thinking = sdk.ThinkingConfigParamUnion{OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{}}
	case "disabled":
		off := sdk.NewThinkingConfigDisabledParam()
		p.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &off}
	}
	return p, nil
}

// mark lets the cache end behind the last two messages of the user.
func mark(messages []sdk.MessageParam) {
	left := 2
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if n := len(messages[i].Content); messages[i].Role == sdk.MessageParamRoleUser && n > 0 {
			if at := messages[i].Content[n-1].GetCacheControl(); at != nil {
				*at = sdk.NewCacheControlEphemeralParam()
				left--
			}
		}
	}
}

// toolParam is a tool with its schema, key by key as it was written.
func toolParam(t toolbox.Tool) (sdk.ToolParam, error) {
	var schema struct {
		Properties json.RawMessage
		Required   []string
	}
	var all map[string]any
	if err := errors.Join(json.Unmarshal(t.Schema, &schema), json.Unmarshal(t.Schema, &all)); err != nil {
		return sdk.ToolParam{}, fmt.Errorf("substrate anthropic: the schema of the tool %s: %w", t.Name, err)
	}
	for _, k := range []string{"type", "properties", "required"} {
		delete(all, k)
	}
	in := sdk.ToolInputSchemaParam{Required: schema.Required, ExtraFields: all}
	if schema.Properties != nil {
		in.Properties = schema.Properties
	}
	return sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description), InputSchema: in}, nil
}

// messageParam is one message: the API's own where it came from there.
func messageParam(m loop.Message) sdk.MessageParam {
	if m.Role == loop.Assistant {
		return sdk.NewAssistantMessage(assistant(m)...)
	}
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range m.Results {
		blocks = append(blocks, sdk.NewToolResultBlock(r.ID, r.Text, r.Failed))
	}
	if m.Text != "" {
		blocks = append(blocks, sdk.NewTextBlock(m.Text))
	}
	return sdk.NewUserMessage(blocks...)
}

// assistant are the blocks of an answer, as they came or, where they came from
// elsewhere, rebuilt. The API takes no answer of nothing.
func assistant(m loop.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	var native []json.RawMessage
	if json.Unmarshal(m.Native, &native) == nil && len(native) > 0 {
		for _, b := range native {
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](b))
		}
		return blocks
	}
	if m.Text != "" || len(m.Calls) == 0 {
		blocks = append(blocks, sdk.NewTextBlock(cmp.Or(m.Text, "(nothing)")))
	}
	for _, c := range m.Calls {
		blocks = append(blocks, sdk.NewToolUseBlock(c.ID, object(c.Args), c.Name))
	}
	return blocks
}

// object is the arguments of a call where they are a JSON object, and an empty one
// where they are not: the API takes no other.
func object(args json.RawMessage) json.RawMessage {
	var o map[string]json.RawMessage
	if json.Unmarshal(args, &o) != nil || o == nil {
		return json.RawMessage("{}")
	}
	return args
}
