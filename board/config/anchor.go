package config

import (
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Anchor is [anchor]: how sessions are bound before they may change anything.
// The words are those of package anchor.
type Anchor struct {
	Mode          string        // full, express (default), lite or untracked
	Strictness    string        // quick, default or deep; where odd.toml is silent, default under full and quick under the others
	State         string        // where sessions of the work tree are kept, below its top; default ".hestai/sessions"
	Constitutions []string      // folders that hold ROLE.oct.md; default .hestai-sys/agents and .hestai-sys/library/agents
	TTL           time.Duration // of a permit, default 1h
}

func defaultAnchor() Anchor {
	a := Anchor{Mode: "express", State: ".hestai/sessions", Constitutions: []string{".hestai-sys/agents", ".hestai-sys/library/agents"}, TTL: time.Hour}
	return a.withDefaults()
}

// withDefaults returns a with the strictness that follows from its mode, where it has none.
func (a Anchor) withDefaults() Anchor {
	if a.Strictness == "" {
		a.Strictness = "quick"
		if a.Mode == "full" {
			a.Strictness = "default"
		}
	}
	return a
}

// places reads a list of folders.
func places(n node) ([]string, error) {
	list, err := words(n, func(s string) error {
		s = strings.TrimSuffix(s, "/")
		if s == "." || !fs.ValidPath(s) || strings.ContainsAny(s, `\:*?[`) || strings.ContainsFunc(s, control) {
			return fmt.Errorf(`%q: want folders below the top of the repository, like ".hestai-sys/agents", without ".."`, s)
		}
		return ours(s)
	})
	for i := range list {
		list[i] = strings.TrimSuffix(list[i], "/")
	}
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("names no folder; leave the key out for %s", strings.Join(defaultAnchor().Constitutions, ", "))
	}
	return list, err
}

// ours refuses git's own folder.
func ours(s string) error {
	if first, _, _ := strings.Cut(s, "/"); strings.EqualFold(first, ".git") {
		return fmt.Errorf("%q: is git's own folder", s)
	}
	return nil
}

// checkAnchor holds [anchor] against [bundle]: sessions are no atoms.
func (p *parser) checkAnchor(line int) {
	state, root := p.c.Anchor.State+"/", p.c.Root+"/"
	if strings.HasPrefix(state, root) || strings.HasPrefix(root, state) {
		p.fail(line, "anchor.state: %q and the bundle %q lie in one another; sessions are kept apart from what is committed", p.c.Anchor.State, p.c.Root)
	}
	p.c.Anchor = p.c.Anchor.withDefaults()
}
