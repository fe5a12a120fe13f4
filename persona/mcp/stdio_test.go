package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// answered are the answers to lines that were sent at once and then no more, by id.
func answered(t *testing.T, w World, lines ...string) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if err := New(w).Run(t.Context(), Stdio(strings.NewReader(hello+strings.Join(lines, "\n")), &out)); err != nil {
		t.Fatal(err)
	}
	byID := map[string]string{}
	for line := range strings.Lines(out.String()) {
		var e struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		byID[string(e.ID)] += line
	}
	return byID
}

// The end of stdin waits for the answers; a bad line costs an error and no more.
func TestStdioSurvivesBadLines(t *testing.T) {
	t.Parallel()
	got := answered(t, world(t),
		`nonsense`, ``, `[1]`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"tides"}}`, strings.Repeat("x", maxLine+10),
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get","arguments":{"atom":"`+strings.Repeat("x", maxInput)+`"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/nobody/knows"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","id":"three","method":"no/such"}`, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"search","arguments":{"query":"tides"}}}`)
	for id, want := range map[string]string{
		"0": `"protocolVersion":"2025-06-18"`, "null": "no JSON object", "2": "over 1048576 bytes", `"three"`: "-32601", "4": `"total":2`, "5": `"error"`,
	} {
		if !strings.Contains(got[id], want) {
			t.Errorf("id %s: %.300q, want %q", id, got[id], want)
		}
	}
	if n := strings.Count(got["null"], "-32700"); n != 4 || !strings.Contains(got["null"], "longer than 4 MiB") {
		t.Errorf("%d lines were refused: %s", n, got["null"])
	}
	if len(got) != 6 {
		t.Errorf("%d answers: %v", len(got), got)
	}
}

// Whatever a call's id looks like, its end is known; what only looks like a message
// is answered and skipped.
func TestStdioOddMessages(t *testing.T) {
	t.Parallel()
	got := answered(t, world(t),
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","ID":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":2.0,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":3e0,"method":"ping"}`, `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`, `{"jsonrpc":"2.0","id":9,"id":4,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":5,"Method":"ping"}`, `{"jsonrpc":"1.0","id":6,"method":"ping"}`, `{"id":6,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":[6],"method":"ping"}`, `{"jsonrpc":"2.0","id":6,"method":6}`, `{"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}`, `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
	for _, id := range []string{"0", "2", "3", `"a"`, "4", "7"} {
		if !strings.Contains(got[id], `"result"`) {
			t.Errorf("id %s: %q", id, got[id])
		}
	}
	if n := strings.Count(got["null"], "-32600"); n != 6 || len(got) != 7 {
		t.Errorf("%d were refused of %v", n, got)
	}
}

// A client that stops reading ends the server, and so does its owner.
func TestStdioEnds(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- New(world(t)).Run(ctx, Stdio(r, io.Discard)) }()
	if _, err := io.WriteString(w, hello); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("told to end: %v", err)
	}
	w.Close()
	gone, broken := io.Pipe()
	gone.Close()
	if err := New(world(t)).Run(t.Context(), Stdio(strings.NewReader(hello), broken)); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("nobody reads: %v", err)
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb"))
	f.Add([]byte("{\"id\":1}\r\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReaderSize(bytes.NewReader(b), 16)
		var all []byte
		for {
			line, long, err := readLine(in)
			if long || bytes.Count(line, []byte("\n")) > 1 {
				t.Errorf("%q: %q, long %v", b, line, long)
			}
			if all = append(all, line...); err != nil {
				break
			}
		}
		if !bytes.Equal(all, b) {
			t.Errorf("%q was read as %q", b, all)
		}
	})
}
