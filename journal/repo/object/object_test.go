package object

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/odd-cli/odd/journal/repo/gitcmd"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

func TestMain(m *testing.M) { os.Exit(repotest.Run(m)) }

// testRepo is the objects of a repository with a work tree.
type testRepo struct {
	*DB
	root, common string
}

// fresh makes a repository with one commit of the files.
func fresh(t testing.TB, files ...string) (testRepo, OID) {
	t.Helper()
	dir := repotest.Fresh(t, nil, files...)
	return open(t, dir), OID(repotest.Git(t, dir, "rev-parse", "HEAD"))
}

func open(t testing.TB, dir string) testRepo {
	t.Helper()
	common := filepath.Join(dir, ".git")
	r := testRepo{New(gitcmd.New(dir, os.Environ()), common), dir, common}
	r.ReadPacks(repotest.Must[[]string](t)(Dirs(common)), func() (write, sync bool) { return true, false })
	return r
}
