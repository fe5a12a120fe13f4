package anchor

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTokenRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.opened(IdentityRequest{})
	for _, row := range []struct{ name, token string }{
		{"S1 empty", ""},
		{"S2 absolute", "/x"},
		{"S3 parent", ".."},
		{"S3 two dots inside", "a..b"},
		{"S4 slash", "a/b"},
		{"S4 up and down", "../pending/" + token},
		{"S5 backslash", `a\b`},
		{"S6 129 letters", strings.Repeat("a", 129)},
		{"S7 unicode", "oa-é"},
		{"S7 a look-alike", "оa-1"},
		{"dot first", ".lock"},
		{"hyphen first", "-rf"},
		{"a space", "oa 1"},
		{"NUL", "oa\x00"},
		{"line end", token + "\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := s.desk()
			refusedAs(t, d.Context(row.token, []byte(bindEditor)), TokenFormat)
			refusedAs(t, d.Proof(row.token, nil), TokenFormat)
			refusedAs(t, d.Express(row.token, nil), TokenFormat)
			refusedAs(t, d.Renew(row.token), TokenFormat)
			if v := d.Verify(row.token); codesOf(v.Errors) != string(TokenFormat) {
				t.Errorf("%+v", v)
			}
			if _, err := d.Release(row.token); err == nil || !strings.Contains(err.Error(), string(TokenFormat)) {
				t.Error(err)
			}
		})
	}
	for _, good := range []string{"a", "oa-0123456789abcdefghjkmnpqrs", "A.b_c-9", strings.Repeat("a", 128)} {
		if !IsToken(good) {
			t.Error(good)
		}
	}
}

func TestNewToken(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "random")
		token, err := newToken(func(to []byte) error { copy(to, b); return nil })
		if err != nil || !IsToken(token) || len(token) != 29 || !strings.HasPrefix(token, "oa-") || strings.ContainsAny(token[3:], "iloABCu") {
			t.Fatalf("%q %v", token, err)
		}
	})
	if _, err := newToken(func([]byte) error { return os.ErrClosed }); err == nil {
		t.Error("a token without chance")
	}
}

func FuzzTokenProblem(f *testing.F) {
	f.Add("oa-1")
	f.Add("../x")
	f.Fuzz(func(t *testing.T, s string) {
		if IsToken(s) && (filepath.Base(s) != s || !filepath.IsLocal(s) || s == ".") {
			t.Errorf("%q is no plain name", s)
		}
	})
}

func FuzzHandshake(f *testing.F) {
	s := newSite(f)
	token := s.contexted(IdentityRequest{})
	f.Add([]byte(s.read(pending, token, handshakeFile)))
	f.Add([]byte(`{"v":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := readHandshake(b, token)
		if err != nil {
			return
		}
		once, err := formatIndented(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readHandshake(once, token)
		if err != nil {
			t.Fatalf("%v\n%s", err, once)
		}
		if twice, err := formatIndented(again); err != nil || string(twice) != string(once) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
		var was, is map[string]any
		if json.Unmarshal(b, &was) != nil || json.Unmarshal(once, &is) != nil {
			t.Fatal("no object")
		}
		optional := []string{"topic", "terminal", "payload_sha256", "harness_session_id"}
		for k := range was {
			if is[k] == nil && was[k] != nil && !slices.Contains(optional, k) {
				t.Errorf("key %q is lost", k)
			}
		}
	})
}

func FuzzAnchor(f *testing.F) {
	s := newSite(f)
	token := s.bound(IdentityRequest{})
	whole := s.read(active, token, anchorFile)
	f.Add([]byte(whole))
	f.Add([]byte(`{"validated":true}`))
	key, err := s.store().readKey(nil, "")
	if err != nil {
		f.Fatal(err)
	}
	want, _, p := readAnchor([]byte(whole))
	if p != nil {
		f.Fatal(p)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _, p := readAnchor(b)
		if p != nil || got.checkSignature(token, key) != nil {
			return
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("another anchor passes (-want +got):\n%s", d)
		}
	})
}

// TestRecover says for every tree what it means.
func TestRecover(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	opened, contexted, bound := s.opened(IdentityRequest{}), s.contexted(IdentityRequest{}), s.bound(IdentityRequest{})
	for _, row := range []struct {
		name   string
		token  string
		before func(token string)
		place  string
		stage  Stage
		broken bool
	}{
		{"nothing", "oa-nobody", nil, "", "", true},
		{"identity", opened, nil, pending, AtIdentity, false},
		{"context", contexted, nil, pending, AtContext, false},
		{"killed before the promotion", contexted, func(token string) {
			s.swap(`"stage": "CONTEXT"`, `"stage": "BOUND"`, pending, token, handshakeFile)
		}, pending, AtContext, false},
		{"a handshake that does not read", contexted, func(token string) { s.put("{", pending, token, handshakeFile) }, pending, "", true},
		{"bound", bound, nil, active, AtBound, false},
		{"copied back", bound, func(token string) { s.copy(active, pending, token) }, active, AtBound, false},
		{"an anchor that does not read does not send back", bound, func(token string) { s.put("{", active, token, anchorFile) }, active, "", true},
	} {
		if row.before != nil {
			row.before(row.token)
		}
		state, err := s.store().open(false)
		if err != nil {
			t.Fatal(err)
		}
		f := state.readSession(row.token)
		state.close()
		if f.place != row.place || f.stage != row.stage || (f.err != nil) != row.broken {
			t.Errorf("%s: %s at %q, %v", row.name, f.place, f.stage, f.err)
		}
	}
}

// copy copies a session's directory from one place to another.
func (s *site) copy(from, to, token string) {
	s.t.Helper()
	if err := os.CopyFS(s.path(to, token), os.DirFS(s.path(from, token))); err != nil {
		s.t.Fatal(err)
	}
}

func TestPromoteRows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(s *site, token string)
		want   []Code // of a proof that comes later
	}{
		{"S15 a directory is there", func(s *site, token string) { os.MkdirAll(s.path(active, token), 0o700) }, []Code{AnchorMissing}},
		{"S15 a full directory is there", func(s *site, token string) {
			os.MkdirAll(s.path(active, token), 0o700)
			s.put("{}", active, token, anchorFile)
		}, []Code{NotValidated}},
		{"S15 a file is there", func(s *site, token string) {
			os.MkdirAll(s.path(active), 0o700)
			s.put("{}", active, token)
		}, []Code{Damaged}},
		{"S16 no anchor.json", func(s *site, token string) {}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			token := s.contexted(IdentityRequest{})
			if !strings.HasPrefix(row.name, "S16") {
				s.put("{}", pending, token, anchorFile)
			}
			row.before(s, token)
			state, err := s.store().open(false)
			if err != nil {
				t.Fatal(err)
			}
			defer state.close()
			before := s.all()
			if err := state.moveToActive(token); err == nil {
				t.Error("promoted")
			}
			delete(before, ".hestai/sessions/active")
			after := s.all()
			delete(after, ".hestai/sessions/active")
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("changed:\n%s", d)
			}
			refusedAs(t, s.call("proof", token), row.want...)
		})
	}
}

func TestSweepRows(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, row := range []struct {
		name   string
		before func(s *site) string // the entry's name
		later  time.Duration
		gone   bool
		told   Code
	}{
		{"S20 expired pending", func(s *site) string { return s.contexted(IdentityRequest{}) }, day, true, ""},
		{"S20 not expired", func(s *site) string { return s.contexted(IdentityRequest{}) }, day - time.Second, false, ""},
		{"S21 created 48 hours ago", func(s *site) string {
			token := s.opened(IdentityRequest{})
			s.swap(`"expires_at": "2027-01-16`, `"expires_at": "2029-01-16`, pending, token, handshakeFile)
			return token
		}, 2 * day, true, ""},
		{"S22 no created_at, an old directory", func(s *site) string {
			token := s.opened(IdentityRequest{})
			s.swap(`"created_at"`, `"made_at"`, pending, token, handshakeFile)
			s.age(pending, token)
			return token
		}, 2 * day, true, ""},
		{"S22 no created_at, a new directory", func(s *site) string {
			token := s.opened(IdentityRequest{})
			s.swap(`"created_at"`, `"made_at"`, pending, token, handshakeFile)
			s.age(pending, token)
			return token
		}, time.Hour, false, ""},
		{"S23 a file", func(s *site) string {
			s.opened(IdentityRequest{})
			s.put("x", pending, "oa-file")
			return "oa-file"
		}, 2 * day, false, Unswept},
		{"S23 a link", func(s *site) string {
			s.opened(IdentityRequest{})
			os.MkdirAll(filepath.Join(s.dir, "precious"), 0o700)
			os.Symlink("../../../precious", s.path(pending, "oa-link"))
			return "oa-link"
		}, 2 * day, false, Unswept},
		{"S23 no name of a session", func(s *site) string {
			s.opened(IdentityRequest{})
			os.Mkdir(s.path(pending, "my notes"), 0o700)
			return "my notes"
		}, 2 * day, false, Unswept},
		{"an empty directory", func(s *site) string {
			s.opened(IdentityRequest{})
			os.Mkdir(s.path(pending, "oa-empty"), 0o700)
			s.age(pending, "oa-empty")
			return "oa-empty"
		}, 2 * day, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			name := row.before(s)
			s.now = s.now.Add(row.later)
			warned := s.desk().removeExpired()
			_, there := os.Lstat(s.path(pending, name))
			if (there != nil) != row.gone {
				t.Errorf("gone is %v, %+v", there, warned)
			}
			if i := slices.IndexFunc(warned, func(p Problem) bool { return strings.HasSuffix(p.At, "/"+name) }); (i >= 0) != (row.told != "") || i >= 0 && warned[i].Code != row.told {
				t.Errorf("told %+v", warned)
			}
		})
	}
	s := newSite(t)
	if warned := s.desk().removeExpired(); warned != nil || len(s.all()) != 0 {
		t.Errorf("a sweep of nothing: %v", warned)
	}
}

// age gives a directory the site's time.
func (s *site) age(elem ...string) {
	s.t.Helper()
	if err := os.Chtimes(s.path(elem...), s.now, s.now); err != nil {
		s.t.Fatal(err)
	}
}

func TestSweepOfWhatLapsed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	lapsed, broken := s.bound(IdentityRequest{}), s.bound(IdentityRequest{})
	s.put("{", active, broken, anchorFile)
	s.age(active, broken)
	s.now = s.now.Add(25 * time.Hour)
	held, fresh := s.bound(IdentityRequest{}), s.bound(IdentityRequest{})
	s.put("{", active, fresh, anchorFile)
	s.age(active, fresh)
	s.copy(active, pending, held)
	s.now = s.now.Add(time.Minute)
	if warned := s.desk().removeExpired(); warned != nil {
		t.Error(warned)
	}
	for place, tokens := range map[string][]string{active: {fresh, held}, pending: nil} {
		var left []string
		entries, _ := os.ReadDir(s.path(place))
		for _, e := range entries {
			left = append(left, e.Name())
		}
		slices.Sort(tokens)
		if d := cmp.Diff(tokens, left); d != "" {
			t.Errorf("%s, of %s and %s:\n%s", place, lapsed, broken, d)
		}
	}
	if v := s.desk().HasValid(held, ""); !v.Valid {
		t.Errorf("%+v", v)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for _, at := range []Place{{}, {Root: "/x", Dir: ".", Key: "/k"}, {Root: "/x", Dir: "../y", Key: "/k"}, {Root: "/x", Dir: "/y", Key: "/k"}, {Root: "/x", Dir: "y"}, {Dir: "y", Key: "/k"}} {
		if _, err := Open(at); err == nil {
			t.Errorf("%+v opens", at)
		}
	}
}

func TestIdentitySweeps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	old := s.opened(IdentityRequest{})
	s.put("x", pending, "oa-file")
	s.now = s.now.Add(25 * time.Hour)
	r := s.desk().Identity(IdentityRequest{Role: "editor"})
	refusedAs(t, r)
	if codesOf(r.Warnings) != string(Unswept) {
		t.Errorf("%v", r.Warnings)
	}
	if _, err := os.Lstat(s.path(pending, old)); err == nil {
		t.Error("the old one stays")
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if l, err := s.desk().List(); err != nil || l != nil || len(s.all()) != 0 {
		t.Errorf("list of nothing: %v %v", l, err)
	}
	bound, broken := s.bound(IdentityRequest{}), s.bound(IdentityRequest{})
	s.put("[]", active, broken, anchorFile)
	s.age(active, broken)
	opened, old := s.opened(IdentityRequest{}), s.contexted(IdentityRequest{})
	s.swap(`"expires_at": "2027-01-16`, `"expires_at": "2027-01-14`, pending, old, handshakeFile)
	s.put("x", pending, "a file")
	got, err := s.desk().List()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range got {
		code := Code("")
		if l.Problem != nil {
			code = l.Problem.Code
		}
		lines = append(lines, strings.TrimSpace(fmt.Sprint(l.State, " ", l.Token, " ", l.Role, " ", l.Stage, " ", l.Branch, " ", l.By, " ", code)))
	}
	want := []string{
		"pending a file     A_RECORD_DAMAGED",
		"pending " + opened + " editor IDENTITY",
		"pending " + old + " editor CONTEXT fix/issue-12  A_TOKEN_EXPIRED",
		"active " + bound + " editor BOUND fix/issue-12",
		"active " + broken + "     A_RECORD_DAMAGED",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestReleaseRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.desk().Release("oa-nobody"); err == nil || !strings.Contains(err.Error(), string(TokenUnknown)) {
		t.Errorf("unknown: %v", err)
	}
	expired, forged, broken, unbound := s.bound(IdentityRequest{}), s.bound(IdentityRequest{}), s.bound(IdentityRequest{}), s.contexted(IdentityRequest{})
	s.now = s.now.Add(48 * time.Hour)
	s.swap(`"tier": "default"`, `"tier": "deep"`, active, forged, anchorFile)
	s.put("{", active, broken, anchorFile)
	for token, role := range map[string]string{unbound: "editor", broken: "editor", forged: "editor", expired: "editor"} {
		if got, err := s.desk().Release(token); err != nil || got != role {
			t.Errorf("%s: %q %v", token, got, err)
		}
		refusedAs(t, s.desk().Proof(token, nil), TokenUnknown)
	}
}

// A .gitignore that was killed before its bytes is put right by the next session.
func TestLeftoversOfAnIdentity(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.opened(IdentityRequest{})
	if err := os.WriteFile(s.path(".gitignore"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.desk().Identity(IdentityRequest{Role: "editor"}); !r.Success || len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
	if b, err := os.ReadFile(s.path(".gitignore")); string(b) != "*\n" {
		t.Errorf("%q %v", b, err)
	}
}
