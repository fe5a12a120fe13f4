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

// TestUnrepaired: the words come first, then the code that odd explain knows; what was said
// stays where it is the reason, and not where it only repeats what failed.
func TestUnrepaired(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]string{
		"no_progress_streak; test: sh want.sh: exit 1":             "several tries in a row made nothing better [no_progress_streak]",
		"timebox_exhausted":                                        "the repair took as long as [pipeline] repair_timebox allows; raise it in odd.toml if the checks alone take that long [timebox_exhausted]",
		"generate_error:error: the agent changed nothing":          "the agent's next try failed [generate_error:error]: the agent changed nothing",
		"diff_expansion_rejected: it changes 900 lines in 1 files": "the repair changes more lines than a repair may [diff_expansion_rejected]: it changes 900 lines in 1 files",
		"something else":                                           "something else",
	} {
		if got := Unrepaired(note); got != want {
			t.Errorf("%q: %q, want %q", note, got, want)
		}
	}
}
