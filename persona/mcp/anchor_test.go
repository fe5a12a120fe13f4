package mcp

import (
	"encoding/json"
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
		Facts:    func() (anchor.Facts, error) { return anchor.Facts{OK: true, Head: "(initial)", Branch: "main"}, nil },
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

func call(t *testing.T, tool Tool, in AnchorInput) anchor.Result {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	out, err := tool.Handle(b)
	if err != nil {
		t.Fatal(err)
	}
	return out.(anchor.Result)
}

func TestAnchorBinds(t *testing.T) {
	t.Parallel()
	tool := Anchor(desk(t))
	r := call(t, tool, AnchorInput{Stage: "identity", WorkingDir: "/here", Role: "editor", Mode: anchor.Lite})
	if !r.Success || r.Token == "" || r.ConstitutionExcerpt != "Be true." || !strings.Contains(r.Template, "BIND:") {
		t.Fatalf("identity: %+v", r)
	}
	if r.NextStep != "call anchor again: stage context, token "+r.Token+", and as payload the template, filled in" {
		t.Errorf("next: %s", r.NextStep)
	}
	bind := "BIND:\n  ROLE::editor\n  COGNITION::LOGOS\n  AUTHORITY::\"RESPONSIBLE[the docs]\"\n"
	token := r.Token
	if r = call(t, tool, AnchorInput{Stage: "context", WorkingDir: "/here", Token: token, Payload: "talk"}); r.Success || len(r.Errors) == 0 || r.Guidance == "" {
		t.Errorf("a bad BIND: %+v", r)
	}
	if r = call(t, tool, AnchorInput{Stage: "context", WorkingDir: "/here", Token: token, Payload: bind}); !r.Success || r.ServerArm == nil {
		t.Fatalf("context: %+v", r)
	}
	proof := "TENSIONS:\n  [SAY_WHY]⇌CTX:docs/a.md:1[no reason]→TRIGGER[give one]\nCOMMIT:\n  ARTIFACT::docs/a.md\n  GATE::odd check\n"
	if r = call(t, tool, AnchorInput{Stage: "proof", WorkingDir: "/here", Token: token, Payload: proof}); !r.Success || r.Stage != "BOUND" || r.Permit == nil {
		t.Fatalf("proof: %+v", r)
	}
	r = call(t, tool, AnchorInput{Stage: "identity", WorkingDir: "/here", Role: "editor", Mode: anchor.Express})
	if r = call(t, tool, AnchorInput{Stage: "express", WorkingDir: "/here", Token: r.Token, Payload: proof}); r.Success || r.Errors[0].Code != anchor.ConstPoor {
		t.Errorf("express without rules: %+v", r)
	}
}

func TestAnchorRefusesCallsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	tool := Anchor(desk(t))
	for name, row := range map[string][2]string{
		"empty":         {``, "does not read"},
		"array":         {`[]`, "does not read"},
		"unknown key":   {`{"stage":"identity","working_dir":"/here","rol":"x"}`, `unknown field "rol"`},
		"two calls":     {`{"stage":"identity","working_dir":"/here","role":"x"} {}`, "stands behind"},
		"no stage":      {`{"working_dir":"/here"}`, "want identity, context, proof or express"},
		"stages":        {`{"working_dir":"/here","stage":"identity context"}`, "want identity"},
		"no directory":  {`{"stage":"identity","role":"x"}`, "working_dir is missing"},
		"other place":   {`{"stage":"identity","working_dir":"/there","role":"x"}`, "no work tree"},
		"no role":       {`{"stage":"identity","working_dir":"/here"}`, "takes role"},
		"token":         {`{"stage":"identity","working_dir":"/here","role":"x","token":"y"}`, "neither token"},
		"no token":      {`{"stage":"proof","working_dir":"/here","payload":"x"}`, "takes token"},
		"mode mid-flow": {`{"stage":"proof","working_dir":"/here","token":"x","mode":"lite"}`, "nothing of identity's"},
		"too long":      {`{"payload":"` + strings.Repeat("x", maxInput) + `"}`, "is over"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tool.Handle(json.RawMessage(row[0])); err == nil || !strings.Contains(err.Error(), row[1]) {
				t.Errorf("got %v, want %q", err, row[1])
			}
		})
	}
}

// The schema is what the input is: the same names, no others.
func TestSchemaIsTheInput(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	tool := Anchor(desk(t))
	if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	full, err := json.Marshal(AnchorInput{"s", "w", "r", "m", "x", "t", "h", "k", "p"})
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(full, &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if schema.Properties[name] == nil {
			t.Errorf("the schema lacks %s", name)
		}
	}
	if len(fields) != len(schema.Properties) || len(schema.Required) != 2 {
		t.Errorf("the schema has %d properties, the input %d; %d are required", len(schema.Properties), len(fields), len(schema.Required))
	}
}

func FuzzReadAnchor(f *testing.F) {
	f.Add([]byte(`{"stage":"identity","working_dir":"/here","role":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		in, err := readAnchor(b)
		if err == nil && (in.WorkingDir == "" || (in.Stage == "identity") == (in.Token != "")) {
			t.Errorf("%q was read as %+v", b, in)
		}
	})
}
