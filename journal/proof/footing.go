package proof

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
		Recomputed: "the role is compiled from the bundle of the claim's commit, and is in force and not below any rule of the floor",
		Attested:   "that a session without a work role needed none",
	}, judgeFloor}
}

// judgeFloor returns invariant 6: no session for a role that rested on too little.
func judgeFloor(j *judge) error {
	if len(j.Parents) == 0 {
		return nil // where a history begins
	}
	return j.checkLines(func(l ledgerLine) (string, error) {
		if l.record.Kind != event.Session {
			return "", nil
		}
		role, claim, law, err := j.findSessionRole(l)
		if role == "" || err != nil {
			return "", err
		}
		j.checked++
		p, _, err := j.compilePersona(claim, law.Root, role)
		if err != nil {
			return fmt.Sprintf("a session ran as the role %s, which did not exist at its claim: %v", role, err), nil
		}
		short := p.Below(personaFloor(law))
		if len(short) == 0 {
			return "", nil
		}
		why := make([]string, len(short))
		for i, s := range short {
			why[i] = fmt.Sprintf("%s %s, want %s", s.Rule, s.Have, s.Want)
		}
		return fmt.Sprintf("a session ran as the role %s, which had too little knowledge at its claim: %s", role, strings.Join(why, "; ")), nil
	})
}

func personaFloor(law config.Config) persona.Floor {
	f := law.Floor
	return persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}
}

// findSessionRole is the work role of a session, the commit of its claim, and the
// odd.toml it was made under; "" for a session without a role, or whose claim is
// not in the clone.
func (j *judge) findSessionRole(l ledgerLine) (role string, claim repo.OID, law config.Config, err error) {
	if l.claim == nil {
		return "", "", law, nil // row 5 reports it
	}
	if law, claim, err = j.findClaimTerms(l); err != nil || claim == "" {
		return "", "", law, err
	}
	role = l.claim.Role
	if t, _, ok, err := j.readClaimedTask(l.record.Run, l.record.Task); err != nil {
		return "", "", law, err
	} else if ok {
		role = t.Role
	}
	return role, claim, law, nil
}

// compilePersona returns the persona of a role as a commit's bundle has it.
func (h *history) compilePersona(commit repo.OID, root, role string) (persona.Persona, *okf.Graph, error) {
	g, err := h.readBundle(commit, root)
	if err != nil {
		return persona.Persona{}, nil, err
	}
	p, err := persona.Compile(g, role)
	p.Commit = string(commit)
	return p, g, err
}

// bundle is a bundle that was read, by its tree.
type bundle struct {
	tree     repo.OID
	graph    *okf.Graph
	problems []okf.Problem
}

// muchChanged is from how many changed atoms on a bundle is read as a whole.
const muchChanged = 256

// readBundle is the graph of a commit's bundle. It is made of the one that was asked
// for last, of which two claims that follow each other share all but a few atoms.
func (h *history) readBundle(commit repo.OID, root string) (*okf.Graph, error) {
	top, err := h.repo.Tree(commit)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(top, root)
	if err != nil {
		return nil, err
	}
	tree, _, err := h.trees.Find(commit, root)
	if err != nil {
		return nil, err
	}
	b := bundle{tree: tree}
	changed, near, err := h.changedSinceLast(tree)
	switch {
	case err != nil:
		return nil, err
	case near:
		b.graph, b.problems = okf.Reload(files, h.bundle.graph, h.bundle.problems, changed)
	default:
		if b.graph, b.problems, err = okf.Load(files); err != nil {
			return nil, err
		}
	}
	if err := okf.Unread(b.problems); err != nil {
		return nil, err
	}
	h.bundle = b
	return b.graph, nil
}

// changedSinceLast are the files of atoms in which the bundle of a tree differs from the one
// that was read last; near is false where there is none, or they are many.
func (h *history) changedSinceLast(tree repo.OID) (changed map[string]bool, near bool, err error) {
	if h.bundle.graph == nil {
		return nil, false, nil
	}
	all, err := h.trees.Diff(h.ctx, h.bundle.tree, tree)
	if err != nil {
		return nil, false, err
	}
	changed = map[string]bool{}
	for _, ch := range all {
		if path.Ext(ch.Path) == ".md" {
			changed[ch.Path] = true
		}
	}
	return changed, len(changed) < muchChanged, nil
}
