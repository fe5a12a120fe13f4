package verify

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/journal/repo"
)

// TestHistories judges 200 stored histories, legal and tampered, and wants the findings that
// testdata/histories.txt tells of each. No code of today makes them: a change of the rules, of
// the reader or of what plans commits shows here as a difference.
//
// A line "NUMBER FROM TO # what it is" names a git bundle of histories.zip and the range that is
// judged, "-" for the whole history. A line that begins with a tab is a finding: the rule, the
// commit and the path. A difference is decided by a person: the file is edited by hand.
func TestHistories(t *testing.T) {
	t.Parallel()
	stored, err := zip.OpenReader(filepath.Join("testdata", "histories.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	text, err := os.ReadFile(filepath.Join("testdata", "histories.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	turns := make(chan struct{}, 4)
	n := 0
	for entry := range strings.SplitSeq(strings.ReplaceAll(strings.TrimSpace(string(text)), "\n\t", "\t"), "\n") {
		fields := strings.Split(entry, "\t")
		head, what, _ := strings.Cut(fields[0], " # ")
		f := strings.Fields(head)
		if len(f) != 3 {
			t.Fatalf("histories.txt: %q names no history and range", head)
		}
		n++
		all.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			got, err := judgeStored(t.Context(), t.TempDir(), &stored.Reader, f)
			if err != nil {
				t.Errorf("%s (%s): %v", f[0], what, err)
			}
			if d := cmp.Diff(fields[1:], got); d != "" {
				t.Errorf("%s (%s):\n%s", f[0], what, d)
			}
		})
	}
	if all.Wait(); n != 200 {
		t.Errorf("judged %d histories, want 200", n)
	}
}

// judgeStored returns the findings of one stored history.
func judgeStored(ctx context.Context, dir string, stored *zip.Reader, f []string) ([]string, error) {
	from := f[1]
	if from == "-" {
		from = ""
	}
	in, err := stored.Open(f[0] + ".bundle")
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "bundle"), b, 0o666)
	}
	if err == nil {
		err = os.CopyFS(dir, os.DirFS(empty()))
	}
	if err != nil {
		return nil, err
	}
	unbundle := exec.CommandContext(ctx, "git", "bundle", "unbundle", "bundle") // which prints the refs
	unbundle.Dir = dir
	told, err := unbundle.Output()
	var refs strings.Builder
	for line := range strings.Lines(string(told)) {
		if strings.Contains(line, " refs/") {
			refs.WriteString(line)
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, ".git", "packed-refs"), []byte(refs.String()), 0o666)
	}
	if err != nil {
		return nil, fmt.Errorf("git bundle unbundle: %w", err)
	}
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		return nil, err
	}
	report, err := CheckScope(ctx, r, Scope{From: repo.OID(from), To: repo.OID(f[2])})
	out := []string{}
	for _, one := range report.Findings {
		out = append(out, fmt.Sprintf("%d %.10s %s", one.Invariant, one.Commit, one.Path))
	}
	return out, err
}
