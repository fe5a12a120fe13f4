package repo

import (
	"fmt"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// What is told without a process is what git tells: ancestors near and far, of merges
// too, refs loose, packed and gone, an index with and without a conflict.
func TestToldAsGitTells(t *testing.T) {
	ctx := t.Context()
	r, base := fresh(t, "a", "1\n")
	all := []OID{base}
	for i := range 84 {
		parents := []OID{all[len(all)-1]}
		if i%7 == 3 {
			parents = append(parents, all[len(all)/2])
		}
		all = append(all, repotest.Must[OID](t)(r.Make(ctx, parents, changes("a", fmt.Sprint(i, "\n")), agent, "x")))
	}
	all = append(all, repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("b", "\n"), agent, "aside")))
	for i := 0; i < len(all); i += 12 {
		for j := 0; j < len(all); j += 11 {
			_, err := r.git.ReadLine(ctx, "merge-base", "--is-ancestor", string(all[i]), string(all[j]))
			if is := repotest.Must[bool](t)(r.Ancestor(ctx, all[i], all[j])); is != (err == nil) {
				t.Errorf("%d before %d: %t, git %v", i, j, is, err)
			}
		}
	}
	if _, err := r.Ancestor(ctx, OID(strings.Repeat("1", 40)), base); err == nil {
		t.Error("a commit that is not there has no answer")
	}

	refs := func(n int) {
		t.Helper()
		for _, prefix := range []string{"refs/odd/run/", "refs/odd/ru", "refs/odd/"} {
			out := repotest.Git(t, r.root, "for-each-ref", "--format=%(objectname) %(refname)", "refs/odd")
			var want []RefUpdate
			for line := range strings.Lines(out) {
				if oid, name, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, prefix) {
					want = append(want, RefUpdate{Name: name, New: OID(oid)})
				}
			}
			repotest.Eq(t, prefix, repotest.Must[[]RefUpdate](t)(r.Refs(prefix)), want)
		}
		repotest.Eq(t, "refs", len(repotest.Must[[]RefUpdate](t)(r.Refs("refs/odd/run/"))), n)
	}
	refs(0)
	repotest.Git(t, r.root, "update-ref", "refs/odd/run/x", string(base))
	repotest.Git(t, r.root, "update-ref", "refs/odd/runs", string(base))
	refs(1)
	repotest.Git(t, r.root, "pack-refs", "--all", "--prune")
	refs(1)
	repotest.Git(t, r.root, "update-ref", "refs/odd/run/a/b", string(all[3]))
	repotest.Git(t, r.root, "update-ref", "refs/odd/run/x", string(all[3]))
	refs(2)
	repotest.Git(t, r.root, "update-ref", "-d", "refs/odd/run/a/b")
	repotest.Git(t, r.root, "update-ref", "-d", "refs/odd/run/x")
	refs(0)

	repotest.Eq(t, "no conflict", len(r.Unmerged(ctx)), 0)
	one := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("a", "one\n"), agent, "x"))
	two := repotest.Must[OID](t)(r.Make(ctx, []OID{base}, changes("a", "two\n"), agent, "x"))
	repotest.Git(t, r.root, "reset", "-q", "--hard", string(one))
	if _, err := r.git.Run(ctx, gitcmd.Call{Args: []string{"merge", "-q", string(two)}}); err == nil {
		t.Fatal("no conflict")
	}
	for _, v := range []string{"2", "4"} {
		repotest.Git(t, r.root, "update-index", "--index-version", v)
		repotest.Eq(t, "conflicts", r.Unmerged(ctx), []string{"a"})
	}
}
