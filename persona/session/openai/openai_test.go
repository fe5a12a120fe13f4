package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/modeltest"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/secrets"
)

var update = flag.Bool("update", false, "rewrite the requests that tests compare with")

// key looks like none, so that only its own text can give it away.
const key = "open sesame 4711"

// serve is a substrate whose server answers from testdata/NAME.txtar.
func serve(t *testing.T, name string) (Substrate, *modeltest.Model) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	m := modeltest.Read(b)
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	return Substrate{Model: "acme-mini", BaseURL: srv.URL + "/v1", Key: key, Environ: []string{"HTTP_PROXY=http://127.0.0.1:1", "OPENAI_API_KEY=another"},
		Talk: loop.Options{MaxTokens: 1024, Prices: map[string]loop.Price{"acme-mini": {Input: 400_000, Output: 1_600_000, CacheRead: 100_000}}}}, m
}

func request() session.Request {
	return session.Request{Brief: []byte("Define embargo."), MaxTurns: 9, BundleRoot: "knowledge",
		Files: fstest.MapFS{"README.md": {Data: []byte("# Wire\n\nWhat an embargo is.\n")}}}
}

// exchange is a conversation of five messages with two tools.
func exchange(progress func(string)) loop.Exchange {
	return loop.Exchange{System: "Work.", MaxTokens: 512, Progress: progress,
		Messages: []loop.Message{
			{Role: loop.User, Text: "Begin."},
			{Role: loop.Assistant, Text: "First.", Calls: []loop.ToolCall{{ID: "call_0", Name: "read_file", Args: json.RawMessage(`{"path":"<a>"}`)}, {ID: "call_1", Name: "read_file", Args: json.RawMessage(`{"path":`)}}},
			{Role: loop.User, Results: []loop.ToolResult{{ID: "call_0", Text: "no such file", Failed: true}, {ID: "call_1"}}},
			{Role: loop.Assistant},
			{Role: loop.User, Text: "Go on."},
		},
		Tools: []toolbox.Tool{
			{Name: "finish", Description: "Ends it.", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"all":{"type":"boolean"}},"required":["path"],"additionalProperties":false}`)},
		}}
}

func ask(id, name, args string) loop.ToolCall {
	return loop.ToolCall{ID: id, Name: name, Args: json.RawMessage(args)}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	readme, hello := `{"path":"README.md"}`, loop.Message{Text: "Hello."}
	few := session.Tokens{Input: 20, Output: 30}
	for name, want := range map[string]loop.Reply{
		"two_turns":     {Stop: loop.StopTools, Tokens: session.Tokens{Input: 176, Output: 87, CacheRead: 1024}, Message: loop.Message{Text: "I read the file.", Calls: []loop.ToolCall{ask("call_a", "read_file", readme)}}},
		"parallel":      {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("call_a", "read_file", readme), ask("call_b", "read_file", `{"path":"go.mod"}`), ask("call_c", "list_dir", `{}`)}}},
		"no_ids":        {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("odd_5_1", "read_file", readme), ask("odd_5_2", "list_dir", `{}`)}}},
		"one_number":    {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("a", "read_file", readme), ask("b", "list_dir", `{}`)}}},
		"same_id":       {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("x", "read_file", readme), ask("odd_5_2", "list_dir", `{}`)}}},
		"whole_pieces":  {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("odd_5_1", "read_file", readme), ask("odd_5_2", "list_dir", `{}`)}}},
		"function_call": {Stop: loop.StopTools, Tokens: few, Message: loop.Message{Calls: []loop.ToolCall{ask("odd_5_1", "read_file", readme)}}},
		"no_usage":      {Stop: loop.StopEnd, Message: hello},
		"no_done":       {Stop: loop.StopEnd, Message: hello, Tokens: session.Tokens{Input: 3, Output: 2}},
		"usage_each":    {Stop: loop.StopEnd, Message: hello, Tokens: session.Tokens{Input: 3, Output: 2}},
		"no_model_told": {Stop: loop.StopEnd, Message: hello, Tokens: session.Tokens{Input: 3, Output: 2}, Model: "acme-mini"},
		"refusal":       {Stop: loop.StopRefusal, Tokens: session.Tokens{Input: 9, Output: 4}, Message: loop.Message{Text: "I cannot do that."}},
		"filtered":      {Stop: loop.StopRefusal, Tokens: session.Tokens{Input: 9, Output: 4}, Message: loop.Message{Text: "So"}},
		"length": {Stop: loop.StopLength, Tokens: session.Tokens{Input: 9, Output: 8192}, Message: loop.Message{Text: "It was the best of",
			Calls: []loop.ToolCall{ask("call_a", "read_file", `{"path": "REA`)}}},
		"malformed_arguments": {Stop: loop.StopTools, Tokens: session.Tokens{Input: 9, Output: 11}, Message: loop.Message{Calls: []loop.ToolCall{ask("call_a", "read_file", `{"path": README.md}`)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := serve(t, name)
			var said strings.Builder
			got, err := s.newModel().Answer(t.Context(), exchange(func(p string) { said.WriteString(p) }))
			want.Message.Role, want.Model = loop.Assistant, cmp.Or(want.Model, "acme-mini-2026")
			if d := gocmp.Diff(want, got, gocmp.Transformer("text", func(r json.RawMessage) string { return string(r) })); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
			if want.Stop != loop.StopRefusal && said.String() != want.Message.Text {
				t.Errorf("progress %q", said.String())
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "two_turns")
	if _, err := s.newModel().Answer(t.Context(), exchange(func(string) {})); err != nil {
		t.Fatal(err)
	}
	r := m.Heard()[0]
	var b bytes.Buffer
	b.WriteString("POST " + r.Path + "\n")
	for _, h := range []string{"Accept", "Authorization", "Content-Type", "OpenAI-Organization"} {
		b.WriteString(h + ": " + strings.Join(r.Header.Values(h), ", ") + "\n")
	}
	if err := json.Indent(&b, r.Body, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/request.golden", []byte(strings.ReplaceAll(b.String(), key, "[the key]")))
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if d := gocmp.Diff(string(want), string(got)); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// The bound of an answer has the name that the server knows, and a server on this
// machine gets no key where there is none.
func TestRequestVaries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base, key  string
		completion bool
	}{
		{"https://api.openai.com/v1", "", true}, {"", "", true}, {"https://api.openai.com/v1", MaxTokens, false},
		{"https://api.openai.com.example.org/v1", "", false}, {"http://127.0.0.1:8080/v1", "", false}, {"http://127.0.0.1:8080/v1", MaxCompletionTokens, true},
	} {
		m := Substrate{Model: "acme-mini", BaseURL: c.base, MaxTokensKey: c.key}.newModel()
		r := m.buildRequest(exchange(nil))
		body, err := json.Marshal(r)
		if err != nil || strings.Contains(string(body), `"max_completion_tokens":512`) != c.completion || strings.Contains(string(body), `"max_tokens":512`) == c.completion {
			t.Errorf("%+v: %s %v", c, body, err)
		}
	}
	s, m := serve(t, "no_usage")
	s.Key = ""
	if _, err := s.newModel().Answer(t.Context(), exchange(func(string) {})); err != nil || m.Heard()[0].Header.Values("Authorization") != nil {
		t.Errorf("%v, %v", err, m.Heard()[0].Header)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]loop.Fault{
		"rate_limited":     {Class: session.RateLimited, After: 1500 * time.Millisecond, Detail: "HTTP 429 Too Many Requests: rate_limit_exceeded: Rate limit reached for requests"},
		"quota":            {Class: session.Permanent, Detail: "HTTP 429 Too Many Requests: insufficient_quota: You exceeded your current quota"},
		"server_error":     {Class: session.ServerError, Detail: "HTTP 500 Internal Server Error: server_error: The server had an error"},
		"error_midway":     {Class: session.ServerError, Detail: "server_error: The server had an error", Charged: true},
		"loading":          {Class: session.ServerError, Detail: "HTTP 503 Service Unavailable: unavailable_error: Loading model"},
		"overflow":         {Class: session.ContextOverflow},
		"overflow_llama":   {Class: session.ContextOverflow},
		"overflow_vllm":    {Class: session.ContextOverflow},
		"text_error":       {Class: session.Permanent, Detail: "HTTP 404 Not Found: model 'acme-mini' not found, try pulling it first"},
		"bad_key":          {Class: session.Permanent, Detail: "HTTP 401 Unauthorized: invalid_api_key: Incorrect API key provided: [redacted:key]."},
		"detail_error":     {Class: session.Permanent, Detail: `HTTP 422 Unprocessable Entity: {"detail": [{"loc": ["body", "tools"], "msg": "field required"}]}`},
		"moved":            {Class: session.Permanent, Detail: "HTTP 301 Moved Permanently: the server points to elsewhere.example; write the address it really has as base_url"},
		"reset":            {Class: session.ConnectionError, Charged: true},
		"cut":              {Class: session.TransientTransport, Charged: true},
		"half":             {Class: session.TransientTransport, Detail: "the answer broke off before its end", Charged: true},
		"malformed_stream": {Class: session.TransientTransport, Charged: true},
		"no_stream":        {Class: session.TransientTransport, Detail: "the answer broke off before its end", Charged: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := serve(t, name)
			_, err := s.newModel().Answer(t.Context(), exchange(func(string) {}))
			var got *loop.Fault
			if !errors.As(err, &got) {
				t.Fatalf("%v is no fault", err)
			}
			if want.Detail == "" && got.Detail != "" {
				want.Detail = got.Detail
			}
			if d := gocmp.Diff(want, *got); d != "" {
				t.Error(d)
			}
			if strings.Contains(got.Error(), key) {
				t.Errorf("%q tells the key", got)
			}
		})
	}
}

// A server that does not answer is left when the time of an answer, of the session,
// or of the whole run is over.
func TestHangs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"hang", "hang_midway"} {
		s, m := serve(t, name)
		s.Timeout = 20 * time.Millisecond
		e, err := session.Run(t.Context(), s, request())
		if err != nil || e.Failure != session.Transport || e.Class != session.TimedOut || e.Usage.CostKnown && len(m.Heard()) > 0 {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
		s, m = serve(t, name)
		r := request()
		r.Timeout = 20 * time.Millisecond
		if e, err = session.Run(t.Context(), s, r); err != nil || e.Failure != session.Timeout || e.Usage.CostKnown && len(m.Heard()) > 0 {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
		s, m = serve(t, name)
		ctx, cancel := context.WithCancel(t.Context())
		m.Each(func(modeltest.Request) { cancel() })
		if e, err = session.Run(ctx, s, request()); err != nil || e.Failure != session.Cancelled || e.Usage.CostKnown {
			t.Errorf("%s: %v, %+v", name, err, e)
		}
		cancel()
	}
}

// A session of two turns: a file is read, an atom and the outcome are handed over,
// and every token is paid for.
func TestSession(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "two_turns")
	r := request()
	var said strings.Builder
	r.Progress = func(p string) { said.WriteString(p + "\n") }
	e, err := session.Run(t.Context(), s, r)
	if err != nil || e.Outcome != session.Completed || len(e.Atoms) != 1 || e.Atoms[0].Atom.Path != "terms/embargo.md" {
		t.Fatalf("%v, %+v", err, e)
	}
	// 176·0.4 + 1024·0.1 + 87·1.6 = 312, and 239·0.4 + 1152·0.1 + 41·1.6 = 276.4
	want := session.Usage{Turns: 2, Cost: 312 + 277, CostKnown: true, Model: "acme-mini-2026", Tokens: session.Tokens{Input: 415, Output: 128, CacheRead: 2176}}
	if d := gocmp.Diff(want, e.Usage); d != "" {
		t.Error(d)
	}
	heard := m.Heard()
	if len(heard) != 2 || !bytes.Contains(heard[1].Body, []byte("What an embargo is.")) || bytes.Contains(heard[1].Body, []byte("The file first.")) {
		t.Errorf("%d requests, the last %s", len(heard), heard[len(heard)-1].Body)
	}
	for what, text := range map[string][]byte{"the transcript": e.Transcript, "the record": e.Raw, "progress": []byte(said.String()), "a request": heard[1].Body} {
		if bytes.Contains(text, []byte(key)) {
			t.Errorf("%s holds the key", what)
		}
	}
}

// The second turn does not begin where the first one took the money, or where
// nobody counted what it took.
func TestSessionPays(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "two_turns")
	r := request()
	s.Talk.Prices = map[string]loop.Price{"acme-mini": {Output: 1_600_000}} // 1639 is the most an answer costs, 140 what the first one does
	r.MaxCost = 1_700
	if e, err := session.Run(t.Context(), s, r); err != nil || e.Failure != session.OverBudget || len(m.Heard()) != 1 || e.Usage.Cost != 140 {
		t.Errorf("%v, %+v after %d requests", err, e, len(m.Heard()))
	}
	s, _ = serve(t, "no_usage")
	if e, err := session.Run(t.Context(), s, request()); err != nil || e.Usage.CostKnown {
		t.Errorf("%v, %+v", err, e)
	}
	s, _ = serve(t, "no_usage")
	s.Talk.Free = true
	e, err := session.Run(t.Context(), s, request())
	if err != nil || !e.Usage.CostKnown || e.Usage.Cost != 0 {
		t.Errorf("%v, %+v", err, e)
	}
}

func TestSessionNeedsAModel(t *testing.T) {
	t.Parallel()
	if _, err := (Substrate{Key: key}).Run(t.Context(), request()); err == nil || !strings.Contains(err.Error(), "[substrate.openai] model") {
		t.Error(err)
	}
}

// A recording is a file of this repository.
func TestRecordingsHoldNoSecret(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Equal(secrets.Redact(b), b) || bytes.Contains(b, []byte(key)) {
			t.Errorf("%s: %v, or it holds a credential", f, err)
		}
	}
}

// TestFlood ends an answer that names ever more calls.
func TestFlood(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range mostCalls + 1 {
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":{\"name\":\"x\"}}]}}]}\n\n", i)
		}
	}))
	t.Cleanup(srv.Close)
	s := Substrate{Model: "acme-mini", BaseURL: srv.URL}
	_, err := s.newModel().Answer(t.Context(), exchange(func(string) {}))
	var f *loop.Fault
	if !errors.As(err, &f) || f.Class != session.ServerError || !f.Charged || !strings.Contains(f.Detail, "more than 4096 calls") {
		t.Errorf("%v", err)
	}
}
