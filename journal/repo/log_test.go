package repo

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// Log and Deletions say of every range what git says: of straight and long lines, of merges, of ends that are no
// ancestors, and of files that are deleted, renamed, or in a folder that is left out.
func TestRangesAreAsGitHasThem(t *testing.T) {
	ctx := t.Context()
	r, base := fresh(t, "k/a", "a file that is long enough to be found again\n", "k/out/b", "b\n", "k/c", "c\n", "other", "\n", "k/d", "d\n", "k/x/e", "e\n")
	const gone = "\x00"
	all := []OID{base}
	add := func(parents []OID, pairs ...string) {
		ch := Changes{}
		for i := 0; i < len(pairs); i += 2 {
			if ch[pairs[i]] = []byte(pairs[i+1]); pairs[i+1] == gone {
				ch[pairs[i]] = nil
			}
		}
		all = append(all, repotest.Must[OID](t)(r.Make(ctx, parents, ch, agent, "x")))
	}
	last := func() []OID { return all[len(all)-1:] }
	add(last(), "k/c", gone)
	add(last(), "k/c2", "c2\n")
	add(last(), "other", gone)
	add(last(), "k/out/b", gone)
	add(last(), "k/a", gone, "k/a2", "a file that is long enough to be found again\n")
	add([]OID{base}, "k/d", gone)
	aside := all[len(all)-1]
	add([]OID{all[len(all)-2], aside}, "k/d", gone)
	for i := range 257 {
		add(last(), "n", fmt.Sprint(i))
	}
	add(last(), "k/x/e", gone, "k/x", "a file in the place of its folder\n")

	at := []OID{base, all[1], all[4], all[5], aside, all[7], all[8], all[len(all)-1]}
	for i, from := range append(at, "") {
		for j, to := range at {
			span := []string{string(to)}
			if from != "" {
				span = append(span, "^"+string(from))
			}
			want := strings.Fields(repotest.Git(t, r.root, append([]string{"rev-list", "--topo-order"}, span...)...))
			var got []string
			for c, err := range r.Log(ctx, from, to) {
				got = append(got, string(repotest.Must[Commit](t)(c, err).OID))
			}
			repotest.Eq(t, fmt.Sprintf("log %d..%d", i, j), strings.Join(got, " "), strings.Join(want, " "))

			args := slices.Concat([]string{"log", "--no-merges", "--topo-order", "-M", "--diff-filter=D", "--name-only", "--format=%H"}, span, []string{"--", "k", ":!k/out"})
			var dels []string
			for _, d := range repotest.Must[[]Deletion](t)(r.Deletions(ctx, from, to, "k", "k/out")) {
				if !slices.Contains(dels, string(d.Commit)) {
					dels = append(dels, string(d.Commit))
				}
				dels = append(dels, d.Path)
			}
			repotest.Eq(t, fmt.Sprintf("deletions %d..%d", i, j), strings.Join(dels, " "), strings.Join(strings.Fields(repotest.Git(t, r.root, args...)), " "))
		}
	}
	for range r.Log(ctx, all[2], all[5]) {
		break // whoever stops early is not told more
	}
}

// LastChanges finds the last commit of each path, in the first commit too, whatever the name, and what a merge brought
// in where it was made.
func TestLastChanges(t *testing.T) {
	ctx := t.Context()
	r, base := fresh(t, "old.md", "a\n", "t\tt.md", "a\n", `q"q.md`, "a\n", "ä.md", "a\n", "same.md", "a\n")
	repotest.Git(t, r.root, "config", "log.showRoot", "false")
	side := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, Changes{`q"q.md`: []byte("b\n")}, agent, "x"))
	main := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, Changes{"t\tt.md": []byte("b\n")}, agent, "x"))
	merge := repotest.Must[OID](t)(r.Make(ctx, []OID{main, side}, Changes{`q"q.md`: []byte("b\n")}, agent, "x"))
	got := repotest.Must[map[string]OID](t)(r.LastChanges(ctx, merge, []string{"old.md", "t\tt.md", `q"q.md`, "ä.md", "none.md"}))
	want := map[string]OID{"old.md": base, "t\tt.md": main, `q"q.md`: side, "ä.md": base}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := r.LastChanges(ctx, OID(strings.Repeat("1", 40)), []string{"old.md"}); err == nil {
		t.Error("a commit that is not there has changes")
	}
}
