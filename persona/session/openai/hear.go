package openai

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
)

// answer is an answer as it comes.
type answer struct {
	text, refusal strings.Builder
	calls         []*call
	finish        sdk.FinishReason
	model         string
	tokens        session.Tokens
}

// call is a tool call as it comes.
type call struct {
	index    int // the server's number, -1 without one
	id, name string
	args     strings.Builder
}

// takeChunk takes one piece. Of several answers to one question only the first counts.
func (a *answer) takeChunk(c sdk.ChatCompletionStreamResponse, progress func(string)) {
	a.model = cmp.Or(c.Model, a.model)
	if c.Usage != nil {
		a.tokens = billedTokens(*c.Usage)
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		if choice.Delta.Content != "" {
			progress(choice.Delta.Content)
			a.text.WriteString(choice.Delta.Content)
		}
		a.refusal.WriteString(choice.Delta.Refusal)
		for _, d := range choice.Delta.ToolCalls {
			a.takeCallPiece(d)
		}
		if f := choice.Delta.FunctionCall; f != nil {
			a.takeCallPiece(sdk.ToolCall{Function: *f})
		}
		if choice.FinishReason != "" && choice.FinishReason != sdk.FinishReasonNull {
			a.finish = choice.FinishReason
		}
	}
}

func (a *answer) takeCallPiece(d sdk.ToolCall) {
	c := a.findCall(d)
	if c == nil {
		c = &call{index: -1}
		if d.Index != nil {
			c.index = *d.Index
		}
		a.calls = append(a.calls, c)
	}
	c.id, c.name = cmp.Or(c.id, d.ID), cmp.Or(c.name, d.Function.Name)
	c.args.WriteString(d.Function.Arguments)
}

// findCall returns the call that a piece belongs to, nil for the first piece of another.
func (a *answer) findCall(d sdk.ToolCall) *call {
	for _, c := range slices.Backward(a.calls) {
		switch {
		case d.Index != nil && c.index != *d.Index:
			continue
		case d.ID != "" && c.id != "" && d.ID != c.id:
			if d.Index != nil {
				return nil // a server that gives every call the same number
			}
			continue
		case d.ID == "" && d.Function.Name != "" && c.name != "" && json.Valid([]byte(c.args.String())):
			return nil
		case d.Index == nil && d.ID != "" && c.id == "":
			return nil
		}
		return c
	}
	return nil
}

// loopReply is the answer as package loop takes it: to the model that was asked, at
// the end of a conversation of so many messages.
func (a *answer) loopReply(asked string, length int) loop.Reply {
	r := loop.Reply{Message: loop.Message{Role: loop.Assistant, Text: a.text.String()}, Stop: a.stopReason(), Model: cmp.Or(a.model, asked), Tokens: a.tokens}
	if a.refusal.Len() > 0 {
		r.Message.Text = strings.TrimPrefix(r.Message.Text+"\n"+a.refusal.String(), "\n")
	}
	taken := map[string]bool{}
	for i, c := range a.calls {
		for n := i + 1; c.id == "" || taken[c.id]; n++ {
			c.id = fmt.Sprintf("odd_%d_%d", length, n)
		}
		taken[c.id] = true
		r.Message.Calls = append(r.Message.Calls, loop.ToolCall{ID: c.id, Name: c.name, Args: json.RawMessage(cmp.Or(c.args.String(), "{}"))})
	}
	return r
}

// billedTokens are what an answer is billed for; what the cache gave is part of the
// prompt's.
func billedTokens(u sdk.Usage) session.Tokens {
	t := session.Tokens{Input: int64(max(u.PromptTokens, 0)), Output: int64(max(u.CompletionTokens, 0))}
	if d := u.PromptTokensDetails; d != nil {
		t.CacheRead = min(int64(max(d.CachedTokens, 0)), t.Input)
		t.Input -= t.CacheRead
	}
	return t
}

func (a *answer) stopReason() loop.Stop {
	switch {
	case a.finish == sdk.FinishReasonContentFilter, a.refusal.Len() > 0:
		return loop.StopRefusal
	case a.finish == sdk.FinishReasonLength, a.finish == "max_tokens":
		return loop.StopLength
	case len(a.calls) > 0:
		return loop.StopTools
	}
	return loop.StopEnd
}
