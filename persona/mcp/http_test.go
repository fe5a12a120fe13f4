package mcp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const token = "correct-horse-battery"

type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

func TestHTTPServesItsClient(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(HTTP(New(world(t)), token).Handler)
	t.Cleanup(s.Close)
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: s.URL + Endpoint, HTTPClient: &http.Client{Transport: bearer{token}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out struct{ Total int }
	if ask(t, c, "search", m{"query": "tides"}, &out); out.Total != 2 {
		t.Errorf("%d hits", out.Total)
	}
}

func TestHTTPRefusesOthers(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(HTTP(New(world(t)), token).Handler)
	t.Cleanup(s.Close)
	body := strings.SplitN(hello, "\n", 2)[0]
	for name, row := range map[string]struct {
		status int
		change func(*http.Request)
	}{
		"as it should be":    {200, func(*http.Request) {}},
		"no token":           {401, func(r *http.Request) { r.Header.Del("Authorization") }},
		"another token":      {401, func(r *http.Request) { r.Header.Set("Authorization", "Bearer correct-horse-batterz") }},
		"a longer token":     {401, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"x") }},
		"another scheme":     {401, func(r *http.Request) { r.Header.Set("Authorization", "Basic "+token) }},
		"in the query":       {401, func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + token }},
		"a rebound name":     {403, func(r *http.Request) { r.Host = "evil.example:80" }},
		"a name that begins": {403, func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }},
		"a page elsewhere":   {403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"another port":       {403, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }},
		"a sandboxed page":   {403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"by its own word":    {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"localhost":          {200, func(r *http.Request) { r.Host = "localhost:80" }},
		"another path":       {404, func(r *http.Request) { r.URL.Path = "/" }},
		"a body over 4 MiB": {413, func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat(" ", maxRequest+1)))
			r.ContentLength = -1
		}},
		"no JSON":   {400, func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("nonsense")); r.ContentLength = -1 }},
		"no method": {405, func(r *http.Request) { r.Method = "GET" }},
	} {
		r, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+Endpoint, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		row.change(r)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(name, err)
		}
		said, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != row.status || strings.Contains(string(said), token) {
			t.Errorf("%s: %d %s, want %d", name, resp.StatusCode, said, row.status)
		}
	}
}

// A server without a token serves nobody.
func TestHTTPWantsAToken(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest("POST", "http://127.0.0.1"+Endpoint, nil)
	r.Header.Set("Authorization", "Bearer ")
	w := httptest.NewRecorder()
	HTTP(New(world(t)), "").Handler.ServeHTTP(w, r)
	if w.Code != http.StatusUnauthorized {
		t.Errorf("%d", w.Code)
	}
}
