package contract

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// applyInheritance completes each profile from those that it inherits.
func (r *Roster) applyInheritance(g *okf.Graph) {
	bad, done := map[*Profile]okf.Problem{}, map[*Profile]bool{}
	for _, p := range r.Profiles {
		r.completeProfile(g, p, nil, done, bad)
	}
	r.dropProfiles(bad)
}

// completeProfile completes p from what it inherits; way led to it.
func (r *Roster) completeProfile(g *okf.Graph, p *Profile, way []*Profile, done map[*Profile]bool, bad map[*Profile]okf.Problem) {
	if i := slices.Index(way, p); i >= 0 {
		circle := append(slices.Clone(way[i:]), p)
		for _, q := range circle {
			bad[q] = problemOf(q, "break the circle", "circle of inheritance: %s", strings.Join(mapSlice(circle, (*Profile).Ref), " → "))
		}
		return
	}
	if done[p] {
		return
	}
	for _, ref := range p.Inheritance {
		parent, err := r.findParent(g, p, ref)
		if err != nil {
			bad[p] = problemOf(p, "", "inherits %s: %v", ref, err)
			continue
		}
		if parent == nil {
			continue // a document that governs it
		}
		r.completeProfile(g, parent, append(slices.Clip(way), p), done, bad)
		if b, ok := bad[parent]; ok && bad[p].Code == "" {
			bad[p] = problemOf(p, "", "inherits %s, which cannot be read: %v", ref, b)
		}
		p.inheritFrom(parent)
	}
	done[p] = true
}

// findParent returns the profile that an inheritance entry names; nil if it names a
// document or something of another authority.
func (r *Roster) findParent(g *okf.Graph, p *Profile, ref string) (*Profile, error) {
	found, err := r.Find(ref)
	if no, ok := err.(*NoProfile); ok && no.Code != "unknown-persona" {
		return nil, err
	}
	if err == nil {
		return found, nil
	}
	if a := g.Target(ref, p.Path); a != nil {
		if q := r.carriedBy(a.ID); q != nil {
			return q, nil
		}
		if u, ok := r.findBroken(string(a.ID), "", 0); ok {
			return nil, u.problem
		}
	}
	if name, version := splitRef(ref); version > 0 && !strings.Contains(name, "/") {
		return nil, err
	}
	return nil, nil
}

// inheritFrom takes from parent what p does not set.
func (p *Profile) inheritFrom(parent *Profile) {
	for s, t := range parent.Surfaces {
		if p.Surfaces == nil {
			p.Surfaces = map[Surface]Settings{}
		}
		p.Surfaces[s] = p.Surfaces[s].orElse(t)
	}
	if p.KnowledgeBases == nil {
		p.KnowledgeBases = slices.Clone(parent.KnowledgeBases)
	}
	if !p.brandSet {
		p.BrandDiscipline, p.brandSet = parent.BrandDiscipline, parent.brandSet
	}
	if p.Glyphs.Signature == nil {
		p.Glyphs.Signature = slices.Clone(parent.Glyphs.Signature)
	}
	if p.Glyphs.Palettes == nil {
		p.Glyphs.Palettes = parent.Glyphs.Palettes
	}
}
