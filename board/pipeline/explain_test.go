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
	code := regexp.MustCompile(`(?:f\.say\(|\bsay\(i, |p\.fault\(|f\.rest\(|Fault\{(?:Code: )?|Unusable\{\{Code: |Unfit[A-Z]\w+ += )"([a-z_-]+)"`)
	for _, dir := range []string{".", "../drain", "../../journal/repo"} {
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
				if !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(m[1], "missing_s") {
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
	var stops []StopReason
	for _, s := range Stops() {
		stops = append(stops, StopReason(s.Code))
	}
	if !slices.Equal(stops, stopReasons()) {
		t.Errorf("explained are %v, there are %v", stops, stopReasons())
	}
}

// stopReasons lists the codes in their order.
func stopReasons() []StopReason {
	return []StopReason{StopDeadline, StopTimebox, StopIterations, StopRuns, StopGenerate, StopEmpty, StopLines, StopFiles,
		StopUnusable, StopSandbox, StopEnv, StopCircle, StopStreak, StopClass}
}
