package cmd

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile"
)

// heldBack shows what an emission wanted and reconcile kept out, as diffs against
// the board: two-way, and where the atom was made against bytes the board no
// longer has, first what happened to them since. It is empty where the run's
// artifacts are not in this clone.
func (v *view) heldBack(t board.Task, p review.Proposal) string {
	if len(p.Held) == 0 || p.Artifacts == "" {
		return ""
	}
	tree, err := v.repo.Tree(repo.OID(p.Artifacts))
	if err != nil {
		return ""
	}
	dir := drain.ArtifactDir(t)
	emission, _ := fs.ReadFile(tree, path.Join(dir, "emission.md"))
	bases := map[string]string{}
	for _, a := range session.Read(emission).Atoms {
		bases[string(a.Atom.ID)] = a.Base
	}
	var b strings.Builder
	for _, h := range p.Held {
		if h.Effect == string(reconcile.Declined) {
			continue // a person has seen it
		}
		wanted, err := fs.ReadFile(tree, path.Join(dir, "kept", strings.TrimPrefix(h.Path, v.cfg.Root+"/")))
		if err != nil {
			continue
		}
		now, _ := fs.ReadFile(v.files, h.Path)
		fmt.Fprintf(&b, "\nkept out: %s, because %s (%s)\n", h.ID, h.Reason, h.Effect)
		from := now
		if base, err := v.repo.Blob(repo.OID(bases[h.ID])); err == nil && bases[h.ID] != okf.BlobID(now) {
			b.Write(diff.Diff("base/"+h.Path, base, "board/"+h.Path, now))
			from = base
		}
		name := "board/"
		if string(from) != string(now) {
			name = "base/"
		}
		b.Write(diff.Diff(name+h.Path, from, "wanted/"+h.Path, wanted))
	}
	return okf.Visible(b.String())
}
