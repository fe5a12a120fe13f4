package proof

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

// floored is invariant 6: no session for a role that rested on too little.
func floored(j *judge) error {
	if len(j.Parents) == 0 {
		return nil // where a history begins
	}
	return j.lineByLine(func(l line) (string, error) {
		if l.record.Kind != ledger.Session {
			return "", nil
		}
		role, claim, law, err := j.embodiedAt(l)
		if role == "" || err != nil {
			return "", err
		}
		j.checked++
		if kept, err := j.stands(role, claim, law); kept || err != nil {
			return "", err
		}
		p, _, err := j.compiled(claim, law.Root, role)
		if err != nil {
			return fmt.Sprintf("a session as %s, whom its claim does not know: %v", role, err), nil
		}
		short := p.Below(floorOf(law))
		if len(short) == 0 {
			j.remembers(role, claim, law, p)
			return "", nil
		}
		why := make([]string, len(short))
		for i, s := range short {
			why[i] = fmt.Sprintf("%s %s, want %s", s.Rule, s.Have, s.Want)
		}
		return fmt.Sprintf("a session as %s, who was below the floor at its claim: %s", role, strings.Join(why, "; ")), nil
	})
}

func floorOf(law config.Config) persona.Floor {
	f := law.Floor
	return persona.Floor{MinAtoms: f.Atoms, MinProcesses: f.Processes, MinGuides: f.Guides, MaxUnresolvedPct: f.UnresolvedPct}
}

// embodiedAt is the work role of a session, the commit of its claim, and the
// odd.toml it was made under; "" for a session without a role, or whose claim is
// not in the clone.
func (j *judge) embodiedAt(l line) (role string, claim repo.OID, law config.Config, err error) {
	if l.claim == nil {
		return "", "", law, nil // row 5 reports it
	}
	if law, claim, err = j.orders(l); err != nil || claim == "" {
		return "", "", law, err
	}
	role = l.claim.Role
	if t, _, ok, err := j.taskAt(l.record.Run, l.record.Task); err != nil {
		return "", "", law, err
	} else if ok {
		role = t.Role
	}
	return role, claim, law, nil
}

// compiled is the persona of a role as a commit's bundle has it.
func (h *history) compiled(commit repo.OID, root, role string) (persona.Persona, *okf.Graph, error) {
	files, err := h.repo.Tree(commit)
	if err != nil {
		return persona.Persona{}, nil, err
	}
	bundle, err := fs.Sub(files, root)
	if err != nil {
		return persona.Persona{}, nil, err
	}
	g, _, err := okf.Load(bundle)
	if err != nil {
		return persona.Persona{}, nil, err
	}
	p, err := persona.Compile(g, role)
	p.Commit = string(commit)
	return p, g, err
}

// footing is a persona that met its floor: the bundle it was compiled from, and by
// what its atoms are called.
type footing struct {
	bundle repo.OID
	names  [][]byte
}

// remembers keeps a persona that met the floor, so that a bundle in which nothing
// has to do with it need not be read again.
func (j *judge) remembers(role string, claim repo.OID, law config.Config, p persona.Persona) {
	tree, _, err := j.trees.Find(claim, law.Root)
	if err != nil {
		return
	}
	names := map[string]bool{}
	for _, it := range append([]persona.Item{p.Role}, p.Items...) {
		names[stem(it.ID)], names[stem(it.Path)] = true, true
	}
	f := footing{bundle: tree}
	for _, n := range sorted(names) {
		f.names = append(f.names, []byte(n))
	}
	j.floors[floorKey(role, law)] = f
}

func floorKey(role string, law config.Config) string { return fmt.Sprint(role, law.Floor) }

func stem(name string) string { return strings.ToLower(strings.TrimSuffix(path.Base(name), ".md")) }

// stands reports a persona that met its floor at an earlier claim, and nothing that
// changed since has its atoms' names in it or for a name. What only gives work,
// tasks and handoffs, no persona rests on.
func (j *judge) stands(role string, claim repo.OID, law config.Config) (bool, error) {
	f, ok := j.floors[floorKey(role, law)]
	if !ok {
		return false, nil
	}
	tree, _, err := j.trees.Find(claim, law.Root)
	if err != nil {
		return false, err
	}
	changes, err := j.trees.Diff(j.ctx, f.bundle, tree)
	if err != nil {
		return false, err
	}
	for _, ch := range changes {
		if path.Ext(ch.Path) != ".md" {
			continue
		}
		about := func(b []byte) bool {
			return slices.ContainsFunc(f.names, func(n []byte) bool { return bytes.Contains(b, n) })
		}
		if slices.ContainsFunc(f.names, func(n []byte) bool { return stem(ch.Path) == string(n) }) {
			return false, nil
		}
		if top, _, _ := strings.Cut(ch.Path, "/"); top == "tasks" || top == "handoffs" {
			continue
		}
		b, err := j.bytes(ch.New, ch.NewMode)
		if err != nil || about(bytes.ToLower(b)) {
			return false, err
		}
	}
	f.bundle = tree
	j.floors[floorKey(role, law)] = f
	return true, nil
}
