// Package endpoint is the way from odd to a model's API over HTTP: what is dialled,
// what is read of the surroundings, and what a failure is called. What is said on
// it is the business of the substrates that use it.
//
// # Promises
//
//  1. Nothing but the address that odd.toml names is dialled. An answer that points
//     elsewhere is a failure, because the key would go there too.
//  2. Of odd's environment only HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read, as
//     every other program reads them. A server on this machine is never asked
//     through a proxy, and what a proxy sees of another is its name.
//  3. Nothing is tried again: who takes over after a failure is decided above.
//  4. An answer is read up to a limit, and a request ends with its context.
//  5. The key is in no error, nor is anything that looks like a credential.
//
// # Classes
//
// A failure is told by what the server answered, or else by how the line broke:
//
//	a status from 300 on                  as session.ClassOfStatus has it; permanent where the quota is used up
//	no answer                             connection_error; permanent for a certificate nobody vouches for
//	an answer that breaks off             transient_transport
package endpoint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// DefaultMaxBytes bounds one answer.
const DefaultMaxBytes = 32 << 20

// The patience with a server that is dialled. How long it may take to answer is the
// session's to say.
const (
	dialTimeout = 20 * time.Second
	tlsTimeout  = 20 * time.Second
)

// Options say how an API is dialled.
type Options struct {
	Secret   string   // the key, to keep it out of what is told; "" is none
	Environ  []string // of odd itself, "NAME=value"
	MaxBytes int64    // of an answer; 0 is DefaultMaxBytes
}

// Line is one session's connection to an API, for one request after another. Its
// zero value cannot be used.
type Line struct {
	o      Options
	client *http.Client
	last   heard
	put    atomic.Bool // the last request had a connection, so that it may have been read
}

// heard is how the last request was answered, by its header.
type heard struct {
	status int
	after  time.Duration // how long to be left alone; 0: not said
}

// Open makes a line. It dials nothing yet.
func Open(o Options) *Line {
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	t := &http.Transport{
		Proxy:               Proxy(o.Environ),
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: tlsTimeout,
		ForceAttemptHTTP2:   true,
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Line{o: o, client: &http.Client{Transport: t, CheckRedirect: stay}}
}

// Proxy tells by an environment alone through which proxy a request goes.
func Proxy(environ []string) func(*http.Request) (*url.URL, error) {
	ask := (&httpproxy.Config{HTTPProxy: envValue(environ, "HTTP_PROXY"), HTTPSProxy: envValue(environ, "HTTPS_PROXY"), NoProxy: envValue(environ, "NO_PROXY")}).ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return ask(r.URL) }
}

// envValue returns a variable of an environment, by its name in either case; the last one
// counts.
func envValue(environ []string, name string) string {
	for _, n := range []string{name, strings.ToLower(name)} {
		if v := Variable(environ, n); v != "" {
			return v
		}
	}
	return ""
}

// Variable is a variable of an environment, "" where it is not set; the last one of
// its name counts.
func Variable(environ []string, name string) string {
	v := ""
	for _, kv := range environ {
		if n, is, ok := strings.Cut(kv, "="); ok && n == name {
			v = is
		}
	}
	return v
}

// Do sends one request. It is what a client library calls in place of its own.
func (l *Line) Do(r *http.Request) (*http.Response, error) {
	l.last = heard{}
	l.put.Store(false)
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { l.put.Store(true) }}
	res, err := l.client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err != nil {
		return nil, err
	}
	l.last = heard{res.StatusCode, retryAfter(res.Header)}
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		res.Body.Close()
		return nil, &moved{host: hostOf(res)}
	}
	res.Body = Bound(res.Body, l.o.MaxBytes, errTooMuch)
	return res, nil
}

// Post sends JSON to an address under headers and returns the status and the body of the
// answer, which the caller closes.
func (l *Line) Post(ctx context.Context, address string, headers map[string]string, body []byte) (status int, answer io.ReadCloser, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	res, err := l.Do(r)
	if err != nil {
		return 0, nil, err
	}
	return res.StatusCode, res.Body, nil
}

// Close lets go of idle connections.
func (l *Line) Close() { l.client.CloseIdleConnections() }

// moved is an answer that points elsewhere.
type moved struct{ host string }

func (m *moved) Error() string {
	return "the server points to " + m.host + "; write the address it really has as base_url"
}

// hostOf is where an answer points, by its host.
func hostOf(res *http.Response) string {
	if u, err := res.Location(); err == nil && u.Host != "" {
		return u.Host
	}
	return "nowhere"
}

var errTooMuch = errors.New("the answer is over the limit of its size")

// Bound is a body that ends in tooMuch, instead of going on, where it has over
// most bytes.
func Bound(body io.ReadCloser, most int64, tooMuch error) io.ReadCloser {
	return &bounded{body, most, tooMuch}
}

type bounded struct {
	io.ReadCloser
	left    int64
	tooMuch error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.tooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}

// Within bounds one answer by d; 0 is no bound of its own.
func Within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
