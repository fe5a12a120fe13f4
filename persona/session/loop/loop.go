// Package loop holds the conversation of a session with a model that answers
// through an API: question, tool calls, their answers, until the session has
// declared its outcome or may not go on.
//
// It is the same for every API. What differs, how an exchange is sent and read, is
// a [Model].
//
// # Promises
//
//  1. Before every exchange the session is asked for one more turn, with what it
//     cost so far; and none begins whose answer could cost more than is left: the
//     question at what its bytes come to at most, the answer at its longest, at the
//     price table's prices.
//  2. Cost is counted in micro-USD and rounded up, once for each exchange. Where the
//     provider tells it, that is the cost. A model without a price makes the cost
//     unknown, which is charged as all that was reserved, unless it is free; so does
//     an answer of which nobody said how many tokens it took, and one that broke off.
//     Of those two the most they may have cost counts as spent, while there is a price.
//  3. A conversation that grows too large is made smaller by code, the same way
//     each time: its beginning and its end stay, and what was between is told by
//     which tools were called on which files.
//     One answer asks for at most 256 calls, and what they answer fills at most half
//     of the room.
//  4. A tool call that cannot be read is answered like any other. An answer without
//     a call and without an outcome is reminded once, and then ends the session
//     with no declared outcome.
//  5. A fault of the transport is an emission that failed with its class; nothing
//     of what was emitted before it is lost from the record, and none of it counts.
package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/toolbox"
)

// Model answers exchanges. An error is a *Fault of the transport, or a fault of
// odd's own or of its configuration. Answer obeys ctx at once.
type Model interface {
	Answer(ctx context.Context, x Exchange) (Reply, error)
}

// Exchange is one question to a model: the whole conversation.
type Exchange struct {
	System    string
	Messages  []Message // begins and ends with the user's, and takes turns
	Tools     []toolbox.Tool
	MaxTokens int          // of the answer
	Progress  func(string) // hears text as it comes; never nil
}

// Role is who says a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message: of the user a text or the results of calls, of the
// assistant a text, calls, or both. Native is the provider's own form of an
// assistant's message, which is given back to it unchanged.
type Message struct {
	Role    Role
	Text    string
	Calls   []ToolCall
	Results []ToolResult
	Native  json.RawMessage
}

// ToolCall is a call that the assistant asks for. Args is what it wrote, which need
// not be JSON; ID is the provider's.
type ToolCall struct {
	ID, Name string
	Args     json.RawMessage
}

// ToolResult answers the call of its ID.
type ToolResult struct {
	ID, Text string
	Failed   bool
}

// Stop is why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"
	StopTools   Stop = "tools"
	StopLength  Stop = "length"  // MaxTokens, or the model's own limit
	StopRefusal Stop = "refusal" // the provider or the model declined
)

// Reply is a model's answer. Cost is in micro-USD and counts where CostKnown says
// that the provider itself told it.
type Reply struct {
	Message   Message
	Stop      Stop
	Tokens    session.Tokens // Input without what the cache gave
	Model     string
	Cost      int64
	CostKnown bool
}

// Fault is a transport that failed. After is how long the provider asked to be left
// alone, 0 where it did not say. Charged says that the question was put and not
// turned down, so that it may cost what nobody will tell.
type Fault struct {
	Class   session.Class
	After   time.Duration
	Detail  string
	Charged bool
}

func (f *Fault) Error() string { return string(f.Class) + ": " + f.Detail }

// Price is what a model costs, in micro-USD for a million tokens of each kind.
type Price struct{ Input, Output, CacheRead, CacheWrite int64 }

// Options are how a substrate holds its conversations.
type Options struct {
	System       string           // what every session is told before its brief; "" is the loop's own
	Model        string           // whose price is asked for before its first answer
	Prices       map[string]Price // by model: its whole name, or the longest beginning of it that ends before a -, : or @
	Free         bool             // it costs no money, whatever the prices say
	MaxTokens    int              // of an answer; 0 is DefaultMaxTokens
	ContextBytes int              // of a conversation, of which three quarters are used; 0 is DefaultContextBytes
}

// The defaults of Options, and of a request that names no turns.
const (
	DefaultMaxTokens    = 8_192
	DefaultContextBytes = 131_072
	DefaultRounds       = 15
)

// Run holds one session of the substrate that odd.toml calls name: a conversation with
// m, with a box of tools of its own. The error is a fault of odd's own or of its
// configuration.
func Run(ctx context.Context, name string, m Model, tools toolbox.Options, r session.Request, o Options) (session.Emission, error) {
	if o.Model == "" {
		return session.Emission{}, fmt.Errorf("substrate %s: no model; set [substrate.%s] model or [session] model in odd.toml", name, name)
	}
	tools.Request = r
	box, err := toolbox.New(ctx, tools)
	if err != nil {
		return session.Emission{}, fmt.Errorf("substrate %s: %w", name, err)
	}
	defer box.Close()
	t := newTalk(m, box, r, o)
	for {
		e, over, err := t.runTurn(ctx)
		if err != nil || over {
			return t.finishTalk(e), err
		}
	}
}

// readFault reads an error of a model: a failed emission, or odd's own fault.
func readFault(ctx context.Context, err error) (session.Emission, error) {
	if why := session.Interruption(ctx); why != "" {
		return session.Fail(why, ""), nil
	}
	var f *Fault
	if !errors.As(err, &f) {
		return session.Emission{}, err
	}
	e := session.Fail(session.Transport, f.Error())
	e.Class = f.Class
	return e, nil
}
