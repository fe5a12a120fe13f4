//go:build bench

package bench

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/reconcile/irongate"
)

var (
	histories = flag.String("histories", "", "git directories of projects, with commas between them, whose latest commits odd judges as if an agent had proposed them")
	judged    = flag.Int("commits", 300, "how many commits of each history are judged, without merges")
)

// TestBenchGate counts the commits of people that the rules about the content of a
// change would refuse. Which paths are protected and how large a change may be is left
// out: that is policy, and not a judgement.
func TestBenchGate(t *testing.T) {
	for _, dir := range strings.FieldsFunc(*histories, func(r rune) bool { return r == ',' }) {
		hard, soft, refused, commits := map[string]int{}, map[string]int{}, 0, 0
		for _, commit := range strings.Fields(gitOf(t, dir, "rev-list", "--no-merges", fmt.Sprintf("--max-count=%d", *judged), "HEAD")) {
			files, beside := changeOf(t, dir, commit)
			if len(files) == 0 {
				continue
			}
			commits++
			no := false
			for _, f := range irongate.Judge(files, irongate.Policy{Beside: beside, Limits: irongate.Limits{Files: 1 << 20, FileBytes: 1 << 30, TotalBytes: 1 << 30}}).Findings {
				switch {
				case strings.HasPrefix(f.Code, "protected_"), strings.HasPrefix(f.Code, "size_"):
				case f.Severity == irongate.Soft:
					soft[f.Code]++
				default:
					hard[f.Code]++
					no = true
					t.Logf("%s %.9s %s: %v", path.Base(path.Dir(dir)), commit, f.Code, f)
				}
			}
			if no {
				refused++
			}
		}
		fmt.Printf("%s: %d commits, %d refused (%.1f %%)\n\thard: %s\n\tsoft: %s\n", dir, commits, refused, 100*float64(refused)/float64(max(1, commits)), codeCounts(hard), codeCounts(soft))
	}
}

func codeCounts(n map[string]int) string {
	var out []string
	for _, code := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%s %d", code, n[code]))
	}
	return strings.Join(out, ", ")
}

// changeOf is what a commit changed, and the other files of the folders it touched.
func changeOf(t *testing.T, dir, commit string) (files, beside []irongate.File) {
	touched, folders := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(gitOf(t, dir, "diff-tree", "-r", "--no-renames", "--no-commit-id", "--root", commit)) {
		meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		cols := strings.Fields(meta)
		if strings.HasPrefix(cols[0], ":1[26]0000") || cols[1] == "160000" || cols[0] == ":160000" || cols[1] == "120000" || cols[0] == ":120000" {
			continue
		}
		f := irongate.File{Path: name}
		if strings.Trim(cols[2], "0") != "" {
			f.Before = blobOf(t, dir, cols[2])
		}
		if strings.Trim(cols[3], "0") != "" {
			f.After = blobOf(t, dir, cols[3])
		}
		files, touched[name], folders[path.Dir(name)] = append(files, f), true, true
	}
	if out, err := exec.Command("git", "--git-dir="+dir, "rev-parse", "-q", "--verify", commit+"^").Output(); err == nil {
		for folder := range folders {
			spec := strings.TrimSpace(string(out))
			for line := range strings.Lines(gitOf(t, dir, "ls-tree", spec, "--", folder+"/")) {
				meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				cols := strings.Fields(meta)
				if cols[1] == "blob" && strings.HasSuffix(name, ".go") && !touched[name] {
					beside = append(beside, irongate.File{Path: name, Before: blobOf(t, dir, cols[2])})
				}
			}
		}
	}
	return files, beside
}

func blobOf(t *testing.T, dir, id string) []byte { return []byte(gitOf(t, dir, "cat-file", "blob", id)) }

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
