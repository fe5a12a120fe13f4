package testscripts

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var kills = flag.Int("kills", 8, "how often a drain is killed while it makes a change; make torture kills 500")

// manyFiles is how many files the change of TestKilledChange writes.
const manyFiles = 12

// killed is one repository whose drain is killed.
type killed struct {
	*testing.T
	dir string // of the repository
	env []string
	now time.Time
}

// run runs a program in the repository at its clock.
func (k *killed) run(ctx context.Context, argv ...string) (string, error) {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir = k.dir
	at := k.now.Format(time.RFC3339)
	c.Env = append(append(os.Environ(), k.env...), varNow+"="+at, "GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := c.CombinedOutput()
	return string(out), err
}

func (k *killed) must(argv ...string) string {
	k.Helper()
	out, err := k.run(k.Context(), argv...)
	if err != nil {
		k.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return out
}

// newKilled is a repository with one task, whose replayed session writes many
// files outside the bundle and an atom.
func newKilled(t *testing.T) *killed {
	t.Helper()
	home := t.TempDir()
	k := &killed{T: t, dir: home}
	k.env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "TMPDIR=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", varSeed + "=" + filepath.Join(home, "seed")}
	var err error
	if k.now, err = time.Parse(time.RFC3339, begin); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitconfig", gitConfig)
	k.must("odd", "demo", "shop")
	k.dir = filepath.Join(home, "shop")
	var files []string
	for i := range manyFiles {
		files = append(files, fmt.Sprintf(`{"file_path": "tool/%02d.txt", "full_content": "%d\n"}`, i, i))
	}
	write("odd.toml", "session = {substrate = \"replay\"}\nsubstrate.replay.file = \"agent\"\ngovernance.lease = \"off\"\npipeline.validate = [[\"test\", \"-f\", \"tool/00.txt\"]]\n")
	write("agent/many.md", "```change\n{\"schema_version\": \"2b.1\", \"candidates\": [{\"candidate_id\": \"c\", \"rationale\": \"many\", \"files\": ["+strings.Join(files, ",\n")+"]}]}\n```\n\n"+
		"```atom\n---\ntype: term\nid: swarm\n---\n```\n\n```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n")
	write("knowledge/tasks/many.md", "---\ntype: task\nid: many\ntitle: Many\nstate: ready\nkind: implement\nrole: shore-lead\npaths: [tool/**]\n---\n")
	k.must("git", "add", "-A")
	k.must("git", "commit", "-qm", "many files wanted")
	return k
}

// sound is what holds after every instant: history proves itself, and a review
// branch has all of the change or is not there.
func (k *killed) sound(when string) {
	k.Helper()
	if out, err := k.run(k.Context(), "odd", "check", "--all"); err != nil {
		k.Fatalf("%s: odd check --all: %v\n%s", when, err, out)
	}
	refs := strings.Fields(k.must("git", "for-each-ref", "--format=%(refname)", "refs/heads/odd/review/many.*"))
	for _, ref := range refs {
		if n := len(strings.Fields(k.must("git", "ls-tree", "-r", "--name-only", ref, "tool", "knowledge/terms/swarm.md"))); n != manyFiles+1 {
			k.Fatalf("%s: %s has %d files of the change, want %d or no branch", when, ref, n, manyFiles+1)
		}
	}
	state := k.must("git", "show", "HEAD:knowledge/tasks/many.md")
	if review := strings.Contains(state, "\nstate: review"); review != (len(refs) > 0) {
		k.Fatalf("%s: the branches %v, and the task is\n%s", when, refs, state)
	}
	if out := k.must("git", "status", "--porcelain"); out != "" {
		k.Fatalf("%s: the work tree is not clean\n%s", when, out)
	}
}

// told holds the ops that claims announced to what odd lists of them: all are
// there, the one that waits and, of each run that died, one that was abandoned.
func (k *killed) told(when string) {
	k.Helper()
	var ops []struct{ Op, Run, Phase, Reason string }
	if err := json.Unmarshal([]byte(k.must("odd", "op", "list", "--all", "--json")), &ops); err != nil {
		k.Fatalf("%s: %v", when, err)
	}
	claims := strings.Split(strings.TrimSpace(k.must("git", "grep", "-h", "-e", `"kind":"claim"`, "--and", "-e", `"op":"op-`, "HEAD", "--", "knowledge/ledger")), "\n")
	if len(claims) != len(ops) || len(claims) > 2 {
		k.Fatalf("%s: %d claims and the ops %v", when, len(claims), ops)
	}
	for _, o := range ops {
		claim := claims[slices.IndexFunc(claims, func(c string) bool { return strings.Contains(c, `"run":"`+o.Run+`"`) })]
		if !strings.Contains(claim, `"op":"`+o.Op+`"`) || o.Phase != "waiting" && o.Reason != "abandoned" {
			k.Fatalf("%s: %+v, and the claim\n%s", when, o, claim)
		}
	}
	if last := ops[len(ops)-1]; last.Reason == "abandoned" {
		k.must("odd", "op", "show", last.Op)
		if trace := k.must("odd", "op", "trace", last.Op); !strings.Contains(trace, "abandoned") {
			k.Fatalf("%s: %s", when, trace)
		}
	}
}

// TestKilledChange kills the process of a drain at random instants while it takes
// a change of many files through the pipeline.
func TestKilledChange(t *testing.T) {
	t.Parallel()
	whole := time.Duration(0)
	for i := range *kills + 1 {
		k := newKilled(t)
		ctx, cancel := k.Context(), context.CancelFunc(func() {})
		if i > 0 { // the first is left alone, and says how long it takes
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rand.Int64N(int64(whole))))
		}
		began := time.Now()
		_, err := k.run(ctx, "odd", "drain")
		cancel()
		if i == 0 {
			if whole = time.Since(began); err != nil {
				t.Fatal(err)
			}
		}
		when := fmt.Sprintf("kill %d", i)
		if out, err := k.run(t.Context(), "odd", "status"); err != nil { // a verb that finishes what was begun
			t.Fatalf("%s: %v\n%s", when, err, out)
		}
		k.sound(when)
		k.now = k.now.Add(time.Hour)
		k.must("odd", "drain")
		if state := k.must("git", "show", "HEAD:knowledge/tasks/many.md"); !strings.Contains(state, "\nstate: review") {
			t.Fatalf("%s: the next drain left the task as\n%s", when, state)
		}
		k.sound(when + ", drained again")
		k.told(when)
		os.RemoveAll(filepath.Dir(k.dir))
	}
}
