package pipeline

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every code that stands in the sources is explained, and no other.
func TestEveryCodeIsExplained(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	code := regexp.MustCompile(`(?:Fault\{(?:Code: )?|Unusable\{\{(?:Code: )?|Unfit[A-Z]\w+ += )"([a-z_-]+)"`)
	for _, dir := range []string{".", "../drain", "../../journal/repo/scratch"} {
		names, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range code.FindAllStringSubmatch(string(b), -1) {
				if !strings.HasSuffix(name, "_test.go") {
					said[m[1]] = true
				}
			}
		}
	}
	var known []string
	for _, f := range Faults() {
		known = append(known, f.Code)
		if !said[f.Code] {
			t.Errorf("%s: explained, and nothing says it", f.Code)
		}
	}
	if !slices.IsSorted(known) {
		t.Error("not sorted")
	}
	for c := range said {
		if !slices.Contains(known, c) {
			t.Errorf("%s: nothing explains it", c)
		}
	}
}

// stopReasons lists the codes that a repair of today can stop for, in their order.
func stopReasons() []StopReason {
	return []StopReason{StopDeadline, StopTimebox, StopIterations, StopGenerate, StopUnusable, StopSandbox, StopEnv, StopCircle, StopStreak}
}

// Every reason to stop a repair is explained.
func TestEveryStopIsExplained(t *testing.T) {
	t.Parallel()
	for _, s := range stopReasons() {
		if lookUp(Stops(), string(s)) == "" {
			t.Errorf("%s: nothing explains it", s)
		}
	}
}
