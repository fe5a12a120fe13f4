package anchor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if call := os.Getenv("ODD_TEST_ANCHOR"); call != "" {
		os.Exit(inChild(call))
	}
	os.Exit(m.Run())
}

// calls are the calls that write, by name.
func (s *site) call(verb, token string) Result {
	switch verb {
	case "identity":
		return s.desk().Identity(IdentityRequest{Role: "editor"})
	case "context":
		return s.desk().Context(token, []byte(bindEditor))
	case "miss":
		return s.desk().Context(token, []byte(badBind))
	case "proof":
		return s.desk().Proof(token, []byte(proofOf(first, second)))
	case "express":
		return s.desk().Express(token, []byte(okCommit))
	case "renew":
		return s.desk().Renew(token)
	case "release":
		_, err := s.desk().Release(token)
		var r Refusal
		errors.As(err, &r)
		return Result{Success: err == nil, Errors: r, NextStep: "-"}
	}
	panic("unreachable: " + verb)
}

// ready is the token of a session to which the call may be made.
func (s *site) ready(verb string) string {
	s.t.Helper()
	switch verb {
	case "context", "miss":
		return s.opened(IdentityRequest{})
	case "proof":
		return s.contexted(IdentityRequest{})
	case "express":
		return s.opened(IdentityRequest{Mode: Express})
	case "renew", "release":
		return s.bound(IdentityRequest{})
	}
	return ""
}

// rich lets express find enough.
func (s *site) rich() {
	c := s.con["editor"]
	c.MustNever = []Rule{{"never guess a number", 12}, {"never skip the tests", 13}}
	s.con["editor"], s.files[c.Path] = c, s.files["a.go"]
}

// inChild is the test binary as a process that makes one call and, before each
// system call that writes, says so and waits for a byte.
func inChild(call string) int {
	dir, rest, _ := strings.Cut(call, "\n")
	verb, token, _ := strings.Cut(rest, "\n")
	s := siteIn(nil, dir)
	s.rich()
	s.seed.Store(1 << 20)
	one := make([]byte, 1)
	s.step = func(what string) error {
		fmt.Println(what)
		_, err := os.Stdin.Read(one)
		return err
	}
	var limit uint64
	if _, err := fmt.Sscan(os.Getenv("ODD_TEST_FSIZE"), &limit); err == nil {
		s.step = func(string) error { return nil }
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println(err)
			return 2
		}
	}
	r := s.call(verb, token)
	fmt.Println("done", r.Success, codesOf(r.Errors))
	return 0
}

func child(dir, verb, token string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "ODD_TEST_ANCHOR="+dir+"\n"+verb+"\n"+token), env...)
	return cmd
}

// killAt starts a call in a process of its own and kills it before its k-th
// system call that writes, which it names; "" when the call was done before.
func killAt(t *testing.T, dir, verb, token string, k int) string {
	t.Helper()
	cmd := child(dir, verb, token)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		if strings.HasPrefix(lines.Text(), "done ") {
			return ""
		}
		if i == k {
			return lines.Text()
		}
		io.WriteString(in, "x")
	}
	t.Fatalf("%s ended without a word at step %d", verb, k)
	return ""
}

func TestSIGKILL(t *testing.T) { // S17
	t.Parallel()
	for _, verb := range []string{"identity", "context", "miss", "proof", "express", "renew", "release"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			for k := 0; ; k++ {
				s := newSite(t)
				s.rich()
				token := s.ready(verb)
				step := killAt(t, s.dir, verb, token, k)
				if s.survived(verb, token, fmt.Sprintf("killed before %d (%s)", k, step)); step == "" {
					if k < 5 {
						t.Errorf("only %d steps", k)
					}
					return
				}
			}
		})
	}
}

// survived looks at what a killed call left, and goes on from there.
func (s *site) survived(verb, token, when string) {
	s.t.Helper()
	s.whole(when)
	top, _ := os.ReadDir(s.path()) // there is none yet
	ignore, _ := os.ReadFile(s.path(".gitignore"))
	for _, name := range top {
		if !name.IsDir() && name.Name() != ".gitignore" && string(ignore) != "*\n" {
			s.t.Errorf("%s: git shows %s", when, name.Name())
		}
	}
	v := s.desk().HasValid(token, "")
	_, perr := os.Lstat(s.path(pending, token))
	_, aerr := os.Lstat(s.path(active, token))
	switch verb {
	case "identity":
		s.bound(IdentityRequest{})
		return
	case "context", "miss":
		if v.Valid || perr != nil || aerr == nil {
			s.t.Errorf("%s: valid %v, pending %v, active %v", when, v.Valid, perr, aerr)
		}
	case "proof", "express":
		if v.Valid != (aerr == nil) || (perr == nil) == (aerr == nil) {
			s.t.Errorf("%s: half: valid %v, pending %v, active %v", when, v.Valid, perr, aerr)
		}
	case "renew":
		if !v.Valid || v.Permit.Renewals > 1 {
			s.t.Errorf("%s: %+v", when, v)
		}
	case "release":
		if !v.Valid && codesOf(v.Errors) != string(TokenUnknown) {
			s.t.Errorf("%s: %+v", when, v)
		}
	}
	r := s.call(verb, token)
	if ok := r.Success || verb == "release" && codesOf(r.Errors) == string(TokenUnknown); ok == (verb == "miss") {
		s.t.Errorf("%s: it does not go on: %+v", when, r.Errors)
	}
	if verb == "release" {
		if _, err := os.Lstat(s.path(active, token)); err == nil {
			s.t.Errorf("%s: the directory stays", when)
		}
	}
	s.now = s.now.Add(1000 * 24 * time.Hour)
	if left := s.desk().removeExpired(); left != nil {
		s.t.Errorf("%s: sweep: %v", when, left)
	}
	for name := range s.all() {
		if strings.Contains(name, temporary) && strings.Count(name, "/") < 4 {
			s.t.Errorf("%s: %s stays", when, name)
		}
	}
}

// whole fails the test where a file that somebody reads is not.
func (s *site) whole(when string) {
	s.t.Helper()
	for name, what := range s.all() {
		_, text, _ := strings.Cut(what, " ")
		if base := filepath.Base(name); strings.HasSuffix(name, ".json") && !strings.HasPrefix(base, temporary) && !json.Valid([]byte(text)) {
			s.t.Errorf("%s: %s is half: %q", when, name, text)
		}
	}
}

// TestNoRoom has every system call that writes fail in turn, once or from then
// on.
func TestNoRoom(t *testing.T) { // S24
	t.Parallel()
	for _, fault := range []error{syscall.ENOSPC, syscall.EROFS} {
		for _, verb := range []string{"identity", "context", "miss", "proof", "express", "renew", "release"} {
			t.Run(fmt.Sprint(verb, " ", fault), func(t *testing.T) {
				t.Parallel()
				for k := 0; ; k++ {
					s := newSite(t)
					s.rich()
					token := s.ready(verb)
					n, hit := 0, ""
					s.step = func(what string) error {
						if n++; n == k+1 || hit != "" && fault == syscall.EROFS {
							hit = what
							return fault
						}
						return nil
					}
					r := s.call(verb, token)
					s.step = func(string) error { return nil }
					if hit == "" {
						if k < 5 {
							t.Errorf("only %d steps", k)
						}
						return
					}
					when := fmt.Sprintf("%s at %d (%s)", fault, k, hit)
					if got := codesOf(r.Errors); r.Success || got != string(Persist) && (verb != "release" || got != string(Unswept)) {
						t.Errorf("%s: success %v, %s", when, r.Success, got)
					}
					if verb == "proof" || verb == "express" {
						s.locked(token)
					}
					s.survived(verb, token, when)
				}
			})
		}
	}
}

// TestFullDisk is a disk that really takes no more bytes.
func TestFullDisk(t *testing.T) { // S24
	t.Parallel()
	for limit, want := range map[string]string{"0": string(Persist), "100": string(Persist), "1900": string(Persist), "100000": ""} {
		s := newSite(t)
		token := s.contexted(IdentityRequest{})
		before := s.read(pending, token, handshakeFile)
		out, err := child(s.dir, "proof", token, "ODD_TEST_FSIZE="+limit).Output()
		if want := fmt.Sprintf("done %v %s\n", want == "", want); err != nil || string(out) != want {
			t.Fatalf("%s bytes: %v %q, want %q", limit, err, out, want)
		}
		if want == "" {
			continue
		}
		s.whole(limit)
		s.locked(token)
		if limit == "0" && s.read(pending, token, handshakeFile) != before {
			t.Error("the handshake changed")
		}
		refusedAs(t, s.call("proof", token))
	}
}
