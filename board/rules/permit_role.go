package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

func (j *judge) checkConstitution(p permit, l Line, law *config.Config) string {
	head := repo.OID(p.arm.Head)
	name := p.law.Path
	blob := j.FindFile(head, name)
	if blob == "" || blob != p.law.Blob {
		return fmt.Sprintf("an anchor under %s, which was another file at its claim", cmp.Or(name, "no constitution"))
	}
	b := j.Blob(repo.OID(blob))
	t, _, ok := j.readClaimedTask(l.Record.Run, l.Record.Task)
	role := l.Claim.Role
	if ok {
		role = t.Role
	}
	if role == "" {
		return p.checkWithoutRole(l, name, t.Paths, law.Root, b)
	}
	c, atoms, err := j.FindConstitution(head, law, name, p.Role)
	switch {
	case err != nil:
		return fmt.Sprintf("an anchor as %s under %s, which is not its constitution", cmp.Or(p.Role, "nobody"), name)
	case c.Path != name || c.SHA256 != p.law.SHA256:
		return fmt.Sprintf("an anchor under %s; the constitution of %s at its claim is %s", name, p.Role, c.Path)
	case !namesRole(role, p.Role, atoms):
		return fmt.Sprintf("an anchor as %s; its claim is for the role %s", p.Role, role)
	}
	return p.checkPaths(t.Paths, c, law.Root)
}

// checkPaths checks that the permit allows exactly what the task and the role allow. A session that changes nothing may
// have the folder of handoffs alone.
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

// checkWithoutRole checks the anchor of a session without a work role. It has the role of its contract, and its
// constitution is odd.toml.
func (p permit) checkWithoutRole(l Line, name string, paths []string, root string, b []byte) string {
	switch want := cmp.Or(l.Claim.Claim().ContractRole, "general"); {
	case name != "odd.toml" || gate.Sum(b) != p.law.SHA256:
		return fmt.Sprintf("an anchor under %s; without a work role it is odd.toml", name)
	case p.Role != want:
		return fmt.Sprintf("an anchor as %s; its claim is for the role %s", cmp.Or(p.Role, "nobody"), want)
	}
	return p.checkPaths(paths, anchor.Constitution{}, root)
}

// namesRole reports whether a task's name for a role means this role: by id, path, URI or file stem.
func namesRole(name, role string, atoms []*okf.Atom) bool {
	plain := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(path.Base(s), ".md")), "_", "-")
	}
	if plain(name) == role {
		return true
	}
	return slices.ContainsFunc(atoms, func(a *okf.Atom) bool {
		return name == string(a.ID) || name == a.URI && name != "" || strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".md") == strings.TrimSuffix(a.Path, ".md")
	})
}

// unlessUnanchored returns why if the history had an anchored run before this commit, and "" if not.
func (j *judge) unlessUnanchored(why string) string {
	before := j.HasAnchorBefore(j.Commit)
	if !before {
		return ""
	}
	return why
}
