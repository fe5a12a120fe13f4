package anchor

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// tree is the work tree that rows cite: a.go and b.go of 30 lines each.
func tree() fstest.MapFS {
	thirty := []byte(strings.Repeat("line\n", 30))
	return fstest.MapFS{
		"a.go":              {Data: thirty},
		"b.go":              {Data: thirty},
		"docs/c.md":         {Data: []byte("one\ntwo\nthree")},
		"empty.txt":         {Data: nil},
		"app/[id]/page.tsx": {Data: thirty},
		"notes":             {Data: thirty},
		".git/HEAD":         {Data: thirty},
	}
}

const (
	okCommit = "COMMIT:\n  ARTIFACT::\"docs/new.md\"\n  GATE::\"go test ./...\"\n"
	first    = "[NO_GUESSING]⇌CTX:a.go[nobody read it]→TRIGGER[read it]"
	second   = "[TESTS_FIRST]⇌CTX:b.go[no test]→TRIGGER[write one]"
	deep1    = "[NO_GUESSING]⇌CTX:a.go:1-10[nobody read it]→TRIGGER[read it]"
	deep2    = "[TESTS_FIRST]⇌CTX:b.go:2-3[no test]→TRIGGER[write one]"
	deep3    = "[SMALL_STEPS]⇌CTX:docs/c.md:3[too long]→TRIGGER[split it]"
)

// proofOf is a payload with these lines as its tensions, bare.
func proofOf(lines ...string) string {
	return "TENSIONS:\n  " + strings.Join(lines, "\n  ") + "\n" + okCommit
}

// judged reads and judges a payload as the desk does.
func judged(payload string, s Strictness) (Proof, []Problem) {
	return takeProof([]byte(payload), Judging{Protected: unprotected, Strictness: s, Files: tree(), Constitution: editor()})
}

func TestTensionRows(t *testing.T) {
	t.Parallel()
	quick := func(line string) string { return proofOf(line) }
	for _, row := range []struct {
		name       string
		strictness Strictness
		payload    string
		codes      []Code
	}{
		{"T1 quick 1", Quick, proofOf(first), nil},
		{"T2 default 1", Default, proofOf(first), []Code{TenCount}},
		{"T2 default 2", Default, proofOf(first, second), nil},
		{"T2 unknown strictness is default", "harsh", proofOf(first), []Code{TenCount}},
		{"T3 deep 2", Deep, proofOf(deep1, deep2), []Code{TenCount}},
		{"T4 deep 3", Deep, proofOf(deep1, deep2, deep3), nil},
		{"T5 no CTX", Quick, quick("L1::[NO_GUESSING]⇌a.go[nobody read it]→TRIGGER[read it]"), []Code{TenSyntax}},
		{"T5 empty CTX", Quick, quick("[NO_GUESSING]⇌CTX:[nobody read it]→TRIGGER[read it]"), []Code{CtxMissing}},
		{"T6 no TRIGGER", Quick, quick("[NO_GUESSING]⇌CTX:a.go[nobody read it]"), []Code{TenSyntax}},
		{"T6 arrow to something else", Quick, quick("[NO_GUESSING]⇌CTX:a.go[nobody read it]→ACTION[read it]"), []Code{TenSyntax}},
		{"T7 generic constraint", Quick, quick("[Policy]⇌CTX:a.go[nobody read it]→TRIGGER[read it]"), []Code{TenGeneric}},
		{"T7 placeholder constraint", Quick, quick("[TB" + "D]⇌CTX:a.go[nobody read it]→TRIGGER[read it]"), []Code{TenGeneric}},
		{"T7 placeholder state", Quick, quick("[NO_GUESSING]⇌CTX:a.go[to" + "do]→TRIGGER[read it]"), []Code{TenGeneric}},
		{"T7 placeholder trigger", Quick, quick("[NO_GUESSING]⇌CTX:a.go[nobody read it]→TRIGGER[TO" + "DO]"), []Code{TenGeneric}},
		{"T7 a template's places", Quick, quick("[<a rule of yours>]⇌CTX:a.go[<what is so there>]→TRIGGER[<what you will do>]"), []Code{TenGeneric, TenGeneric, TenGeneric}},
		{"T7 circular", Quick, quick("[read it]⇌CTX:a.go[nobody read it]→TRIGGER[Read  it]"), []Code{TenGeneric}},
		{"T8 empty state", Quick, quick("[NO_GUESSING]⇌CTX:a.go[]→TRIGGER[read it]"), []Code{TenGeneric}},
		{"T8 empty constraint", Quick, quick("[]⇌CTX:a.go[nobody read it]→TRIGGER[read it]"), []Code{TenGeneric}},
		{"T8 empty trigger", Quick, quick("[NO_GUESSING]⇌CTX:a.go[nobody read it]→TRIGGER[ ]"), []Code{TenGeneric}},
		{"T9 ASCII operators", Quick, quick("[NO_GUESSING]<->CTX:a.go[nobody read it]->TRIGGER[read it]"), nil},
		{"T9 vs", Quick, quick("[NO_GUESSING] vs CTX:a.go[nobody read it]->TRIGGER[read it]"), nil},
		{"T10 blanks round operators", Quick, quick("[NO_GUESSING]  ⇌ CTX:a.go [nobody read it] →  TRIGGER[read it]"), nil},
		{"T11 no L-prefix", Quick, quick(first), nil},
		{"T11 bulleted", Quick, quick("- " + first), nil},
		{"T12 mixed", Default, proofOf("L1::"+first, second), nil},
		{"T13 duplicate L number", Default, proofOf("L1::"+first, "L1::"+second), []Code{TenDup}},
		{"T14 deep without lines", Deep, proofOf(deep1, deep2, first), []Code{CtxRange}},
		{"T15 :abc range", Quick, quick("[NO_GUESSING]⇌CTX:a.go:abc[nobody read it]→TRIGGER[read it]"), []Code{CtxRange}},
		{"T16 20-10", Quick, quick("[NO_GUESSING]⇌CTX:a.go:20-10[nobody read it]→TRIGGER[read it]"), []Code{CtxRange}},
		{"T16 :0", Quick, quick("[NO_GUESSING]⇌CTX:a.go:0[nobody read it]→TRIGGER[read it]"), []Code{CtxRange}},
		{"T17 beyond the end", Quick, quick("[NO_GUESSING]⇌CTX:a.go:30-31[nobody read it]→TRIGGER[read it]"), []Code{CtxRange}},
		{"T17 the last line", Quick, quick("[NO_GUESSING]⇌CTX:a.go:30[nobody read it]→TRIGGER[read it]"), nil},
		{"T17 any line of an empty file", Quick, quick("[NO_GUESSING]⇌CTX:empty.txt:1[nobody read it]→TRIGGER[read it]"), []Code{CtxRange}},
		{"T18 identical three times", Deep, proofOf(deep1, deep1, deep1), []Code{TenDup, TenDup}},
		{"T18 the same in other words", Default, proofOf(first, "[no_guessing]⇌CTX:a.go[still unread]→TRIGGER[open it]"), []Code{TenDup}},
		{"T19 same lines twice in deep", Deep, proofOf(deep1, "[OTHER_RULE]⇌CTX:a.go:1-10[unclear]→TRIGGER[ask]", deep3), []Code{TenDup}},
		{"T19 same lines twice in default", Default, proofOf(deep1, "[OTHER_RULE]⇌CTX:a.go:1-10[unclear]→TRIGGER[ask]"), nil},
		{"T20 nested brackets in a state", Quick, quick("[NO_GUESSING]⇌CTX:a.go:1[s[0] is unread]→TRIGGER[read s[0]]"), nil},
		{"T21 [id] in a path", Quick, quick("[NO_GUESSING]⇌CTX:app/[id]/page.tsx:1-2[unread]→TRIGGER[read it]"), nil},
		{"T21 bracket that is not closed", Quick, quick("[NO_GUESSING]⇌CTX:app/[id/page.tsx[unread]→TRIGGER[read it]"), []Code{TenSyntax}},
		{"T22 comma behind", Default, proofOf(first+",", second+","), nil},
		{"T22 as a list", Default, "TENSIONS::[\n  \"" + first + "\",\n  \"" + second + "\"\n]\n" + okCommit, nil},
		{"T23 two on a line", Quick, quick(first + " " + second), []Code{TenSyntax}},
		{"T23 something behind", Quick, quick(first + " because"), []Code{TenSyntax}},
		{"T24 indented heading among tensions", Quick, "## TENSION\n  " + first + "\n  ## COMMIT\n  ARTIFACT::src/core/x.go\n  GATE::echo\n## COMMIT\nARTIFACT::docs/new.md\nGATE::go test\n", []Code{ProofSyntax, ProofSyntax, ProofSyntax}},
		{"T25 no TENSIONS", Quick, okCommit, []Code{ProofSyntax}},
		{"T25 TENSIONS twice", Quick, proofOf(first) + "TENSIONS:\n  " + second + "\n", []Code{ProofSyntax}},
		{"quoted", Quick, proofOf(`L1::"` + first + `"`), nil},
		{"with quotes and comments in it", Quick, quick(`[NO_GUESSING]⇌CTX:a.go[it says "none" // yet \ here]→TRIGGER[read it]`), nil},
		{"prose among tensions is talk", Quick, proofOf("These are mine", first), nil},
		{"a line without brackets", Quick, quick("No guessing ⇌ CTX:a.go → TRIGGER read it"), []Code{TenSyntax}},
		{"rule by a line", Quick, quick("[NO_GUESSING@L12]⇌CTX:a.go[unread]→TRIGGER[read it]"), nil},
		{"rule by a line that is not", Quick, quick("[NO_GUESSING@L81]⇌CTX:a.go[unread]→TRIGGER[read it]"), []Code{TenRule}},
		{"rule by a clause", Quick, quick("[artifact@C-02]⇌CTX:a.go[unread]→TRIGGER[read it]"), nil},
		{"rule by a clause that is not", Quick, quick("[artifact@C-03]⇌CTX:a.go[unread]→TRIGGER[read it]"), []Code{TenRule}},
		{"rule by nothing", Quick, quick("[artifact@home]⇌CTX:a.go[unread]→TRIGGER[read it]"), []Code{TenRule}},
		{"escape in a quoted one", Quick, proofOf(`L1::"[NO_GUESSING]⇌CTX:a.go[un\nread]→TRIGGER[read it]"`), []Code{Hidden}},
		{"zero width in a constraint", Quick, quick("[NO\u200b_GUESSING]⇌CTX:a.go[unread]→TRIGGER[read it]"), []Code{Hidden}},

		{"X1 absolute", Quick, quick("[NO_GUESSING]⇌CTX:/etc/passwd[unread]→TRIGGER[read it]"), []Code{CtxEscape}},
		{"X2 ..", Quick, quick("[NO_GUESSING]⇌CTX:../a.go[unread]→TRIGGER[read it]"), []Code{CtxEscape}},
		{"X3 a/../../b", Quick, quick("[NO_GUESSING]⇌CTX:docs/../../b.go[unread]→TRIGGER[read it]"), []Code{CtxEscape}},
		{"X3 .. that stays inside", Quick, quick("[NO_GUESSING]⇌CTX:docs/../b.go[unread]→TRIGGER[read it]"), []Code{CtxEscape}},
		{"X4 backslash", Quick, quick(`[NO_GUESSING]⇌CTX:docs\c.md[unread]→TRIGGER[read it]`), []Code{CtxEscape}},
		{"X5 directory", Quick, quick("[NO_GUESSING]⇌CTX:docs[unread]→TRIGGER[read it]"), []Code{CtxNotFile}},
		{"X6 missing", Quick, quick("[NO_GUESSING]⇌CTX:docs/none.md[unread]→TRIGGER[read it]"), []Code{CtxMissing}},
		{"X8 NUL", Quick, quick("[NO_GUESSING]⇌CTX:a\x00.go[unread]→TRIGGER[read it]"), []Code{ProofSyntax}},
		{"git's own", Quick, quick("[NO_GUESSING]⇌CTX:.git/HEAD[unread]→TRIGGER[read it]"), []Code{CtxEscape}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			p, ps := judged(row.payload, row.strictness)
			wantCodes(t, ps, row.codes...)
			for i, got := range p.Tensions {
				if got.N != i+1 {
					t.Errorf("tension %d has number %d", i+1, got.N)
				}
				if len(ps) == 0 && (got.RangeSHA256 == "" || got.GeneratedBy != "agent") {
					t.Errorf("tension %d has no hash or no maker: %+v", i+1, got)
				}
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	_, ps := judged(proofOf(slices.Repeat([]string{first}, maxTensions)...), Quick)
	if strings.Contains(codesOf(ps), string(TenCount)) {
		t.Errorf("%d tensions are too many: %v", maxTensions, ps)
	}
	_, ps = judged(proofOf(slices.Repeat([]string{first}, maxTensions+1)...), Quick)
	if !strings.Contains(codesOf(ps), string(TenCount)) {
		t.Errorf("%d tensions are not too many: %v", maxTensions+1, ps)
	}
	_, ps = judged(strings.Repeat("x", MaxPayload+1), Quick)
	wantCodes(t, ps, ProofSyntax)
	big := fstest.MapFS{"big": {Data: make([]byte, maxCited+1)}}
	_, ps = takeProof([]byte(proofOf("[NO_GUESSING]⇌CTX:big[unread]→TRIGGER[read it]")), Judging{Protected: unprotected, Strictness: Quick, Files: big})
	wantCodes(t, ps, CtxNotFile)
}

func TestMisreadTensionSaysSo(t *testing.T) {
	t.Parallel()
	_, ps := judged(proofOf("L1::[NO_GUESSING]⇌CTX:app/[id/page.tsx[unread]→TRIGGER[read it]"), Quick)
	want := []Problem{{
		Code: TenSyntax, At: "TENSIONS.L1", Line: 2, Text: "line 2 looks like a tension but a bracket behind CTX: is not closed",
		Found: "app/[id/page.tsx[unread]→TRIGGER[read it]", Want: "CTX:path/to/file[STATE]→TRIGGER[ACTION]",
	}}
	if d := cmp.Diff(want, ps); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCanonicalTension(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"L7::[A B] <-> CTX:a.go:4-4 [s[0]] -> TRIGGER[do it],": "[A B]⇌CTX:a.go:4[s[0]]→TRIGGER[do it]",
		"[A] vs CTX:app/[id]/x:04-9[b→c]→TRIGGER[d]":           "[A]⇌CTX:app/[id]/x:4-9[b→c]→TRIGGER[d]",
		"[a→b]⇌CTX:x[TRIGGER[y]]→TRIGGER[d]":                   "[a→b]⇌CTX:x[TRIGGER[y]]→TRIGGER[d]",
	} {
		got, bad := scanTension(in)
		if bad != nil || got.String() != want {
			t.Errorf("%s: got %s, %v; want %s", in, got, bad, want)
		}
	}
}

func TestCited(t *testing.T) {
	t.Parallel()
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	p, ps := judged(proofOf(deep1, deep3, "[WHOLE]⇌CTX:docs/c.md[x]→TRIGGER[y]"), Quick)
	wantCodes(t, ps)
	for i, want := range []string{strings.Repeat("line\n", 10), "three", "one\ntwo\nthree"} {
		if p.Tensions[i].RangeSHA256 != sum(want) {
			t.Errorf("tension %d is not the hash of %q", i+1, want)
		}
	}
}

// X7: links are judged by where they lead, and by the tree, not by their letters.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(t.TempDir(), "secret")
	for _, err := range []error{
		os.WriteFile(out, []byte("x\n"), 0o600),
		os.WriteFile(filepath.Join(dir, "in.md"), []byte("x\n"), 0o600),
		os.Symlink(out, filepath.Join(dir, "out.md")),
		os.Symlink(filepath.Dir(out), filepath.Join(dir, "outdir")),
		os.Symlink("in.md", filepath.Join(dir, "link.md")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling.md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, row := range []struct {
		name, path string
		ctx        []Code
		artifact   []Code
	}{
		{"X7 link inside the tree", "link.md", nil, []Code{CommitArtifact}},
		{"X7 link out of the tree", "out.md", []Code{CtxEscape}, []Code{CommitArtifact}},
		{"X7 through a link out of the tree", "outdir/secret", []Code{CtxEscape}, []Code{CommitArtifact}},
		{"X7 dangling", "dangling.md", []Code{CtxEscape}, []Code{CommitArtifact}},
	} {
		t.Run(row.name, func(t *testing.T) {
			in := Judging{Protected: unprotected, Strictness: Quick, Files: root.FS()}
			p := Proof{Tensions: []Tension{{Constraint: "A", Path: row.path, State: "b", Trigger: "c"}}, Commit: Commit{"new.md", "go test"}}
			_, ps := JudgeProof(p, in)
			wantCodes(t, ps, row.ctx...)
			wantCodes(t, judgeCommit(Commit{row.path, "go test"}, in), row.artifact...)
		})
	}
	var _ fs.ReadLinkFS = root.FS().(fs.ReadLinkFS) // what tells a link that leaves from a file that is missing
}

func TestCommitRows(t *testing.T) {
	t.Parallel()
	commit := func(artifact, gate string) string {
		return "COMMIT:\n  ARTIFACT::\"" + artifact + "\"\n  GATE::\"" + gate + "\"\n"
	}
	for _, row := range []struct {
		name, payload string
		codes         []Code
	}{
		{"C1 ok", okCommit, nil},
		{"C1 ok with headings", "## COMMIT\nARTIFACT::docs/new.md\nGATE::go test ./... -run 'A|B'\n", nil},
		{"C1 ok as code", "COMMIT:\n  ARTIFACT::`docs/new.md`\n  GATE::`go test ./...`\n", nil},
		{"C1 ok, a file that is there", commit("notes", "make check"), nil},
		{"C1 ok, a file known without a dot", commit("Makefile", "make check"), nil},
		{"C2 no ARTIFACT", "COMMIT:\n  GATE::\"go test\"\n", []Code{CommitArtifact}},
		{"C3 no GATE", "COMMIT:\n  ARTIFACT::\"docs/new.md\"\n", []Code{CommitGate}},
		{"C4 response", commit("response", "go test"), []Code{CommitArtifact}},
		{"C4 Output.", commit("Output.", "go test"), []Code{CommitArtifact}},
		{"C4 a thought", commit("reflections", "go test"), []Code{CommitArtifact}},
		{"C5 placeholder", commit("TO"+"DO", "go test"), []Code{CommitArtifact}},
		{"C6 empty", commit("", ""), []Code{CommitArtifact, CommitGate}},
		{"C6 no COMMIT", "TENSIONS:\n  " + first + "\n", []Code{ProofSyntax}},
		{"C7 absolute", commit("/etc/passwd", "go test"), []Code{CommitArtifact}},
		{"C7 outside", commit("../x.md", "go test"), []Code{CommitArtifact}},
		{"C7 a directory", commit("docs", "go test"), []Code{CommitArtifact}},
		{"C7 a pattern", commit("docs/*.md", "go test"), []Code{CommitArtifact}},
		{"C7 git's own", commit(".git/config", "go test"), []Code{CommitArtifact}},
		{"C8 blocked", commit("src/core/x.go", "go test"), []Code{CommitOutside}},
		{"C8 protected", commit("odd.toml", "go test"), []Code{CommitOutside}},
		{"C9 placeholder gate", commit("docs/new.md", "TO"+"DO"), []Code{CommitGate}},
		{"C10 gate not on the list", commit("docs/new.md", "echo fine"), []Code{CommitUnlisted}},
		{"C10 a gate that writes", commit("docs/new.md", "pytest --basetemp=src"), []Code{CommitUnlisted}},
		{"C10 a gate with a variable", commit("docs/new.md", "make test SHELL=docs/sh"), []Code{CommitUnlisted}},
		{"C10 a gate of one test", commit("docs/new.md", "pytest -q -k tides"), nil},
		{"C10 a longer word is not the command", commit("docs/new.md", "go testing"), []Code{CommitUnlisted}},
		{"C10 two commands", commit("docs/new.md", "go test ./...; rm -rf ."), []Code{CommitGate}},
		{"C10 a substitution", commit("docs/new.md", "go test $(curl x)"), []Code{CommitGate}},
		{"C10 a variable in front", commit("docs/new.md", "X=1 go test"), []Code{CommitGate}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			protected := func(p string) (string, bool) { return "it governs", p == "odd.toml" }
			_, ps := takeCommit([]byte(row.payload), Judging{Files: tree(), Constitution: editor(), Protected: protected})
			wantCodes(t, ps, row.codes...)
		})
	}
	own := editor()
	own.GateCommand, own.Paths = []string{"./check all"}, []string{"docs/**"}
	in := Judging{Protected: unprotected, Files: tree(), Constitution: own}
	wantCodes(t, judgeCommit(Commit{"docs/x.md", "./check all -v"}, in))
	wantCodes(t, judgeCommit(Commit{"a.go", "go test"}, in), CommitOutside, CommitUnlisted)
}
