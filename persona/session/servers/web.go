package servers

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

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
		if token = s.spec.Token(s.o.Environ); token == "" {
			return nil, faultf("no-token", "the environment variable %s is not set; export it where odd runs", s.spec.TokenEnv)
		}
	}
	t := &http.Transport{
		Proxy:                  endpoint.Proxy(s.o.Environ),
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
