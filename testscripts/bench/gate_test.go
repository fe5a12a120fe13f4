//go:build bench

package bench

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

var (
	histories = flag.String("histories", "", "git directories of projects, with commas between them, whose latest commits odd judges as if an agent had proposed them")
	unseen    = flag.String("unseen", "", "the same, of projects that the rules were not made with")
	judged    = flag.Int("commits", 300, "how many commits of each history are judged, without merges")
)

// verdicts is what the rules say about the commits of a project.
type verdicts struct {
	commits, refused, told int // told: nothing is refused, and something is told to the reviewer
	hard, soft             map[string]int
}

// TestBenchGate counts the commits of people that the rules about the content of a
// change would refuse. Which paths are protected and how large a change may be is left
// out: that is policy, and not a judgement.
func TestBenchGate(t *testing.T) {
	s := begin()
	var one sync.Mutex
	t.Run("projects", func(t *testing.T) { // side by side: nothing of this is timed
		for half, dirs := range map[string]string{"seen": *histories, "unseen": *unseen} {
			for _, dir := range strings.FieldsFunc(dirs, func(r rune) bool { return r == ',' }) {
				project := strings.Replace(path.Base(path.Dir(dir)), "+", "/", 1)
				t.Run(project, func(t *testing.T) {
					t.Parallel()
					v := judgeHistory(t, project, dir)
					one.Lock()
					defer one.Unlock()
					key := half + ", " + project
					s.Words[key+", hard"], s.Words[key+", soft"] = codeCounts(v.hard), codeCounts(v.soft)
					s.Figures = append(s.Figures, figure{Name: key, N: v.commits, Value: float64(v.refused), Runs: 1}, figure{Name: key + ", told", N: v.commits, Value: float64(v.told), Runs: 1})
					fmt.Printf("%s: %d commits, %d refused, %d told\n\thard: %s\n\tsoft: %s\n", project, v.commits, v.refused, v.told, codeCounts(v.hard), codeCounts(v.soft))
				})
			}
		}
	})
	if len(s.Figures) == 0 {
		t.Skip("no -histories to judge")
	}
	s.Words["note"] = stored(t, "gate").Words["note"] // a person writes it, who read the refusals
	slices.SortFunc(s.Figures, func(a, b figure) int { return strings.Compare(a.Name, b.Name) })
	s.end(t, "gate")
}

func judgeHistory(t *testing.T, project, dir string) verdicts {
	v := verdicts{hard: map[string]int{}, soft: map[string]int{}}
	repo := openObjects(t, dir)
	for _, commit := range strings.Fields(gitOf(t, dir, "rev-list", "--no-merges", fmt.Sprintf("--max-count=%d", *judged), "HEAD")) {
		files, beside := repo.change(commit)
		if len(files) == 0 {
			continue
		}
		v.commits++
		no, told := false, false
		for _, f := range lint.Judge(files, lint.Options{Beside: beside, Limits: lint.Limits{Files: 1 << 20, FileBytes: 1 << 30, TotalBytes: 1 << 30}}).Findings {
			switch {
			case strings.HasPrefix(f.Code, "protected_"), strings.HasPrefix(f.Code, "size_"):
			case f.Severity == policy.Soft:
				v.soft[f.Code]++
				told = true
			default:
				v.hard[f.Code]++
				no = true
				t.Logf("%s %.9s %v", project, commit, f)
			}
		}
		v.refused += btoi(no)
		v.told += btoi(told && !no)
	}
	return v
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// gated shows how often the rules refuse what people did.
func (p *page) gated() {
	p.say("## The iron gate")
	p.say("What [the rules about a change](reconcile/lint) say about the latest commits of public projects, without merges, as if an agent had proposed them: how many are refused, and of how many others something is told to the reviewer. Protected paths and the size of a change are left out. People made these commits, so a refusal may be false; how many are is counted by hand. Only the *seen* projects were used to improve the rules.")
	if note := p.gate.Words["note"]; note != "" {
		p.say("%s", note)
	}
	var rows [][]string
	for _, f := range p.gate.Figures {
		half, project, _ := strings.Cut(f.Name, ", ")
		told := p.gate.find(f.Name+", told", f.N)
		if told == nil {
			continue
		}
		hard := p.gate.Words[f.Name+", hard"]
		rows = append(rows, []string{project, half, fmt.Sprint(f.N), share(int(f.Value), f.N), share(int(told.Value), f.N), hard})
	}
	p.table([]string{"project", "half", "commits", "refused", "told", "why refused"}, rows)
}

func codeCounts(n map[string]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s %d", code, n[code]))
	}
	return strings.Join(out, ", ")
}

// objects reads the blobs of one repository through one git process.
type objects struct {
	t   *testing.T
	dir string
	in  io.Writer
	out *bufio.Reader
}

func openObjects(t *testing.T, dir string) objects {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", "--git-dir="+dir, "cat-file", "--batch")
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); c.Wait() })
	return objects{t, dir, in, bufio.NewReader(out)}
}

// blob is the content of an object.
func (o objects) blob(id string) []byte {
	fmt.Fprintln(o.in, id)
	var name, kind string
	var size int
	if _, err := fmt.Fscanf(o.out, "%s %s %d\n", &name, &kind, &size); err != nil {
		o.t.Fatalf("git cat-file %s: %v", id, err)
	}
	b := make([]byte, size+1) // and a line break
	if _, err := io.ReadFull(o.out, b); err != nil {
		o.t.Fatalf("git cat-file %s: %v", id, err)
	}
	return b[:size:size]
}

// change is what a commit changed, and the other files of the same kinds in the folders it
// touched, as odd sees them.
func (o objects) change(commit string) (files, beside []lint.File) {
	touched, kinds, folders := map[string]bool{}, map[string]bool{}, []string{}
	kind := func(name string) string { return path.Dir(name) + "/*" + path.Ext(name) }
	entries := strings.Split(gitOf(o.t, o.dir, "diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", "--root", commit), "\x00")
	for i := 0; i+1 < len(entries); i += 2 {
		cols, name := strings.Fields(entries[i]), entries[i+1]
		if strings.HasPrefix(cols[0], ":1[26]0000") || slices.Contains([]string{"120000", "160000"}, cols[1]) {
			continue
		}
		f := lint.File{Path: name}
		if strings.Trim(cols[2], "0") != "" {
			f.Before = o.blob(cols[2])
		}
		if strings.Trim(cols[3], "0") != "" {
			f.After = o.blob(cols[3])
		}
		files, touched[name], kinds[kind(name)], folders = append(files, f), true, true, append(folders, path.Dir(name)+"/")
	}
	parent, err := exec.Command("git", "--git-dir="+o.dir, "rev-parse", "-q", "--verify", commit+"^").Output()
	if err != nil || len(folders) == 0 {
		return files, nil
	}
	slices.Sort(folders)
	for _, entry := range strings.Split(gitOf(o.t, o.dir, append([]string{"ls-tree", "-z", strings.TrimSpace(string(parent)), "--"}, slices.Compact(folders)...)...), "\x00") {
		meta, name, ok := strings.Cut(entry, "\t")
		if !ok {
			continue
		}
		cols := strings.Fields(meta)
		if cols[1] == "blob" && kinds[kind(name)] && !touched[name] {
			beside = append(beside, lint.File{Path: name, Before: o.blob(cols[2])})
		}
	}
	return files, beside
}

func gitOf(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...)
	var fault bytes.Buffer
	c.Stderr = &fault
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, fault.String())
	}
	return string(out)
}
