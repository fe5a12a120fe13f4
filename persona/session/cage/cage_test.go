package cage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/persona/session"
)

// TestMain lets the test binary be the keeper of what the tests start.
func TestMain(m *testing.M) {
	if code, ours := Main(os.Args); ours {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// held is a cage with a keeper.
func held() Cage {
	return Cage{Self: []string{"odd", Verb}, Limits: Limits{File: 1 << 30, Desk: 4 << 30, CPU: time.Hour, Files: 4096, Processes: 8192}}
}

// cages are every way to hold a program that this system has.
func cages() map[string]Cage {
	off := held()
	off.Enforce = Off
	return map[string]Cage{"held": held(), "off": off, "group": {}}
}

func desk(t *testing.T) session.Desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := session.Desk{Tree: filepath.Join(top, "tree"), Home: filepath.Join(top, "home"), Temp: filepath.Join(top, "temp")}
	for _, p := range []string{d.Tree, d.Home, d.Temp} {
		if err := os.Mkdir(p, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// sh is a program of one shell script at a desk.
func sh(d session.Desk, script string, args ...string) Program {
	return Program{Argv: append([]string{"sh", "-c", script, "sh"}, args...), Dir: d.Tree, Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.Home, "TMPDIR=" + d.Temp}, Desk: d}
}

func TestRunEnds(t *testing.T) {
	t.Parallel()
	for name, c := range cages() {
		d := desk(t)
		for script, want := range map[string]string{
			"exit 0": "", "exit 3": "exit status 3", "kill -9 $$": "signal: killed", "kill -TERM $$": "signal: terminated", "sleep 600 & exit 0": "",
		} {
			_, err := c.Run(t.Context(), sh(d, script))
			if got := said(err); got != want {
				t.Errorf("%s: %s: %s, want %q", name, script, got, want)
			}
		}
		for _, argv := range [][]string{nil, {"no-such-program"}, {"./none"}, {d.Tree}} {
			p := sh(d, "")
			p.Argv = argv
			var no *NotStarted
			if _, err := c.Run(t.Context(), p); !errors.As(err, &no) {
				t.Errorf("%s: %q: %v", name, argv, err)
			}
		}
		over, stop := context.WithCancel(t.Context())
		stop()
		if _, err := c.Run(over, sh(d, "exit 0")); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestStart talks with a program over its pipes.
func TestStart(t *testing.T) {
	t.Parallel()
	for name, c := range cages() {
		var talk bytes.Buffer
		p := sh(desk(t), "echo talk >&2; while read l; do echo got $l; done; echo end")
		p.Stderr = &talk
		q, err := c.Start(t.Context(), p)
		if err != nil {
			t.Fatal(name, err)
		}
		io.WriteString(q.Stdin, "one\ntwo\n")
		q.Stdin.Close()
		out, err := io.ReadAll(q.Stdout)
		if want := "got one\ngot two\nend\n"; err != nil || string(out) != want {
			t.Errorf("%s: %q, %v", name, out, err)
		}
		if err := errors.Join(q.Wait(), q.Wait()); err != nil || talk.String() != "talk\n" {
			t.Errorf("%s: %v, %q", name, err, talk.String())
		}
		// One that does not read its input does not hold whoever writes it.
		p = sh(desk(t), "exec <&-; echo closed; read x < fifo")
		if err := exec.Command("mkfifo", filepath.Join(p.Dir, "fifo")).Run(); err != nil {
			t.Fatal(err)
		}
		if q, err = c.Start(t.Context(), p); err != nil {
			t.Fatal(name, err)
		}
		line := make([]byte, 7)
		if _, err := io.ReadFull(q.Stdout, line); err != nil {
			t.Fatal(name, err)
		}
		if _, err := q.Stdin.Write(make([]byte, 1<<20)); err == nil {
			t.Errorf("%s: a megabyte went nowhere", name)
		}
		q.Kill()
		if err := q.Wait(); !errors.Is(err, errKilled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNothingIsLeft: a child that daemonises, by a new session and a double fork,
// ends with its program, and with its context.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a reaper")
	}
	const daemon = `mkfifo "$TMPDIR/up"
(setsid sh -c 'trap "" HUP TERM INT; echo $$ >"$TMPDIR/pid"; echo up >"$TMPDIR/up"; exec sleep 600' >/dev/null 2>&1 </dev/null &) &
read line <"$TMPDIR/up"
`
	for _, end := range []string{"exit 0", "echo up; read never"} {
		for _, name := range []string{"held", "off"} {
			d := desk(t)
			q, err := cages()[name].Start(t.Context(), sh(d, daemon+end))
			if err != nil {
				t.Fatal(err)
			}
			if end != "exit 0" {
				if _, err := io.ReadFull(q.Stdout, make([]byte, 3)); err != nil {
					t.Fatal(err)
				}
				q.Kill()
			}
			if err := q.Wait(); err != nil && !errors.Is(err, errKilled) {
				t.Fatal(name, err)
			}
			pid, err := os.ReadFile(filepath.Join(d.Temp, "pid"))
			if err != nil {
				t.Fatal(name, err)
			}
			if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
				t.Errorf("%s, %s: the daemon %s lives", name, end, pid)
			}
		}
	}
}
