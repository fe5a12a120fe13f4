//go:build unix

package exec

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

func check(t *testing.T, args ...string) Command {
	t.Helper()
	return Command{Argv: append([]string{os.Args[0], "child"}, args...), Tree: t.TempDir()}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	killed := check(t)
	killed.Argv = []string{"sh", "-c", "kill -9 $$"}
	killed.Env = []string{"PATH=" + os.Getenv("PATH")}
	missing := check(t)
	missing.Argv = []string{"no-such-program-anywhere"}
	tests := []struct {
		name string
		ctx  context.Context
		c    Command
		want Result
	}{
		{"well", t.Context(), check(t, "say", "0", "hello\n"), Result{Done: true, Output: []byte("hello\n")}},
		{"a fault", t.Context(), check(t, "fail", "sorry\n"), Result{Done: true, Exit: 2, Output: []byte("sorry\n")}},
		{"killed", t.Context(), killed, Result{Fault: FaultKilled, Detail: "signal: killed"}},
		{"no such program", t.Context(), missing, Result{Fault: FaultStart, Detail: `exec: "no-such-program-anywhere": executable file not found in $PATH`}},
		{"no program", t.Context(), Command{Tree: "/"}, Result{Fault: FaultStart, Detail: `[] in "" of "/"; want a program, and a folder of an absolute tree`}},
		{"no tree", t.Context(), Command{Argv: []string{"true"}}, Result{Fault: FaultStart, Detail: `["true"] in "" of ""; want a program, and a folder of an absolute tree`}},
		{"out of the tree", t.Context(), Command{Argv: []string{"true"}, Tree: "/x", Dir: "../y"}, Result{Fault: FaultStart, Detail: `["true"] in "../y" of "/x"; want a program, and a folder of an absolute tree`}},
		{"too late", over, check(t, "say", "0"), Result{Fault: FaultTimeout, Detail: "it was stopped when its time was over"}},
		{"told to stop", stopped, check(t, "say", "0"), Result{Fault: FaultCancelled, Detail: "it was stopped with the run"}},
	}
	for _, tt := range tests {
		got := Run(tt.ctx, tt.c)
		got.Held = cage.Held{}
		if len(got.Output) == 0 {
			got.Output = nil
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, d)
		}
	}
}

// TestRunLeavesNothing: the time is over, and the child of the child is gone too.
func TestRunLeavesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result, 1)
	c := check(t, "hang", file)
	go func() { done <- Run(ctx, c) }()
	if !waitFor(func() bool { _, err := os.Stat(file); return err == nil }) {
		t.Fatal("it does not start")
	}
	cancel()
	if r := <-done; r.Fault != FaultCancelled {
		t.Errorf("%+v", r)
	}
	pid, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gone(t, string(pid))
	// One that ends well takes what it left with it.
	r := Run(t.Context(), check(t, "leave"))
	if !r.Done || r.Exit != 0 {
		t.Fatalf("%+v", r)
	}
	left, _, _ := strings.Cut(string(r.Output), "`")
	gone(t, left)
}

// TestRunSeesOnly what it is given: the tree, a folder of it, and its environment.
func TestRunSeesOnly(t *testing.T) {
	t.Parallel()
	c := check(t, "env")
	if err := os.MkdirAll(filepath.Join(c.Tree, "sub", "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Dir, c.Env = "sub", []string{"ONLY=this"}
	real, err := filepath.EvalSymlinks(c.Tree)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(Run(t.Context(), c).Output); !strings.HasPrefix(got, "ONLY=this\nwd="+filepath.Join(real, "sub")+" entries=1\n") {
		t.Errorf("%s", got)
	}
	c.Env = nil
	if got := string(Run(t.Context(), c).Output); strings.Contains(got, "PATH=") {
		t.Errorf("without an environment it has odd's: %s", got)
	}
	script := filepath.Join(c.Tree, "sub", "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho from here\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.Argv = []string{"./run.sh"}
	if got := Run(t.Context(), c); string(got.Output) != "from here\n" {
		t.Errorf("%+v", got)
	}
}

func TestRunFlood(t *testing.T) {
	t.Parallel()
	c := check(t, "mutter")
	c.Max = 1000
	r := Run(t.Context(), c)
	if !r.Done || len(r.Output) > 1100 || !bytes.Contains(r.Output, []byte("[cut: ")) || !bytes.HasSuffix(r.Output, []byte("```\n")) {
		t.Errorf("%+v", r)
	}
	secret := "sk-" + strings.Repeat("aB3dE6gH", 5)
	if r := Run(t.Context(), check(t, "say", "0", "key "+secret+"\n")); bytes.Contains(r.Output, []byte(secret)) || !bytes.Contains(r.Output, []byte("[redacted:")) {
		t.Errorf("%s", r.Output)
	}
}

// TestMiddle: what fits is kept as it is; of more, whole lines of both ends are, and
// what is cut is counted.
func TestMiddle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		max := rapid.IntRange(1, 60).Draw(rt, "max")
		m := newMiddle(max)
		var all []byte
		for _, p := range rapid.SliceOf(rapid.SliceOfN(rapid.SampledFrom([]byte("ab\n")), 0, 50)).Draw(rt, "writes") {
			if n, err := m.Write(p); n != len(p) || err != nil {
				rt.Fatalf("%d, %v", n, err)
			}
			all = append(all, p...)
		}
		got := m.keptText()
		if len(all) <= 2*m.half {
			if !bytes.Equal(got, all) {
				rt.Fatalf("%q, want %q", got, all)
			}
			return
		}
		head, rest, ok := bytes.Cut(got, []byte("[cut: "))
		count, tail, ok2 := bytes.Cut(rest, []byte(" bytes]\n"))
		n, err := strconv.Atoi(string(count))
		if !ok || !ok2 || err != nil || n != len(all)-len(head)-len(tail) {
			rt.Fatalf("%q of %d bytes", got, len(all))
		}
		if !bytes.HasPrefix(all, head) || !bytes.HasSuffix(all, tail) || len(head)+len(tail) > 2*m.half {
			rt.Fatalf("%q is not the ends of %q", got, all)
		}
		if len(head) > 0 && head[len(head)-1] != '\n' || len(tail) > 0 && all[len(all)-len(tail)-1] != '\n' {
			rt.Fatalf("%q is cut within a line", got)
		}
	})
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	d := session.Desk{Tree: "/s/tree", Home: "/s/home", Temp: "/s/temp"}
	user := []string{"PATH=/bin", "LANG=C", "HOME=/u", "SECRET=x", "GOFLAGS=-race", "GIT_DIR=/u/.git", "GOPATH=/u/g:/u/h", "XDG_CACHE_HOME=/u/c", "GOCACHE=/u/b", "TMPDIR=/u/t", "nonsense"}
	want := []string{
		"GIT_CEILING_DIRECTORIES=/s", "GOCACHE=/u/b", "GOENV=off", "GOFLAGS=-buildvcs=false", "GOMODCACHE=/u/g/pkg/mod", "GOPATH=/u/g:/u/h",
		"GOPROXY=off", "GOTOOLCHAIN=local", "HOME=/s/home", "LANG=C", "ODD_RUN=run-1", "PATH=/bin", "TMPDIR=/s/temp",
	}
	got := Environment(user, nil, d, "run-1")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	cached := d
	cached.Cache = "/odd/c"
	own := []string{"GOCACHE=/odd/c/go-build", "npm_config_cache=/odd/c/npm", "PIP_CACHE_DIR=/odd/c/pip", "UV_CACHE_DIR=/odd/c/uv", "CARGO_HOME=/odd/c/cargo"}
	lacks := func(env []string) []string {
		return slices.DeleteFunc(slices.Clone(own), func(kv string) bool { return slices.Contains(env, kv) })
	}
	if env := Environment(user, nil, cached, "run-1"); len(lacks(env)) > 0 || len(Listed(user, nil)) > 0 {
		t.Errorf("the desk's caches: %q lacks %q", env, lacks(env))
	}
	if env := Environment(user, []string{"GOCACHE"}, cached, "run-1"); len(lacks(env)) != 1 || !slices.Contains(env, "GOCACHE=/u/b") || !slices.Equal(Listed(user, []string{"GOCACHE"}), []string{"/u/b"}) {
		t.Errorf("a listed cache: %q", env)
	}
	if env := Surroundings(user, []string{"GOCACHE"}, cached, session.Request{}); len(lacks(env)) != 1 || !slices.Contains(env, "GOCACHE=/u/b") ||
		!slices.Contains(env, "GOMODCACHE=/odd/c/go-mod") || !slices.Contains(env, "GOPROXY=file:///u/g/pkg/mod/cache/download|direct") {
		t.Errorf("an agent's: %q", env)
	}
	got = Environment(user, []string{"GOFLAGS", "HOME", "GIT_DIR", "TMPDIR", "ABSENT"}, d, "run-1")
	want[3] = "GOFLAGS=-race"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listed: %s", diff)
	}
	plain := strings.Join(Environment([]string{"HOME=/u"}, nil, d, "r"), " ")
	for _, part := range []string{"GOPATH=/u/go ", "GOMODCACHE=/u/go/pkg/mod "} {
		if !strings.Contains(plain, part) {
			t.Errorf("%s is not in %s", part, plain)
		}
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	telemetryOff(t, home)
	env := Environment(os.Environ(), nil, session.Desk{Tree: tree, Home: home, Temp: t.TempDir()}, "r")
	r := Run(t.Context(), Command{Argv: []string{"go", "env", "GOPROXY", "GOFLAGS"}, Tree: tree, Env: env})
	if string(r.Output) != "off\n-buildvcs=false\n" {
		t.Errorf("go sees %+v", r)
	}
}

// telemetryOff keeps go from leaving a process behind that writes below home
// while the test removes it. The places are those of os.UserConfigDir.
func telemetryOff(t *testing.T, home string) {
	t.Helper()
	for _, config := range []string{".config", "Library/Application Support"} {
		dir := filepath.Join(home, config, "go", "telemetry")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "mode"), []byte("off"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
