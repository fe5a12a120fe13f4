package anchor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

const (
	bindEditor = "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  ARCHETYPES::[ATLAS,HERMES]\n  AUTHORITY::RESPONSIBLE[the docs]\n"
	badBind    = "BIND:\n  ROLE::auditor\n  COGNITION::LOGOS\n  AUTHORITY::RESPONSIBLE[the docs]\n"
	sessions   = ".hestai/sessions"
)

// site is a work tree with a state directory, and the world around it.
type site struct {
	t     testing.TB
	dir   string
	now   time.Time
	files fstest.MapFS
	facts Facts
	noGit error
	con   map[string]Constitution
	below bool // whether HEAD has the permit's commit behind it
	seed  *atomic.Uint64
	step  func(string) error
}

func newSite(t testing.TB) *site {
	t.Helper()
	return siteIn(t, t.TempDir())
}

func siteIn(t testing.TB, dir string) *site {
	head := strings.Repeat("a1", 20)
	return &site{
		t: t, dir: dir, now: time.Date(2027, 1, 15, 8, 0, 0, 0, time.UTC), files: tree(), seed: new(atomic.Uint64),
		facts: Facts{Head: head, Branch: "fix/issue-12", Files: []Change{{XY: " M", Path: "a.go"}}},
		con:   map[string]Constitution{"editor": withSum(editor())}, step: func(string) error { return nil },
	}
}

func withSum(c Constitution) Constitution {
	c.SHA256, c.Excerpt = hexSum([]byte(fmt.Sprint(c.Role, c.MustNever))), "read me"
	return c
}

func (s *site) store() *Store {
	st, err := Open(Place{Root: s.dir, Dir: sessions, Key: filepath.Join(s.dir, ".git", "odd", "anchor.key")})
	if err != nil {
		s.t.Fatal(err)
	}
	st.step = s.step
	return st
}

func (s *site) random(b []byte) error {
	for i := range b {
		b[i] = 0
	}
	binary.BigEndian.PutUint64(b, s.seed.Add(1))
	return nil
}

func (s *site) desk() Desk {
	return Desk{Store: s.store(), World: World{
		Now: s.now, Random: s.random, WorkTree: s.dir, Files: s.files,
		Facts:    func() (Facts, error) { return s.facts, s.noGit },
		Descends: func(string, string) (bool, error) { return s.below, nil },
		Constitution: func(role string) (Constitution, error) {
			if c, ok := s.con[role]; ok {
				return c, nil
			}
			return Constitution{}, Refusal{{Code: ConstMissing, At: "role", Text: "nothing speaks for it"}}
		},
		Protected: unprotected,
		Phase:     func() (string, string) { return "B1", "" },
	}}
}

// unprotected lets a session write every path.
func unprotected(string) (string, bool) { return "", false }

// opened is the token of a new session.
func (s *site) opened(q IdentityRequest) string {
	s.t.Helper()
	q.Role = cmp.Or(q.Role, "editor")
	r := s.desk().Identity(q)
	if !r.Success || r.Token == "" {
		s.t.Fatalf("identity: %+v", r)
	}
	return r.Token
}

// contexted is the token of a session whose BIND was accepted.
func (s *site) contexted(q IdentityRequest) string {
	s.t.Helper()
	token := s.opened(q)
	if r := s.desk().Context(token, []byte(bindEditor)); !r.Success {
		s.t.Fatalf("context: %+v", r)
	}
	return token
}

// bound is the token of a session that is bound.
func (s *site) bound(q IdentityRequest) string {
	s.t.Helper()
	token := s.contexted(q)
	if r := s.desk().Proof(token, []byte(proofOf(first, second))); !r.Success {
		s.t.Fatalf("proof: %+v", r)
	}
	return token
}

func (s *site) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir, ".hestai", "sessions"}, elem...)...)
}

func (s *site) read(elem ...string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(elem...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *site) put(text string, elem ...string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(elem...), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// swap replaces text in a file that has it.
func (s *site) swap(old, new string, elem ...string) {
	s.t.Helper()
	text := s.read(elem...)
	if !strings.Contains(text, old) {
		s.t.Fatalf("%s has no %q", elem, old)
	}
	s.put(strings.Replace(text, old, new, 1), elem...)
}

// all is every file and directory below the work tree with its mode and bytes.
func (s *site) all() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(s.dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == s.dir {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(s.dir, p)
		out[filepath.ToSlash(name)] = info.Mode().String()
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(p)
			out[filepath.ToSlash(name)] += " " + string(b)
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

// locked fails the test if the token has a permit.
func (s *site) locked(token string) {
	s.t.Helper()
	if v := s.desk().HasValid(token, ""); v.Valid {
		s.t.Errorf("%s has a permit", token)
	}
}

func refusedAs(t testing.TB, r Result, want ...Code) {
	t.Helper()
	var all []string
	for _, c := range want {
		all = append(all, string(c))
	}
	if d := gocmp.Diff(strings.Join(all, " "), codesOf(r.Errors)); d != "" || r.Success != (len(want) == 0) {
		t.Errorf("success %v, codes (-want +got):\n%s\n%v", r.Success, d, r.Errors)
	}
	if r.NextStep == "" {
		t.Error("no next step")
	}
}

// TestStory walks the three stages and looks at what lies on disk after each.
func TestStory(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.desk().Identity(IdentityRequest{Role: "EDITOR", Topic: "the handbook", HarnessSession: "h-1"})
	refusedAs(t, r)
	token := r.Token
	if r.Stage != "IDENTITY" || r.ConstitutionExcerpt != "read me" || r.ServerArm != nil || r.Anchor != "" || !strings.Contains(r.Template, "BIND:") || strings.Contains(r.Template, "TENSIONS") {
		t.Errorf("identity shows too much or too little: %+v", r)
	}
	s.locked(token)
	r = s.desk().Context(token, []byte(bindEditor))
	refusedAs(t, r)
	if r.Stage != "CONTEXT" || r.ServerArm == nil || r.ServerArm.Focus != "the handbook" || r.ServerArm.Phase != "B1" || r.Permit != nil || !strings.Contains(r.Template, "TENSIONS") {
		t.Errorf("context: %+v", r)
	}
	s.locked(token)
	r = s.desk().Proof(token, []byte(proofOf(first, second)))
	refusedAs(t, r)
	if r.Stage != "BOUND" || r.Permit == nil || r.Permit.Harness != "h-1" || !strings.Contains(r.Anchor, "NO_GUESSING") || r.Permit.ExpiresAt != s.now.Add(time.Hour) {
		t.Errorf("proof: %+v", r)
	}
	if v := s.desk().HasValid(token, "editor"); !v.Valid || len(v.Warnings) > 0 {
		t.Errorf("permit: %+v", v)
	}
	want := map[string]string{
		".hestai": "drwx------", ".hestai/sessions": "drwx------", ".hestai/sessions/.gitignore": "-rw------- *\n",
		".hestai/sessions/pending": "drwx------", ".hestai/sessions/active": "drwx------", ".hestai/sessions/active/" + token: "drwx------",
		".hestai/sessions/.lock": "-rw------- ",
	}
	got := s.all()
	for name, what := range got {
		switch base := filepath.Base(name); {
		case base == "handshake.json", base == "anchor.json", base == "anchor.key":
			if !strings.HasPrefix(what, "-rw------- ") {
				t.Errorf("%s: %.10s", name, what)
			}
			delete(got, name)
		case strings.HasPrefix(name, ".git"):
			delete(got, name)
		}
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Errorf("on disk (-want +got):\n%s", d)
	}
	if role, err := s.desk().Release(token); err != nil || role != "editor" {
		t.Errorf("release: %q %v", role, err)
	}
	if _, err := os.Lstat(s.path("active", token)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory stays", err)
	}
	if v := s.desk().HasValid(token, ""); codesOf(v.Errors) != string(TokenUnknown) {
		t.Errorf("after release: %+v", v)
	}
	refusedAs(t, s.desk().Proof(token, []byte(proofOf(first, second))), TokenUnknown)
}

func TestStageOrderRows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		run  func(s *site) Result
		want []Code
	}{
		{"S8 proof before context", func(s *site) Result {
			return s.desk().Proof(s.opened(IdentityRequest{}), []byte(proofOf(first, second)))
		}, []Code{StageOrder}},
		{"S9 context twice, the same", func(s *site) Result {
			return s.desk().Context(s.contexted(IdentityRequest{}), []byte(bindEditor))
		}, nil},
		{"S9 context twice, another", func(s *site) Result {
			return s.desk().Context(s.contexted(IdentityRequest{}), []byte(bindEditor+"\n"))
		}, []Code{StageOrder}},
		{"S9 context after BOUND", func(s *site) Result { return s.desk().Context(s.bound(IdentityRequest{}), []byte(bindEditor)) }, []Code{Taken}},
		{"S10 proof after BOUND, the same", func(s *site) Result {
			return s.desk().Proof(s.bound(IdentityRequest{}), []byte(proofOf(first, second)))
		}, nil},
		{"S10 proof after BOUND, another", func(s *site) Result {
			return s.desk().Proof(s.bound(IdentityRequest{}), []byte(proofOf(second, first)))
		}, []Code{Taken}},
		{"express after BOUND in full", func(s *site) Result {
			return s.desk().Express(s.bound(IdentityRequest{}), []byte(proofOf(first, second)))
		}, []Code{Taken}},
		{"renew before BOUND", func(s *site) Result { return s.desk().Renew(s.contexted(IdentityRequest{})) }, []Code{StageOrder}},
		{"M5 express in a full session", func(s *site) Result { return s.desk().Express(s.opened(IdentityRequest{}), []byte(okCommit)) }, []Code{ModeUnknown}},
		{"M5 context in an express session", func(s *site) Result {
			return s.desk().Context(s.opened(IdentityRequest{Mode: Express}), []byte(bindEditor))
		}, []Code{ModeUnknown}},
		{"M5 proof in an express session", func(s *site) Result {
			return s.desk().Proof(s.opened(IdentityRequest{Mode: Express}), []byte(proofOf(first, second)))
		}, []Code{ModeUnknown}},
		{"S20 expired pending", func(s *site) Result {
			token := s.contexted(IdentityRequest{})
			s.now = s.now.Add(24 * time.Hour)
			return s.desk().Proof(token, []byte(proofOf(first, second)))
		}, []Code{TokenExpired}},
		{"a session of nobody", func(s *site) Result { return s.desk().Context("oa-nobody", []byte(bindEditor)) }, []Code{TokenUnknown}},
		{"no repository", func(s *site) Result {
			token := s.opened(IdentityRequest{})
			s.noGit = errors.New("gone")
			return s.desk().Context(token, []byte(bindEditor))
		}, []Code{NoWorkTree}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			r := row.run(s)
			refusedAs(t, r, row.want...)
			if r.Terminal {
				t.Error("terminal")
			}
		})
	}
}

// TestReplayIsTheSame asks for the winner's answer again.
func TestReplayIsTheSame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.opened(IdentityRequest{})
	one := s.desk().Context(token, []byte(bindEditor))
	before := s.all()
	two := s.desk().Context(token, []byte(bindEditor))
	if d := gocmp.Diff(one, two); d != "" {
		t.Errorf("context (-first +again):\n%s", d)
	}
	if d := gocmp.Diff(before, s.all()); d != "" {
		t.Errorf("a replay wrote:\n%s", d)
	}
	one = s.desk().Proof(token, []byte(proofOf(first, second)))
	before = s.all()
	s.now = s.now.Add(10 * time.Minute)
	two = s.desk().Proof(token, []byte(proofOf(first, second)))
	if d := gocmp.Diff(one, two); d != "" {
		t.Errorf("proof (-first +again):\n%s", d)
	}
	if d := gocmp.Diff(before, s.all()); d != "" {
		t.Errorf("a replay wrote:\n%s", d)
	}
	s.now = s.now.Add(time.Hour)
	refusedAs(t, s.desk().Proof(token, []byte(proofOf(first, second))), PermitExpired)
}

func TestRetryRows(t *testing.T) {
	t.Parallel()
	t.Run("S25 third bad BIND", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.opened(IdentityRequest{})
		for n := 1; n <= 3; n++ {
			r := s.desk().Context(token, []byte(badBind))
			refusedAs(t, r, BindMismatch)
			if r.Terminal != (n == 3) || !strings.Contains(r.Guidance, fmt.Sprintf("attempt %d of 3", n)) || (r.Template == "") != (n == 3) {
				t.Errorf("try %d: %+v", n, r)
			}
		}
		r := s.desk().Context(token, []byte(bindEditor))
		refusedAs(t, r, Exhausted)
		if !r.Terminal {
			t.Error("not terminal")
		}
	})
	t.Run("S25 third bad proof", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.contexted(IdentityRequest{})
		for n := 1; n <= 3; n++ {
			r := s.desk().Proof(token, []byte(proofOf(first)))
			refusedAs(t, r, TenCount)
			if r.Terminal != (n == 3) {
				t.Errorf("try %d: %+v", n, r)
			}
		}
		s.locked(token)
	})
	t.Run("S26 good proof on the last try", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.opened(IdentityRequest{})
		for range 2 {
			refusedAs(t, s.desk().Context(token, []byte(badBind)), BindMismatch)
		}
		refusedAs(t, s.desk().Context(token, []byte(bindEditor))) // each stage has its own tries
		for range 2 {
			refusedAs(t, s.desk().Proof(token, []byte(proofOf(first))), TenCount)
		}
		refusedAs(t, s.desk().Proof(token, []byte(proofOf(first, second))))
	})
	t.Run("S27 counted on disk before the answer", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.opened(IdentityRequest{})
		s.desk().Context(token, []byte(badBind))
		if h := s.read("pending", token, handshakeFile); !strings.Contains(h, `"context": 1`) {
			t.Error(h)
		}
		s.step = func(string) error { return errors.New("no room") }
		r := s.desk().Context(token, []byte(badBind))
		refusedAs(t, r, Persist) // uncounted, so untold
		s.step = func(string) error { return nil }
		other := siteIn(t, s.dir) // another process
		other.desk().Context(token, []byte(badBind))
		if r := other.desk().Context(token, []byte(badBind)); !r.Terminal {
			t.Errorf("%+v", r)
		}
	})
}

func TestDamagedHandshakeRows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		damage func(s *site, token string)
	}{
		{"S11 truncated", func(s *site, token string) {
			text := s.read("pending", token, handshakeFile)
			s.put(text[:len(text)/2], "pending", token, handshakeFile)
		}},
		{"S11 empty", func(s *site, token string) { s.put("", "pending", token, handshakeFile) }},
		{"S11 two values", func(s *site, token string) {
			s.put(s.read("pending", token, handshakeFile)+"{}", "pending", token, handshakeFile)
		}},
		{"S12 array", func(s *site, token string) { s.put("[]", "pending", token, handshakeFile) }},
		{"S12 null", func(s *site, token string) { s.put("null", "pending", token, handshakeFile) }},
		{"S13 missing key", func(s *site, token string) { s.swap(`"retries"`, `"retires"`, "pending", token, handshakeFile) }},
		{"S13 key in capitals", func(s *site, token string) { s.swap(`"mode"`, `"MODE"`, "pending", token, handshakeFile) }},
		{"a foreign version", func(s *site, token string) { s.swap("\n  \"v\": 1", "\n  \"v\": 2", "pending", token, handshakeFile) }},
		{"another token", func(s *site, token string) {
			s.swap(`"token": "`+token, `"token": "oa-other`, "pending", token, handshakeFile)
		}},
		{"no such stage", func(s *site, token string) { s.swap(`"CONTEXT"`, `"LATER"`, "pending", token, handshakeFile) }},
		{"a mode without sessions", func(s *site, token string) { s.swap(`"full"`, `"untracked"`, "pending", token, handshakeFile) }},
		{"context without an ARM", func(s *site, token string) {
			s.swap(`"server_arm": {`, `"server_arm": null, "arm": {`, "pending", token, handshakeFile)
		}},
		{"retries below none", func(s *site, token string) { s.swap(`"proof": 0`, `"proof": -9`, "pending", token, handshakeFile) }},
		{"no file", func(s *site, token string) { os.Remove(s.path("pending", token, handshakeFile)) }},
		{"a link for the file", func(s *site, token string) {
			os.Rename(s.path("pending", token, handshakeFile), s.path("h.json"))
			os.Symlink("../../h.json", s.path("pending", token, handshakeFile))
		}},
		{"a link for the directory", func(s *site, token string) {
			os.Rename(s.path("pending", token), s.path("elsewhere"))
			os.Symlink("../elsewhere", s.path("pending", token))
		}},
		{"a link for pending", func(s *site, token string) {
			os.Rename(s.path("pending"), s.path("elsewhere"))
			os.Symlink("elsewhere", s.path("pending"))
		}},
		{"a link for the state directory", func(s *site, token string) {
			os.Rename(s.path(), filepath.Join(s.dir, "elsewhere"))
			os.Symlink("../elsewhere", s.path())
		}},
		{"a file for the directory", func(s *site, token string) {
			os.RemoveAll(s.path("pending", token))
			s.put("{}", "pending", token)
		}},
		{"a file too long", func(s *site, token string) {
			s.put(strings.Repeat(" ", maxRecord)+s.read("pending", token, handshakeFile), "pending", token, handshakeFile)
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			token := s.contexted(IdentityRequest{})
			row.damage(s, token)
			before := s.all()
			r := s.desk().Proof(token, []byte(proofOf(first, second)))
			refusedAs(t, r, Damaged)
			if len(r.Errors) == 1 && (!strings.Contains(r.Errors[0].At, sessions) || !strings.Contains(r.Errors[0].Text, "odd anchor identity")) {
				t.Errorf("no path or no way out: %v", r.Errors[0])
			}
			if v := s.desk().HasValid(token, ""); codesOf(v.Errors) != string(Damaged) {
				t.Errorf("permit: %v", v.Errors)
			}
			for name, what := range s.all() {
				if before[name] != what && !strings.HasSuffix(name, lockFile) {
					t.Errorf("%s changed", name)
				}
			}
		})
	}
}

func TestUnknownKeysStay(t *testing.T) { // S14
	t.Parallel()
	s := newSite(t)
	token := s.opened(IdentityRequest{})
	s.swap(`"v": 1`, `"v": 1, "later": {"b": 1.50, "a": "<x>"}, "V": 7`, "pending", token, handshakeFile)
	refusedAs(t, s.desk().Context(token, []byte(bindEditor)))
	text := s.read("pending", token, handshakeFile)
	for _, want := range []string{`"V": 7`, `"b": 1.50`, `"a": "<x>"`, `"CONTEXT"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is gone:\n%s", want, text)
		}
	}
	refusedAs(t, s.desk().Proof(token, []byte(proofOf(first, second))))
	if text := s.read("active", token, handshakeFile); !strings.Contains(text, `"later"`) {
		t.Error(text)
	}
}

func TestSixteenProofs(t *testing.T) { // S18
	t.Parallel()
	s := newSite(t)
	token := s.contexted(IdentityRequest{})
	results := make([]Result, 16)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			lines := []string{first, strings.Replace(second, "write one", fmt.Sprint("write number ", i), 1)}
			results[i] = s.desk().Proof(token, []byte(proofOf(lines...)))
		})
	}
	wg.Wait()
	won := 0
	for _, r := range results {
		if r.Success {
			won++
			continue
		}
		refusedAs(t, r, Taken)
		if r.Stage != "BOUND" || !strings.Contains(r.Errors[0].Text, "since 2027-01-15T08:00:00Z") {
			t.Errorf("does not name the winner's state: %+v", r.Errors)
		}
	}
	if won != 1 {
		t.Errorf("%d winners", won)
	}
	if v := s.desk().HasValid(token, "editor"); !v.Valid {
		t.Errorf("%+v", v)
	}
}

func TestSixteenRetries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.opened(IdentityRequest{})
	var counted, over atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			switch r := s.desk().Context(token, []byte(badBind)); codesOf(r.Errors) {
			case string(BindMismatch):
				counted.Add(1)
			case string(Exhausted):
				over.Add(1)
			}
		})
	}
	wg.Wait()
	if counted.Load() != 3 || over.Load() != 13 {
		t.Errorf("%d counted, %d told that it is over", counted.Load(), over.Load())
	}
}

func TestSameFocus(t *testing.T) { // S19
	t.Parallel()
	s := newSite(t)
	one := s.bound(IdentityRequest{})
	two := s.contexted(IdentityRequest{})
	r := s.desk().Proof(two, []byte(proofOf(first, second)))
	refusedAs(t, r)
	if codesOf(r.Warnings) != string(FocusTaken) || !strings.Contains(r.Warnings[0].Text, one) {
		t.Errorf("%v", r.Warnings)
	}
	for _, token := range []string{one, two} {
		if v := s.desk().HasValid(token, ""); !v.Valid {
			t.Errorf("%+v", v)
		}
	}
}

func TestDriftHasAWayOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.contexted(IdentityRequest{})
	s.facts.Branch = "main"
	s.facts.Files = append(s.facts.Files, Change{XY: "??", Path: "new.go"})
	for range 5 { // costs no try
		r := s.desk().Proof(token, []byte(proofOf(first, second)))
		if refusedAs(t, r, ArmDrift, ArmDrift, ArmDrift, ArmDrift); r.Terminal || !strings.Contains(r.NextStep, "odd anchor context") {
			t.Errorf("%+v", r)
		}
		if got := fmt.Sprint(r.Errors); !strings.Contains(got, "ARM.branch") || !strings.Contains(got, "?? new.go") {
			t.Errorf("members: %s", got)
		}
	}
	r := s.desk().Context(token, []byte(bindEditor))
	refusedAs(t, r)
	if r.ServerArm.Branch != "main" || !strings.Contains(codesOf(r.Warnings), string(ArmDrift)) {
		t.Errorf("%+v", r)
	}
	refusedAs(t, s.desk().Proof(token, []byte(proofOf(first, second))))
}

func TestConstitutionChangesMidway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.opened(IdentityRequest{}), s.contexted(IdentityRequest{})
	c := s.con["editor"]
	c.SHA256 = hexSum([]byte("edited"))
	s.con["editor"] = c
	refusedAs(t, s.desk().Context(one, []byte(bindEditor)), ConstChanged)
	refusedAs(t, s.desk().Proof(two, []byte(proofOf(first, second))), ConstChanged)
	delete(s.con, "editor")
	refusedAs(t, s.desk().Proof(two, []byte(proofOf(first, second))), ConstChanged, ConstMissing)
	s.locked(two)
}

func TestModeRows(t *testing.T) {
	t.Parallel()
	t.Run("M1 untracked writes nothing", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		r := s.desk().Identity(IdentityRequest{Role: "editor", Mode: Untracked})
		refusedAs(t, r)
		if r.Token != "" || r.Stage != "LOBBY" || r.ConstitutionExcerpt == "" || r.Template != "" || len(s.all()) != 0 {
			t.Errorf("%+v\n%v", r, s.all())
		}
	})
	t.Run("M2 lite is quick", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.contexted(IdentityRequest{Mode: Lite})
		r := s.desk().Proof(token, []byte(proofOf(first)))
		refusedAs(t, r)
		if r.Permit.Tier != Quick || r.Permit.Mode != Lite {
			t.Errorf("%+v", r.Permit)
		}
	})
	t.Run("M2 lite with more asked for", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.contexted(IdentityRequest{Mode: Lite, Strictness: Deep})
		refusedAs(t, s.desk().Proof(token, []byte(proofOf(deep1, deep2))), TenCount)
		refusedAs(t, s.desk().Proof(token, []byte(proofOf(deep1, deep2, deep3))))
	})
	t.Run("M3 express takes a commit only", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		c := s.con["editor"]
		c.MustNever = []Rule{{"never guess a number", 12}, {"never skip the tests", 13}}
		s.con["editor"], s.files[c.Path] = c, s.files["a.go"]
		r := s.desk().Identity(IdentityRequest{Role: "editor", Mode: Express})
		if !strings.Contains(r.Template, "COMMIT:") || strings.Contains(r.Template, "BIND") || strings.Contains(r.Template, "TENSIONS") {
			t.Errorf("template: %s", r.Template)
		}
		refusedAs(t, s.desk().Express(r.Token, []byte("COMMIT:\n  ARTIFACT::response\n  GATE::\"go test\"\n")), CommitArtifact)
		one := s.desk().Express(r.Token, []byte(okCommit))
		refusedAs(t, one)
		v := s.desk().HasValid(r.Token, "editor")
		if !v.Valid || v.Anchor.GeneratedBy != "server" || len(v.Anchor.Tensions) != 2 || v.Anchor.Tensions[0].GeneratedBy != "server" || v.Anchor.Tensions[0].RangeSHA256 == "" {
			t.Errorf("%+v", v)
		}
		if d := gocmp.Diff(one, s.desk().Express(r.Token, []byte(okCommit))); d != "" {
			t.Errorf("replay:\n%s", d)
		}
		if v := s.desk().Verify(r.Token); !v.Valid || len(v.Warnings) > 0 {
			t.Errorf("verify: %+v", v)
		}
	})
	t.Run("M4 express with a poor constitution", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		token := s.opened(IdentityRequest{Mode: Express})
		for range 4 { // costs no try
			r := s.desk().Express(token, []byte(okCommit))
			refusedAs(t, r, ConstPoor)
			if r.Terminal {
				t.Error("terminal")
			}
		}
		s.locked(token)
	})
	t.Run("no such mode, strictness, role", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		r := s.desk().Identity(IdentityRequest{Role: "../editor", Mode: "turbo", Strictness: "harsh", Topic: "a\nb"})
		refusedAs(t, r, RoleName, ModeUnknown, StrictnessUnknown, Hidden)
		refusedAs(t, s.desk().Identity(IdentityRequest{Role: "writer"}), ConstMissing)
		if len(s.all()) != 0 {
			t.Errorf("%v", s.all())
		}
	})
}

func TestDelegated(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	parent := s.bound(IdentityRequest{})
	child := s.opened(IdentityRequest{})
	delegated := func(to string) []byte {
		return []byte(strings.Replace(bindEditor, "RESPONSIBLE[the docs]", `"DELEGATED[`+to+`::write tests]"`, 1))
	}
	refusedAs(t, s.desk().Context(child, delegated("oa-gone")), BindParent)
	refusedAs(t, s.desk().Context(child, delegated(parent)))
	other := s.contexted(IdentityRequest{})
	if _, err := s.desk().Release(parent); err != nil {
		t.Fatal(err)
	}
	refusedAs(t, s.desk().Proof(child, []byte(proofOf(first, second))), BindParent)
	s.locked(child)
	refusedAs(t, s.desk().Proof(other, []byte(proofOf(first, second))))
}

func TestEveryTokenIsItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			r := s.desk().Identity(IdentityRequest{Role: "editor"})
			mu.Lock()
			defer mu.Unlock()
			seen[r.Token] = true
			if !r.Success || len(r.Warnings) > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	wg.Wait()
	if len(seen) != 16 || seen[""] {
		t.Errorf("%v", slices.Sorted(maps.Keys(seen)))
	}
	if b, err := os.ReadFile(s.path(".gitignore")); !bytes.Equal(b, []byte("*\n")) {
		t.Errorf("%q %v", b, err)
	}
}
