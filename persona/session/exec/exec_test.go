//go:build unix

package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/persona/session"
)

const finish = "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n"

// TestMain lets the test binary play the agent: "child NAME ARG…" runs one of
// the programs below instead of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		play(os.Args[2], os.Args[3:])
		return
	}
	os.Exit(m.Run())
}

func play(name string, args []string) {
	switch name {
	case "echo": // says its brief, as a term's body
		b, _ := io.ReadAll(os.Stdin)
		fmt.Printf("```atom\n---\ntype: term\nid: brief\n---\n\n%s\n```\n%s", b, finish)
		fmt.Fprintln(os.Stderr, "talk")
	case "say": // says its arguments, and exits with the first
		fmt.Print(strings.Join(args[1:], ""))
		if args[0] != "0" {
			os.Exit(3)
		}
	case "env":
		env := os.Environ()
		sort.Strings(env)
		wd, _ := os.Getwd()
		here, _ := os.ReadDir(".")
		fmt.Fprintf(os.Stderr, "%s\nwd=%s entries=%d\n", strings.Join(env, "\n"), wd, len(here))
		fmt.Print(finish)
	case "flood":
		for {
			os.Stdout.WriteString(strings.Repeat("x", 1<<16))
		}
	case "fail": // talks its arguments, and exits with a fault
		os.Stderr.WriteString(strings.Join(args, ""))
		os.Exit(2)
	case "mutter":
		os.Stderr.WriteString(strings.Repeat("m", maxTranscript+100))
		fmt.Print(finish)
	case "hang": // with a child of its own that holds the pipes; both pids go to the file args[0]
		c := exec.Command(os.Args[0], "child", "block")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if c.Start() == nil {
			os.WriteFile(args[0]+".part", fmt.Appendf(nil, "%d", c.Process.Pid), 0o600)
			os.Rename(args[0]+".part", args[0])
		}
		select {}
	case "leave": // ends well, and leaves a child that holds the pipes
		c := exec.Command(os.Args[0], "child", "block")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		_ = c.Start()
		fmt.Fprint(os.Stderr, c.Process.Pid)
		fmt.Print(finish)
	case "block":
		for {
			time.Sleep(time.Hour)
		}
	}
}

func child(args ...string) Substrate {
	return Substrate{Argv: append([]string{os.Args[0], "child"}, args...)}
}

func TestRun(t *testing.T) {
	t.Parallel()
	failed := "```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"failed\", \"failure\": \"no-access\"}\n```\n"
	tests := []struct {
		name            string
		s               Substrate
		outcome         session.Outcome
		failure, detail string
	}{
		{"declared", child("say", "0", finish), session.Completed, "", ""},
		{"fault but declared", child("say", "3", finish), session.Completed, "", "exit status 3"},
		{"declared failure", child("say", "0", failed), session.Failed, "no-access", ""},
		{"well but silent", child("say", "0", "hello"), session.Failed, session.Silent, ""},
		{"fault and silent", child("say", "3", "hello"), session.Failed, session.BadExit, "exit status 3"},
		{"malformed", child("say", "0", "```atom\n```\n"+finish), session.Failed, session.Malformed, "emission:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := session.Run(t.Context(), tt.s, session.Request{})
			if err != nil || e.Outcome != tt.outcome || e.Failure != tt.failure || !strings.Contains(e.Detail, tt.detail) {
				t.Errorf("got %s %q %q, %v; want %s %q %q", e.Outcome, e.Failure, e.Detail, err, tt.outcome, tt.failure, tt.detail)
			}
			if d := cmp.Diff(session.Usage{Turns: 1}, e.Usage); d != "" {
				t.Errorf("usage (-want +got):\n%s", d)
			}
		})
	}
}

// A failure tells the last line of the talk, and nothing that must not be told.
func TestAFailureTellsWhatWasSaid(t *testing.T) {
	t.Parallel()
	const plain = "exit status 2"
	for talk, want := range map[string]string{
		"":          "",
		" \n\t\r\n": "",
		"Traceback:\n  File 1\nKeyError: 'x'\n\n":                        "; stderr: KeyError: 'x'",
		"one\r\nno such model\r\n":                                       "; stderr: no such model",
		"half\rwhole \x1b[31mred\u202e\tend":                             "; stderr: half<U+000D>whole <U+001B>[31mred<U+202E><U+0009>end",
		"refused: ANTHROPIC_API_KEY=sk-ant-" + strings.Repeat("a1B2", 6): "; stderr: refused: ANTHROPIC_API_KEY=[redacted:anthropic-key]",
		"bad \xff byte":                "; stderr: bad \ufffd byte",
		strings.Repeat("é", 150):       "; stderr: " + strings.Repeat("é", 100),
		"x" + strings.Repeat("é", 150): "; stderr: x" + strings.Repeat("é", 99),
	} {
		e, err := session.Run(t.Context(), child("fail", talk), session.Request{})
		if err != nil || e.Failure != session.BadExit || e.Detail != plain+want || string(e.Transcript) != talk {
			t.Errorf("%q: got %q %q, %v; want %q", talk, e.Failure, e.Detail, err, plain+want)
		}
	}
}

func TestBriefInEmissionOut(t *testing.T) {
	t.Parallel()
	e, err := child("echo").Run(t.Context(), session.Request{Brief: []byte("the brief")})
	if err != nil || len(e.Atoms) != 1 {
		t.Fatalf("got %+v, %v", e, err)
	}
	if got := strings.TrimSpace(string(e.Atoms[0].Atom.Body())); got != "the brief" {
		t.Errorf("got body %q", got)
	}
	if string(e.Transcript) != "talk\n" {
		t.Errorf("got transcript %q", e.Transcript)
	}
}

func TestEnvironmentIsScrubbed(t *testing.T) {
	t.Parallel()
	s := child("env")
	s.Environ = []string{"PATH=/bin", "HOME=/home/ann", "SECRET=1", "GIT_DIR=/home/ann/repo/.git", "ALLOWED=yes", "LANG=C", "ODD_RUN=forged"}
	s.Env = []string{"ALLOWED", "HOME", "ODD_RUN", "GIT_DIR", "ABSENT"}
	e, err := s.Run(t.Context(), session.Request{Run: "run-1", Task: "t-1"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range strings.Split(strings.TrimSpace(string(e.Transcript)), "\n") {
		k, v, _ := strings.Cut(l, "=")
		switch k {
		case "HOME", "TMPDIR", "GIT_CEILING_DIRECTORIES":
			if _, err := os.Stat(v); v == "/home/ann" || !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s was %q and should be gone: %v", k, v, err)
			}
			v = "private"
		case "wd":
			_, v, _ = strings.Cut(v, " ")
		}
		names = append(names, k+"="+v)
	}
	want := []string{"ALLOWED=yes", "GIT_CEILING_DIRECTORIES=private", "HOME=private", "LANG=C", "ODD_RUN=run-1", "ODD_TASK=t-1", "PATH=/bin", "TMPDIR=private", "wd=entries=0"}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("environment (-want +got):\n%s", d)
	}
}

// A session's desk is where the program works, and is left for who made it.
func TestDesk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := session.Desk{Tree: filepath.Join(dir, "tree"), Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "temp")}
	for _, p := range []string{d.Tree, d.Home, d.Temp, filepath.Join(d.Tree, "sub")} {
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(context.Context) (session.Desk, error) { return d, nil }
	e, err := child("env").Run(t.Context(), session.Request{Desk: ask})
	want := fmt.Sprintf("GIT_CEILING_DIRECTORIES=%s\nHOME=%s\nODD_RUN=\nODD_TASK=\nTMPDIR=%s\nwd=%s entries=1\n", dir, d.Home, d.Temp, d.Tree)
	if err != nil || string(e.Transcript) != want {
		t.Errorf("got %v %s, want %s", err, e.Transcript, want)
	}
	if _, err := os.Stat(d.Tree); err != nil {
		t.Error(err)
	}
	no := func(context.Context) (session.Desk, error) { return d, errors.New("no room") }
	if _, err := child("env").Run(t.Context(), session.Request{Desk: no}); err == nil || err.Error() != "substrate exec: no room" {
		t.Errorf("got %v", err)
	}
}

func TestOutputTooLarge(t *testing.T) {
	t.Parallel()
	s := child("flood")
	s.MaxBytes = 1000
	e, err := session.Run(t.Context(), s, session.Request{})
	if err != nil || e.Failure != session.TooLarge || len(e.Raw) != 1000 {
		t.Errorf("got %q with %d bytes, %v; want %q with 1000", e.Failure, len(e.Raw), err, session.TooLarge)
	}
}

func TestTranscriptIsCut(t *testing.T) {
	t.Parallel()
	e, err := child("mutter").Run(t.Context(), session.Request{})
	if err != nil || e.Outcome != session.Completed || !strings.HasSuffix(string(e.Transcript), "[cut: 100 more bytes]\n") {
		t.Errorf("got %s, %v, %d bytes of transcript", e.Outcome, err, len(e.Transcript))
	}
}

func TestTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitFor(func() bool { _, err := os.Stat(file); return err == nil })
		cancel()
	}()
	e, err := session.Run(ctx, child("hang", file), session.Request{Timeout: time.Minute})
	if err != nil || e.Failure != session.Cancelled {
		t.Errorf("got %q, %v; want %q", e.Failure, err, session.Cancelled)
	}
	gone(t, read(t, file))
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	e, err := session.Run(t.Context(), child("block"), session.Request{Timeout: 50 * time.Millisecond})
	if err != nil || e.Failure != session.Timeout {
		t.Errorf("got %q, %v; want %q", e.Failure, err, session.Timeout)
	}
}

func TestLeftoversAreKilled(t *testing.T) {
	t.Parallel()
	e, err := session.Run(t.Context(), child("leave"), session.Request{Timeout: time.Minute})
	if err != nil || e.Outcome != session.Completed || e.Detail != "" {
		t.Errorf("got %s %q, %v", e.Outcome, e.Detail, err)
	}
	gone(t, string(e.Transcript))
}

func TestTurnRefusedStartsNothing(t *testing.T) {
	t.Parallel()
	s := Substrate{Argv: []string{"./nowhere"}}
	e, err := s.Run(t.Context(), session.Request{Turn: func(session.Usage) error { return errors.New("stop") }})
	if err != nil || e.Failure != session.TurnRefused {
		t.Errorf("got %q, %v; want %q", e.Failure, err, session.TurnRefused)
	}
}

func TestFreeRunsCostNothing(t *testing.T) {
	t.Parallel()
	s := child("say", "0", finish)
	s.Free = true
	if e, err := s.Run(t.Context(), session.Request{}); err != nil || !e.Usage.CostKnown || e.Usage.Cost != 0 {
		t.Errorf("got %+v, %v", e.Usage, err)
	}
	s.Argv[4] = "```json\n{\"schema\": \"odd.usage.1\", \"cost_micro_usd\": 5}\n```\n" + finish
	if e, err := s.Run(t.Context(), session.Request{}); err != nil || e.Usage.Cost != 5 {
		t.Errorf("got %+v, %v; a stated cost wins", e.Usage, err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, argv := range [][]string{nil, {"./nowhere"}, {"/nowhere/at/all"}, {"no-such-program-anywhere"}} {
		_, err := Substrate{Argv: argv, Dir: t.TempDir()}.Run(t.Context(), session.Request{})
		if err == nil || !strings.HasPrefix(err.Error(), "substrate exec: ") {
			t.Errorf("%q: got %v, want an error that names the substrate", argv, err)
		}
	}
}

func TestArgvIsTakenFromDir(t *testing.T) {
	t.Parallel()
	s := Substrate{Dir: "/repo", Argv: []string{"tools/run", "./a", "../b", "c/d", "/e", "--f=./g"}}
	want := []string{"/repo/tools/run", "/repo/a", "/b", "c/d", "/e", "--f=./g"}
	argv, scripts := s.absoluteArgv()
	if d := cmp.Diff(want, argv); d != "" {
		t.Errorf("argv (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"/repo/tools/run", "/repo/tools", "/repo/a", "/b"}, scripts); d != "" {
		t.Errorf("scripts (-want +got):\n%s", d)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// gone wants the process dead or about to be: a killed orphan is reaped by
// init, and until then it is a zombie that still has its number.
func gone(t *testing.T, pid string) {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil || n <= 1 {
		t.Fatalf("no pid in %q", pid)
	}
	if !waitFor(func() bool { return syscall.Kill(n, 0) != nil || zombie(n) }) {
		t.Errorf("process %d is alive", n)
		_ = syscall.Kill(n, syscall.SIGKILL)
	}
}

func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(b), ") Z ")
}

func waitFor(ok func() bool) bool {
	for range 1000 {
		if ok() {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}
