package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/endpoint"
	"github.com/odd-cli/odd/persona/session/exec"
)

// What a program may say besides its messages, and how many messages.
const (
	mostGarbage = 200    // lines that are none: a greeting, a log
	mostSaid    = 20_000 // messages of a session
	mostTalk    = 4 << 10
)

// link is the line to a program: messages on its streams, one a line. What is no
// message is dropped, as far as that goes.
type link struct {
	max  int
	over chan struct{} // closed when the program says no more

	mu    sync.Mutex
	deaf  bool // it takes no more
	left  bool // odd hung up while it still took something
	fault error
	talk  []byte // the end of its standard error
	exit  func() error
}

// newTransport reads messages from out, which a program writes, and writes them to in.
func (l *link) newTransport(out io.Reader, in io.WriteCloser) sdk.Transport {
	r, w := io.Pipe()
	go func() {
		err := l.feedMessages(bufio.NewReaderSize(out, 64<<10), w)
		l.keepBreak(err)
		close(l.over)
		w.CloseWithError(io.EOF)
		_, _ = io.Copy(io.Discard, out) // so that it can end
	}()
	return &sdk.IOTransport{Reader: r, Writer: input{in, l}, MaxLineLength: l.max + 2}
}

// input is the program's, which may hang up on it.
type input struct {
	io.WriteCloser
	l *link
}

func (i input) Write(b []byte) (int, error) {
	n, err := i.WriteCloser.Write(b)
	if err != nil {
		i.l.mu.Lock()
		i.l.deaf = true
		i.l.mu.Unlock()
	}
	return n, err
}

func (i input) Close() error {
	i.l.mu.Lock()
	i.l.left = i.l.left || !i.l.deaf
	i.l.mu.Unlock()
	return i.WriteCloser.Close()
}

// feedMessages hands on the lines that are messages. The error is why it ends.
func (l *link) feedMessages(in *bufio.Reader, w io.Writer) error {
	garbage, said := 0, 0
	for {
		line, err := l.readLine(in)
		if trimmed := bytes.TrimSpace(line); len(trimmed) > 0 {
			if trimmed[0] == '{' && json.Valid(trimmed) {
				said++
				if _, err := w.Write(append(trimmed, '\n')); err != nil {
					return err
				}
			} else {
				garbage++
			}
		}
		switch {
		case garbage > mostGarbage:
			return faultf("garbage", "it said %d lines that are no message; its log belongs on standard error", garbage)
		case said > mostSaid:
			return faultf("flood", "it sent more than %d messages", mostSaid)
		case err != nil:
			return err
		}
	}
}

// readLine reads one line of at most max bytes.
func (l *link) readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > l.max {
			return nil, faultf("too-large", "it sent a message of more than %d bytes; raise max_bytes if that is right", l.max)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// keepBreak keeps why the line is dead. That a program ends when odd has hung up is no
// reason: why odd did is told by who hung up.
func (l *link) keepBreak(err error) {
	var f *fault
	l.mu.Lock()
	defer l.mu.Unlock()
	if errors.As(err, &f) || !l.left && !errors.Is(err, io.ErrClosedPipe) {
		l.fault = err
	}
}

// whyDead is the reason why the line is dead, nil where it is not. A program that takes
// no more is given a moment to end.
func (l *link) whyDead() error {
	l.mu.Lock()
	deaf := l.deaf
	l.mu.Unlock()
	if deaf {
		bye, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		select {
		case <-l.over:
		case <-bye.Done():
		}
	}
	l.mu.Lock()
	err, exit := l.fault, l.exit
	l.mu.Unlock()
	var f *fault
	if err == nil || errors.As(err, &f) {
		return err
	}
	if exit != nil {
		if end := exit(); end != nil {
			return faultf("crashed", "it ended: %v", end)
		}
	}
	return &fault{"crashed", "it ended"}
}

// Write keeps the end of what the program says on standard error.
func (l *link) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.talk = append(l.talk, b...)
	if over := len(l.talk) - mostTalk; over > 0 {
		l.talk = append([]byte{}, l.talk[over:]...)
	}
	return len(b), nil
}

// lastWords are the last line of a program's standard error, for a detail.
func (s *server) lastWords() string {
	l := s.currentLink()
	if l == nil {
		return ""
	}
	l.mu.Lock()
	lines := bytes.Split(bytes.TrimSpace(l.talk), []byte("\n"))
	l.mu.Unlock()
	if last := string(bytes.TrimSpace(lines[len(lines)-1])); last != "" {
		return ": " + last
	}
	return ""
}

// dialServer starts the program of a spec, or prepares the way to its URL.
func (s *server) dialServer(ctx context.Context) (sdk.Transport, error) {
	switch {
	case s.o.Dial != nil:
		return s.o.Dial(ctx, s.spec)
	case s.spec.URL != "":
		return s.dialHTTP()
	case s.o.Desk == nil:
		return nil, faultf("start-failed", "the session has no folder for its program")
	}
	desk, err := s.o.Desk(ctx, s.spec)
	if err != nil {
		return nil, err
	}
	l := &link{max: s.spec.MaxBytes, over: make(chan struct{})}
	at, read := desk, s.spec.Read
	if s.spec.Tree {
		at.Tree, read = s.o.Tree.Tree, slices.Concat(read, []string{s.o.Tree.Tree}, s.o.Tree.Read)
	}
	env := exec.Environment(s.o.Environ, s.spec.Env, at, s.o.Run)
	p, err := s.o.Cage.Start(ctx, cage.Program{Argv: s.spec.Argv, Dir: at.Tree, Env: env, Stderr: l, Desk: desk, Network: s.spec.Network, Read: read})
	var unheld *cage.Unheld
	switch {
	case errors.As(err, &unheld):
		return nil, &fault{"sandbox-unavailable", err.Error()}
	case err != nil:
		return nil, faultf("start-failed", "%s: %v", s.spec.Argv[0], err)
	}
	l.exit = func() error { return s.endProcess(p) }
	s.mu.Lock()
	s.link, s.held = l, p.Held.String()
	s.ends = append(s.ends, func() { _ = s.endProcess(p) })
	s.mu.Unlock()
	return l.newTransport(p.Stdout, p.Stdin), nil
}

// endProcess waits a moment for a program whose input has ended, and then ends it.
func (s *server) endProcess(p *cage.Process) error {
	_ = p.Stdin.Close() // again, where nobody came to talk
	bye, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	stop := context.AfterFunc(bye, p.Kill)
	defer stop()
	return p.Wait()
}

// collectSecrets notes the values that the server is given.
func (s *server) collectSecrets() {
	for _, kv := range append(s.spec.Values(s.o.Environ), s.spec.TokenEnv+"="+s.spec.Token(s.o.Environ)) {
		name, value, _ := bytes.Cut([]byte(kv), []byte("="))
		if len(value) >= 8 {
			s.masks = append(s.masks, mask{string(value), string(name)})
		}
	}
}

const dialTimeout = 10 * time.Second

// dialHTTP makes the way to a server that speaks HTTP: to its URL and nowhere else.
func (s *server) dialHTTP() (sdk.Transport, error) {
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

var errTooMuch = errors.New("the answer is over the limit of its size; raise max_bytes if that is right")
