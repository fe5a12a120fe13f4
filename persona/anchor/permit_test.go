package anchor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPermitRows has one row for each step of a permit's check, in its order.
func TestPermitRows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		do   func(s *site, token string) string // "" keeps the token
		role string
		want Code
	}{
		{"G1 no session", func(*site, string) string { return "oa-nobody" }, "", TokenUnknown},
		{"G1 no state directory", func(s *site, _ string) string {
			os.RemoveAll(s.path())
			return ""
		}, "", TokenUnknown},
		{"no token", func(*site, string) string { return "../x" }, "", TokenFormat},
		{"no work tree", func(s *site, _ string) string { s.files = nil; s.dir += "/gone"; return "" }, "", TokenUnknown},
		{"G2 empty directory", func(s *site, _ string) string {
			os.MkdirAll(s.path(active, "oa-empty"), 0o700)
			return "oa-empty"
		}, "", AnchorMissing},
		{"G3 no anchor", func(s *site, token string) string { os.Remove(s.path(active, token, anchorFile)); return "" }, "", AnchorMissing},
		{"G3 a link for the anchor", func(s *site, token string) string {
			os.Rename(s.path(active, token, anchorFile), s.path("a.json"))
			os.Symlink("../../a.json", s.path(active, token, anchorFile))
			return ""
		}, "", Damaged},
		{"G3 a directory for the anchor", func(s *site, token string) string {
			os.Remove(s.path(active, token, anchorFile))
			os.Mkdir(s.path(active, token, anchorFile), 0o700)
			return ""
		}, "", Damaged},
		{"G4 bad JSON", func(s *site, token string) string { s.put("{", active, token, anchorFile); return "" }, "", Damaged},
		{"G4 array", func(s *site, token string) string { s.put("[true]", active, token, anchorFile); return "" }, "", Damaged},
		{"G5 no validated", func(s *site, token string) string {
			s.swap(`"validated"`, `"Validated"`, active, token, anchorFile)
			return ""
		}, "", NotValidated},
		{"G6 validated false", func(s *site, token string) string {
			s.swap(`"validated": true`, `"validated": false`, active, token, anchorFile)
			return ""
		}, "", NotValidated},
		{"G6 validated in quotes", func(s *site, token string) string {
			s.swap(`"validated": true`, `"validated": "true"`, active, token, anchorFile)
			return ""
		}, "", NotValidated},
		{"forged: later end", func(s *site, token string) string {
			s.swap(`"expires_at": "2027`, `"expires_at": "2037`, active, token, anchorFile)
			return ""
		}, "", Forged},
		{"forged: a key more", func(s *site, token string) string {
			s.swap("{\n", "{\n  \"extra\": 1,\n", active, token, anchorFile)
			return ""
		}, "", Forged},
		{"forged: other paths, and their hash", func(s *site, token string) string {
			a, _, _ := readAnchor([]byte(s.read(active, token, anchorFile)))
			a.Permit.Deny = nil
			_, b, _ := a.seal([]byte("not the key"))
			s.put(string(b), active, token, anchorFile)
			return ""
		}, "", Forged},
		{"forged: another session's anchor", func(s *site, token string) string {
			other := s.bound(IdentityRequest{})
			s.put(s.read(active, token, anchorFile), active, other, anchorFile)
			return other
		}, "", Forged},
		{"no key", func(s *site, _ string) string { os.Remove(s.key()); return "" }, "", Forged},
		{"a key that others may read", func(s *site, _ string) string { os.Chmod(s.key(), 0o644); return "" }, "", Forged},
		{"a short key", func(s *site, _ string) string { os.WriteFile(s.key(), []byte("short"), 0o600); return "" }, "", Forged},
		{"a link for the key", func(s *site, _ string) string {
			os.Rename(s.key(), s.key()+"2")
			os.Symlink("anchor.key2", s.key())
			return ""
		}, "", Forged},
		{"another role", func(*site, string) string { return "" }, "auditor", RoleOther},
		{"its role in capitals", func(*site, string) string { return "" }, "EDITOR", ""},
		{"G7 expired", func(s *site, _ string) string { s.now = s.now.Add(time.Hour); return "" }, "", PermitExpired},
		{"a second before its end", func(s *site, _ string) string { s.now = s.now.Add(time.Hour - time.Second); return "" }, "", ""},
		{"a clock that was set back", func(s *site, _ string) string { s.now = s.now.Add(-time.Second); return "" }, "", PermitExpired},
		{"G8 wrong branch", func(s *site, _ string) string { s.facts.Branch = "main"; return "" }, "", BranchOther},
		{"git does not answer", func(s *site, _ string) string { s.noGit = errors.New("gone"); return "" }, "", NoWorkTree},
		{"G17 constitution edited", func(s *site, _ string) string {
			c := s.con["editor"]
			c.SHA256 = "other"
			s.con["editor"] = c
			return ""
		}, "", ConstChanged},
		{"G17 constitution gone", func(s *site, _ string) string { delete(s.con, "editor"); return "" }, "", ConstChanged},
		{"G18 HEAD elsewhere", func(s *site, _ string) string { s.facts.Head = "b2"; return "" }, "", HeadMoved},
		{"G18 HEAD has no commit any more", func(s *site, _ string) string { s.facts.Head, s.below = "(initial)", true; return "" }, "", HeadMoved},
		{"G9 valid", func(*site, string) string { return "" }, "editor", ""},
		{"G10 pending only", func(s *site, _ string) string { return s.contexted(IdentityRequest{}) }, "", Locked},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			token := s.bound(IdentityRequest{})
			if other := row.do(s, token); other != "" {
				token = other
			}
			d := s.desk()
			v := d.HasValid(token, row.role)
			if codesOf(v.Errors) != string(row.want) || v.Valid != (row.want == "") || len(v.Warnings) > 0 {
				t.Errorf("%+v, want %s", v, row.want)
			}
			if all, err := d.Permits(""); row.role == "" && row.want != TokenFormat && row.want != TokenUnknown && row.want != Locked {
				found := false
				for _, p := range all {
					found = found || p.Token == token && p.Valid == v.Valid
				}
				if !found || err != nil {
					t.Errorf("permits: %+v %v", all, err)
				}
			}
		})
	}
}

func (s *site) key() string { return filepath.Join(s.dir, ".git", "odd", "anchor.key") }

func TestNoWorkTree(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.bound(IdentityRequest{})
	d := s.desk()
	d.World.Files = os.DirFS(filepath.Join(s.dir, "gone"))
	if v := d.HasValid(token, ""); codesOf(v.Errors) != string(NoWorkTree) {
		t.Errorf("%+v", v)
	}
	refusedAs(t, d.Identity(IdentityRequest{Role: "editor"}), NoWorkTree)
	refusedAs(t, d.Renew(token), NoWorkTree)
}

func TestHeadMovesOn(t *testing.T) { // G18
	t.Parallel()
	s := newSite(t)
	token := s.bound(IdentityRequest{})
	s.facts.Head, s.below = "b2", true
	if v := s.desk().HasValid(token, ""); !v.Valid || codesOf(v.Warnings) != string(HeadMoved) {
		t.Errorf("%+v", v)
	}
	d := s.desk()
	d.World.Descends = func(string, string) (bool, error) { return true, errors.New("shallow") }
	if v := d.HasValid(token, ""); v.Valid || codesOf(v.Errors) != string(HeadMoved) {
		t.Errorf("%+v", v)
	}
	unborn := newSite(t)
	unborn.facts.Head = "(initial)"
	token = unborn.bound(IdentityRequest{})
	unborn.facts.Head = "b2"
	if v := unborn.desk().HasValid(token, ""); !v.Valid || codesOf(v.Warnings) != string(HeadMoved) {
		t.Errorf("first commit: %+v", v)
	}
}

func TestVerifyNamesWhatMoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.bound(IdentityRequest{})
	before := s.all()
	if v := s.desk().Verify(token); !v.Valid || len(v.Warnings) > 0 {
		t.Fatalf("%+v", v)
	}
	s.facts.Files = append(s.facts.Files, Change{XY: ".M", Path: "b.go"})
	s.facts.Ahead = 2
	s.files["b.go"].Data = []byte("edited\n")
	v := s.desk().Verify(token)
	if got := fmt.Sprint(v.Warnings); !v.Valid || codesOf(v.Warnings) != "A_ARM_DRIFT A_ARM_DRIFT A_CITED_CHANGED" ||
		!strings.Contains(got, "ARM.ahead") || !strings.Contains(got, ".M b.go") || !strings.Contains(got, "the lines it cites changed") {
		t.Errorf("%+v", v)
	}
	delete(s.files, "b.go")
	if v := s.desk().Verify(token); !v.Valid || !strings.Contains(fmt.Sprint(v.Warnings), "does not read now") {
		t.Errorf("%+v", v)
	}
	s.noGit = errors.New("gone")
	if v := s.desk().Verify(token); v.Valid {
		t.Errorf("%+v", v)
	}
	if d := cmp.Diff(before, s.all()); d != "" {
		t.Errorf("verify wrote:\n%s", d)
	}
}

func TestPermitsOfAHarness(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.bound(IdentityRequest{})
	mine := s.bound(IdentityRequest{HarnessSession: "h-1"})
	s.bound(IdentityRequest{HarnessSession: "h-2"})
	broken := s.bound(IdentityRequest{HarnessSession: "h-1"})
	s.put("{", active, broken, anchorFile)
	asked := 0
	d := s.desk()
	facts := d.World.Facts
	d.World.Facts = func() (Facts, error) { asked++; return facts() }
	got, err := d.Permits("h-1")
	if err != nil || len(got) != 1 || got[0].Token != mine || !got[0].Valid {
		t.Errorf("%+v %v", got, err)
	}
	if all, err := d.Permits(""); err != nil || len(all) != 4 || asked != 2 {
		t.Errorf("%d of them, git asked %d times, %v", len(all), asked, err)
	}
	if got, err := newSite(t).desk().Permits(""); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	p := Permit{Role: "editor", Allow: []string{"docs/**", "cmd/*.go"}, Deny: []string{"docs/Law/**", "**/*.lock"}}
	for path, want := range map[string]bool{
		"docs/a.md": true, "docs/deep/er/a.md": true, "cmd/a.go": true, "cmd/x/a.go": false, "src/a.go": false, "docs": true,
		"docs/Law/a.md": false, "docs/law/a.md": false, "DOCS/law/A.md": false, "docs/x.lock": false, "docs/x.LOCK": false,
		"": false, "/docs/a.md": false, "../docs/a.md": false, "docs/../src/a.go": false, `docs\a.md`: false, "docs/a\x00": false,
		".git/config": false, "docs/./a.md": false,
	} {
		bad, ok := p.Covers(path)
		if ok != want || !ok && (bad.Code != OutsidePaths || bad.Text == "") {
			t.Errorf("%q: %v %v", path, ok, bad)
		}
	}
	if bad, ok := (Permit{}).Covers("any/where.go"); !ok {
		t.Error(bad)
	}
	if bad, ok := (Permit{}).Covers(".git/hooks/pre-commit"); ok {
		t.Error(bad)
	}
}

func TestRenewRows(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.bound(IdentityRequest{})
	first := s.desk().HasValid(token, "").Permit
	for n := 1; n <= 3; n++ {
		s.now = s.now.Add(50 * time.Minute)
		r := s.desk().Renew(token)
		refusedAs(t, r)
		want := *first
		want.IssuedAt, want.ExpiresAt, want.Renewals = s.now, s.now.Add(time.Hour), n
		if d := cmp.Diff(&want, r.Permit); d != "" {
			t.Errorf("renewal %d:\n%s", n, d)
		}
		if v := s.desk().HasValid(token, "editor"); !v.Valid || !v.Permit.ExpiresAt.Equal(want.ExpiresAt) {
			t.Errorf("%+v", v)
		}
	}
	refusedAs(t, s.desk().Renew(token), RenewalsOver)
	if _, err := s.desk().Release(token); err != nil {
		t.Error(err)
	}
	refusedAs(t, s.desk().Renew(token), TokenUnknown)
	for _, row := range []struct {
		name   string
		change func(s *site, token string)
		want   []Code
	}{
		{"ended a moment ago", func(s *site, _ string) { s.now = s.now.Add(time.Hour + 15*time.Minute) }, nil},
		{"ended too long ago", func(s *site, _ string) { s.now = s.now.Add(time.Hour + 16*time.Minute) }, []Code{RenewTooLate}},
		{"four hours old", func(s *site, _ string) { s.now = s.now.Add(4 * time.Hour) }, []Code{RenewTooLate, RenewTooLate}},
		{"a clock that was set back", func(s *site, _ string) { s.now = s.now.Add(-time.Hour) }, []Code{RenewTooLate}},
		{"another branch", func(s *site, _ string) { s.facts.Branch = "main" }, []Code{BranchOther}},
		{"another constitution", func(s *site, _ string) { delete(s.con, "editor") }, []Code{ConstChanged}},
		{"HEAD elsewhere", func(s *site, _ string) { s.facts.Head = "b2" }, []Code{HeadMoved}},
		{"forged", func(s *site, token string) { s.swap(`"renewals": 0`, `"renewals": -9`, active, token, anchorFile) }, []Code{Forged}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			token := s.bound(IdentityRequest{})
			before := s.read(active, token, anchorFile)
			row.change(s, token)
			changed := s.read(active, token, anchorFile)
			refusedAs(t, s.desk().Renew(token), row.want...)
			if after := s.read(active, token, anchorFile); (after == changed) != (row.want != nil) {
				t.Errorf("the anchor changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

// TestHashIsOfCanonicalJSON holds the hash to what anyone can recompute.
func TestHashIsOfCanonicalJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.facts.Files = append(s.facts.Files, Change{XY: "R.", Path: "<é>&\u2028.md", From: "a\"b"})
	token := s.bound(IdentityRequest{})
	var all map[string]any
	if err := json.Unmarshal([]byte(s.read(active, token, anchorFile)), &all); err != nil {
		t.Fatal(err)
	}
	sum := all["anchor_sha256"]
	delete(all, "anchor_sha256")
	delete(all, "mac")
	b, err := canonicalJSON(all)
	if err != nil || hexSum(b) != sum {
		t.Errorf("%v, want %v, %v", hexSum(b), sum, err)
	}
	if v := s.desk().HasValid(token, ""); !v.Valid {
		t.Errorf("%+v", v)
	}
}

func TestTTL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	token := s.contexted(IdentityRequest{})
	d := s.desk()
	d.World.TTL = 5 * time.Minute
	if r := d.Proof(token, []byte(proofOf(first, second))); r.Permit == nil || r.Permit.ExpiresAt != s.now.Add(5*time.Minute) {
		t.Errorf("%+v", r)
	}
}

// BenchmarkPermits judges fifty sessions: beside it, only reading their files.
func BenchmarkPermits(b *testing.B) {
	s := newSite(b)
	var tokens []string
	for range 50 {
		tokens = append(tokens, s.bound(IdentityRequest{}))
	}
	d := s.desk()
	b.Run("judge", func(b *testing.B) {
		for b.Loop() {
			if all, err := d.Permits(""); err != nil || len(all) != 50 || !all[49].Valid {
				b.Fatal(err)
			}
		}
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			for _, token := range tokens {
				s.read(active, token, anchorFile)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if v := d.HasValid(tokens[0], "editor"); !v.Valid {
				b.Fatal(v)
			}
		}
	})
}
