package mcp

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/persona/anchor"
)

// desk is one over an empty place, in a world with one role.
func desk(t *testing.T) func(string) (anchor.Desk, func() error, error) {
	t.Helper()
	dir := t.TempDir()
	store, err := anchor.Open(anchor.Place{Root: dir, Dir: "state", Key: dir + "/key"})
	if err != nil {
		t.Fatal(err)
	}
	n := byte(0)
	w := anchor.World{
		Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), WorkTree: dir, TTL: time.Hour,
		Random:   func(b []byte) error { n++; b[0] = n; return nil },
		Files:    fstest.MapFS{"docs/a.md": {Data: []byte("one\ntwo\n")}},
		Facts:    func() (anchor.Facts, error) { return anchor.Facts{Head: "(initial)", Branch: "main"}, nil },
		Descends: func(string, string) (bool, error) { return true, nil },
		Constitution: func(role string) (anchor.Constitution, error) {
			return anchor.Constitution{Role: "editor", Path: "editor.oct.md", SHA256: "00", Excerpt: "Be true."}, nil
		},
		Protected: func(string) (string, bool) { return "", false },
		Phase:     func() (string, string) { return "", "" },
	}
	return func(at string) (anchor.Desk, func() error, error) {
		if at != "/here" {
			return anchor.Desk{}, nil, errors.New("no work tree")
		}
		return anchor.Desk{Store: store, World: w}, func() error { return nil }, nil
	}
}

func call(t *testing.T, w World, in anchorIn) anchor.Result {
	t.Helper()
	out, err := w.bindSession(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAnchorBinds(t *testing.T) {
	t.Parallel()
	tool := World{Desk: desk(t)}
	r := call(t, tool, anchorIn{Stage: "identity", WorkingDir: "/here", Role: "editor", Mode: string(anchor.Lite)})
	if !r.Success || r.Token == "" || r.ConstitutionExcerpt != "Be true." || !strings.Contains(r.Template, "BIND:") {
		t.Fatalf("identity: %+v", r)
	}
	if r.NextStep != "call anchor again: stage context, token "+r.Token+", and as payload the template, filled in" {
		t.Errorf("next: %s", r.NextStep)
	}
	bind := "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  AUTHORITY::\"RESPONSIBLE[the docs]\"\n"
	token := r.Token
	if r = call(t, tool, anchorIn{Stage: "context", WorkingDir: "/here", Token: token, Payload: "talk"}); r.Success || len(r.Errors) == 0 || r.Guidance == "" {
		t.Errorf("a bad BIND: %+v", r)
	}
	if r = call(t, tool, anchorIn{Stage: "context", WorkingDir: "/here", Token: token, Payload: bind}); !r.Success || r.ServerArm == nil {
		t.Fatalf("context: %+v", r)
	}
	proof := "TENSIONS:\n  [SAY_WHY]⇌CTX:docs/a.md:1[no reason]→TRIGGER[give one]\nCOMMIT:\n  ARTIFACT::docs/a.md\n  GATE::odd check\n"
	if r = call(t, tool, anchorIn{Stage: "proof", WorkingDir: "/here", Token: token, Payload: proof}); !r.Success || r.Stage != "BOUND" || r.Permit == nil {
		t.Fatalf("proof: %+v", r)
	}
	r = call(t, tool, anchorIn{Stage: "identity", WorkingDir: "/here", Role: "editor", Mode: string(anchor.Express)})
	if r = call(t, tool, anchorIn{Stage: "express", WorkingDir: "/here", Token: r.Token, Payload: proof}); r.Success || r.Errors[0].Code != anchor.ConstPoor {
		t.Errorf("express without rules: %+v", r)
	}
}

func TestAnchorRefusesCallsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	tool := World{Desk: desk(t)}
	for name, row := range map[string]struct {
		in   anchorIn
		want string
	}{
		"other place":   {anchorIn{Stage: "identity", WorkingDir: "/there", Role: "x"}, "no work tree"},
		"no role":       {anchorIn{Stage: "identity", WorkingDir: "/here"}, "takes role"},
		"token":         {anchorIn{Stage: "identity", WorkingDir: "/here", Role: "x", Token: "y"}, "neither token"},
		"no token":      {anchorIn{Stage: "proof", WorkingDir: "/here", Payload: "x"}, "takes token"},
		"mode mid-flow": {anchorIn{Stage: "proof", WorkingDir: "/here", Token: "x", Mode: "lite"}, "nothing of identity's"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tool.bindSession(t.Context(), row.in); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %q", err, row.want)
			}
		})
	}
}
