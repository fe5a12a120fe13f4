package acp

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// client is what the agent talks to. The protocol's library calls it from many
// goroutines at once.
type client struct {
	s       Substrate
	r       session.Request
	desk    session.Desk
	servers []servers.Spec // that the agent is handed
	own     servers.Spec   // of them, odd's, whose tools change nothing; empty where the session has no bundle

	mu     sync.Mutex
	cancel context.CancelCauseFunc // of the turn under way; nil between turns
	text   bytes.Buffer            // the agent's words in this turn
	shown  int                     // of text: told as progress
	apart  bool                    // the next words are of another message
	calls  map[sdk.ToolCallId]sdk.ToolCallUpdate
	acts   []session.Call
	denied []string // calls of the turn that were denied permission, and why
	notes  []byte
	cost   *sdk.Cost
	tokens session.Tokens
	turns  int

	terminals map[string]*terminal
	opened    int
	acting    sync.Mutex // acts are judged and done one at a time
}

func newClient(s Substrate, r session.Request, desk session.Desk) *client {
	handed, _ := servers.Handed(servers.For(s.Servers, r.Contract), servers.Agent{Env: s.Env, Network: s.Network})
	var own servers.Spec
	if r.Graph != nil {
		own = servers.Own(s.Odd, desk.Tree)
		handed = append(handed, own)
	}
	return &client{s: s, r: r, desk: desk, servers: handed, own: own, calls: map[sdk.ToolCallId]sdk.ToolCallUpdate{}, terminals: map[string]*terminal{}}
}

// beginTurn begins a turn: from now on the agent's words count. What a conversation that
// is gone on with repeats before does not.
func (c *client) beginTurn(cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel, c.shown, c.apart, c.denied = cancel, 0, false, nil
	c.text.Reset()
	c.turns++
}

func (c *client) wordsOfTurn() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.text.Bytes())
}

// listDenials returns the calls of the turn that were denied permission, and why, a line each.
func (c *client) listDenials() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.denied, "")
}

// maxNotes bounds the transcript.
const maxNotes = 256 << 10

// notedCalls returns what the agent did, and what of it was noted.
func (c *client) notedCalls() ([]session.Call, []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.acts, bytes.Clone(c.notes)
}

func (c *client) addTokens(u *sdk.Usage) {
	if u == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens.Input += int64(u.InputTokens)
	c.tokens.Output += int64(u.OutputTokens)
	if u.CachedReadTokens != nil {
		c.tokens.CacheRead += int64(*u.CachedReadTokens)
	}
	if u.CachedWriteTokens != nil {
		c.tokens.CacheWrite += int64(*u.CachedWriteTokens)
	}
}

// reportedUsage is what the agent told of the session's cost.
func (c *client) reportedUsage() session.Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := session.Usage{Tokens: c.tokens}
	if c.cost != nil && c.cost.Currency == "USD" {
		u.Cost, u.CostKnown = exec.MicroUSD(json.RawMessage(strconv.FormatFloat(c.cost.Amount, 'f', -1, 64)))
	}
	return u
}

// SessionUpdate implements the protocol's client: it listens.
func (c *client) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := n.Update
	switch {
	case u.UsageUpdate != nil && u.UsageUpdate.Cost != nil:
		c.keepCost(u.UsageUpdate.Cost)
	case c.cancel == nil:
	case u.AgentMessageChunk != nil && u.AgentMessageChunk.Content.Text != nil:
		c.keepWords(u.AgentMessageChunk.Content.Text.Text)
	case u.ToolCall != nil:
		t := u.ToolCall
		c.mergeCall(sdk.ToolCallUpdate{ToolCallId: t.ToolCallId, Kind: &t.Kind, Title: &t.Title, Locations: t.Locations, RawInput: t.RawInput, Content: t.Content})
		c.tellAndKeep(t.Title)
	case u.ToolCallUpdate != nil:
		t := u.ToolCallUpdate
		c.mergeCall(sdk.ToolCallUpdate{ToolCallId: t.ToolCallId, Kind: t.Kind, Title: t.Title, Locations: t.Locations, RawInput: t.RawInput, Content: t.Content})
	}
	return nil
}

// keepCost keeps a cost, and ends the turn where it is over what may be spent.
func (c *client) keepCost(cost *sdk.Cost) {
	c.cost = cost
	spent, ok := exec.MicroUSD(json.RawMessage(strconv.FormatFloat(cost.Amount, 'f', -1, 64)))
	if cost.Currency == "USD" && ok && c.r.MaxCost > 0 && spent > c.r.MaxCost && !c.s.Free && c.cancel != nil {
		c.cancel(errOverBudget)
	}
}

// keepWords keeps words. A new message begins on a line of its own.
func (c *client) keepWords(text string) {
	if b := c.text.Bytes(); c.apart && len(b) > 0 && b[len(b)-1] != '\n' {
		c.text.WriteByte('\n')
	}
	c.apart = false
	if c.text.Len()+len(text) > c.s.maxBytes() {
		c.cancel(errTooLarge)
		return
	}
	c.text.WriteString(text)
	for {
		line, _, whole := strings.Cut(string(c.text.Bytes()[c.shown:]), "\n")
		if !whole {
			return
		}
		c.shown += len(line) + 1
		c.tellProgress(line)
	}
}

// mostCalls bounds what is remembered of an agent's own calls.
const mostCalls = 10_000

// mergeCall keeps what is known of a call; what comes later counts.
func (c *client) mergeCall(u sdk.ToolCallUpdate) {
	c.apart = true
	if len(c.calls) >= mostCalls {
		clear(c.calls)
	}
	c.calls[u.ToolCallId] = mergeUpdate(c.calls[u.ToolCallId], u)
}

func mergeUpdate(old, u sdk.ToolCallUpdate) sdk.ToolCallUpdate {
	old.ToolCallId = u.ToolCallId
	if u.Kind != nil && *u.Kind != "" {
		old.Kind = u.Kind
	}
	if u.Title != nil {
		old.Title = u.Title
	}
	if u.Locations != nil {
		old.Locations = u.Locations
	}
	if in, ok := u.RawInput.(map[string]any); u.RawInput != nil && (!ok || len(in) > 0) {
		old.RawInput = u.RawInput // an empty one tells nothing
	}
	if u.Content != nil {
		old.Content = u.Content
	}
	return old
}

// tellProgress tells one line. The lock is held.
func (c *client) tellProgress(line string) {
	line = okf.Visible(string(secrets.Redact([]byte(strings.ToValidUTF8(line, "?")))))
	if c.r.Progress != nil && strings.TrimSpace(line) != "" {
		c.r.Progress(line)
	}
}

// tellAndKeep tells one line and keeps it. The lock is held.
func (c *client) tellAndKeep(text string) {
	text = session.Shown(text)
	c.tellProgress(text)
	if len(c.notes)+len(text) < maxNotes {
		c.notes = append(append(c.notes, text...), '\n')
	}
}

// recordAct records one act that went through odd, and how it ended.
func (c *client) recordAct(tool, path string, args any, err error) {
	b, _ := json.Marshal(args)
	sum := sha256.Sum256(b)
	a := session.Call{Round: 1, Tool: tool, Path: path, Key: hex.EncodeToString(sum[:]), Status: session.CallOK}
	if code := policy.CodeOf(err); code != "" {
		a.Status, a.Code = session.CallDenied, code
	} else if err != nil {
		a.Status, a.Code = session.CallFailed, "exec_error"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	a.Round = max(c.turns, 1)
	if err != nil {
		c.tellAndKeep(strings.TrimSpace(tool+" "+path) + ": not done: " + err.Error())
	}
	if len(c.acts) < mostCalls {
		c.acts = append(c.acts, a)
	}
}

// maxMessage bounds one line of the agent's.
const maxMessage = 8 << 20

var errLongMessage = errors.New("the agent sent a line of over 8 MiB")

// splitUpdates takes the session's updates out of what the agent writes, and hands on the rest.
// The library hears updates in a queue of their own, beside its requests; a request for
// permission is judged by the updates before it, so that they are heard here, in
// their order. Nothing is read before listen, which returns when the agent is silent.
func splitUpdates(from io.Reader, c *client) (rest io.Reader, listen func()) {
	r, w := io.Pipe()
	return r, func() {
		in := bufio.NewReader(from)
		for {
			line, err := readLine(in)
			if err == nil && !c.takeUpdate(line) {
				_, err = w.Write(line)
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}
}

// readLine is one line with its end; one that is too long is an error.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxMessage {
			return nil, errLongMessage
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (c *client) takeUpdate(line []byte) bool {
	if !bytes.Contains(line, []byte(sdk.ClientMethodSessionUpdate)) {
		return false
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID != nil || m.Method != sdk.ClientMethodSessionUpdate {
		return false
	}
	var n sdk.SessionNotification
	if json.Unmarshal(m.Params, &n) == nil {
		_ = c.SessionUpdate(context.Background(), n)
	}
	return true
}
