package repo

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

func TestBlame(t *testing.T) {
	t.Parallel()
	r, base := fresh(t, "a b.txt", "one\ntwo\nthree\n", ".gitattributes", "* diff=evil\n")
	repotest.Git(t, r.Root(), "config", "diff.evil.textconv", "false")
	got := string(repotest.Must[[]byte](t)(r.Blame(t.Context(), base, "a b.txt", 2, 3)))
	if n := strings.Count(got, "\n"); n != 2 || !strings.Contains(got, "two") || strings.Contains(got, "one") {
		t.Errorf("blame of lines 2 to 3:\n%s", got)
	}
	for _, path := range []string{"", "gone.txt", "--contents=/etc/passwd", "../x"} {
		if b, err := r.Blame(t.Context(), base, path, 1, 1); err == nil {
			t.Errorf("%q: %s", path, b)
		}
	}
	if _, err := r.Blame(t.Context(), "HEAD", "a b.txt", 1, 1); err == nil {
		t.Error("a name that is no id was taken")
	}
}
