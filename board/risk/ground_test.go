package risk

import (
	"slices"
	"testing"
)

// A change does not write what is to judge it; what a check only reads it may.
func TestPrograms(t *testing.T) {
	t.Parallel()
	got := listPrograms([][]string{{"sh", "./check.sh"}, {"python3", "tool/lint.py", "x"}, {"./bin/run"}, {"sh", "-c", "true"}, {"/bin/true"}, {"grep", "-q", "x", "tool/a.txt"}, {"go", "test"}, {"sh", "check.sh"}})
	if want := []string{"bin/run", "check.sh", "tool/lint.py"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, argv := range [][]string{{"sh", "-e", "ci/x.sh"}, {"bash", "-eo", "pipefail", "ci/x.sh", "y"}, {"/bin/bash", "--norc", "+x", "ci/x.sh"}, {"env", "A=1", "./ci/x.sh"}, {"timeout", "-k", "1", "9", "ci/x.sh"},
		{"env", "nice", "-n", "5", "sh", "./ci/x.sh"}, {"sh", "-c", "true && ./ci/x.sh | tee log"}, {"bash", "-ec", "exec sh -u ci/x.sh"}, {"perl", "-I", "lib", "ci/x.sh"}, {"python3", "-W", "error", "-u", "ci/x.sh"}, {"node", "-r", "./a.js", "ci/x.sh"},
		{"ruby", "-Itest", "ci/x.sh"}, {"ruby", "-rbundler/setup", "-W:no-deprecated", "ci/x.sh"}, {"perl", "-MTest::More", "-Ilib/some", "ci/x.sh"}, {"python3.12", "-Wignore::ImportWarning", "ci/x.sh"},
		{"bash", "--rcfile", "/dev/null", "ci/x.sh"}, {"node", "--require", "./a.js", "ci/x.sh"}, {"nodejs", "ci/x.sh"}, {"php", "-d", "a=b", "ci/x.sh"}} {
		if got := listPrograms([][]string{argv}); !slices.Equal(got, []string{"ci/x.sh"}) {
			t.Errorf("%q: %q", argv, got)
		}
	}
	if got := listPrograms([][]string{{"python3", "-m", "pytest"}, {"node", "-e", "ci/x.js"}, {"sh", "-s", "x"}, {"bash"}, {"env"}, {}}); len(got) > 0 {
		t.Errorf("%q, want none", got)
	}
}
