package repo

import (
	"errors"
	"fmt"
	"testing"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

// A ref is found wherever git keeps it, and not where it no longer is.
func TestPackedRefs(t *testing.T) {
	r, base := fresh(t, "a", "1\n")
	next := repotest.Must[OID](t)(r.Make(t.Context(), []OID{base}, changes("a", "2\n"), agent, "x"))
	at := func(name string, want OID) {
		t.Helper()
		got, err := r.Ref(name)
		if want == "" && !errors.Is(err, ErrNoRef) || want != "" && err != nil || got != want {
			t.Fatalf("%s: %q %v, want %q", name, got, err, want)
		}
	}
	at("refs/odd/run/x", "")
	repotest.Git(t, r.root, "update-ref", "refs/odd/run/x", string(base))
	repotest.Git(t, r.root, "tag", "-a", "-m", "one", "v1")
	at("refs/odd/run/x", base)
	repotest.Git(t, r.root, "pack-refs", "--all", "--prune")
	at("refs/odd/run/x", base)
	at("refs/odd/run", "")
	at("refs/heads/main", base)
	at("refs/heads/main/below", "")
	at("refs/tags/v1", OID(repotest.Git(t, r.root, "rev-parse", "refs/tags/v1")))
	repotest.Git(t, r.root, "update-ref", "refs/odd/run/x", string(next)) // loose over packed
	at("refs/odd/run/x", next)
	repotest.Git(t, r.root, "update-ref", "-d", "refs/odd/run/x")
	at("refs/odd/run/x", "")
	repotest.Git(t, r.root, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
	at("refs/heads/alias", base)
	for i := range 20 { // each time packed-refs is another file
		name := fmt.Sprint("refs/odd/n/", i)
		repotest.Git(t, r.root, "update-ref", name, string(base))
		repotest.Git(t, r.root, "pack-refs", "--all")
		at(name, base)
	}
}
