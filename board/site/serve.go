package site

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"path"
	"strings"
	"time"
)

// Current gives the pages as the board is now, and a name for that state, which changes
// when the board does.
type Current func(ctx context.Context) (pages *Pages, state string, err error)

// cookie holds the token after the first request, so that links need not.
const cookie = "odd-serve"

// Server serves the pages to whoever has the token, at an address of this machine. It
// answers GET alone, only to requests that name the host, and "/tip" with the state.
func Server(host, token string, now Current) *http.Server {
	s := server{host, token, now}
	return &http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: 10 * time.Second}
}

type server struct {
	host, token string
	now         Current
}

func (s server) handle(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if !s.isOwnHost(r.Host) {
		http.Error(w, "this server answers to "+s.host+" alone", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "pages can only be read", http.StatusMethodNotAllowed)
		return
	}
	if s.knows(r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.Path, "/"), http.StatusSeeOther)
		return
	}
	if c, err := r.Cookie(cookie); err != nil || !s.knows(c.Value) {
		http.Error(w, "open the address that odd serve printed; it has the token", http.StatusForbidden)
		return
	}
	s.answer(w, r)
}

// isOwnHost tells whether a request's Host is this server: a web page of another name that
// leads here is refused.
func (s server) isOwnHost(host string) bool {
	_, port, err := net.SplitHostPort(s.host)
	return host == s.host || err == nil && host == net.JoinHostPort("localhost", port)
}

func (s server) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

var contentTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

func (s server) answer(w http.ResponseWriter, r *http.Request) {
	pages, state, err := s.now(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch name {
	case "":
		name = "index.html"
	case "tip":
		_, _ = w.Write([]byte(state))
		return
	}
	content, known, err := pages.File(name)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !known && strings.HasPrefix(name, "review/"): // it is decided
		http.Redirect(w, r, "/task/"+strings.TrimPrefix(name, "review/"), http.StatusSeeOther)
	case !known:
		http.Error(w, "there is no such page; the board may have changed", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
		_, _ = w.Write(content)
	}
}
