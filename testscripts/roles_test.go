package testscripts

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/knowledge"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// TestEveryRoleCanBeBound: each role that we ship is a constitution with enough
// in it for an express session at every strictness, each tension on lines of its own.
func TestEveryRoleCanBeBound(t *testing.T) {
	t.Parallel()
	for name, tree := range map[string]fs.FS{
		"our bundle": os.DirFS(root), "starter": laidOut(knowledge.Starter()), "demo": laidOut(knowledge.Demo()),
	} {
		bundle, err := fs.Sub(tree, "knowledge")
		if err != nil {
			t.Fatal(err)
		}
		g, _, err := okf.Load(bundle)
		if err != nil {
			t.Fatal(err)
		}
		c := anchor.Charters{Files: tree, Atoms: g.Atoms(), Bundle: "knowledge"}
		roles := c.Roles()
		if len(roles) == 0 {
			t.Errorf("%s: no roles", name)
		}
		for _, role := range roles {
			con, err := c.Find(role)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			ts, problems := anchor.Tensions(con, anchor.Deep)
			proof := anchor.Proof{Tensions: ts, Commit: anchor.Commit{Artifact: "docs/new.md", Gate: "go test ./..."}}
			_, more := anchor.JudgeProof(proof, anchor.Judging{Strictness: anchor.Deep, Files: tree, Constitution: con, Protected: func(string) (string, bool) { return "", false }})
			for _, p := range append(problems, more...) {
				t.Errorf("%s, %s: %s: %s: %s", name, role, p.At, p.Code, p.Text)
			}
		}
	}
}

// laidOut is an archive as the work tree that it is laid out to.
func laidOut(files []knowledge.File) fs.FS {
	all := fstest.MapFS{}
	for _, f := range files {
		all[f.Path] = &fstest.MapFile{Data: f.Data}
	}
	return all
}
