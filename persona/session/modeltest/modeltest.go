// Package modeltest is a model's API that answers from a recording, for tests.
//
// A recording is a txtar archive with one file an answer, in the order in which
// they are given. The file's name says what kind of answer it is, and then what
// headers it has:
//
//	-- stream --                    status 200, the text as a stream of events
//	-- cut --                       the same, but the line breaks in the end
//	-- hang --                      the same, and then nothing until the caller goes
//	-- 429 Retry-After:7 --         that status, the text as JSON
//	-- reset --                     the line breaks before anything is said
//
// In a header's value _ stands for a blank, and in any text KEY for the key that came
// with the request. What is asked for beyond the last answer is status 599. Recordings are made by
// hand after the providers' documentation, and hold no secret.
package modeltest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

// Model answers from a recording. It is an http.Handler, safe for concurrent use.
type Model struct {
	mu      sync.Mutex
	answers []txtar.File
	heard   []Request
	each    func(Request)
}

// Request is one request as it came.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Read reads a recording.
func Read(archive []byte) *Model { return &Model{answers: txtar.Parse(archive).Files} }

// Heard lists the requests so far.
func (m *Model) Heard() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.heard)
}

// Each calls f for every request from now on, before it is answered.
func (m *Model) Each(f func(Request)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.each = f
}

// next notes a request and takes the answer to it.
func (m *Model) next(r *http.Request, body []byte) txtar.File {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = append(m.heard, Request{r.URL.Path, r.Header.Clone(), body})
	if m.each != nil {
		m.each(m.heard[len(m.heard)-1])
	}
	if n := len(m.heard); n <= len(m.answers) {
		return m.answers[n-1]
	}
	return txtar.File{Name: "599", Data: []byte(`{"error": {"message": "the recording is over"}}`)}
}

// ServeHTTP implements http.Handler.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	a := m.next(r, body)
	key := r.Header.Get("X-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	a.Data = bytes.ReplaceAll(a.Data, []byte("KEY"), []byte(key))
	kind, headers, _ := strings.Cut(a.Name, " ")
	for h := range strings.FieldsSeq(headers) {
		name, value, _ := strings.Cut(h, ":")
		w.Header().Set(name, strings.ReplaceAll(value, "_", " "))
	}
	switch kind {
	case "reset":
		reset(w)
	case "stream", "cut", "hang":
		stream(w, a.Data)
		if kind == "hang" {
			<-r.Context().Done()
		}
		if kind != "stream" {
			panic(http.ErrAbortHandler)
		}
	default:
		w.Header().Set("Content-Type", "application/json")
		status, err := strconv.Atoi(kind)
		if err != nil {
			status = 598
			a.Data = fmt.Appendf(nil, `{"error": {"message": "the recording has no kind %q"}}`, kind)
		}
		w.WriteHeader(status)
		_, _ = w.Write(a.Data)
	}
}

// stream writes events one by one, so that they are read so.
func stream(w http.ResponseWriter, text []byte) {
	if len(text) == 0 {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for _, e := range bytes.SplitAfter(text, []byte("\n\n")) {
		_, _ = w.Write(e)
		_ = out.Flush()
	}
}

// reset ends the line without a word.
func reset(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
