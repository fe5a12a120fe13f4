package site_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/site"
)

// The server shows pages to whoever has the token, and to nobody else; nothing can be
// written through it, and no other site can ask it in a browser's name.
func TestServer(t *testing.T) {
	t.Parallel()
	b := bundle(t)
	state := "one"
	s := site.Server("127.0.0.1:8080", "secret-token", func(context.Context) (*site.Pages, string, error) {
		b.Commit, b.Live = state, true
		p, err := site.New(b)
		return p, state, err
	})
	ask := func(method, target, host, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
		r.Host = host
		if token != "" {
			r.AddCookie(&http.Cookie{Name: "odd-serve", Value: token})
		}
		w := httptest.NewRecorder()
		s.Handler.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		name, method, target, host, cookie string
		status                             int
		holds                              string
	}{
		{"no token", "GET", "/", "127.0.0.1:8080", "", 403, "open the address"},
		{"a wrong token", "GET", "/?token=guess", "127.0.0.1:8080", "guess", 403, "open the address"},
		{"an empty token", "GET", "/?token=", "127.0.0.1:8080", "", 403, "open the address"},
		{"another name for this machine", "GET", "/", "evil.example:8080", "secret-token", 403, "alone"},
		{"another port", "GET", "/", "localhost:8081", "secret-token", 403, "alone"},
		{"a write", "POST", "/", "127.0.0.1:8080", "secret-token", 405, "only be read"},
		{"the first visit", "GET", "/?token=secret-token", "127.0.0.1:8080", "", 303, ""},
		{"the board", "GET", "/", "127.0.0.1:8080", "secret-token", 200, "odd approve t"},
		{"localhost", "GET", "/", "localhost:8080", "secret-token", 200, `data-live="one"`},
		{"a style sheet", "GET", "/site.css", "127.0.0.1:8080", "secret-token", 200, "color-scheme"},
		{"a review that is decided", "GET", "/review/t0.html", "127.0.0.1:8080", "secret-token", 303, "/task/t0.html"},
		{"no page", "GET", "/../../etc/passwd", "127.0.0.1:8080", "secret-token", 404, "no such page"},
	} {
		w := ask(c.method, c.target, c.host, c.cookie)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.holds) {
			t.Errorf("%s: %d %.200q, want %d with %q", c.name, w.Code, w.Body.String(), c.status, c.holds)
		}
		if !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no content security policy", c.name)
		}
	}
	if to := ask("GET", "//evil.example/?token=secret-token", "127.0.0.1:8080", "").Header().Get("Location"); to != "/evil.example/" {
		t.Errorf("the first visit is sent to %q, which is another site", to)
	}
	state = "two"
	if got := ask("GET", "/tip", "127.0.0.1:8080", "secret-token").Body.String(); got != "two" {
		t.Errorf("the board changed, and /tip says %q", got)
	}
}
