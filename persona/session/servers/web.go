package servers

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/http/httpproxy"

	"github.com/odd-cli/odd/persona/session/endpoint"
)

const dialTimeout = 10 * time.Second

// web is the way to a server that speaks HTTP: to its URL and nowhere else.
func (s *server) web() (sdk.Transport, error) {
	u, err := url.Parse(s.spec.URL)
	if err != nil {
		return nil, err
	}
	token := ""
	if s.spec.TokenEnv != "" {
		if _, token, _ = strings.Cut(variable(s.o.Environ, s.spec.TokenEnv), "="); token == "" {
			return nil, faultf("no-token", "the environment variable %s is not set; export it where odd runs", s.spec.TokenEnv)
		}
	}
	env := func(name string) string {
		_, v, _ := strings.Cut(variable(s.o.Environ, name), "=")
		_, low, _ := strings.Cut(variable(s.o.Environ, strings.ToLower(name)), "=")
		return cmpOr(v, low)
	}
	ask := (&httpproxy.Config{HTTPProxy: env("HTTP_PROXY"), HTTPSProxy: env("HTTPS_PROXY"), NoProxy: env("NO_PROXY")}).ProxyFunc()
	t := &http.Transport{
		Proxy:                  func(r *http.Request) (*url.URL, error) { return ask(r.URL) },
		DialContext:            (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		ResponseHeaderTimeout:  s.spec.Timeout,
		MaxResponseHeaderBytes: 64 << 10,
		ForceAttemptHTTP2:      true,
	}
	s.mu.Lock()
	s.ends = append(s.ends, t.CloseIdleConnections)
	s.mu.Unlock()
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	way := &narrow{host: u.Host, scheme: u.Scheme, token: token, max: int64(s.spec.MaxBytes), next: t}
	return &sdk.StreamableClientTransport{Endpoint: s.spec.URL, HTTPClient: &http.Client{Transport: way, CheckRedirect: stay},
		MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: s.spec.MaxBytes}, nil
}

// narrow lets requests to one host through, with the token, and bounds what they
// are answered.
type narrow struct {
	host, scheme, token string
	max                 int64
	next                http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (n *narrow) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != n.host || r.URL.Scheme != n.scheme {
		return nil, faultf("handshake", "it points to %s; write the address it really has as url", r.URL.Host)
	}
	if n.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+n.token)
	}
	res, err := n.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		res.Body.Close()
		return nil, faultf("handshake", "it points elsewhere; write the address it really has as url")
	}
	res.Body = endpoint.Bound(res.Body, n.max, errTooMuch)
	return res, nil
}

// errTooMuch ends an answer that is over the limit.
var errTooMuch = errors.New("the answer is over the limit of its size; raise max_bytes if that is right")

// variable is a variable of an environment as it stands there, "" where it is not;
// the last one counts.
func variable(environ []string, name string) string {
	v := ""
	for _, kv := range environ {
		if n, _, ok := strings.Cut(kv, "="); ok && n == name && name != "" {
			v = kv
		}
	}
	return v
}
