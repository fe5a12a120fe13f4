package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The limits of a server over HTTP. A call is over within the write timeout.
const (
	maxRequest   = 4 << 20 // bytes
	readTimeout  = 30 * time.Second
	writeTimeout = 2 * time.Minute
	idleTimeout  = 2 * time.Minute
)

// Endpoint is the path of the one resource that HTTP serves.
const Endpoint = "/mcp"

// HTTP is a server of s for one machine, asked with "Authorization: Bearer
// TOKEN" on Endpoint and refused otherwise. What a web page in the user's
// browser sends is refused too: a Host that is not this machine's own name, which
// is how a name is rebound to it, and an Origin that is not this server. Each
// call stands for itself; no session is kept. The caller listens, on the loopback
// address only, and shuts down.
func HTTP(s *sdk.Server, token string) *http.Server {
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxRequest, PropagateRequestCancellation: true})
	return &http.Server{
		Handler:           guardHandler(token, handler),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: 64 << 10,
	}
}

// guardHandler lets pass what knows the token and was sent to this machine on purpose.
func guardHandler(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case !loopback(r.Host):
			http.Error(w, "the Host header does not name this machine", http.StatusForbidden)
		case !sameOrigin(r):
			http.Error(w, "calls from web pages are refused", http.StatusForbidden)
		case subtle.ConstantTimeCompare(want[:], got[:]) != 1 || token == "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="odd mcp"`)
			http.Error(w, "want the header Authorization: Bearer TOKEN", http.StatusUnauthorized)
		case r.URL.Path != Endpoint:
			http.Error(w, "only "+Endpoint+" is served", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// loopback reports a host, with or without a port, that can only be this machine.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// sameOrigin reports a call that no other web page sent. A program sends no
// Origin at all.
func sameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	for _, o := range r.Header.Values("Origin") {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	return true
}
