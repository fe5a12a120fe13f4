package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
	"github.com/odd-cli/odd/persona/session/modeltest"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile/secrets"
)

var update = flag.Bool("update", false, "rewrite the requests that tests compare with")

// key looks like none, so that only its own text can give it away.
const key = "open sesame 4711"

// serve is a substrate whose API answers from testdata/NAME.txtar.
func serve(t *testing.T, name string) (Substrate, *modeltest.Model) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	m := modeltest.Read(b)
	srv := httptest.NewServer(m)
	t.Cleanup(srv.Close)
	return Substrate{Model: "acme-large", BaseURL: srv.URL, Key: key, Environ: []string{"HTTP_PROXY=http://127.0.0.1:1", "ANTHROPIC_API_KEY=another"},
		Talk: loop.Options{MaxTokens: 1024, Prices: map[string]loop.Price{"acme-large": {Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000}}}}, m
}

func request() session.Request {
	return session.Request{Brief: []byte("Define embargo."), MaxTurns: 9, BundleRoot: "knowledge",
		Files: fstest.MapFS{"README.md": {Data: []byte("# Wire\n\nWhat an embargo is.\n")}}}
}

// exchange is a conversation of three messages with two tools.
func exchange(progress func(string)) loop.Exchange {
	native := json.RawMessage(`[{"type":"thinking","thinking":"a <b>","signature":"c2ln"},{"type":"tool_use","id":"toolu_0","name":"read_file","input":{"path":"a"}}]`)
	return loop.Exchange{System: "Work.", MaxTokens: 512, Progress: progress,
		Messages: []loop.Message{
			{Role: loop.User, Text: "Begin."},
			{Role: loop.Assistant, Calls: []loop.ToolCall{{ID: "toolu_0", Name: "read_file", Args: json.RawMessage(`{"path":"a"}`)}}, Native: native},
			{Role: loop.User, Results: []loop.ToolResult{{ID: "toolu_0", Text: "no such file", Failed: true}}},
			{Role: loop.Assistant, Text: "Again.", Calls: []loop.ToolCall{{ID: "other_1", Name: "read_file", Args: json.RawMessage(`{"path":`)}}},
			{Role: loop.User, Results: []loop.ToolResult{{ID: "other_1", Text: "not JSON", Failed: true}}, Text: "Go on."},
		},
		Tools: []toolbox.Tool{
			{Name: "finish", Description: "Ends it.", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"all":{"type":"boolean"}},"required":["path"],"additionalProperties":false}`)},
		}}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]loop.Reply{
		"two_turns": {Stop: loop.StopTools, Tokens: session.Tokens{Input: 12, Output: 87, CacheWrite: 1834}, Message: loop.Message{
			Text: "I read the file.", Calls: []loop.ToolCall{{ID: "toolu_1", Name: "read_file", Args: json.RawMessage(`{"path":"README.md"}`)}},
			Native: json.RawMessage(`[{"type":"thinking","thinking":"The file first. <b>&","signature":"c2lnbmF0dXJl"},{"type":"redacted_thinking","data":"b3BhcXVl"},` +
				`{"type":"text","text":"I read the file."},{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"README.md"}}]`)}},
		"parallel": {Stop: loop.StopTools, Tokens: session.Tokens{Input: 20, Output: 30}, Message: loop.Message{
			Calls: []loop.ToolCall{{ID: "toolu_1", Name: "read_file", Args: json.RawMessage(`{"path":"README.md"}`)},
				{ID: "toolu_2", Name: "read_file", Args: json.RawMessage(`{"path":"go.mod"}`)}, {ID: "toolu_3", Name: "list_dir", Args: json.RawMessage(`{}`)}},
			Native: json.RawMessage(`[{"type":"tool_use","id":"toolu_1","name":"read_file","input":{"path":"README.md"}},` +
				`{"type":"tool_use","id":"toolu_2","name":"read_file","input":{"path":"go.mod"}},{"type":"tool_use","id":"toolu_3","name":"list_dir","input":{}}]`)}},
		"refusal": {Stop: loop.StopRefusal, Tokens: session.Tokens{Input: 12, Output: 3}, Message: loop.Message{}},
		"length": {Stop: loop.StopLength, Tokens: session.Tokens{Input: 12, Output: 8192}, Message: loop.Message{
			Text: "It was the best of", Calls: []loop.ToolCall{{ID: "toolu_1", Name: "read_file", Args: json.RawMessage(`{"path": "REA`)}},
			Native: json.RawMessage(`[{"type":"text","text":"It was the best of"},{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}]`)}},
		"malformed_arguments": {Stop: loop.StopTools, Tokens: session.Tokens{Input: 12, Output: 11}, Message: loop.Message{
			Calls:  []loop.ToolCall{{ID: "toolu_1", Name: "read_file", Args: json.RawMessage(`{"path": README.md}`)}},
			Native: json.RawMessage(`[{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := serve(t, name)
			var said strings.Builder
			got, err := s.newModel().Answer(t.Context(), exchange(func(p string) { said.WriteString(p) }))
			want.Message.Role, want.Model = loop.Assistant, "acme-large-20260101"
			if d := cmp.Diff(want, got, cmp.Transformer("text", func(r json.RawMessage) string { return string(r) })); err != nil || d != "" {
				t.Errorf("%v\n%s", err, d)
			}
			if said.String() != want.Message.Text {
				t.Errorf("progress %q", said.String())
			}
		})
	}
}

// What is sent is compared whole, but for the header that says which machine this is.
func TestRequest(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "two_turns")
	s.Thinking = "adaptive"
	if _, err := s.newModel().Answer(t.Context(), exchange(func(string) {})); err != nil {
		t.Fatal(err)
	}
	r := m.Heard()[0]
	var b bytes.Buffer
	b.WriteString("POST " + r.Path + "\n")
	for _, h := range []string{"Anthropic-Version", "Anthropic-Beta", "Authorization", "X-Api-Key", "Content-Type"} {
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
	if d := cmp.Diff(string(want), string(got)); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]loop.Fault{
		"rate_limited":       {Class: session.RateLimited, After: 7 * time.Second, Detail: "HTTP 429 Too Many Requests: rate_limit_error: This request would exceed your organization's rate limit"},
		"rate_limited_until": {Class: session.RateLimited, After: 90 * time.Second, Detail: "HTTP 429 Too Many Requests: rate_limit_error: Later"},
		"overloaded":         {Class: session.ServerError, Detail: "HTTP 529: overloaded_error: Overloaded"},
		"overloaded_midway":  {Class: session.ServerError, Detail: "overloaded_error: Overloaded", Charged: true},
		"server_error":       {Class: session.ServerError, Detail: "HTTP 500 Internal Server Error: api_error: Internal server error"},
		"gateway":            {Class: session.ServerError, Detail: "HTTP 502 Bad Gateway: <html>bad gateway</html>"},
		"gateway_timeout":    {Class: session.TimedOut, Detail: "HTTP 504 Gateway Timeout: timeout_error: Timed out"},
		"overflow":           {Class: session.ContextOverflow, Detail: "HTTP 400 Bad Request: invalid_request_error: prompt is too long: 210004 tokens > 200000 maximum"},
		"too_large":          {Class: session.ContextOverflow, Detail: "HTTP 413 Request Entity Too Large: request_too_large: Request exceeds the maximum size"},
		"window":             {Class: session.ContextOverflow, Detail: "context_length_exceeded: the answer did not fit the model's context", Charged: true},
		"bad_request":        {Class: session.Permanent, Detail: "HTTP 400 Bad Request: invalid_request_error: tools.0.name: String should match pattern"},
		"bad_key":            {Class: session.Permanent, Detail: "HTTP 401 Unauthorized: authentication_error: invalid x-api-key [redacted:key]"},
		"forbidden":          {Class: session.Permanent, Detail: "HTTP 403 Forbidden: permission_error: Your API key does not have permission"},
		"no_model":           {Class: session.Permanent, Detail: "HTTP 404 Not Found: not_found_error: model: acme-large"},
		"moved":              {Class: session.Permanent, Detail: "HTTP 307 Temporary Redirect: the server points to elsewhere.example; write the address it really has as base_url"},
		"reset":              {Class: session.ConnectionError, Charged: true},
		"cut":                {Class: session.TransientTransport, Charged: true},
		"half":               {Class: session.TransientTransport, Detail: "the answer broke off before its end", Charged: true},
		"malformed_stream":   {Class: session.TransientTransport, Charged: true},
		"no_stream":          {Class: session.TransientTransport, Charged: true},
		"out_of_order":       {Class: session.TransientTransport, Charged: true},
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
			if d := cmp.Diff(want, *got); d != "" {
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
	r.Progress = func(p string) { said.WriteString(p) }
	e, err := session.Run(t.Context(), s, r)
	if err != nil || e.Outcome != session.Completed || len(e.Atoms) != 1 || e.Atoms[0].Atom.Path != "terms/embargo.md" {
		t.Fatalf("%v, %+v", err, e)
	}
	want := session.Usage{Turns: 2, Cost: 8_219 + 1_972, CostKnown: true, Model: "acme-large-20260101",
		Tokens: session.Tokens{Input: 17, Output: 128, CacheRead: 1834, CacheWrite: 2045}}
	if d := cmp.Diff(want, e.Usage); d != "" {
		t.Error(d)
	}
	heard := m.Heard()
	if len(heard) != 2 || !bytes.Contains(heard[1].Body, []byte(`{"type":"thinking","thinking":"The file first. \u003cb\u003e\u0026","signature":"c2lnbmF0dXJl"}`)) ||
		!bytes.Contains(heard[1].Body, []byte("What an embargo is.")) {
		t.Errorf("%d requests, the last %s", len(heard), heard[len(heard)-1].Body)
	}
	for what, text := range map[string][]byte{"the transcript": e.Transcript, "the record": e.Raw, "progress": []byte(said.String()), "a request": heard[1].Body} {
		if bytes.Contains(text, []byte(key)) {
			t.Errorf("%s holds the key", what)
		}
	}
}

// The second turn does not begin when the first one took the money.
func TestSessionStopsAtItsBudget(t *testing.T) {
	t.Parallel()
	s, m := serve(t, "two_turns")
	r := request()
	s.Talk.Prices = map[string]loop.Price{"acme-large": {Output: 15_000_000}} // 15360 is the most an answer costs
	r.MaxCost = 16_000
	e, err := session.Run(t.Context(), s, r)
	if err != nil || e.Failure != session.OverBudget || len(m.Heard()) != 1 || e.Usage.Cost != 87*15 || !e.Usage.CostKnown {
		t.Errorf("%v, %+v after %d requests", err, e, len(m.Heard()))
	}
}

func TestSessionNeedsAModel(t *testing.T) {
	t.Parallel()
	if _, err := (Substrate{Key: key}).Run(t.Context(), request()); err == nil || !strings.Contains(err.Error(), "[substrate.anthropic] model") {
		t.Error(err)
	}
}

// A recording is a file of this repository.
func TestRecordingsHoldNoSecret(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*")
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

// What an answer has around its words does not cost it: proxies and later versions of the API
// add events, and what they hold is theirs.
func TestStrangeEvents(t *testing.T) {
	t.Parallel()
	words := [][2]string{
		{"", `{"type":"message_start","message":{"model":"acme-large","usage":{"input_tokens":100.0,"output_tokens":1}}}`},
		{"", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`},
		{"", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}`},
		{"", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`},
		{"", `{"type":"message_stop"}`},
		{"", `[DONE]`},
	}
	strange := [][2]string{{"ping", ""}, {"", " "}, {"ping", "{}"}, {"", `{"type":"message_delta","usage":{"output_tokens":1}}`}, {"", `{"type":"new_thing","delta":5,"index":"x"}`},
		{"", `{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":{"a":1}}}`}}
	var a answer
	for i, e := range words {
		list := [][2]string{e}
		if i == 2 {
			list = append(slices.Clone(strange), e)
		}
		for _, e := range list {
			if p := a.takeEvent(e[0], e[1], func(string) {}); p != nil {
				t.Fatalf("%q: %v", e, p)
			}
		}
	}
	if r := a.loopReply(""); !a.whole || r.Message.Text != "hi" || r.Tokens.Input != 100 || r.Tokens.Output != 2 {
		t.Errorf("%+v", r)
	}
	for data, kind := range map[string]string{`{"error":{"type":"overloaded_error","message":"Later"}}`: "overloaded_error", "gateway gone": ""} {
		if p := new(answer).takeEvent("error", data, nil); p == nil || p.Kind != kind || p.Text == "" {
			t.Errorf("%s: %+v", data, p)
		}
	}
	for _, data := range []string{`{"type":"content_block_start","index":0,"content_block":null}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":5}}`, "{"} {
		if new(answer).takeEvent("", data, nil) == nil {
			t.Errorf("%s is taken", data)
		}
	}
}

// FuzzHear takes events from any server: whatever they are, the answer that they make is
// JSON that can be sent back.
func FuzzHear(f *testing.F) {
	for _, name := range []string{"two_turns", "malformed_arguments", "out_of_order", "overloaded_midway"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		var a answer
		for line := range strings.Lines(string(stream)) {
			_ = a.takeEvent("", strings.TrimPrefix(line, "data: "), func(string) {})
		}
		r := a.loopReply("acme-large")
		if r.Message.Native != nil && !json.Valid(r.Message.Native) {
			t.Fatalf("%s", r.Message.Native)
		}
		x := loop.Exchange{Messages: []loop.Message{r.Message}}
		if _, err := json.Marshal((&model{}).bodyOf(x)); err != nil {
			t.Fatal(err)
		}
	})
}
