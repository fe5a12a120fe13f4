package invoke

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

// What Fresh is made of, to the last member. A member that is not on this list
// is one more way into the brief of a session that must know nothing else.
const freshMembers = `
Run string
Terms.Role contract.Role
Terms.Modes []contract.Mode
Terms.Surface.Name contract.Surface
Terms.Surface.Density string
Terms.Surface.MaxTokens int
Terms.Surface.MaxEmissions int
Terms.Surface.Structured bool
Terms.Surface.Narrative bool
Terms.Surface.Bidirectional bool
Terms.Surface.Machine bool
Terms.Engagement contract.Engagement
Terms.Voice contract.Voice
Terms.Mutates bool
Terms.Bound string
Terms.Deliverable string
Terms.Next contract.Role
Terms.Artifact string
Terms.Tools []string
Terms.Without []string
Terms.Servers []string
Terms.Tainted bool
Limits.Turns int
Limits.CostUSD string
Limits.Timeout time.Duration
Limits.MaxAtoms int
Limits.Cap string
Profiles.Name string
Profiles.Path string
Profiles.Blob string
Profiles.Prompt string
Profiles.Brand string
Profiles.Knowledge []string
Profiles.Text []uint8
Canon.URI string
Canon.Path string
Canon.Blob string
Canon.Title string
Canon.Text []uint8
Canon.More string
Claims.Path string
Claims.Blob string
Claims.From contract.Mode
Claims.To contract.Mode
Claims.Claims.Artifact string
Claims.Claims.Does []string
Claims.Claims.DoesNot []string
Claims.Claims.Scope string
Claims.Claims.Evidence []string
Claims.Remediation.Artifact string
Claims.Remediation.Remedies.Finding string
Claims.Remediation.Remedies.Changed []string
Claims.Remediation.Remedies.Why string
Artifacts.Path string
Artifacts.Blob string
Artifacts.Text []uint8
`

func TestFreshMembers(t *testing.T) {
	t.Parallel()
	var got []string
	var walk func(prefix string, of reflect.Type)
	walk = func(prefix string, of reflect.Type) {
		inner := of
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			got = append(got, strings.TrimPrefix(prefix, ".")+" "+of.String())
			return
		}
		for i := range inner.NumField() {
			walk(prefix+"."+inner.Field(i).Name, inner.Field(i).Type)
		}
	}
	walk("", reflect.TypeFor[Fresh]())
	if d := cmp.Diff(strings.Split(strings.TrimSpace(freshMembers), "\n"), got); d != "" {
		t.Errorf("members (-want +got):\n%s", d)
	}
}

// mark fills every text below v with its own path, "«Task.Body»".
func mark(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("«" + path + "»")
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[okf.Atom]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				mark(v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		mark(v.Elem(), path)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte("«" + path + "»"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		mark(v.Index(0), path)
	}
}

// marked is an input in which everything is marked, of a contract in mode m.
func marked(t *testing.T, m contract.Mode, strict bool, from, to contract.Mode) Input {
	t.Helper()
	var in Input
	mark(reflect.ValueOf(&in).Elem(), "in")
	atom, err := okf.Parse("handoffs/x.md", []byte("---\ntype: handoff\ntitle: «atom title»\n---\n\n«atom body»\n"))
	if err != nil {
		t.Fatal(err)
	}
	in.Contract.Mode, in.Contract.Modes, in.Contract.Strict = m, nil, strict
	in.Contract.Persona.Name, in.Contract.Participants = "oddie", nil
	in.Offered = []string{in.Contract.Tools[0].Name}
	in.Prompts = map[string][]byte{"oddie@0": []byte("«prompt»")}
	h := &in.Handoffs[0]
	h.Atom, h.From, h.To = &atom, from, to
	return in
}

func marks(b Brief) []string {
	found := regexp.MustCompile("«([^»]*)»").FindAllStringSubmatch(string(b.Text), -1)
	var out []string
	for _, m := range found {
		out = append(out, strings.TrimPrefix(m[1], "in."))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Of an input in which every text is marked, these and no other reach a
// validator's brief: no task, no title, no acceptance, no rejection, no input,
// no compiled role, no override and its reason, no note, no other handoff.
func TestNothingElseReachesAValidator(t *testing.T) {
	t.Parallel()
	for _, from := range []contract.Mode{contract.Execution, contract.Resolution} {
		in := marked(t, contract.Validation, true, from, contract.Validation)
		in.Handoffs[0].Deliverable = deliver.Deliverable{Claims: in.Handoffs[0].Deliverable.Claims, Plan: in.Handoffs[0].Deliverable.Plan}
		want := []string{
			"Artifacts.Blob", "Artifacts.Path", "Artifacts.Text",
			"Canon.Blob", "Canon.Path", "Canon.Text", "Canon.Title", "Canon.URI",
			"Contract.Artifact", "Contract.Deliverable", "Contract.Engagement", "Contract.Next",
			"Contract.Persona.Blob", "Contract.Persona.BrandDiscipline", "Contract.Persona.KnowledgeBases", "Contract.Persona.Path", "Contract.Persona.SystemPromptURI",
			"Contract.Role", "Contract.Servers", "Contract.Surface.Density", "Contract.Surface.Name",
			"Contract.Tools.Name", "Contract.Voice",
			"Handoffs.Deliverable.Claims.Artifact", "Handoffs.Deliverable.Claims.Does", "Handoffs.Deliverable.Claims.DoesNot",
			"Handoffs.Deliverable.Claims.Evidence", "Handoffs.Deliverable.Claims.Scope",
			"Handoffs.Handoff.Blob", "Handoffs.Handoff.Path", "Limits.CostUSD", "Run", "prompt",
		}
		// A custom contract of two validators' handoffs still reads no plan.
		other := in.Handoffs[0]
		other.Deliverable = deliver.Deliverable{Plan: &deliver.Plan{Steps: []string{"«steps»"}}, Findings: &deliver.Findings{Artifact: "«findings»"}}
		in.Handoffs = append(in.Handoffs, other)
		if d := cmp.Diff(want, marks(Compose(in))); d != "" {
			t.Errorf("after %s (-want +got):\n%s", from, d)
		}
	}
}

// What an agent called its artifact is data in every brief, never among the orders.
func TestAnArtifactsNameGivesNoOrders(t *testing.T) {
	t.Parallel()
	const name = "note://x/Report.no.findings"
	for _, strict := range []bool{true, false} {
		b := Compose(Input{Contract: contract.Contract{Role: contract.Validator, Mode: contract.Validation, Strict: strict, Artifact: name}})
		for _, p := range b.Manifest {
			if strings.Contains(string(p.Text), name) != (p.Name == "artifact") {
				t.Errorf("strict %v, part %s:\n%s", strict, p.Name, p.Text)
			}
		}
	}
}

// A validator that looks again is given the remediation, and not the findings it answers.
func TestRevalidation(t *testing.T) {
	t.Parallel()
	in := Input{Contract: contract.Contract{Role: contract.Validator, Mode: contract.Validation, Strict: true, Deliverable: deliver.SchemaFindings}}
	in.Handoffs = []handoff.Handoff{
		{Handoff: contract.Handoff{Path: "handoffs/r.md", Blob: "b1", From: contract.Resolution, To: contract.Validation},
			Deliverable: deliver.Deliverable{Schema: deliver.SchemaRemediation, Remediation: &deliver.Remediation{Artifact: "a.md", Remedies: []deliver.Remedy{{Finding: "F1", Changed: []string{"a.md"}, Why: "calendar days"}}}}},
		{Handoff: contract.Handoff{Path: "handoffs/f.md", Blob: "b2", From: contract.Validation, To: contract.Resolution},
			Deliverable: deliver.Deliverable{Schema: deliver.SchemaFindings, Findings: &deliver.Findings{Findings: []deliver.Finding{{ID: "F1", Evidence: "the old reasoning"}}}}},
	}
	in.Artifacts = []File{{"a.md", "b3", []byte("revised\n")}}
	text := string(Compose(in).Text)
	for _, want := range []string{"handoffs/r.md  b1", "resolution to validation", "- F1\n  - changed: a.md\n  - why: calendar days", "a.md  b3", "revised"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "the old reasoning") || strings.Contains(text, "handoffs/f.md") {
		t.Error("the findings reached who looks again")
	}
}

// Each mode sees the handoff of its own transition; what else of its task, the
// package comment says.
func TestWhatAModeSees(t *testing.T) {
	t.Parallel()
	pair := func(from, to contract.Mode) [2]contract.Mode { return [2]contract.Mode{from, to} }
	tests := []struct {
		mode                        contract.Mode
		from                        [2]contract.Mode
		handoff, body, input, frame bool
	}{
		{"", pair(contract.Validation, contract.Resolution), true, true, true, true},
		{contract.Exploration, pair(contract.Exploration, contract.Planning), true, true, true, true},
		{contract.Exploration, pair(contract.Planning, contract.Execution), false, true, true, true},
		{contract.Planning, pair(contract.Exploration, contract.Planning), true, false, true, true},
		{contract.Planning, pair(contract.Planning, contract.Execution), false, false, true, true},
		{contract.Execution, pair(contract.Planning, contract.Execution), true, false, true, true},
		{contract.Execution, pair(contract.Exploration, contract.Planning), false, false, true, true},
		{contract.Resolution, pair(contract.Validation, contract.Resolution), true, false, false, true},
		{contract.Resolution, pair(contract.Execution, contract.Validation), false, false, false, true},
	}
	for _, tt := range tests {
		got := marks(Compose(marked(t, tt.mode, false, tt.from[0], tt.from[1])))
		has := func(s string) bool { return slices.Contains(got, s) }
		if has("Handoffs.Handoff.Path") != tt.handoff || has("Task.Body") != tt.body || has("Inputs.Text") != tt.input || has("Task.Acceptance") != tt.frame || !has("Before") {
			t.Errorf("%s after %v: got %v", tt.mode, tt.from, got)
		}
		if has("atom body") {
			t.Errorf("%s: the handoff's own prose reached the brief", tt.mode)
		}
	}
}
