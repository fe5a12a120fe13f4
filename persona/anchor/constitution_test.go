package anchor

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/odd-cli/odd/okf"
)

// agents are the files of testdata/agents.txtar by their names.
func agents(t testing.TB) map[string]string {
	t.Helper()
	ar, err := txtar.ParseFile("testdata/agents.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range ar.Files {
		out[f.Name] = string(f.Data)
	}
	return out
}

// shown is all that a constitution says, a line each.
func shown(c Constitution) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v\n", c.Role, c.Cognition, c.Archetypes)
	for _, g := range []struct {
		name  string
		rules []Rule
	}{{"always", c.MustAlways}, {"never", c.MustNever}, {"gate", c.Gates}, {"blocking", c.Blocking}} {
		for _, r := range g.rules {
			fmt.Fprintf(&b, "%s %d %s\n", g.name, r.Line, r.Text)
		}
	}
	for _, g := range []struct {
		name, between string
		texts         []string
	}{{"paths", " ", c.Paths}, {"blocked", " ", c.BlockedPath}, {"commands", " | ", c.GateCommand}} {
		if len(g.texts) > 0 {
			fmt.Fprintf(&b, "%s %s\n", g.name, strings.Join(g.texts, g.between))
		}
	}
	if c.Escalation != "" {
		fmt.Fprintf(&b, "asks %s\n", c.Escalation)
	}
	return b.String()
}

// TestFromOctave reads six agent files as they are, and again with a byte order
// mark and carriage returns.
func TestFromOctave(t *testing.T) {
	t.Parallel()
	files := agents(t)
	n := 0
	for name, text := range files {
		if !strings.HasSuffix(name, ".oct.md") {
			continue
		}
		n++
		want := files[strings.TrimSuffix(name, ".oct.md")+".want"]
		for how, b := range map[string]string{"as it is": text, "CRLF": strings.ReplaceAll(text, "\n", "\r\n"), "BOM": "\ufeff" + text} {
			if how == "BOM" && strings.HasPrefix(text, "---") {
				continue
			}
			c, problems := readAgentFile("agents/"+name, []byte(b))
			if len(problems) > 0 {
				t.Errorf("%s, %s: %v", name, how, problems)
				continue
			}
			if d := cmp.Diff(want, shown(c)); d != "" {
				t.Errorf("%s, %s:\n%s", name, how, d)
			}
			if c.SHA256 != hexSum([]byte(b)) || c.Lines != strings.Count(text, "\n") || c.Path != "agents/"+name {
				t.Errorf("%s, %s: %s, %d lines, %s", name, how, c.Path, c.Lines, c.SHA256)
			}
		}
	}
	if n != 6 {
		t.Errorf("%d agent files", n)
	}
}

func TestFromOctaveRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"no role", "===X===\nMETA:\n  TYPE::A\n===END===\n", "a.oct.md: the file says no role"},
		{"role is no name", "ROLE::\"../evil\"\n", "a.oct.md:1: \"../evil\" is no role's name"},
		{"two roles", "===X===\n§1::A\n  ROLE::one\n§2::B\n  ROLE::two\n===END===\n", "a.oct.md:5: a second role \"two\", after \"one\" on line 3"},
		{"cognition", "ROLE::a\nCOGNITION::MYTHOS\n", "a.oct.md:2: \"MYTHOS\" is no cognition"},
		{"archetype", "ROLE::a\nARCHETYPE::[\"two words\"]\n", "a.oct.md:2: \"two words\" is no archetype's name"},
		{"gate open", "ROLE::a\nGATES::\"NEVER<A,B\"\n", "a.oct.md:2: GATES:"},
		{"glob leaves", "ROLE::a\nBLOCKED_PATHS::[\"../x\"]\n", "a.oct.md:2: blocked_paths: \"../x\""},
		{"glob absolute", "ROLE::a\nPATHS::[\n  \"src/**\",\n  \"/etc/**\"\n]\n", "a.oct.md:4: paths: \"/etc/**\""},
		{"glob open", "ROLE::a\nBLOCKED_PATHS::[\"src/[a\"]\n", "a.oct.md:2: blocked_paths: \"src/[a\" is no glob"},
		{"misspelled", "===X===\n§1::A\n  ROLE::a\n  MUST_NEVR::[\"x\"]\n===END===\n", "a.oct.md:4: MUST_NEVR is no key; did you mean MUST_NEVER?"},
		{"structure", "===X===\nROLE::a\nMUST_NEVER::[\n  \"x\n===END===\n", "a.oct.md:3:"},
		{"control", "ROLE::a\nMISSION::\"\u202ex\"\n", "a.oct.md:2:"},
		{"too big", "ROLE::a\n" + strings.Repeat("// x\n", 1<<18), "a.oct.md:1: the file is over 1 MiB"},
	} {
		got, problems := readAgentFile("a.oct.md", []byte(c.text))
		if len(problems) == 0 || got.Role != "" {
			t.Errorf("%s: was read: %+v", c.name, got)
			continue
		}
		if text := problems[0].At + ": " + problems[0].Text; !strings.HasPrefix(text, c.want) || problems[0].Code != ConstBroken {
			t.Errorf("%s: %s %s", c.name, problems[0].Code, text)
		}
	}
}

// TestExcerpt: a long file is cut at a line and says so.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	c, problems := readAgentFile("a.oct.md", []byte("ROLE::a\n"+strings.Repeat("// "+strings.Repeat("é", 500)+"\n", 20)))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if n := len(c.Excerpt); n > excerptBytes+100 || !strings.HasSuffix(c.Excerpt, "é\n\n(12 more lines in a.oct.md)\n") {
		t.Errorf("%d bytes, ends in %q", n, c.Excerpt[n-60:])
	}
	if one := excerptOf("a", []byte(strings.Repeat("é", excerptBytes))); !strings.HasPrefix(one, "éé") || strings.Contains(one, "\ufffd") {
		t.Errorf("one line: %q", one[len(one)-60:])
	}
}

// atom parses a role atom.
func atom(t testing.TB, file, text string) *okf.Atom {
	t.Helper()
	a, err := okf.Parse(file, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &a
}

const roleAtom = `---
type: role
id: reviewer
title: Reviewer
description: Reads what was proposed.
cognition: ethos
archetypes: [THEMIS, ARGUS<all of it>]
must_never:
  - approve what they proposed
  # a comment
  - "skip a source: any"
escalation: maintainer
blocked_paths: .github/**
gate_commands: [odd check]
confidence: asserted
---

# Reviewer

- a list that is nobody's rule

## Must Always

Before anything else:

* follow a source
  to its line
* ask
  1. who
  2. when

  and why
* [ ] sign

This explains the list.

MUST-NEVER
----------

+ publish at night
+ Approve what they proposed

### Gate:

Nothing passes unread.
Not even a comment.

<!-- not this -->

No second
paragraph is lost.

#### blocking

` + "```" + `
- in a fence
` + "```" + `

1. unsigned pages

##### Paths
- ` + "`knowledge/**`" + `
# Escalations

The harbour master
`

func TestFromAtom(t *testing.T) {
	t.Parallel()
	a := atom(t, "roles/reviewer.md", roleAtom)
	c, problems := readRoleAtom(a, "knowledge")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := `reviewer ETHOS [THEMIS ARGUS]
always 26 follow a source to its line
always 28 ask who when and why
always 33 sign
never 9 approve what they proposed
never 11 skip a source: any
never 40 publish at night
gate 45 Nothing passes unread. Not even a comment.
gate 50 No second paragraph is lost.
blocking 59 unsigned pages
paths knowledge/**
blocked .github/**
commands odd check
asks maintainer, The harbour master
`
	if d := cmp.Diff(want, shown(c)); d != "" {
		t.Error(d)
	}
	if c.Path != "knowledge/roles/reviewer.md" || c.SHA256 != hexSum([]byte(roleAtom)) || c.Lines != strings.Count(roleAtom, "\n") {
		t.Errorf("%s, %d lines, %s", c.Path, c.Lines, c.SHA256)
	}
}

func TestFromAtomRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, keys, want string }{
		{"a map", "must_never:\n  - say: nothing\n", "k/roles/a.md:5: must_never: the value is no text"},
		{"nested", "gates: [[a]]\n", "k/roles/a.md:4: gates: the value is no text"},
		{"null", "blocked_paths:\n", "k/roles/a.md:4: blocked_paths: the value is no text"},
		{"glob", "blocked_paths: [a b]\n", "k/roles/a.md:4: blocked_paths: \"a b\" is no glob"},
		{"misspelled", "must-nevr: x\n", "k/roles/a.md:4: \"must-nevr\" is no key; did you mean must_never?"},
		{"a heading misspelled", "---\n# Blockd paths\n---\n", "k/roles/a.md:5: \"Blockd paths\" is no key; did you mean blocked_paths?"},
		{"cognition", "cognition: [LOGOS, ETHOS]\n", "k/roles/a.md:4: a second cognition"},
		{"archetype", "archetype: two words\n", "k/roles/a.md:4: \"two words\" is no archetype's name"},
	} {
		got, problems := readRoleAtom(atom(t, "roles/a.md", "---\ntype: role\nid: a\n"+c.keys+"---\n"), "k")
		if len(problems) == 0 || !strings.HasPrefix(problems[0].At+": "+problems[0].Text, c.want) {
			t.Errorf("%s: %+v %v", c.name, got, problems)
		}
	}
	if _, problems := readRoleAtom(atom(t, "roles/a.md", "---\ntype: role\nid: a\n---\n## Blocked paths\n\nthe whole of src\n"), "k"); len(problems) != 1 || problems[0].At != "k/roles/a.md:7" {
		t.Errorf("prose where globs belong: %v", problems)
	}
}

// files makes a work tree of name, content, ….
func files(kv ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = &fstest.MapFile{Data: []byte(kv[i+1])}
	}
	return m
}

func TestFind(t *testing.T) {
	t.Parallel()
	const one, two = ".hestai-sys/agents", ".hestai-sys/library/agents"
	bundle := []*okf.Atom{
		atom(t, "roles/keeper.md", "---\ntype: role\nid: keeper\nmust_never: guess\n---\n"),
		atom(t, "roles/twin.md", "---\ntype: role\nid: twin\n---\n"),
		atom(t, "other/twin.md", "---\ntype: role\nid: other/twin\n---\n"),
		atom(t, "terms/bell.md", "---\ntype: term\nid: bell\n---\n"),
	}
	find := func(role string, tree fstest.MapFS) (Constitution, string) {
		c, err := Charters{Files: tree, Places: []string{one, two}, Atoms: bundle, Bundle: "knowledge"}.Find(role)
		return c, refusal(err)
	}
	for _, c := range []struct{ name, role, want string }{
		{"first place", "keeper", one + "/keeper.oct.md"},
		{"upper snake in the name and the request", "LAMP_KEEPER", two + "/LAMP_KEEPER.oct.md"},
	} {
		tree := files(one+"/keeper.oct.md", "ROLE::KEEPER\n", two+"/keeper.oct.md", "ROLE::KEEPER\nMISSION::\"second\"\n",
			two+"/LAMP_KEEPER.oct.md", "ROLE::Lamp_Keeper\n")
		if got, problem := find(c.role, tree); problem != "" || got.Path != c.want {
			t.Errorf("%s: %s %s", c.name, got.Path, problem)
		}
	}
	if got, problem := find("keeper", files(one+"/other.oct.md", "ROLE::other\n")); problem != "" || got.Path != "knowledge/roles/keeper.md" {
		t.Errorf("absent falls through to the atom: %s %s", got.Path, problem)
	}
	for _, c := range []struct {
		name, role string
		tree       fstest.MapFS
		want       string
	}{
		{"broken does not fall through", "keeper", files(one+"/keeper.oct.md", "ROLE::[\n"), one + "/keeper.oct.md:1: A_CONSTITUTION_BROKEN"},
		{"ROLE missing does not fall through", "keeper", files(one+"/keeper.oct.md", "===K===\n===END===\n"), one + "/keeper.oct.md: A_CONSTITUTION_BROKEN: the file says no role"},
		{"another's file", "keeper", files(one+"/keeper.oct.md", "ROLE::other\n"), "it says ROLE::OTHER"},
		{"too big", "keeper", files(two+"/keeper.oct.md", strings.Repeat("x", 1<<20+1)), "over 1 MiB"},
		{"a directory", "keeper", files(one+"/keeper.oct.md/x", ""), "no regular file"},
		{"two for one role", "lamp-keeper", files(one+"/lamp-keeper.oct.md", "", one+"/LAMP_KEEPER.oct.md", ""), "a second file for the role"},
		{"two atoms for one role", "twin", nil, "knowledge/other/twin.md: A_CONSTITUTION_BROKEN: a second atom for the role twin, after roles/twin.md"},
		{"nothing", "keepr", nil, "A_CONSTITUTION_MISSING: there is no role keepr; did you mean keeper?"},
		{"nothing near", "zzz", files(one+"/mate.oct.md", ""), "there is no role zzz; there is keeper, mate, twin"},
		{"a term is no role", "bell", nil, "there is no role bell"},
		{"no name", "../x", nil, "role: A_CONSTITUTION_MISSING: that is no role's name"},
		{"an empty name", "", nil, "that is no role's name"},
	} {
		if got, problem := find(c.role, c.tree); !strings.Contains(problem, c.want) || got.Role != "" {
			t.Errorf("%s: %+v\n%s", c.name, got, problem)
		}
	}
	if _, err := (Charters{Files: files(), Places: []string{one}}).Find("keeper"); err == nil || !strings.Contains(err.Error(), "add keeper.oct.md to one of "+one) {
		t.Errorf("no roles at all: %v", err)
	}
}

// FuzzFromOctave: whatever a file holds, a constitution is whole or there is a
// located reason, and its lines are lines of the file.
func FuzzFromOctave(f *testing.F) {
	for name, text := range agents(f) {
		if strings.HasSuffix(name, ".oct.md") {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte("ROLE::a\nGATES::NEVER<A>ALWAYS[B\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, problems := readAgentFile("a.oct.md", b)
		judgeConstitution(t, c, problems)
	})
}

// FuzzFromAtom does the same for what stands in a role atom's body.
func FuzzFromAtom(f *testing.F) {
	_, body, _ := strings.Cut(roleAtom, "\n---\n")
	f.Add("must_never: [a, b]", body)
	f.Add("gates:\n  - x\n  - y", "# Gates\n\n* a\n\t* b\n~~~\n# Must never\n~~~\n- c\n")
	f.Add("gate: 1", "Paths\n===\n- a\n\n> # Gate\n> - b\n")
	f.Fuzz(func(t *testing.T, keys, body string) {
		a, err := okf.Parse("roles/a.md", []byte("---\ntype: role\nid: a\n"+keys+"\n---\n"+body))
		if err != nil || a.Type != "role" || a.ID != "a" {
			return
		}
		c, problems := readRoleAtom(&a, "k")
		judgeConstitution(t, c, problems)
	})
}

func judgeConstitution(t *testing.T, c Constitution, problems []Problem) {
	t.Helper()
	if len(problems) > 0 {
		if c.Role != "" || !strings.Contains(problems[0].At, ".md") || problems[0].Text == "" {
			t.Errorf("%+v\n%v", c, problems)
		}
		return
	}
	if !roleForm().MatchString(c.Role) || len(c.SHA256) != 64 {
		t.Errorf("%+v", c)
	}
	for _, rules := range [][]Rule{c.MustAlways, c.MustNever, c.Gates, c.Blocking} {
		for _, r := range rules {
			if r.Text == "" || hasHiddenText(r.Text) || r.Line < 1 || r.Line > c.Lines {
				t.Errorf("%d of %d: %q", r.Line, c.Lines, r.Text)
			}
		}
	}
}
