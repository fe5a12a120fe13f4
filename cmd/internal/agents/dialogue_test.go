package agents

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
)

func TestDialogueAtATerminal(t *testing.T) {
	t.Parallel()
	turn := invoke.Turn{Who: "oddie", Said: []deliver.Say{{Kind: "question", Text: "Which\x1b[2J tide?"}}, Used: 1, Turns: 20, Cost: 500_000}
	turn.Usage.CostKnown = true
	for _, c := range []struct {
		name, typed, want, shows string
		err                      error
	}{
		{"a line", "spring\n\n", "spring", "oddie: Which[2J tide?\n", nil},
		{"several", "spring\n  or neap\n\nmore", "spring\n  or neap", "[turn 1 of 20, $0.00 of $0.50 spent; an empty line sends", nil},
		{"ctrl-d sends", "spring", "spring", "> ", nil},
		{"ctrl-d at once", "", "", "> ", errNobody},
		{"blank lines ask on", "\n\nspring\n\n", "spring", "> > > > ", nil},
		{"help", "/help\n/budget\nx\n\n", "x", "Ctrl-C interrupts", nil},
		{"end", "/end\n", "", "> ", errEnded},
		{"a slash within", "x\n/end\n\n", "x\n/end", "> ", nil},
	} {
		var talk bytes.Buffer
		env := console.Env{Stdin: strings.NewReader(c.typed), Stderr: &talk, Keyboard: true, Getenv: func(string) string { return "" }}
		d := &dialogue{env: env, progress: console.NewProgress(env)}
		got, err := d.answerTurn(t.Context(), turn)
		if got != c.want || !errors.Is(err, c.err) || !strings.Contains(talk.String(), c.shows) {
			t.Errorf("%s: %q, %v\n%s", c.name, got, err, &talk)
		}
		if strings.Contains(talk.String(), "\x1b") {
			t.Errorf("%s: an escape reaches the terminal", c.name)
		}
	}
}

// TestDialogueInterrupted: a person who types nothing does not hold an interrupt.
func TestDialogueInterrupted(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer w.Close()
	for _, keyboard := range []bool{true, false} {
		env := console.Env{Stdin: r, Stderr: io.Discard, Keyboard: keyboard, Getenv: func(string) string { return "" }}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := (&dialogue{env: env, progress: console.NewProgress(env)}).answerTurn(ctx, invoke.Turn{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
}
