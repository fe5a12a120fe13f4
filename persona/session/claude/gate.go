package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// maxCall bounds what a hook sends.
const maxCall = 10 << 20

// Answer is what a session's odd says to a hook.
type Answer struct {
	Allow bool   `json:"allow"`
	Code  string `json:"code,omitempty"`
	Text  string `json:"text,omitempty"` // why not
}

// Ask hands a hook's call to the session's odd that listens at socket, and returns
// its answer. An error is no yes.
func Ask(ctx context.Context, socket string, call []byte) (Answer, error) {
	at, done, err := shortPath(socket)
	if err != nil {
		return Answer{}, fmt.Errorf("the session's odd does not listen: %w", err)
	}
	defer done()
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", at)
	if err != nil {
		return Answer{}, fmt.Errorf("the session's odd does not listen: %w", err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_, err = conn.Write(call)
	if end, ok := conn.(*net.UnixConn); ok {
		err = errors.Join(err, end.CloseWrite())
	}
	if err != nil {
		return Answer{}, fmt.Errorf("the session's odd did not hear: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(conn, maxCall))
	if err != nil {
		return Answer{}, fmt.Errorf("the session's odd did not answer: %w", err)
	}
	var a Answer
	if err := json.Unmarshal(b, &a); err != nil {
		return Answer{}, errors.New("the session's odd gave no answer")
	}
	return a, nil
}

// mostPath is how long a socket's path may be everywhere.
const mostPath = 100

// shortPath is another path of a socket where its own is longer than the system takes: by
// the folder's descriptor, which is open until done.
func shortPath(socket string) (at string, done func(), err error) {
	const mine = "/proc/self/fd"
	if _, err := os.Stat(mine); err != nil || len(socket) <= mostPath {
		return socket, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("%s/%d/%s", mine, dir.Fd(), filepath.Base(socket)), func() { dir.Close() }, nil
}

// gate answers the hooks of one session. It judges one call at a time.
type gate struct {
	socket string
	judge  judge
	line   net.Listener
	cancel context.CancelFunc // ends every hook that waits
	done   sync.WaitGroup

	mu     sync.Mutex
	denied map[string]string // tool_use_id → code
}

// openGate opens the gate at a path that is not there yet.
func openGate(socket string, j judge) (*gate, error) {
	at, done, err := shortPath(socket)
	if err != nil {
		return nil, fmt.Errorf("the gate: %w", err)
	}
	defer done()
	line, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("the gate: %w; a shorter TMPDIR makes its path shorter", err)
	}
	line.SetUnlinkOnClose(false) // its folder goes with the session
	ctx, cancel := context.WithCancel(context.Background())
	g := &gate{socket: socket, judge: j, line: line, cancel: cancel, denied: map[string]string{}}
	g.done.Go(func() {
		for {
			conn, err := line.Accept()
			if err != nil {
				return
			}
			g.done.Go(func() { g.answerCall(ctx, conn) })
		}
	})
	return g, nil
}

// answerCall reads one call and says yes or no.
func (g *gate) answerCall(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	b, err := io.ReadAll(io.LimitReader(conn, maxCall+1))
	if err != nil {
		return
	}
	if out, err := json.Marshal(g.decideCall(b)); err == nil {
		_, _ = conn.Write(append(out, '\n'))
	}
}

// decideCall judges a call and keeps the code of a no.
func (g *gate) decideCall(b []byte) Answer {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, err := readCall(b)
	if err == nil {
		err = g.judge.allowCall(c)
	}
	if err == nil {
		return Answer{Allow: true}
	}
	a := Answer{Code: "not_judged", Text: err.Error()}
	if no, ok := errors.AsType[*policy.Refusal](err); ok {
		a.Code, a.Text = no.Code, no.Text()
	}
	if c.id != "" {
		g.denied[c.id] = a.Code
	}
	return a
}

// addCodes gives the calls that the stream told the codes of those the gate refused.
func (g *gate) addCodes(calls []told) []session.Call {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []session.Call
	for _, c := range calls {
		if code := g.denied[c.id]; code != "" {
			c.Status, c.Code = session.CallDenied, code
		}
		out = append(out, c.Call)
	}
	return slices.Clip(out)
}

// close ends the gate and every hook that waits at it.
func (g *gate) close() {
	g.cancel()
	g.line.Close()
	g.done.Wait()
}
