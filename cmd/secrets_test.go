package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// planted are the credentials of irongate's table, put together: lines that hold
// one, and what must not be seen of each.
func planted(t *testing.T) (lines, values []string) {
	t.Helper()
	b, err := os.ReadFile("../reconcile/irongate/testdata/planted.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(b)) {
		if cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t"); row[0] != '#' {
			for i := range cells {
				cells[i] = strings.ReplaceAll(cells[i], "|", "")
			}
			lines, values = append(lines, strings.Join(cells[1:], "")), append(values, cells[2])
		}
	}
	return lines, values
}

const leakingAgent = `case $ODD_TASK in
*broken) cat "$(dirname "$0")/../docs/secrets.md" >&2; exit 3 ;;
*atom) cat "$(dirname "$0")/atom.md" ;;
*) cat; cat "$(dirname "$0")/../docs/secrets.md" >&2; cat "$(dirname "$0")/emission.md" ;;
esac
printf '\n` + "```json\\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\\n```" + `\n'
`

// TestPlantedSecretsAppearNowhere: what a session is given, what it says, what
// it writes on standard error and what it emits hold credentials, and none is in
// an object, a file or a line of output that was not there before.
func TestPlantedSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	lines, values := planted(t)
	env, out, talk := gateEnv(t, strings.NewReader(""))
	whole := OS()
	env.Temp, env.Entropy, env.Environ, env.Sleep = t.TempDir(), whole.Entropy, whole.Environ, whole.Sleep
	git := func(args ...string) string {
		t.Helper()
		b, err := exec.Command("git", append([]string{"-C", env.Dir, "-c", "user.name=ann", "-c", "user.email=ann@example.org"}, args...)...).Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(b)
	}
	git("config", "user.name", "ann")
	git("config", "user.email", "ann@example.org")
	odd := func(args ...string) { Main(env, append([]string{"odd"}, args...)...) }
	odd("init")
	all := strings.Join(lines, "\n\n") + "\n"
	notes, err := json.Marshal(map[string]any{"schema": "odd.notes.1", "notes": []map[string]string{{"type": "O", "title": lines[4], "content": all}}})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"odd.toml":                     "[session]\nsubstrate = \"exec\"\n[substrate.exec]\nargv = [\"sh\", \"./agent/agent.sh\"]\nfree = true\n[governance]\nlease = \"off\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\n",
		"docs/secrets.md":              "# Handbook\n\n" + all,
		"knowledge/roles/pilot.md":     "---\ntype: role\nid: pilot\ntitle: Pilot\n---\n\nSteers.\n",
		"knowledge/processes/steer.md": "---\ntype: process\nid: steer\ntitle: Steer\nowner: pilot\n---\n\nSteer.\n",
		"agent/agent.sh":               leakingAgent,
		"agent/emission.md":            "I read this:\n\n" + all + "\n```json\n" + string(notes) + "\n```\n",
		"agent/atom.md":                "```atom\n---\ntype: term\nid: leak\ntitle: Leak\n---\n\n" + all + "```\n",
	}
	for _, id := range []string{"said", "broken", "atom"} {
		files["knowledge/tasks/"+id+".md"] = fmt.Sprintf("---\ntype: task\nid: %s\ntitle: %q\nstate: ready\nkind: extract\nrole: pilot\ninputs: [docs/secrets.md]\nacceptance: [%q]\n---\n\n%s", id, "Read "+lines[8], lines[9], all)
	}
	for name, text := range files {
		name = filepath.Join(env.Dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git("add", "-A")
	git("commit", "-qm", "inputs")
	before := map[string]bool{}
	for line := range strings.Lines(git("cat-file", "--batch-all-objects", "--batch-check")) {
		before[line[:40]] = true
	}
	odd("drain", "--max-tasks", "3")
	for _, args := range [][]string{{"review"}, {"review", "said"}, {"log"}, {"log", "--json"}, {"status", "--json"}, {"journal", "list"}, {"op", "list"}, {"task", "show", "said", "--json"}} {
		if args[0] != "task" { // which prints what a person wrote
			odd(args...)
		}
	}
	if !strings.Contains(out.String(), "redacted:") || !strings.Contains(out.String(), "broken") {
		t.Fatalf("nothing was worked:\n%s\n%s", out, talk)
	}
	leaks := func(where string, b []byte) {
		for i, v := range values {
			if bytes.Contains(b, []byte(v)) {
				t.Errorf("%s shows %q", where, lines[i])
			}
		}
	}
	leaks("stdout", out.Bytes())
	leaks("stderr", talk.Bytes())
	own := map[string]bool{}
	for line := range strings.Lines(git("log", "--all", "--format=", "--raw", "--no-abbrev", "--", "knowledge/tasks")) {
		own[strings.Fields(line)[3]] = true // a person's text, in whose frontmatter odd keeps the state
	}
	n := 0
	for line := range strings.Lines(git("cat-file", "--batch-all-objects", "--batch-check")) {
		if id, kind := line[:40], strings.Fields(line)[1]; !before[id] && !own[id] && kind != "tree" {
			n++
			leaks(kind+" "+id, []byte(git("cat-file", kind, id)))
		}
	}
	if n < 10 {
		t.Errorf("%d new objects", n)
	}
	err = filepath.WalkDir(filepath.Join(env.Dir, ".git"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(name, "/objects/") {
			return err
		}
		b, err := os.ReadFile(name)
		leaks(name, b)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
