package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
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

// part is a part of a message.
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

// Write implements io.Writer.
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
			s.hear(s.line)
			s.line = s.line[:0]
		}
		rest = after
	}
	return len(p), nil
}

// end reads a last line without an end.
func (s *stream) end() {
	s.hear(s.line)
	s.line = nil
}

func (s *stream) hear(line []byte) {
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
		s.parts(e.Message.Content)
	case "user":
		s.parts(e.Message.Content)
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

// parts notes what a message says and does.
func (s *stream) parts(content json.RawMessage) {
	var list []part
	if json.Unmarshal(content, &list) != nil {
		return
	}
	for _, p := range list {
		switch p.Type {
		case "text":
			s.text = p.Text
			s.progress(p.Text)
		case "tool_use":
			s.note(p)
		case "tool_result":
			s.noteAnswer(p)
		}
	}
}

func (s *stream) note(p part) {
	c := session.Call{Round: max(s.round, 1), Tool: p.Name, Key: key(p.Input), Status: session.CallOK}
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
	s.progress(strings.TrimSpace(p.Name + " " + c.Path))
}

func (s *stream) noteAnswer(p part) {
	if i, ok := s.at[p.For]; ok {
		s.calls[i].Bytes = len(p.Body)
		if p.Error {
			s.calls[i].Status, s.calls[i].Code = session.CallFailed, "exec_error"
			s.progress(strings.TrimSpace(s.calls[i].Tool+" "+s.calls[i].Path) + ": not done")
		}
	}
}

// maxSaid bounds the transcript.
const maxSaid = 256 << 10

// progress tells what goes on, and keeps it.
func (s *stream) progress(text string) {
	b := append(secrets.Redact([]byte(strings.TrimSpace(text))), '\n')
	if len(s.t.said)+len(b) <= maxSaid {
		s.t.said = append(s.t.said, b...)
	}
	if s.t.r.Progress != nil {
		first, _, _ := strings.Cut(string(b), "\n")
		s.t.r.Progress(okf.Visible(first))
	}
}

// key is the SHA-256 of a call's arguments as compact JSON with sorted keys.
func key(raw json.RawMessage) string {
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

// thread is the conversation's name as the result has it, or else the one it was given.
func (s *stream) thread(given string) string {
	if uuidForm().MatchString(s.result.Session) {
		return s.result.Session
	}
	return given
}

func uuidForm() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
}
