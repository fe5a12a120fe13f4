package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// protocol is the revision that odd asks for: the last one that begins with
// initialize, which every server knows.
const protocol = "2025-11-25"

const (
	mostHung  = 2  // calls in a row without an answer
	mostNotes = 32 // of one server
	farewell  = 500 * time.Millisecond
)

// codeRefused is the protocol's code for an error that is the client's own.
const codeRefused = -32000

type server struct {
	spec  Spec
	o     Options
	tools []session.Tool // set once, by openAndList
	masks []mask         // values that a server was given and that nobody else is told

	mu     sync.Mutex
	client *sdk.ClientSession
	link   *link // of a program
	hash   string
	says   string
	held   string
	calls  int
	failed int
	hung   int // in a row
	code   string
	detail string
	notes  []string
	ends   []func()
}

// mask is a secret value and what stands in its place.
type mask struct{ value, name string }

// openAndList connects and lists the tools, or loses the server.
func (s *server) openAndList(ctx context.Context) {
	s.collectSecrets()
	all, stop := context.WithCancel(ctx)
	s.ends = append(s.ends, stop)
	in, cancel := context.WithTimeout(all, s.spec.Start)
	defer cancel()
	var tools []session.Tool
	done := make(chan error, 1)
	go func() {
		var err error
		tools, err = s.connectAndList(all, in)
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-in.Done():
		stop()
		if err = <-done; err == nil {
			err = in.Err()
		}
	}
	switch {
	case err == nil:
		s.tools = tools
		return
	case ctx.Err() != nil:
		s.keepLoss("start-failed", "the session ended first")
	case errors.Is(in.Err(), context.DeadlineExceeded):
		s.keepLoss("start-timeout", "it was not ready within "+s.spec.Start.String()+s.lastWords())
	default:
		s.loseFor(err, "start-failed")
	}
	s.closeServer()
}

// fault is why a server is lost.
type fault struct{ code, text string }

func (f *fault) Error() string { return f.text }

// Code is one of the package's codes.
func (f *fault) Code() string { return f.code }

func faultf(code, format string, args ...any) error {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// loseFor loses the server for err, under code where err has none.
func (s *server) loseFor(err error, code string) {
	if f, ok := errors.AsType[*fault](err); ok {
		code = f.code
	}
	text := err.Error()
	if code == "crashed" || code == "handshake" {
		text += s.lastWords()
	}
	s.keepLoss(code, text)
}

// keepLoss keeps the first reason why a server is of no more use.
func (s *server) keepLoss(code, detail string) {
	detail = s.showText(detail, 400)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" {
		s.code, s.detail = code, detail
	}
}

// whyLost is why the server is of no more use, nil where it is.
func (s *server) whyLost() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == "" {
		return nil
	}
	return &fault{"server_lost", fmt.Sprintf("the server %s is lost: %s [%s]", s.spec.Name, s.detail, s.code)}
}

// connectAndList is openAndList without its end.
func (s *server) connectAndList(ctx, in context.Context) ([]session.Tool, error) {
	t, err := s.dialServer(ctx)
	if err != nil {
		return nil, err
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "odd", Version: cmp.Or(s.o.Version, "0")}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	c.AddReceivingMiddleware(s.guardMethods)
	cs, err := c.Connect(in, t, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		return nil, s.nameBreak(err, "handshake")
	}
	s.mu.Lock()
	s.client = cs
	if info := cs.InitializeResult(); info != nil && info.ServerInfo != nil {
		s.says = s.cleanText(strings.TrimSpace(info.ServerInfo.Name+" "+info.ServerInfo.Version), 120)
	}
	s.mu.Unlock()
	list, err := listTools(in, cs)
	if err != nil {
		return nil, s.nameBreak(err, "bad-list")
	}
	return s.pinTools(list)
}

// nameBreak names err by what the link knows, or else by code.
func (s *server) nameBreak(err error, code string) error {
	if _, ok := errors.AsType[*fault](err); ok {
		return err
	}
	if l := s.currentLink(); l != nil {
		if why := l.whyDead(); why != nil {
			return why
		}
	}
	if errors.Is(err, sdk.ErrConnectionClosed) {
		return &fault{"crashed", "it hung up"}
	}
	return &fault{code, err.Error()}
}

func (s *server) currentLink() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// guardMethods is asked before odd answers or heeds anything that a server sends of its
// own: it may see whether odd is there, and notify. Everything else is refused.
func (s *server) guardMethods(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		switch {
		case method == "notifications/tools/list_changed":
			s.addNote("it says that its list of tools has changed; the session keeps the list it began with")
			return next(ctx, method, req)
		case method == "ping" || strings.HasPrefix(method, "notifications/"):
			return next(ctx, method, req)
		}
		s.addNote("it asked odd for " + s.cleanText(method, 60) + ", which is refused")
		return nil, &jsonrpc.Error{Code: codeRefused, Message: "odd does not do " + method + ": a server answers calls, and asks neither a model nor a person nor for folders"}
	}
}

func (s *server) addNote(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.notes, text) && len(s.notes) < mostNotes {
		s.notes = append(s.notes, text)
	}
}

func (s *server) reportUse() Use {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := Use{Name: s.spec.Name, Says: s.says, Tools: []string{}, Hash: s.hash, Calls: s.calls, Failed: s.failed, Code: s.code, Detail: s.detail, Held: s.held, Notes: slices.Clone(s.notes)}
	for _, t := range s.tools {
		u.Tools = append(u.Tools, t.Name)
	}
	return u
}

// closeServer ends the server: it is told by the end of its input first.
func (s *server) closeServer() {
	s.mu.Lock()
	cs, ends := s.client, s.ends
	s.client, s.ends = nil, nil
	s.mu.Unlock()
	if cs != nil {
		bye, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		gone := make(chan struct{})
		go func() { defer close(gone); _ = cs.Close() }()
		select {
		case <-gone:
		case <-bye.Done():
		}
	}
	for _, end := range ends {
		end()
	}
}

// showText returns a text of a server's, or about it, as it may be told: of one line.
func (s *server) showText(text string, most int) string {
	return okf.Clip(strings.Join(strings.Fields(s.cleanText(text, 4*most)), " "), most)
}

// cleanText returns a text without what nobody can see, without credentials
// and without the values that it was given.
func (s *server) cleanText(text string, most int) string {
	text = okf.Visible(strings.ToValidUTF8(okf.Clip(text, most), "\uFFFD"))
	for _, m := range s.masks {
		text = strings.ReplaceAll(text, m.value, "[redacted:"+m.name+"]")
	}
	return secrets.RedactText(text)
}
