package testscripts

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/cmd"
)

// said runs odd in an empty world and returns what it prints.
func said(t *testing.T, args ...string) string {
	t.Helper()
	var out, talk bytes.Buffer
	env := cmd.OS()
	env.Stdin, env.Stdout, env.Stderr, env.Dir = strings.NewReader(""), &out, &talk, t.TempDir()
	env.Now = func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }
	env.Getenv = func(string) string { return "" }
	env.Terminal, env.Live = false, false
	if code := cmd.Main(env, append([]string{"odd"}, args...)...); code != 0 {
		t.Fatalf("odd %s: exit code %d: %s", strings.Join(args, " "), code, talk.String())
	}
	return out.String()
}

// documents are the files a person reads before typing.
func documents(t *testing.T) []string {
	t.Helper()
	files, err := tracked()
	if err != nil {
		t.Skipf("git ls-files: %v", err) // a source archive has no git
	}
	return slices.DeleteFunc(files, func(f string) bool {
		return f != "README.md" && f != "CHANGELOG.md" && !strings.HasPrefix(f, "knowledge/")
	})
}

var (
	span  = regexp.MustCompile("`(odd [^`]+)`")
	block = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$")
	verb  = regexp.MustCompile(`^[a-z][a-z-]+$`)
	flags = regexp.MustCompile(`--[a-z][a-z-]*`)
)

// commands are the command lines of odd that a document shows, in code spans
// and in shell blocks, comments cut off.
func commands(text string) (lines []string) {
	for _, m := range span.FindAllStringSubmatch(block.ReplaceAllString(text, ""), -1) {
		lines = append(lines, m[1])
	}
	for _, m := range block.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[1]) {
			line, _, _ = strings.Cut(line, " #")
			for one := range strings.SplitSeq(strings.TrimPrefix(line, "$ "), "&&") {
				if f := strings.Fields(one); len(f) > 1 && f[0] == "odd" {
					lines = append(lines, strings.Join(f, " "))
				}
			}
		}
	}
	return lines
}

// TestDocumentsNameWhatIsThere: whatever a document tells a person to type has
// a verb that odd has, and flags that the verb has.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	page := func(verb string) string {
		if _, ok := pages[verb]; !ok {
			pages[verb] = said(t, append([]string{"help"}, strings.Fields(verb)...)...)
		}
		return pages[verb]
	}
	verbs := regexp.MustCompile(`(?m)^  ([a-z-]+)  `).FindAllStringSubmatch(page("all"), -1)
	known := map[string]bool{"help": true}
	for _, v := range verbs {
		known[v[1]] = true
	}
	seen := 0
	for _, name := range documents(t) {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			continue // deleted and not yet committed
		}
		for _, line := range commands(string(b)) {
			f := strings.Fields(line)
			if !verb.MatchString(f[1]) {
				continue
			}
			seen++
			if !known[f[1]] {
				t.Errorf("%s: %q: odd has no verb %s", name, line, f[1])
				continue
			}
			help := page(f[1])
			at := f[1]
			for _, word := range f[2:] {
				if !verb.MatchString(word) || !strings.Contains(help, "\n  "+word+" ") {
					break
				}
				at += " " + word
				help = page(at)
			}
			for _, flag := range flags.FindAllString(line, -1) {
				if !strings.Contains(help, flag) {
					t.Errorf("%s: %q: odd %s has no %s", name, line, f[1], flag)
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d commands found in the documents", seen)
	}
}

// fenced finds the body of the first fenced block of a language.
func fenced(text, lang string) (from, to int) {
	from = strings.Index(text, "\n```"+lang+"\n") + len(lang) + 5
	return from, from + strings.Index(text[from:], "```\n")
}

// TestReadme: its transcript is what the script readme_transcript got, it
// ends before a reader does. With
// -update it is rewritten, after the script.
func TestReadme(t *testing.T) {
	t.Parallel()
	file := filepath.Join(root, "README.md")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	readme := string(b)
	for lang, want := range map[string]string{"console": fileOf(t, "readme_transcript", "want")} {
		from, to := fenced(readme, lang)
		if to < from {
			t.Fatalf("README.md: no ```%s block", lang)
		}
		if readme[from:to] == want {
			continue
		}
		if !*update {
			t.Errorf("README.md: the ```%s block is not what odd prints; go test ./testscripts -run Readme -update\n%s", lang, want)
		}
		readme = readme[:from] + want + readme[to:]
	}
	if *update && readme != string(b) {
		if err := os.WriteFile(file, []byte(readme), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(readme, "\n"); n > 180 {
		t.Errorf("README.md: %d lines, want at most 180", n)
	}
	for i, line := range strings.Split(block.ReplaceAllString(readme, ""), "\n") {
		if n := utf8.RuneCountInString(line); n > 120 && !strings.HasPrefix(line, "|") {
			t.Errorf("README.md: %d columns in line %d of its prose, want at most 120: %s", n, i+1, line)
		}
	}
	from, to := fenced(readme, "toml")
	if _, err := config.Parse("README.md", []byte(readme[from:to])); err != nil {
		t.Error(err)
	}
	_, codeMap, _ := strings.Cut(readme, "## Where to read")
	for _, p := range wrongMap(codeMap, packages(t)) {
		t.Errorf("README.md: %s", p)
	}
}

// TestSettingsOfPages: what a page of the bundle says to put into odd.toml, odd reads.
func TestSettingsOfPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(root, "knowledge/systems/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(b, []byte("\n```toml\n")) {
			continue
		}
		read++
		from, to := fenced(string(b), "toml")
		if _, err := config.Parse(page, b[from:to]); err != nil {
			t.Error(err)
		}
	}
	if read < 5 {
		t.Errorf("%d pages with settings, want those of five agents", read)
	}
}

// wrongMap is what is wrong with a code map: a package at the top that it leaves out,
// and a path it names where none is.
func wrongMap(text string, there map[string]bool) []string {
	var wrong []string
	for _, dir := range slices.Sorted(maps.Keys(there)) {
		if !strings.Contains(dir, "/") && !strings.Contains(text, "`"+dir+"`") {
			wrong = append(wrong, "does not say what "+dir+" is")
		}
	}
	for i, name := range strings.Split(text, "`") {
		if i%2 == 1 && !strings.Contains(name, " ") && !there[name] {
			wrong = append(wrong, "says what "+name+" is, which is no package")
		}
	}
	return wrong
}

// TestWrongMap shows that the code map's check says no.
func TestWrongMap(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"okf": true, "board": true, "board/gate": true}
	for text, want := range map[string]string{
		"`okf`, `board`, `board/gate`: see `go doc .`": "",
		"`okf` and `board/gate`":                       "does not say what board is",
		"`okf`, `board`, `gone`":                       "says what gone is, which is no package",
	} {
		if got := strings.Join(wrongMap(text, there), "; "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// fileOf is a file of a script.
func fileOf(t *testing.T, script, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/" + script + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	t.Fatalf("%s.txtar: no %s", script, name)
	return ""
}

// TestReadmePromises: every promise of the README names scripts that are there.
func TestReadmePromises(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(b), "| promise | tested by |")
	if !ok {
		t.Fatal("README.md has no table of promises")
	}
	rows := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			if rows > 0 {
				break
			}
			continue
		}
		if strings.HasPrefix(cells[2], "---") || strings.TrimSpace(cells[2]) == "tested by" {
			continue
		}
		rows++
		for name := range strings.SplitSeq(cells[2], ",") {
			if _, err := os.Stat(filepath.Join("testdata", strings.TrimSpace(name)+".txtar")); err != nil {
				t.Errorf("README.md: promise %q: %v", strings.TrimSpace(cells[1]), err)
			}
		}
	}
	tamper := ""
	names, _ := filepath.Glob(filepath.Join(root, "board", "verify", "*_test.go"))
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tamper += string(b)
	}
	for _, r := range rules.All() {
		if !strings.Contains(table, fmt.Sprintf("| %d · ", r.N)) {
			t.Errorf("README.md: no row for rule %d, %s", r.N, r.Name)
		}
		if !regexp.MustCompile(fmt.Sprintf("[\"`]%d [a-z]", r.N)).MatchString(tamper) {
			t.Errorf("board/verify: no row of its tests breaks rule %d, %s", r.N, r.Name)
		}
	}
	if rows != len(rules.All()) {
		t.Errorf("%d promises read, want %d", rows, len(rules.All()))
	}
}
