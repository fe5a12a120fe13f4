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

	"github.com/odd-cli/odd/cmd/internal/console"
)

// planted are the credentials of package secrets's table, put together: lines that hold
// one, and what must not be seen of each.
func planted(t *testing.T) (lines, values []string) {
	t.Helper()
	b, err := os.ReadFile("../reconcile/secrets/testdata/planted.tsv")
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

// plantation is a repository in whose files credentials stand, and what odd says of it.
type plantation struct {
	t             *testing.T
	env           console.Env
	out, talk     *bytes.Buffer
	lines, values []string
	all           string
	before        map[string]bool
}

// plant is a repository with the credentials in docs/secrets.md.
func plant(t *testing.T) *plantation {
	t.Helper()
	w := &plantation{t: t, before: map[string]bool{}}
	w.lines, w.values = planted(t)
	w.all = strings.Join(w.lines, "\n\n") + "\n"
	w.env, w.out, w.talk = gateEnv(t, strings.NewReader(""))
	whole := console.OS()
	w.env.Temp, w.env.Entropy, w.env.Environ, w.env.Sleep = t.TempDir(), whole.Entropy, whole.Environ, whole.Sleep
	w.git("config", "user.name", "ann")
	w.git("config", "user.email", "ann@example.org")
	w.odd("init")
	w.write("docs/secrets.md", "# Handbook\n\n"+w.all)
	return w
}

func (w *plantation) git(args ...string) string {
	w.t.Helper()
	b, err := exec.Command("git", append([]string{"-C", w.env.Dir}, args...)...).Output()
	if err != nil {
		w.t.Fatalf("git %q: %v", args, err)
	}
	return string(b)
}

// odd runs a verb and returns what it printed, in which nothing may stand.
func (w *plantation) odd(args ...string) []byte {
	w.t.Helper()
	w.out.Reset()
	w.talk.Reset()
	oneAtATime(w.env, append([]string{"odd"}, args...)...)
	w.leaks(fmt.Sprintf("stdout of %q", args), w.out.Bytes())
	w.leaks(fmt.Sprintf("stderr of %q", args), w.talk.Bytes())
	return bytes.Clone(w.out.Bytes())
}

// leaks tells which credentials stand in b, as they are or as JSON has them.
func (w *plantation) leaks(where string, b []byte) {
	w.t.Helper()
	for i, v := range w.values {
		if bytes.Contains(b, []byte(v)) {
			w.t.Errorf("%s shows %q", where, w.lines[i])
		}
	}
}

func (w *plantation) write(name, text string) {
	w.t.Helper()
	name = filepath.Join(w.env.Dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// commit adds files by a person's hand: what they hold is not odd's doing.
func (w *plantation) commit(files map[string]string) {
	w.t.Helper()
	old := map[string]bool{}
	for _, o := range w.objects() {
		old[o[0]] = true
	}
	for name, text := range files {
		w.write(name, text)
	}
	w.git("add", "-A")
	w.git("commit", "-qm", "inputs")
	for _, o := range w.objects() {
		if !old[o[0]] {
			w.before[o[0]] = true
		}
	}
}

// objects are the id and the kind of every object there is.
func (w *plantation) objects() (out [][2]string) {
	w.t.Helper()
	for line := range strings.Lines(w.git("cat-file", "--batch-all-objects", "--batch-check")) {
		f := strings.Fields(line)
		out = append(out, [2]string{f[0], f[1]})
	}
	return out
}

// kept looks at what odd left behind, at least least objects: a person's tasks, in
// whose frontmatter odd keeps the state, are as the person wrote them.
func (w *plantation) kept(least int) {
	w.t.Helper()
	for line := range strings.Lines(w.git("log", "--all", "--format=", "--raw", "--no-abbrev", "--", "knowledge/tasks")) {
		w.before[strings.Fields(line)[3]] = true
	}
	n := 0
	for _, o := range w.objects() {
		if !w.before[o[0]] && o[1] != "tree" {
			n++
			w.leaks(o[1]+" "+o[0], []byte(w.git("cat-file", o[1], o[0])))
		}
	}
	if n < least {
		w.t.Errorf("%d new objects", n)
	}
	err := filepath.WalkDir(filepath.Join(w.env.Dir, ".git"), func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.Contains(name, "/objects/") {
			return err
		}
		b, err := os.ReadFile(name)
		w.leaks(name, b)
		return err
	})
	if err != nil {
		w.t.Error(err)
	}
}

// TestPlantedSecretsAppearNowhere: what a session is given, what it says, what
// it writes on standard error and what it emits hold credentials, and none is in
// an object, a file or a line of output that was not there before.
func TestPlantedSecretsAppearNowhere(t *testing.T) {
	t.Parallel()
	w := plant(t)
	notes, err := json.Marshal(map[string]any{"schema": "odd.notes.1", "notes": []map[string]string{{"type": "O", "title": w.lines[4], "content": w.all}}})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"odd.toml":                     "[session]\nsubstrate = \"exec\"\n[substrate.exec]\nargv = [\"sh\", \"./agent/agent.sh\"]\nfree = true\n[governance]\nlease = \"off\"\n[persona.floor]\natoms = 0\nprocesses = 0\nguides = 0\n",
		"knowledge/roles/pilot.md":     "---\ntype: role\nid: pilot\ntitle: Pilot\n---\n\nSteers.\n",
		"knowledge/processes/steer.md": "---\ntype: process\nid: steer\ntitle: Steer\nowner: pilot\n---\n\nSteer.\n",
		"agent/agent.sh":               leakingAgent,
		"agent/emission.md":            "I read this:\n\n" + w.all + "\n```json\n" + string(notes) + "\n```\n",
		"agent/atom.md":                "```atom\n---\ntype: term\nid: leak\ntitle: Leak\n---\n\n" + w.all + "```\n",
	}
	for _, id := range []string{"said", "broken", "atom"} {
		files["knowledge/tasks/"+id+".md"] = fmt.Sprintf("---\ntype: task\nid: %s\ntitle: %q\nstate: ready\nkind: extract\nrole: pilot\ninputs: [docs/secrets.md]\nacceptance: [%q]\n---\n\n%s", id, "Read "+w.lines[8], w.lines[9], w.all)
	}
	w.commit(files)
	worked := string(w.odd("drain", "--max-tasks", "3"))
	if !strings.Contains(worked, "redacted:") || !strings.Contains(worked, "broken") {
		t.Fatalf("nothing was worked:\n%s\n%s", worked, w.talk)
	}
	for _, args := range [][]string{{"review"}, {"review", "said"}, {"log"}, {"log", "--json"}, {"status", "--json"}, {"journal", "list"}, {"op", "list"}} {
		w.odd(args...)
	}
	w.kept(10)
}

// TestPlantedSecretsAreNotListed: a credential in the title of a task, or in why
// it is blocked, stays out of every list of the board for a person.
func TestPlantedSecretsAreNotListed(t *testing.T) {
	t.Parallel()
	w := plant(t)
	files := map[string]string{}
	for i, line := range w.lines {
		files[fmt.Sprintf("knowledge/tasks/line-%d.md", i)] = fmt.Sprintf("---\ntype: task\nid: line-%d\ntitle: %q\nstate: blocked\nblocked_reason: %q\n---\n", i, "Read "+line, line)
	}
	w.commit(files)
	for _, args := range [][]string{{"task", "list"}, {"task", "list", "--all"}, {"task", "list", "--state", "blocked"}} {
		if got := bytes.Count(w.odd(args...), []byte("[redacted:")); got < 2*len(w.lines) {
			t.Errorf("%q: of %d credentials %d were taken out", args, 2*len(w.lines), got)
		}
	}
}
