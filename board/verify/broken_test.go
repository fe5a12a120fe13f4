package verify

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
)

// Whatever object is missing, a check of the whole history fails, and no finding hides that, unless no rule reads that
// object.
func TestABrokenStoreIsNoCleanHistory(t *testing.T) {
	t.Parallel()
	s := begin(t, lawWith(t, ""), nil)
	s.ann("a larger month", repo.Changes{"odd.toml": []byte(strings.Replace(law, "1.20", "1.80", 1))})
	s.tellAll()
	s.tellGovernance()
	s.tellChanges()
	s.approve(ofFiles(s, docChange(), nil), false)
	s.check("", s.tip())
	objects := strings.Split(strings.TrimSpace(s.git("", "rev-list", "--objects", string(s.tip()))), "\n")
	if len(objects) < 100 {
		t.Fatalf("%d objects", len(objects))
	}
	unread := regexp.MustCompile(`^(README\.md|knowledge/(canon/.*|journal/.*\.tsv|tasks/earlier\.md|pause\.toml))$`) // no rule asks what is in them
	tried := map[string]int{}
	for _, line := range objects {
		oid, path, _ := strings.Cut(line, " ")
		if tried[path]++; path != "" && (tried[path] > 1 || len(tried)%3 != 0) || tried[path]%8 != 1 {
			continue // the first object of every third path, and every eighth commit, are enough
		}
		at := filepath.Join(s.r.CommonDir(), "objects", oid[:2], oid[2:])
		if err := os.Rename(at, at+"~"); err != nil {
			t.Fatal(err)
		}
		r, err := repo.Open(s.r.Root(), os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		if rep, err := Check(t.Context(), r, "", s.tip()); err == nil {
			if !unread.MatchString(path) {
				t.Errorf("judged without %s %q: %v", oid, path, rep.Findings)
			}
		}
		if err := os.Rename(at+"~", at); err != nil {
			t.Fatal(err)
		}
	}
}
