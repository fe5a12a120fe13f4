package loop

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session/toolbox"
)

const (
	keptLast  = 6   // messages at the end
	keptLines = 200 // of what is told of dropped calls
)

// questionBytes is how many bytes the next question has, its tools included.
func (t *talk) questionBytes() int {
	n := len(t.o.System)
	for _, tool := range t.box.Tools() {
		n += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	for _, m := range t.messages {
		n += messageBytes(m)
	}
	return n
}

func messageBytes(m Message) int {
	n := len(m.Text)
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Args)
	}
	for _, r := range m.Results {
		n += len(r.ID) + len(r.Text)
	}
	return max(n, len(m.Native))
}

// compactMessages drops messages from the middle when three quarters of the room are used:
// the brief stays, and the last six messages, fewer where those alone are too much.
// What is dropped is told behind the brief, call by call. The same conversation is
// always made smaller in the same way.
func (t *talk) compactMessages() {
	room := t.o.ContextBytes / 4 * 3
	for keep := keptLast; keep >= 2 && t.questionBytes() > room; keep -= 2 {
		cut := len(t.messages) - keep
		if cut <= 1 {
			continue
		}
		if t.messages[cut].Role != Assistant { // a question follows an answer, so this is one too late
			cut++
		}
		t.noteDropped(t.messages[1:cut])
		t.messages = append([]Message{{Role: User, Text: t.brief + t.droppedSummary()}}, t.messages[cut:]...)
		t.known = 0
	}
}

// noteDropped notes the calls of messages that go.
func (t *talk) noteDropped(list []Message) {
	failed, size := map[string]bool{}, map[string]string{}
	for _, m := range list {
		for _, r := range m.Results {
			failed[r.ID] = r.Failed
			size[r.ID] = fmt.Sprintf("%d bytes, sha256 %s", len(r.Text), shortHash([]byte(r.Text)))
		}
	}
	for _, m := range list {
		for _, c := range m.Calls {
			end := "answered"
			if failed[c.ID] {
				end = "not done"
			}
			t.dropped = append(t.dropped, fmt.Sprintf("- %s %s: %s, %s", toolbox.Shown(c.Name), callSubject(c.Args), end, size[c.ID]))
		}
	}
}

// callSubject is what a call was about: its path where it names one, else its arguments' hash.
func callSubject(args json.RawMessage) string {
	var v struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(args, &v) == nil && v.Path != "" {
		return strings.Join(strings.Fields(toolbox.Shown(v.Path)), " ")
	}
	return "arguments " + shortHash(args)
}

// shortHash returns the beginning of a SHA-256 in hex.
func shortHash(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:6])
}

// droppedSummary tells of what was dropped, the latest at the end.
func (t *talk) droppedSummary() string {
	lines := t.dropped
	head := fmt.Sprintf("\n\n## earlier in this session\n\nThe conversation was made shorter. These %d calls went before; call again for what you need of them.\n", len(lines))
	if more := len(lines) - keptLines; more > 0 {
		lines = lines[more:]
		head += fmt.Sprintf("The first %d are not listed.\n", more)
	}
	return head + strings.Join(lines, "\n") + "\n"
}
