package testscripts

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/txtar"
)

var (
	helpVerbs   = regexp.MustCompile(`(?m)^  ([a-z-]+)  `)
	helpBelow   = regexp.MustCompile(`(?s)\nCommands\n(.*?)\n\n`)
	helpExample = regexp.MustCompile(`(?s)\nExamples\n(.*?)\n\s*\n`)
	folded      = regexp.MustCompile(`\\\n\s*`)
	comment     = regexp.MustCompile(`\s{2,}#.*$`)
	quoted      = regexp.MustCompile(`'[^']*'`)
	oddVerb     = regexp.MustCompile(`\bodd (?:-C \S+ )?([a-z].*)$`)
)

// examples are the lines of the Examples block of every page of help, by page.
func examples(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var read func(verb string)
	read = func(verb string) {
		page := said(t, append([]string{"help"}, strings.Fields(verb)...)...)
		m := helpExample.FindStringSubmatch(page)
		if m == nil {
			t.Fatalf("odd help %s has no example", verb)
		}
		for line := range strings.Lines(folded.ReplaceAllString(m[1], "")) {
			out[verb] = append(out[verb], comment.ReplaceAllString(strings.TrimSpace(line), ""))
		}
		if below := helpBelow.FindStringSubmatch(page); below != nil {
			for _, v := range helpVerbs.FindAllStringSubmatch(below[1], -1) {
				read(verb + " " + v[1])
			}
		}
	}
	for _, v := range helpVerbs.FindAllStringSubmatch(said(t, "help", "all"), -1) {
		read(v[1])
	}
	return out
}

// TestExamplesRun runs every example of every page of help in copies of the demo
// repository. Each section of testdata/examples.list is one copy, and a line there is
//
//	COMMAND              an example, which exits with 0
//	3! COMMAND           an example that exits with 3
//	+ COMMAND            what the examples below it need
//	- REASON: COMMAND    an example that cannot run here; its verb and flags exist
//
// A section whose name has a slash is a file that lies beside its copy. Words that
// stand for an id in an example, such as TOKEN, are variables that a line with + sets.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	known := map[string]string{} // example → page
	for verb, lines := range examples(t) {
		for _, line := range lines {
			known[line] = verb
		}
	}
	a, err := txtar.ParseFile("testdata/examples.list")
	if err != nil {
		t.Fatal(err)
	}
	demo := filepath.Join(t.TempDir(), "demo")
	exampleRun(t, filepath.Dir(demo), "set -e\nmkdir -p home\nodd demo demo\n")
	told := map[string]bool{}
	for _, f := range a.Files {
		if strings.Contains(f.Name, "/") {
			continue
		}
		script, lines := exampleScript(t, string(f.Data))
		for _, line := range lines {
			if told[line] = true; known[line] == "" {
				t.Errorf("%s: no page of help has the example %q", f.Name, line)
			}
		}
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, beside := range a.Files {
				if name, ok := strings.CutPrefix(beside.Name, f.Name+"/"); ok {
					if err := os.WriteFile(filepath.Join(dir, name), beside.Data, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			exampleRun(t, dir, "cp -Rp '"+demo+"' shop\nprintf '%0999d' 0 >.tmp/odds\n"+script)
		})
	}
	for _, line := range slices.Sorted(maps.Keys(known)) {
		if !told[line] {
			t.Errorf("odd help %s: testdata/examples.list does not have the example %q", known[line], line)
		}
	}
}

// exampleScript is a section as a shell script, and its examples.
func exampleScript(t *testing.T, section string) (script string, examples []string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("cd shop || exit 1\nfailed=0\n" +
		"try() { want=$1; shift; (eval \"$1\") >../out 2>&1 </dev/null; got=$?; " +
		"[ $got = $want ] || { failed=1; echo \"exit $got, want $want: $1\"; cat ../out; }; }\n")
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		want := "0"
		if m := exampleExit.FindStringSubmatch(line); m != nil {
			want, line = m[1], m[2]
		}
		switch rest, ok := strings.CutPrefix(line, "+ "); {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case ok:
			fmt.Fprintf(&b, "%s || { failed=1; echo 'failed: %s'; }\n", rest, strings.ReplaceAll(rest, "'", `"`))
			continue
		case strings.HasPrefix(line, "- "):
			_, line, _ = strings.Cut(line, ": ")
			exampleNames(t, line)
		default:
			fmt.Fprintf(&b, "try %s '%s'\n", want, strings.ReplaceAll(exampleIDs.Replace(line), "'", `'\''`))
		}
		examples = append(examples, line)
	}
	b.WriteString("exit $failed\n")
	return b.String(), examples
}

var exampleExit = regexp.MustCompile(`^([0-9]+)! (.*)$`)

// exampleIDs are the words for which a copy has values of its own.
var exampleIDs = strings.NewReplacer("TOKEN", "$TOKEN", "7QK2ZP", "$OP", "P-01KJ…", "$PROPOSAL", "G-0004", "$GATE", "RUN:TASK.1", "$RUN:read-the-handbook.1", "/srv/ours.git", "../ours.git")

// exampleNames requires that odd has the verb and the flags of an example that is not run.
func exampleNames(t *testing.T, line string) {
	t.Helper()
	m := oddVerb.FindStringSubmatch(quoted.ReplaceAllString(line, ""))
	if m == nil {
		return // not of odd
	}
	page := said(t, "help", "all")
	at := []string{"help"}
	for _, word := range strings.Fields(m[1]) {
		if word = strings.Trim(word, ")"); !strings.Contains(page, "\n  "+word+" ") {
			break
		}
		at = append(at, word)
		page = said(t, at...)
	}
	if len(at) == 1 {
		t.Errorf("%q: odd has no such command", line)
	}
	for _, flag := range flags.FindAllString(m[1], -1) {
		if !strings.Contains(page, "  "+flag) {
			t.Errorf("%q: odd %s has no %s", line, strings.Join(at[1:], " "), flag)
		}
	}
}

// exampleRun runs a script in dir as Ann, who confirms whatever odd asks her to.
func exampleRun(t *testing.T, dir, script string) {
	t.Helper()
	e := &testscript.Env{WorkDir: dir, Values: map[any]any{}, Vars: append(os.Environ(), "EDITOR=true", varAnswer+"="+whateverIsAsked)}
	if err := setup(e); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", script)
	c.Dir, c.Env = dir, e.Vars
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
