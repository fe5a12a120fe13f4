package verify

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

func floorRule() rule {
	return rule{Row{
		Invariant: 6, Name: "Persona floor", Unit: "sessions",
		Way:        "send the result back with odd reject TASK; odd compile-persona ROLE shows what the role lacks",
		Evidence:   "every session record; the role of its claim; the bundle and [persona.floor] at that claim",
		Recomputed: "The role is compiled from the bundle in the commit of the claim. It is in force, and below no rule of the floor.",
		Attested:   "that a session without a work role needed none",
	}, judgeFloor}
}

// judgeFloor checks invariant 6: no session runs in a role with too little knowledge.
func judgeFloor(j *judge) {
	if len(j.Parents) == 0 {
		return // the history begins here
	}
	j.checkLines(func(l ledgerLine) string {
		if l.record.Kind != event.Session {
			return ""
		}
		role, claim, law := j.findSessionRole(l)
		if role == "" {
			return ""
		}
		j.checked++
		p, _, err := j.compilePersona(claim, law.Root, role)
		if err != nil {
			return fmt.Sprintf("a session ran as the role %s, which did not exist at its claim: %v", role, err)
		}
		short := p.Below(personaFloor(law))
		if len(short) == 0 {
			return ""
		}
		why := make([]string, len(short))
		for i, s := range short {
			why[i] = fmt.Sprintf("%s %s, want %s", s.Rule, s.Have, s.Want)
		}
		return fmt.Sprintf("a session ran as the role %s, which had too little knowledge at its claim: %s", role, strings.Join(why, "; "))
	})
}

func personaFloor(law config.Config) persona.Floor {
	f := law.Floor
	return persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}
}

// findSessionRole returns a session's work role, the commit of its claim and the odd.toml in
// force then. role is "" if the session has no role or this clone lacks its claim.
func (j *judge) findSessionRole(l ledgerLine) (role string, claim repo.OID, law config.Config) {
	if l.claim == nil {
		return "", "", law // invariant 5 reports it
	}
	if law, claim = j.findClaimTerms(l); claim == "" {
		return "", "", law
	}
	role = l.claim.Role
	if t, _, ok := j.readClaimedTask(l.record.Run, l.record.Task); ok {
		role = t.Role
	}
	return role, claim, law
}

// compilePersona compiles a role's persona from the bundle of a commit.
func (h *history) compilePersona(commit repo.OID, root, role string) (persona.Persona, *okf.Graph, error) {
	g := h.readBundle(commit, root)
	p, err := persona.Compile(g, role)
	p.Commit = string(commit)
	return p, g, err
}

// bundle is a parsed bundle with the tree it came from.
type bundle struct {
	tree     repo.OID
	graph    *okf.Graph
	problems []okf.Problem
}

// muchChanged is the number of changed atoms from which on a bundle is read as a whole.
const muchChanged = 256

// readBundle returns the graph of a commit's bundle. It reloads only what changed since the
// last call, because the bundles of two successive claims share nearly all atoms.
func (h *history) readBundle(commit repo.OID, root string) *okf.Graph {
	top := h.tree(commit)
	files, err := fs.Sub(top, root)
	must(err)
	tree, _ := h.find(commit, root)
	b := bundle{tree: tree}
	changed, near := h.changedSinceLast(tree)
	switch {
	case near:
		b.graph, b.problems = okf.Reload(files, h.bundle.graph, h.bundle.problems, changed)
	default:
		if b.graph, b.problems, err = okf.Load(files); err != nil {
			must(err)
			return nil
		}
	}
	if err := okf.Unread(b.problems); err != nil {
		must(err)
		return nil
	}
	h.bundle = b
	return b.graph
}

// changedSinceLast returns the atom files that differ from the bundle read last. near is
// false if there was none or many files differ.
func (h *history) changedSinceLast(tree repo.OID) (changed map[string]bool, near bool) {
	if h.bundle.graph == nil {
		return nil, false
	}
	all := h.diff(h.bundle.tree, tree)
	changed = map[string]bool{}
	for _, ch := range all {
		if path.Ext(ch.Path) == ".md" {
			changed[ch.Path] = true
		}
	}
	return changed, len(changed) < muchChanged
}
