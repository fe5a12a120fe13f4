package verify

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// checkConstitution checks that the role and its constitution are those at the claim.
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

// checkPaths checks that the permit allows exactly what the task and the role allow. A
// session that changes nothing may have the folder of handoffs alone.
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

// checkWithoutRole checks the anchor of a session without a work role. It has the role of
// its contract, and its constitution is odd.toml.
func (p permit) checkWithoutRole(l ledgerLine, name string, paths []string, root string, b []byte) (string, error) {
	switch want := cmp.Or(l.claim.Claim().ContractRole, "general"); {
	case name != "odd.toml" || gate.Sum(b) != p.law.SHA256:
		return fmt.Sprintf("an anchor under %s; without a work role it is odd.toml", name), nil
	case p.Role != want:
		return fmt.Sprintf("an anchor as %s; its claim is for the role %s", cmp.Or(p.Role, "nobody"), want), nil
	}
	return p.checkPaths(paths, anchor.Constitution{}, root), nil
}

// namesRole reports whether a task's name for a role means this role: by id, path, URI or
// file stem.
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

// unlessUnanchored returns why if the history had an anchored run before this commit, and ""
// if not.
func (j *judge) unlessUnanchored(why string) (string, error) {
	before, err := j.hasAnchorBefore()
	if err != nil || !before {
		return "", err
	}
	return why, nil
}

// noteAnchored remembers whether the history had an anchored run up to this commit of the
// range.
func (h *history) noteAnchored(c repo.Commit, anchors bool) {
	h.anchored[c.OID] = anchors || slices.ContainsFunc(c.Parents, func(p repo.OID) bool { return h.anchored[p] })
}

// hasAnchorBefore reports an anchored run before this commit, inside or before the range.
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

// hasAnchorAt reports whether the ledgers of a commit outside the range record an anchored
// run. It reads the newest files first, because they have one if any file has.
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
		records, _ := h.lines.Read(b) // invariant 14 reports what is wrong in it
		if slices.ContainsFunc(records, func(r event.Record) bool { return r.Kind == event.Anchor }) {
			h.anchors[commit] = true
			return true, nil
		}
	}
	h.anchors[commit] = false
	return false, nil
}

// isLedgerFile reports a regular file with the extension of a ledger. The blob alone is not
// enough: a symbolic link may have the bytes of a ledger.
func isLedgerFile(ch repo.Change) bool {
	return path.Ext(ch.Path) == ".jsonl" && strings.HasPrefix(ch.NewMode, "100")
}
