package claude

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// told is a call as the stream told it, with the program's own id of it.
type told struct {
	session.Call
	id string
}

// stream reads what the program writes, line by line: an io.Writer that never
// refuses. What it does not know it passes over.
type stream struct {
	t     *talk
	full  func() // called once, at a line that is too long
	line  []byte
	over  bool
	round int
	model string
	text  string // the assistant's last words
	limit string // of a rate limit that was met
	calls []told
	at    map[string]int // id of a call → its place in calls

	result *result
}

// event is one line.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Model   string `json:"model"`
	Message struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Limit struct {
		Status string `json:"status"`
		Type   string `json:"rateLimitType"`
	} `json:"rate_limit_info"`
}

type part struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
	For   string          `json:"tool_use_id"`
	Error bool            `json:"is_error"`
	Body  json.RawMessage `json:"content"`
}

// result is the last line.
type result struct {
	Subtype string `json:"subtype"`
	IsError bool   `json:"is_error"`
	Turns   int    `json:"num_turns"`
	Session string `json:"session_id"`
	Text    string `json:"result"`

	Cost    json.RawMessage `json:"total_cost_usd"`
	OldCost json.RawMessage `json:"cost_usd"`
	Usage   struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Read   int64 `json:"cache_read_input_tokens"`
		Write  int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
	Status json.RawMessage `json:"api_error_status"`
	Errors []string        `json:"errors"`
	Denied []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
}

func (s *stream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !s.over && len(s.line)+len(line) > maxLine {
			s.over, s.line = true, nil
			s.full()
		}
		if s.over {
			break
		}
		s.line = append(s.line, line...)
		if whole {
			s.readEvent(s.line)
			s.line = s.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

// readLastLine reads a last line without an end.
func (s *stream) readLastLine() {
	s.readEvent(s.line)
	s.line = nil
}

func (s *stream) readEvent(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		return
	}
	switch e.Type {
	case "system":
		if e.Subtype == "init" {
			s.model = e.Model
		}
	case "assistant":
		s.round++
		if m := e.Message.Model; m != "" && !strings.HasPrefix(m, "<") { // <synthetic>: the program's own words
			s.model = m
		}
		s.noteParts(e.Message.Content)
	case "user":
		s.noteParts(e.Message.Content)
	case "rate_limit_event":
		if e.Limit.Status == "rejected" {
			s.limit = "the limit of " + okf.Visible(e.Limit.Type) + " is reached"
		}
	case "result":
		var r result
		if json.Unmarshal(line, &r) == nil {
			s.result = &r
		}
	}
}

func (s *stream) noteParts(content json.RawMessage) {
	var list []part
	if json.Unmarshal(content, &list) != nil {
		return
	}
	for _, p := range list {
		switch p.Type {
		case "text":
			s.text = p.Text
			s.tellProgress(p.Text)
		case "tool_use":
			s.notePart(p)
		case "tool_result":
			s.noteAnswer(p)
		}
	}
}

func (s *stream) notePart(p part) {
	c := session.Call{Round: max(s.round, 1), Tool: p.Name, Key: hashArguments(p.Input), Status: session.CallOK}
	var in map[string]json.RawMessage
	_ = json.Unmarshal(p.Input, &in)
	for _, name := range []string{"file_path", "notebook_path", "path"} {
		var at string
		if json.Unmarshal(in[name], &at) == nil && at != "" && c.Path == "" {
			c.Path = strings.TrimPrefix(at, s.t.desk.Tree+"/")
		}
	}
	if s.at == nil {
		s.at = map[string]int{}
	}
	s.at[p.ID] = len(s.calls)
	s.calls = append(s.calls, told{c, p.ID})
	s.tellProgress(strings.TrimSpace(p.Name + " " + c.Path))
}

func (s *stream) noteAnswer(p part) {
	if i, ok := s.at[p.For]; ok {
		s.calls[i].Bytes = len(p.Body)
		if p.Error {
			s.calls[i].Status, s.calls[i].Code = session.CallFailed, "exec_error"
			s.tellProgress(strings.TrimSpace(s.calls[i].Tool+" "+s.calls[i].Path) + ": not done")
		}
	}
}

// maxSaid bounds the transcript.
const maxSaid = 256 << 10

// tellProgress tells what goes on, and keeps it.
func (s *stream) tellProgress(text string) {
	b := append(secrets.Redact([]byte(strings.TrimSpace(text))), '\n')
	if len(s.t.said)+len(b) <= maxSaid {
		s.t.said = append(s.t.said, b...)
	}
	if s.t.r.Progress != nil {
		first, _, _ := strings.Cut(string(b), "\n")
		s.t.r.Progress(okf.Visible(first))
	}
}

// hashArguments returns the SHA-256 of a call's arguments as compact JSON with sorted keys.
func hashArguments(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) == nil {
		if b, err := json.Marshal(v); err == nil {
			raw = b
		}
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// threadName is the conversation's name as the result has it, or else the one it was given.
func (s *stream) threadName(given string) string {
	if uuidForm().MatchString(s.result.Session) {
		return s.result.Session
	}
	return given
}

func uuidForm() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
}

// buildEmission returns what an invocation came to; err is how the program ended.
func (s *stream) buildEmission(ctx context.Context, err error, said *exec.Talk) session.Emission {
	var full *cage.Full
	var never *cage.NotStarted
	switch {
	case errors.Is(context.Cause(ctx), errTooLarge):
		return session.Fail(session.TooLarge, fmt.Sprintf("a line of the program's output is over %d MiB", maxLine>>20))
	case session.Interruption(ctx) != "":
		return session.Fail(session.Interruption(ctx), "")
	case errors.As(err, &full):
		return session.Fail(session.DiskFull, err.Error())
	case errors.As(err, &never):
		return session.FailTransport(session.Permanent, "the program cannot be started: "+err.Error()+"; install it, or set [substrate.claude] argv in odd.toml")
	case s.result == nil:
		return s.crashEmission(err, said)
	}
	e := s.readResult()
	if n := len(s.result.Denied); n > 0 {
		e.Detail = strings.TrimPrefix(e.Detail+fmt.Sprintf("; %d uses of tools were denied", n), "; ")
	}
	return e
}

// crashEmission returns a program that ended without a result.
func (s *stream) crashEmission(err error, said *exec.Talk) session.Emission {
	how := "it ended well"
	if err != nil {
		how = err.Error()
	}
	text := how + said.LastLine()
	class := exec.ClassOf(text)
	if s.limit != "" {
		class, text = session.RateLimited, s.limit+"; "+text
	}
	return session.FailTransport(class, "claude told no result: "+text)
}

func (s *stream) readResult() session.Emission {
	r := s.result
	said := strings.Join(append([]string{r.Text}, r.Errors...), "; ")
	switch {
	case r.Subtype == "error_max_turns":
		return session.Fail(session.TurnLimit, "the program used all the turns that were left")
	case r.Subtype == "error_max_budget_usd":
		return session.Fail(session.OverBudget, "the program spent all that was left")
	case r.IsError && s.limit != "":
		return session.FailTransport(session.RateLimited, s.limit+": "+said)
	case r.IsError:
		return session.FailTransport(s.failureClass(said), fmt.Sprintf("%s: %s", r.Subtype, said))
	case strings.HasPrefix(r.Subtype, "error_"):
		return session.FailTransport(session.TransientTransport, fmt.Sprintf("%s: %s", r.Subtype, said))
	}
	return session.Read([]byte(r.Text))
}

// failureClass is that of a failure that the API's status names, or else its words.
func (s *stream) failureClass(said string) session.Class {
	status, err := strconv.Atoi(strings.Trim(string(s.result.Status), `"`))
	if err != nil {
		return exec.ClassOf(said)
	}
	return session.ClassOfStatus(status, said)
}

// sumUsage returns what the invocation cost, as far as it was told.
func (s *stream) sumUsage(sub Substrate) session.Usage {
	u := session.Usage{Turns: max(s.round, 1), Model: s.model}
	if r := s.result; r != nil {
		u.Turns = max(r.Turns, 1)
		u.Tokens = session.Tokens{Input: r.Usage.Input, Output: r.Usage.Output, CacheRead: r.Usage.Read, CacheWrite: r.Usage.Write}
		raw := r.Cost
		if raw == nil {
			raw = r.OldCost
		}
		u.Cost, u.CostKnown = exec.MicroUSD(raw)
	}
	if sub.Free {
		u.Cost, u.CostKnown = 0, true
	}
	return u
}
