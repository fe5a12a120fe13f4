package endpoint

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/odd-cli/odd/persona/session"
)

func get(t *testing.T, l *Line, url string) (string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := l.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return string(b), err
}

// A server that is not there was asked nothing, so that it costs nothing.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	l := Open(Options{Secret: "hush"})
	_, err := get(t, l, gone.URL+"/?k=hush")
	f := l.Fault(Problem{Err: err})
	if f.Class != session.ConnectionError || f.Charged || f.After != 0 || strings.Contains(f.Detail, "hush") || !strings.Contains(f.Detail, "refused") {
		t.Errorf("%+v", f)
	}
}

// The proxy is the one of the environment that is passed, and a server on this
// machine is asked without.
func TestProxy(t *testing.T) {
	t.Parallel()
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	l := Open(Options{Environ: []string{"https_proxy=" + proxy.URL, "HTTP_PROXY=" + proxy.URL}})
	if _, err := get(t, l, "https://api.example.invalid/v1"); err == nil || asked != "CONNECT api.example.invalid:443" {
		t.Errorf("%v, %q was asked", err, asked)
	}
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	t.Cleanup(here.Close)
	if got, err := get(t, l, here.URL); err != nil || got != "here" {
		t.Errorf("%q, %v", got, err)
	}
}

// An answer has an end.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1000)) }))
	t.Cleanup(srv.Close)
	l := Open(Options{MaxBytes: 999})
	got, err := get(t, l, srv.URL)
	if f := l.Fault(Problem{Err: err}); len(got) != 999 || !errors.Is(err, errTooMuch) || f.Class != session.ServerError || !f.Charged {
		t.Errorf("%d bytes, %v, %+v", len(got), err, f)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ms, after, date string
		want            time.Duration
	}{
		{"", "", "", 0}, {"", "7", "", 7 * time.Second}, {"", "0.5", "", 500 * time.Millisecond}, {"250", "7", "", 250 * time.Millisecond},
		{"", "-1", "", 0}, {"", "1e30", "", 24 * time.Hour}, {"", "NaN", "", 0}, {"", "soon", "", 0},
		{"", "Mon, 02 Mar 2026 09:01:30 GMT", "Mon, 02 Mar 2026 09:00:00 GMT", 90 * time.Second},
		{"", "Mon, 02 Mar 2026 09:01:30 GMT", "", 0}, {"", "Mon, 02 Mar 2026 08:00:00 GMT", "Mon, 02 Mar 2026 09:00:00 GMT", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", c.ms)
		h.Set("Retry-After", c.after)
		h.Set("Date", c.date)
		if got := retryAfter(h); got != c.want {
			t.Errorf("%+v: got %v", c, got)
		}
	}
}

func TestClass(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    Problem
		want session.Class
	}{
		{Problem{Status: 402}, session.Permanent}, {Problem{Status: 408}, session.TimedOut}, {Problem{Status: 409}, session.TransientTransport},
		{Problem{Status: 413}, session.ContextOverflow}, {Problem{Status: 422, Text: "too many input tokens"}, session.ContextOverflow},
		{Problem{Status: 422, Text: "the context of this word"}, session.Permanent}, {Problem{Status: 429, Text: "context window"}, session.RateLimited},
		{Problem{Status: 501}, session.ServerError}, {Problem{Status: 304}, session.Permanent}, {Problem{Err: context.DeadlineExceeded}, session.TimedOut},
		{Problem{Status: 200, Err: io.ErrUnexpectedEOF}, session.TransientTransport}, {Problem{Err: io.EOF}, session.ConnectionError},
	} {
		if got := c.p.classify(); got != c.want {
			t.Errorf("%+v: got %s, want %s", c.p, got, c.want)
		}
	}
}

func TestTell(t *testing.T) {
	t.Parallel()
	l := Open(Options{Secret: "hush hush"})
	got := l.Tell("a\n\tb hush hush ghp" + "_0123456789abcdefghijABCDEFGHIJ \u202ec" + strings.Repeat("é", 400))
	if !strings.HasPrefix(got, "a b [redacted:key] [redacted:github-token] cé") || utf8.RuneCountInString(got) > 402 || !strings.HasSuffix(got, "é …") {
		t.Errorf("%q", got)
	}
}
