package audit

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/invoke"
)

var change = Change{
	Base: strings.Repeat("a", 40), Head: strings.Repeat("b", 40),
	Files:   []File{{"docs/gone.md", ""}, {"docs/new.md", strings.Repeat("c", 40)}},
	Patch:   []byte("+one\n+two\u202e\r\n"),
	Commits: []Commit{{strings.Repeat("d", 40), "docs: say more\n\nIt was thin.\n"}},
}

func TestArtifacts(t *testing.T) {
	t.Parallel()
	files, cut := change.Artifacts()
	if cut != 0 || string(files[0].Text) != "+one\n+two<U+202E>\n" || files[0].Path != "the change aaaaaaaaaaaa..bbbbbbbbbbbb" {
		t.Errorf("%d, %q, %q", cut, files[0].Path, files[0].Text)
	}
	if len(files) != 3 || files[1].Blob != "gone" || files[2].Text != nil {
		t.Errorf("%+v", files[1:])
	}
}

// TestArtifactsCut: whatever is cut is said between the two ends, and the brief
// that carries it cuts nothing more.
func TestArtifactsCut(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 400, 4000} {
		c := Change{Base: change.Base, Head: change.Head, Patch: []byte("first\n" + strings.Repeat("+a line of the change\n", 20_000) + "last\n")}
		for i := range n {
			c.Files = append(c.Files, File{fmt.Sprintf("some/folder/with/a/name/%04d.md", i), change.Head})
		}
		files, cut := c.Artifacts()
		text := string(files[0].Text)
		if !strings.HasPrefix(text, "first\n") || !strings.HasSuffix(text, "last\n") || cut == 0 || len(text) > MaxPatch+200 || len(text)+cut < len(c.Patch) {
			t.Errorf("%d files: %d bytes, %d cut", n, len(text), cut)
		}
		if !strings.Contains(text, fmt.Sprintf("\n[%d bytes of the change are left out here", cut)) {
			t.Errorf("%d files: the cut is not told", n)
		}
		b := invoke.BuildFresh(invoke.Fresh{Terms: invoke.Terms{Role: contract.Validator, Modes: []contract.Mode{contract.Validation}}, Artifacts: files})
		for _, p := range b.Manifest {
			if p.Name == "artifact" && p.Cut > 0 {
				t.Errorf("%d files: the brief cuts %d bytes more", n, p.Cut)
			}
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	h := change.Messages()
	want := &deliver.Claims{Artifact: change.Name(), Does: []string{"dddddddddddd: docs: say more\n\nIt was thin."},
		Scope: "nobody stated claims: these are commit messages, taken as what the change says it does", DoesNot: []string{"not stated"}}
	if diff := cmp.Diff(want, h.Deliverable.Claims); diff != "" || h.To != contract.Validation || h.Journal == "" {
		t.Error(diff, h.Handoff)
	}
	h, err := change.Stated("body.md", []byte("# Say more\r\n\r\nIt was thin.\n\n\n- a\n- b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"# Say more", "It was thin.", "- a\n- b"}, h.Deliverable.Claims.Does); diff != "" {
		t.Error(diff)
	}
	for name, text := range map[string]string{
		"claims nothing": " \n\n", "is not text": "\xff\xfe", "goes to execution": "---\ntype: handoff\ntitle: x\nfrom: planning\nto: execution\nartifact: x\nassumptions: []\nscope_in: []\nscope_out: []\ndeferred: []\nwould_invalidate: []\n---\n",
	} {
		if _, err := change.Stated("x.md", []byte(text)); err == nil {
			t.Errorf("a text that %s passed", name)
		}
	}
	h, err = change.Stated("handoffs/x.md", []byte("---\ntype: handoff\ntitle: x\nfrom: execution\nto: validation\nartifact: docs\ndoes: [it says more]\ndoes_not: []\nscope: the plan\n---\n"))
	if err != nil || h.Artifact != change.Name() || h.Deliverable.Claims.Artifact != change.Name() || h.Deliverable.Claims.Does[0] != "it says more" {
		t.Errorf("%v %+v", err, h)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	head := fstest.MapFS{"docs/new.md": {Data: []byte("one\ntwo\n")}, "a:b.md": {Data: []byte("one")}}
	for at, want := range map[string]string{
		"docs/new.md": "docs/new.md 0 true", "docs/new.md:2": "docs/new.md 2 true", "./docs/new.md:1-2": "docs/new.md 1 true", "docs/new.md:2:7": "docs/new.md 2 true",
		"docs/new.md:L2-L9": "docs/new.md 2 true", "docs/new.md:4": "docs/new.md 4 false", "docs/gone.md:9": "docs/gone.md 9 true", "docs/other.md": "docs/other.md 0 false",
		"docs": "docs 0 true", "docs:3": "docs 3 false", "a:b.md": "a:b.md 0 true", "../x": "../x 0 false", "": ". 0 true", "docs/new.md:0": "docs/new.md:0 0 false",
	} {
		j := Locate([]deliver.Finding{{Location: at}}, change, head)[0]
		if got := fmt.Sprintf("%s %d %t", j.Path, j.Line, j.Found); got != want {
			t.Errorf("%q: got %s, want %s", at, got, want)
		}
	}
}

func FuzzLocate(f *testing.F) {
	for _, s := range []string{"a:1-2", "::", ":1", "a:L", "\x00:9", "../../x:1"} {
		f.Add(s)
	}
	head := fstest.MapFS{"a": {Data: []byte("one\n")}}
	f.Fuzz(func(t *testing.T, at string) {
		if j := Locate([]deliver.Finding{{Location: at}}, change, head)[0]; j.Line < 0 || j.Location != at {
			t.Fatalf("%q: %+v", at, j)
		}
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	g, problems, err := okf.Load(fstest.MapFS{
		"personas/reviewer.md": {Data: []byte("---\ntype: persona\npersona: reviewer\nversion: 1\nrole: validator\nsystem_prompt_uri: acme://prompt\nbrand_discipline: null\n---\n")},
		"canon/prompt.md":      {Data: []byte("---\ntype: canon\nuri: acme://prompt\n---\nLook first.\n")},
		"canon/old.md":         {Data: []byte("---\ntype: constraint\nid: old\nsuperseded_by: new\n---\n")},
		"canon/new.md":         {Data: []byte("---\ntype: constraint\nid: new\nuri: acme://new\n---\n")},
		"canon/draft.md":       {Data: []byte("---\ntype: principle\nstatus: draft\n---\n")},
		"terms/x.md":           {Data: []byte("---\ntype: term\n---\n")},
	})
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	r := Rules{g, "knowledge"}
	var got []string
	for _, c := range r.Canon() {
		got = append(got, c.Path)
	}
	if diff := cmp.Diff([]string{"knowledge/canon/new.md", "knowledge/canon/prompt.md"}, got); diff != "" {
		t.Error(diff)
	}
	p, err := contract.LoadRoster(g).Find("reviewer")
	if err != nil {
		t.Fatal(err)
	}
	by := contract.Contract{Persona: p}
	if got := string(r.Prompts(by)["reviewer@1"]); got != "Look first.\n" {
		t.Errorf("%q", got)
	}
	var files []File
	for _, name := range []string{".github/workflows/ci.yml", "docs/new.md", "knowledge/canon/new.md", "knowledge/canon/old.md", "knowledge/canon/prompt.md", "knowledge/personas/reviewer.md", "odd.toml"} {
		files = append(files, File{name, "x"})
	}
	want := []string{".github/workflows/ci.yml: a workflow", "knowledge/canon/new.md: canon", "knowledge/canon/prompt.md: the prompt of reviewer@1",
		"knowledge/personas/reviewer.md: the profile reviewer@1", "odd.toml: odd's configuration"}
	if diff := cmp.Diff(want, r.Touched(Change{Files: files}, by)); diff != "" {
		t.Error(diff)
	}
}

// Odd's own records are told by folder, depth, extension and, where a person
// writes too, by type; everything else is audited, wherever it lies.
func TestOwnRecords(t *testing.T) {
	t.Parallel()
	const handed, canon = "---\ntype: handoff\ntitle: x\n---\n", "---\ntype: canon\ntitle: x\n---\n"
	for _, c := range []struct {
		root, file, text string
		want             bool
	}{
		{"knowledge", "knowledge/journal/2026-03-02-run.tsv", "", true},
		{"knowledge", "knowledge/ledger/2026-03/run.jsonl", "", true},
		{"knowledge", "knowledge/proposals/run.jsonl", "", true},
		{"knowledge", "knowledge/handoffs/run.md", handed, true},
		{".", "handoffs/run.md", handed, true},
		{"a[b]*", "a[b]*/journal/x.tsv", "", true},
		{"knowledge", "knowledge/handoffs/run.md", canon, false},
		{"knowledge", "knowledge/handoffs/run.md", "", false},
		{"knowledge", "knowledge/handoffs/deep/run.md", handed, false},
		{"knowledge", "knowledge/terms/run.md", handed, false},
		{"knowledge", "knowledge/journal/tool.sh", "", false},
		{"knowledge", "knowledge/journal/deep/x.tsv", "", false},
		{"knowledge", "knowledge/ledger/run.jsonl", "", false},
		{"knowledge", "knowledge/governance/gates.jsonl", "", false},
		{"knowledge", "journal/x.tsv", "", false},
		{"knowledge", "docs/knowledge/journal/x.tsv", "", false},
	} {
		if got := (Rules{Root: c.root}).Own(c.file, []byte(c.text)); got != c.want {
			t.Errorf("root %s: %s %q: %v", c.root, c.file, c.text, got)
		}
	}
}

// What is left out is told in the brief, and where nothing is, nothing is.
func TestTheBriefTellsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "", 1: "1 file of odd's own records left out; odd check --range proves it",
		3: "3 files of odd's own records left out; odd check --range proves those"} {
		c := change
		c.Records = n
		files, _ := c.Artifacts()
		last := files[len(files)-1].Path
		if n == 0 {
			last = strings.TrimPrefix(last, "docs/new.md")
		}
		if last != want {
			t.Errorf("%d: %q, want %q", n, last, want)
		}
		b := invoke.BuildFresh(invoke.Fresh{Terms: invoke.Terms{Role: contract.Validator, Modes: []contract.Mode{contract.Validation}}, Artifacts: files})
		if !strings.Contains(string(b.Text), want) || n == 0 && strings.Contains(string(b.Text), "own records") {
			t.Errorf("%d: the brief says\n%s", n, b.Text)
		}
	}
}
