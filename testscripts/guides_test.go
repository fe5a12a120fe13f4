package testscripts

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/odd-cli/odd/persona/session/modeltest"
)

// guideBlock is a fenced block of a guide: its language and its text.
var guideBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// guideExit is the exit code that a guide tells beside a command.
var guideExit = regexp.MustCompile(`(?m)^(.+?)\s+# exit (\d)\b.*$`)

// guide is what testdata/guides.list has for a guide.
type guide struct {
	prepare string            // shell lines before the first block
	needs   []string          // programs that a machine may not have
	model   string            // a recording that the address guideModel answers from
	unrun   map[string]string // the lines of console blocks, with the reason why they are not run
	files   []txtar.File
}

// guideModel is the address of a local model in the guides.
const guideModel = "http://127.0.0.1:11434"

// TestGuides runs the sh blocks of each guide in order in one shell, as Ann, who
// confirms whatever odd asks, and finds each line of a text block in what the sh block
// before it printed. Each line of a console block is in testdata/guides.list, with the
// reason why it cannot run here.
func TestGuides(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "knowledge/guides/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	worlds := guideWorlds(t)
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		if name == "index" {
			continue
		}
		g := worlds[name]
		delete(worlds, name)
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runGuide(t, string(b), g)
		})
	}
	for name := range worlds {
		t.Errorf("testdata/guides.list: there is no guide %s", name)
	}
}

// guideWorlds reads testdata/guides.list. A section is named as a guide, and one whose
// name goes on after a slash is a file where the guide begins. Lines of a section are
//
//   - COMMAND            run before the first block
//   - REASON: COMMAND    a line of a console block, whose verb and flags exist
//     model FILE           what answers at guideModel
//     needs PROGRAM        the guide is not run where there is none
func guideWorlds(t *testing.T) map[string]guide {
	t.Helper()
	a, err := txtar.ParseFile("testdata/guides.list")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]guide{}
	for _, f := range a.Files {
		name, path, isFile := strings.Cut(f.Name, "/")
		g := all[name]
		if isFile {
			g.files = append(g.files, txtar.File{Name: path, Data: f.Data})
			all[name] = g
			continue
		}
		g.unrun = map[string]string{}
		for line := range strings.Lines(string(f.Data)) {
			kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch kind {
			case "+":
				g.prepare += rest + "\n"
			case "-":
				reason, command, _ := strings.Cut(rest, ": ")
				g.unrun[command] = reason
			case "needs":
				g.needs = append(g.needs, rest)
			case "model":
				g.model = rest
			case "":
			default:
				t.Errorf("testdata/guides.list: %s: %q", name, line)
			}
		}
		all[name] = g
	}
	return all
}

func runGuide(t *testing.T, text string, g guide) {
	t.Helper()
	if n := strings.Count(text, "\n"); n < 60 || n > 140 {
		t.Errorf("%d lines, want 60 to 140", n)
	}
	work := t.TempDir()
	for _, f := range g.files {
		writeAll(t, filepath.Dir(filepath.Join(work, f.Name)), map[string][]byte{filepath.Base(f.Name): f.Data})
		if strings.HasPrefix(f.Name, "bin/") {
			if err := os.Chmod(filepath.Join(work, f.Name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if g.model != "" {
		b, err := os.ReadFile(g.model)
		if err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(modeltest.Read(b))
		t.Cleanup(srv.Close)
		text = strings.ReplaceAll(text, guideModel, srv.URL)
	}
	script := "export PATH=\"$PWD/bin:$PATH\"\nset -e\ntrap '[ $? = 0 ] || cat \"$out\"' EXIT\n" + g.prepare
	var wants []string // what the text block after the nth sh block shows
	for _, m := range guideBlock.FindAllStringSubmatch(text, -1) {
		switch m[1] {
		case "sh":
			block := guideExit.ReplaceAllString(m[2], "{ $1; } && exit 99 || test $$? = $2")
			script += fmt.Sprintf("out='%s/out.%d'\n{\n%s\n} >\"$out\" 2>&1\n", work, len(wants), block)
			wants = append(wants, "")
		case "text":
			if len(wants) == 0 {
				t.Fatal("a text block before any command")
			}
			wants[len(wants)-1] = m[2]
		case "console":
			for line := range strings.Lines(m[2]) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
				if g.unrun[line] == "" {
					t.Errorf("testdata/guides.list does not say why %q is not run", line)
				}
				delete(g.unrun, line)
				exampleNames(t, line)
			}
		}
	}
	for line := range g.unrun {
		t.Errorf("testdata/guides.list: the guide has no %q", line)
	}
	if len(wants) < 2 {
		t.Errorf("%d sh blocks, want two at least", len(wants))
	}
	for _, program := range g.needs {
		needProgram(t, program)
	}
	exampleRun(t, work, script)
	for i, want := range wants {
		got, err := os.ReadFile(filepath.Join(work, fmt.Sprintf("out.%d", i)))
		if err != nil {
			return // exampleRun told why
		}
		if line, ok := shownIn(want, string(got)); !ok {
			t.Errorf("block %d does not print %q; it prints\n%s", i+1, line, got)
		}
	}
}

// shownIn finds the lines of a text block in what was printed, in order, with any
// blanks and … for anything, and returns the first that is not there.
func shownIn(want, printed string) (missing string, ok bool) {
	lines := strings.Split(printed, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), " ")
	}
	for line := range strings.Lines(want) {
		if line = strings.Join(strings.Fields(line), " "); line == "" || line == "…" {
			continue
		}
		form := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + "$")
		at := slices.IndexFunc(lines, form.MatchString)
		if at < 0 {
			return line, false
		}
		lines = lines[at+1:]
	}
	return "", true
}

// TestShownIn shows that the comparison says no.
func TestShownIn(t *testing.T) {
	t.Parallel()
	printed := "a\tready\n\nb 0123abcd done\n"
	for want, missing := range map[string]string{
		"a ready\nb … done\n":    "",
		"a ready\n…\nb … done\n": "",
		"b … done\na ready\n":    "a ready",
		"a rea\n":                "a rea",
		"b done\n":               "b done",
	} {
		if got, ok := shownIn(want, printed); got != missing || ok != (missing == "") {
			t.Errorf("%q: missing %q, %t", want, got, ok)
		}
	}
}
