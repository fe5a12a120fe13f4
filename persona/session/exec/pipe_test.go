//go:build unix

package exec

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestPipe(t *testing.T) {
	t.Parallel()
	sh := func(script string) Command {
		return Command{Argv: []string{"sh", "-c", script}, Tree: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
	}
	for _, tt := range []struct {
		name, want, failure string
		c                   Command
	}{
		{"well", "a\nb\n", "", sh("echo a; echo b; echo talk >&2")},
		{"a fault", "a\n", "sh: exit status 3; stderr: it broke", sh("echo a; echo it broke >&2; exit 3")},
		{"no such program", "", "no-such-program\": executable file not found", Command{Argv: []string{"no-such-program"}, Tree: "/"}},
		{"no program", "", "which program?", Command{Tree: "/"}},
	} {
		r := Pipe(t.Context(), tt.c)
		got, err := io.ReadAll(r)
		if string(got) != tt.want || (err == nil) != (tt.failure == "") || err != nil && !strings.Contains(err.Error(), tt.failure) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		r.Close()
	}
}

// TestPipeEnds: a program that talks for ever waits for its reader, and ends
// with the context or with Close, whether it is read or not.
func TestPipeEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := Command{Argv: []string{"sh", "-c", "while :; do echo $$; done"}, Tree: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}}
	one, two := Pipe(ctx, c), Pipe(t.Context(), c)
	in := bufio.NewReader(one)
	if line, err := in.ReadString('\n'); err != nil || line == "" {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	if _, err := io.Copy(io.Discard, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	two.Close()
	if _, err := two.Read(make([]byte, 1)); err == nil {
		t.Error("a closed pipe is read")
	}
}
