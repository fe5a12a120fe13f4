package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// remarkPrinter prints what an observer says. It writes on a goroutine of its own, so
// that a reader who has stopped reading holds the session, which takes no
// further turn, and not its end.
type remarkPrinter struct {
	env      Env
	json     bool
	progress *progress
	emitted  int
	muted    int
	left     bool // nobody reads any more, or a write never came back
	work     chan string
	done     chan error
}

func newRemarkPrinter(env Env, asJSON bool, p *progress) *remarkPrinter {
	t := &remarkPrinter{env: env, json: asJSON, progress: p, work: make(chan string), done: make(chan error, 1)}
	go func() {
		for s := range t.work {
			_, err := io.WriteString(env.Stdout, s)
			t.done <- err
		}
	}()
	return t
}

// sayRow is one emission as --json tells it, a line each.
type sayRow struct {
	Channel string `json:"channel"`
	First   int64  `json:"first"` // line of the stream it is about
	Last    int64  `json:"last"`
	Text    string `json:"text"`
}

// printRemark prints what was said of a batch and waits until it is written.
func (t *remarkPrinter) printRemark(ctx context.Context, m invoke.Remark) error {
	t.muted += m.Muted
	var b strings.Builder
	for _, text := range m.Texts {
		b.WriteString(t.remarkLine(sayRow{secrets.RedactText(m.Channel), m.First, m.Last, string(secrets.Redact([]byte(text)))}))
	}
	if b.Len() == 0 {
		return nil
	}
	t.progress.clearLine()
	err := t.writeText(ctx, b.String())
	if errors.Is(err, syscall.EPIPE) {
		err = io.EOF
	}
	if err == nil {
		t.emitted += len(m.Texts)
	}
	return err
}

func (t *remarkPrinter) remarkLine(r sayRow) string {
	lines := fmt.Sprintf("%d-%d", r.First, r.Last)
	switch {
	case t.json:
		return jsonLine(r) + "\n"
	case t.env.Terminal:
		return fmt.Sprintf("%s %9s  %s\n", layout.Pad(cell(r.Channel), 12), lines, cell(r.Text))
	}
	return strings.Join([]string{cell(r.Channel), lines, cell(r.Text)}, "\t") + "\n"
}

// writeText hands a text to the writing goroutine and waits for it, or for ctx.
func (t *remarkPrinter) writeText(ctx context.Context, s string) error {
	t.work <- s // nobody else writes, and the last write came back
	select {
	case err := <-t.done:
		t.left = err != nil
		return err
	case <-ctx.Done():
		t.left = true
		return ctx.Err()
	}
}

// writeLast writes a last text; a person who has interrupted waits a moment for it.
func (t *remarkPrinter) writeLast(ctx context.Context, s string) error {
	if ctx.Err() != nil && t.env.After != nil {
		next, cancel := context.WithCancel(context.Background())
		defer t.env.After(patience, cancel)()
		defer cancel()
		ctx = next
	}
	return t.writeText(ctx, s)
}

// jsonLine returns a value on one line.
func jsonLine(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("unreachable: " + err.Error()) // texts and integers
	}
	return strings.TrimSuffix(b.String(), "\n")
}
