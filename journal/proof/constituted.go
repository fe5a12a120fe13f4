package proof

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// checkConstitution holds the role and its constitution to what stood at the claim.
func (j *judge) checkConstitution(p permit, l ledgerLine, law config.Config) (string, error) {
	head := repo.OID(p.arm.Head)
	name := p.law.Path
	blob, err := j.findBlob(head, name)
	if err != nil {
		return "", err
	}
	if blob == "" || blob != p.law.Blob {
		return fmt.Sprintf("an anchor under %s, which was another file at its claim", cmp.Or(name, "no constitution")), nil
	}
	b, err := j.trees.Blob(repo.OID(blob))
	if err != nil {
		return "", err
	}
	t, _, ok, err := j.readClaimedTask(l.record.Run, l.record.Task)
	if err != nil {
		return "", err
	}
	role := l.claim.Role
	if ok {
		role = t.Role
	}
	if role == "" {
		return p.checkWithoutRole(l, name, t.Paths, law.Root, b)
	}
	files, err := j.repo.Tree(head)
	if err != nil {
		return "", err
	}
	in := anchor.Charters{Files: files, Places: law.Anchor.Constitutions, Bundle: law.Root}
	if rel, ok := strings.CutPrefix(name, law.Root+"/"); ok {
		if a, err := okf.Parse(rel, b); err == nil {
			in.Atoms = []*okf.Atom{&a}
		}
	}
	c, err := in.Find(p.Role)
	switch {
	case err != nil:
		return fmt.Sprintf("an anchor as %s under %s, which is not its constitution", cmp.Or(p.Role, "nobody"), name), nil
	case c.Path != name || c.SHA256 != p.law.SHA256:
		return fmt.Sprintf("an anchor under %s; the constitution of %s at its claim is %s", name, p.Role, c.Path), nil
	case !namesRole(role, p.Role, in.Atoms):
		return fmt.Sprintf("an anchor as %s; its claim is for the role %s", p.Role, role), nil
	}
	return p.checkPaths(t.Paths, c, law.Root), nil
}

// checkPaths holds the paths to the task's and the role's. What a session that
// changes nothing hands over is odd's to write.
func (p permit) checkPaths(task []string, c anchor.Constitution, root string) string {
	allow := nonEmpty(p.Allow)
	want := anchor.Writable(task, c.Paths, root+"/**")
	if !slices.Equal(allow, want) && !slices.Equal(allow, []string{root + "/handoffs/**"}) {
		return fmt.Sprintf("a permit for %s; its task and its role write %s", strings.Join(allow, ", "), cmp.Or(strings.Join(want, ", "), "nothing in common"))
	}
	for _, kept := range c.BlockedPath {
		if !slices.Contains(p.Deny, kept) {
			return fmt.Sprintf("a permit that does not deny %s", kept)
		}
	}
	return ""
}

// checkWithoutRole holds the anchor of a session without a work role: it goes by the role
// of its contract, and is bound by odd.toml.
func (p permit) checkWithoutRole(l ledgerLine, name string, paths []string, root string, b []byte) (string, error) {
	switch want := cmp.Or(l.claim.Claim().ContractRole, "general"); {
	case name != "odd.toml" || hashHex(b) != p.law.SHA256:
		return fmt.Sprintf("an anchor under %s; without a work role it is odd.toml", name), nil
	case p.Role != want:
		return fmt.Sprintf("an anchor as %s; its claim is for the role %s", cmp.Or(p.Role, "nobody"), want), nil
	}
	return p.checkPaths(paths, anchor.Constitution{}, root), nil
}

// namesRole reports whether a task's name for a role means this role: its id, its
// path, its uri or its stem.
func namesRole(name, role string, atoms []*okf.Atom) bool {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(path.Base(s), ".md")), "_", "-")
	}
	if plain(name) == role {
		return true
	}
	for _, a := range atoms {
		if name == string(a.ID) || name == a.URI && name != "" || strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".md") == strings.TrimSuffix(a.Path, ".md") {
			return true
		}
	}
	return false
}

// unlessUnanchored returns why, where the history was anchored before this commit, "" elsewhere.
func (j *judge) unlessUnanchored(why string) (string, error) {
	before, err := j.hasAnchorBefore()
	if err != nil || !before {
		return "", err
	}
	return why, nil
}

// noteAnchored notes whether the history was anchored up to a commit, as far as the range
// tells.
func (h *history) noteAnchored(c repo.Commit, anchors bool) {
	h.anchored[c.OID] = anchors || slices.ContainsFunc(c.Parents, func(p repo.OID) bool { return h.anchored[p] })
}

// hasAnchorBefore reports an anchored run before this commit, in the range or in
// what the range stands on.
func (j *judge) hasAnchorBefore() (bool, error) {
	if slices.ContainsFunc(j.Parents, func(p repo.OID) bool { return j.anchored[p] }) {
		return true, nil
	}
	for _, edge := range j.edges {
		if is, err := j.hasAnchorAt(edge); err != nil {
			return false, err
		} else if is {
			if in, err := j.isAncestor(edge, j.OID); in || err != nil {
				return in, err
			}
		}
	}
	return false, nil
}

// hasAnchorAt reports whether a commit outside the range has an anchored run in
// its ledger. The newest files are asked first: where there is any, it is there.
func (h *history) hasAnchorAt(commit repo.OID) (bool, error) {
	if is, known := h.anchors[commit]; known {
		return is, nil
	}
	law, err := h.lawAfter(commit)
	if err != nil {
		return false, err
	}
	tree, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if err != nil || mode != folder {
		return false, err
	}
	files, err := h.trees.Diff(h.ctx, "", tree)
	if err != nil {
		return false, err
	}
	for _, f := range slices.Backward(files) {
		if !isLedgerFile(f) {
			continue
		}
		b, err := h.trees.Blob(f.New)
		if err != nil {
			return false, err
		}
		records, _ := h.lines.Read(b) // what is wrong in it is row 14's
		if slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind == event.Anchor }) {
			h.anchors[commit] = true
			return true, nil
		}
	}
	h.anchors[commit] = false
	return false, nil
}

// isLedgerFile reports what is read of a ledger's folder. Its blob alone does not tell: a
// link, or a file of another name, may have the bytes of a run's file.
func isLedgerFile(ch repo.Change) bool {
	return path.Ext(ch.Path) == ".jsonl" && strings.HasPrefix(ch.NewMode, "100")
}
