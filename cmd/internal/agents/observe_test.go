package agents

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/stream"
)

func TestPolicyFor(t *testing.T) {
	t.Parallel()
	if p, err := policyFor(feed("x"), ""); err != nil || p != (stream.Policy{Name: stream.Queue, Max: 1024}) {
		t.Errorf("a file: %v, %v", p, err)
	}
	if _, err := policyFor(feed("-"), ""); err == nil {
		t.Error("a live source has no policy of its own")
	}
	if _, err := policyFor(feed("x"), "none"); err == nil {
		t.Error("no such policy")
	}
}

// TestTellerStalled: a reader that has stopped holds the session and not its end.
func TestTellerStalled(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	defer r.Close()
	var talk bytes.Buffer
	env := console.Env{Stdout: w, Stderr: &talk, Getenv: func(string) string { return "" }, After: func(_ time.Duration, f func()) func() {
		f()
		return func() {}
	}}
	tell := &remarkPrinter{env: env, progress: console.NewProgress(env)}
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan error)
	go func() { told <- tell.printRemark(ctx, invoke.Remark{Channel: "a", Texts: []string{"x"}}) }()
	select {
	case err := <-told:
		t.Fatalf("nobody reads, and it was told: %v", err)
	default:
	}
	cancel()
	if err := <-told; !errors.Is(err, context.Canceled) || !tell.left || tell.emitted != 0 {
		t.Errorf("got %v, %+v", err, tell)
	}
}

func TestTellerReaderLeft(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	r.CloseWithError(syscall.EPIPE)
	env := console.Env{Stdout: w, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	tell := &remarkPrinter{env: env, json: true, progress: console.NewProgress(env)}
	if err := tell.printRemark(t.Context(), invoke.Remark{Channel: "a", Texts: []string{"x"}}); !errors.Is(err, io.EOF) || !tell.left {
		t.Errorf("got %v", err)
	}
	if err := tell.printRemark(t.Context(), invoke.Remark{Channel: "a", Muted: 2}); err != nil || tell.muted != 2 {
		t.Errorf("got %v, %d muted", err, tell.muted)
	}
}
