package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is the longest message a client may send, in bytes.
const maxLine = 4 << 20

// Stdio is the transport over a pair of streams, a message a line. A line that is
// no message, or is too long, is answered by an error of the protocol and
// skipped: one bad line does not end the session. When in ends, the calls that
// were read are answered first.
func Stdio(in io.Reader, out io.Writer) sdk.Transport {
	p := &pipe{out: out, open: map[jsonrpc.ID]bool{}}
	p.idle = sync.NewCond(&p.mu)
	r, w := io.Pipe()
	go func() { w.CloseWithError(p.feedLines(bufio.NewReaderSize(in, 64<<10), w)) }()
	return &sdk.IOTransport{Reader: r, Writer: p, MaxLineLength: maxLine + 1}
}

// pipe is the client's side of the streams, whose lines come and go whole.
type pipe struct {
	mu   sync.Mutex
	out  io.Writer
	open map[jsonrpc.ID]bool // calls that were read and not answered
	idle *sync.Cond          // told when open shrinks
	shut bool
}

// cancelled is what a client that gives a call up says of it.
type cancelled struct {
	RequestID any `json:"requestId"`
}

// feedLines hands the lines that are messages on to w, until in ends and every call
// is answered.
func (p *pipe) feedLines(in *bufio.Reader, w io.Writer) error {
	for {
		line, long, err := readLine(in)
		switch {
		case long:
			p.answerFault(jsonrpc.CodeParseError, "the line is longer than 4 MiB")
		case len(bytes.TrimSpace(line)) == 0:
		case bytes.TrimSpace(line)[0] != '{' || !json.Valid(line):
			p.answerFault(jsonrpc.CodeParseError, "the line is no JSON object")
		case !p.takeCall(line):
			p.answerFault(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
		default:
			if _, err := w.Write(append(bytes.TrimRight(line, "\r\n"), '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			p.awaitAnswers()
			return err
		}
	}
}

// readLine reads one line; of one that is too long nothing is kept.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// takeCall notes a call that wants an answer; false is a line that is no message. It
// is read as the server will read it, so that both mean the same call.
func (p *pipe) takeCall(line []byte) bool {
	m, err := jsonrpc.DecodeMessage(bytes.TrimSpace(line))
	if err != nil {
		return false
	}
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var gone cancelled
	switch {
	case r.ID.IsValid():
		p.open[r.ID] = true
	case r.Method == "notifications/cancelled" && json.Unmarshal(r.Params, &gone) == nil:
		if id, err := jsonrpc.MakeID(gone.RequestID); err == nil {
			delete(p.open, id) // which need not be answered
		}
	}
	return true
}

// answerFault answers a line that could not be read.
func (p *pipe) answerFault(code int, why string) {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(append(b, '\n')) // a client that reads no more is gone, which the next answer finds
}

// awaitAnswers waits until every call is answered, or nobody reads answers any more.
func (p *pipe) awaitAnswers() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.open) > 0 && !p.shut {
		p.idle.Wait()
	}
}

// Write sends one message of the server.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := b
	m, err := jsonrpc.DecodeMessage(bytes.TrimSpace(b))
	r, answer := m.(*jsonrpc.Response)
	var e *jsonrpc.Error
	if answer = answer && err == nil; answer && errors.As(r.Error, &e) {
		r.Error = cleanFault(e) // it quotes a method that there is not, before any middleware sees it
		if line, err := jsonrpc.EncodeMessage(r); err == nil {
			told = append(line, '\n')
		}
	}
	_, err = p.out.Write(told)
	if answer {
		delete(p.open, r.ID)
	}
	p.shut = p.shut || err != nil
	p.idle.Broadcast()
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close ends the waiting for answers; the stream is its owner's.
func (p *pipe) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	p.idle.Broadcast()
	return nil
}
