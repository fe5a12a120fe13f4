package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	sdk "github.com/coder/acp-go-sdk"
)

// maxMessage bounds one line of the agent's.
const maxMessage = 8 << 20

var errLongMessage = errors.New("the agent sent a line of over 8 MiB")

// sift takes the session's updates out of what the agent writes, and hands on the rest.
// The library hears updates in a queue of their own, beside its requests; a request for
// permission is judged by the updates before it, so that they are heard here, in
// their order. Nothing is read before listen, which returns when the agent is silent.
func sift(from io.Reader, c *client) (rest io.Reader, listen func()) {
	r, w := io.Pipe()
	return r, func() {
		in := bufio.NewReader(from)
		for {
			line, err := readLine(in)
			if err == nil && !c.heard(line) {
				_, err = w.Write(line)
			}
			if err != nil {
				w.CloseWithError(err)
				return
			}
		}
	}
}

// readLine is one line with its end; one that is too long is an error.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxMessage {
			return nil, errLongMessage
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// heard takes a line that is an update.
func (c *client) heard(line []byte) bool {
	if !bytes.Contains(line, []byte(sdk.ClientMethodSessionUpdate)) {
		return false
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(line, &m) != nil || m.ID != nil || m.Method != sdk.ClientMethodSessionUpdate {
		return false
	}
	var n sdk.SessionNotification
	if json.Unmarshal(m.Params, &n) == nil {
		_ = c.SessionUpdate(context.Background(), n)
	}
	return true
}
