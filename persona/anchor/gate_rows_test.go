package anchor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// gated is a site whose gate works on the same disk.
func gated(t *testing.T) *site {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return siteIn(t, dir)
}

func (s *site) decide(c Call) Decision {
	c.Cwd = s.dir
	d := s.desk()
	return Decide(c, Gatekeeper{
		WorkTree: s.dir, Files: s.files, Disk: os.DirFS("/"), Protected: func(string) (string, bool) { return "", false },
		Permits: d.Permits, Valid: d.HasValid,
	})
}

// anchorOf edits the anchor of a bound session.
func (s *site) anchorOf(token, old, now string) {
	s.t.Helper()
	text := s.read("active", token, "anchor.json")
	if !strings.Contains(text, old) {
		s.t.Fatalf("no %s in %s", old, text)
	}
	s.put(strings.Replace(text, old, now, 1), "active", token, "anchor.json")
}

// The gate's rows of the conformance table on a real state directory: G1 to G12
// and G17 to G18. G13 to G15 are TestReadHookRefuses, G16 is a script.
func TestGateRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		want Code // "" is allowed
		make func(s *site)
	}{
		{"G1 no session", Locked, func(*site) {}},
		{"G2 an empty directory", AnchorMissing, func(s *site) {
			if err := os.MkdirAll(s.path("active", "oa-empty"), 0o700); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"G3 no anchor", AnchorMissing, func(s *site) {
			if err := os.Remove(s.path("active", s.bound(IdentityRequest{}), "anchor.json")); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"G4 an anchor that does not read", Damaged, func(s *site) { s.put("{", "active", s.bound(IdentityRequest{}), "anchor.json") }},
		{"G5 an anchor without validated", NotValidated, func(s *site) {
			s.anchorOf(s.bound(IdentityRequest{}), `"validated": true`, `"validatex": true`)
		}},
		{"G6 validated is false", NotValidated, func(s *site) {
			s.anchorOf(s.bound(IdentityRequest{}), `"validated": true`, `"validated": false`)
		}},
		{"G6 validated is a text", NotValidated, func(s *site) {
			s.anchorOf(s.bound(IdentityRequest{}), `"validated": true`, `"validated": "true"`)
		}},
		{"G7 expired", PermitExpired, func(s *site) { s.bound(IdentityRequest{}); s.now = s.now.Add(2 * time.Hour) }},
		{"G7 from the future", PermitExpired, func(s *site) { s.bound(IdentityRequest{}); s.now = s.now.Add(-time.Minute) }},
		{"G8 another branch", BranchOther, func(s *site) { s.bound(IdentityRequest{}); s.facts.Branch = "main" }},
		{"G9 valid", "", func(s *site) { s.bound(IdentityRequest{}) }},
		{"G10 pending only", Locked, func(s *site) { s.contexted(IdentityRequest{}) }},
		{"G11 untracked", Locked, func(s *site) { s.desk().Identity(IdentityRequest{Role: "editor", Mode: Untracked}) }},
		{"G17 the constitution was edited", ConstChanged, func(s *site) {
			s.bound(IdentityRequest{})
			con := s.con["editor"]
			con.SHA256 = hexSum([]byte("another"))
			s.con["editor"] = con
		}},
		{"G17 the constitution is gone", ConstChanged, func(s *site) { s.bound(IdentityRequest{}); delete(s.con, "editor") }},
		{"G18 HEAD moved on", "", func(s *site) {
			s.bound(IdentityRequest{})
			s.facts.Head, s.below = strings.Repeat("b2", 20), true
		}},
		{"G18 HEAD moved elsewhere", HeadMoved, func(s *site) {
			s.bound(IdentityRequest{})
			s.facts.Head = strings.Repeat("b2", 20)
		}},
		{"G18 its own edits drift the files", "", func(s *site) {
			s.bound(IdentityRequest{})
			s.facts.Files = append(s.facts.Files, Change{XY: "??", Path: "docs/new.md"})
		}},
		{"forged: a longer time", Forged, func(s *site) {
			s.anchorOf(s.bound(IdentityRequest{}), `"expires_at": "2027-01-15T09`, `"expires_at": "2027-01-16T09`)
		}},
		{"forged: another key", Forged, func(s *site) {
			s.bound(IdentityRequest{})
			if err := os.WriteFile(filepath.Join(s.dir, ".git", "odd", "anchor.key"), []byte(strings.Repeat("k", keyBytes)), 0o600); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"forged: a copy under another name", Forged, func(s *site) {
			from := s.bound(IdentityRequest{})
			if err := os.Rename(s.path("active", from), s.path("active", from[:len(from)-1]+"z")); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"a released one", Locked, func(s *site) {
			if _, err := s.desk().Release(s.bound(IdentityRequest{})); err != nil {
				s.t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := gated(t)
			c.make(s)
			got := s.decide(Call{Tool: "Write", Paths: []string{"docs/a.md"}})
			if got.Allow != (c.want == "") || got.Code != c.want {
				t.Errorf("allow %v, %s; want %q", got.Allow, got.Reason(), c.want)
			}
			if strings.HasPrefix(c.name, "G18 HEAD moved on") && len(got.Warnings) == 0 {
				t.Error("HEAD moved on without a warning")
			}
			if open := s.decide(Call{Tool: "Read", Paths: []string{"docs/a.md"}}); !open.Allow {
				t.Errorf("reading is shut: %s", open.Reason())
			}
			if unknown := s.decide(Call{Tool: "Frobnicate"}); unknown.Code != ToolUnknown { // G12
				t.Errorf("an unknown tool: allow %v, %s", unknown.Allow, unknown.Reason())
			}
		})
	}
}

// A permit that one session of the harness asked for opens no other, also where
// it is the only one.
func TestGateKeepsHarnessesApart(t *testing.T) {
	t.Parallel()
	s := gated(t)
	s.bound(IdentityRequest{HarnessSession: "h1"})
	call := Call{Tool: "Write", Paths: []string{"docs/a.md"}, Session: "h1"}
	if d := s.decide(call); !d.Allow {
		t.Errorf("its own: %s", d.Reason())
	}
	call.Session = "h2"
	if d := s.decide(call); d.Allow || d.Code != Locked {
		t.Errorf("another's: allow %v, %s", d.Allow, d.Reason())
	}
}
