package canon

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// supersede draws the arrows of one page: from it to what it names in
// superseded_by, and to it from what it names in supersedes. A draft or a
// proposal supersedes nothing yet.
func (l *Library) supersede(p *page) {
	for _, r := range keyReferences(p, "superseded_by") {
		if t := l.locate(r.text, p.path); r.state == "" && t.page != nil {
			p.arrow(t.page)
		}
	}
	if p.atom.Status == "draft" || p.atom.Status == "proposed" {
		return
	}
	for _, r := range keyReferences(p, "supersedes") {
		if t := l.locate(r.text, p.path); r.state == "" && t.page != nil {
			t.page.arrow(p)
		}
	}
}

func (p *page) arrow(to *page) {
	if !slices.Contains(p.next, to) {
		p.next = append(p.next, to)
	}
}

// follow walks to what stands in p's place; way led to it, and of the pages in
// seen the walk knows where they end. It returns the circle it runs into, or "".
func follow(p *page, way []*page, seen map[*page]bool, ends *[]*page, steps *[]Step) string {
	if i := slices.Index(way, p); i >= 0 {
		return circle(way[i:])
	}
	if seen[p] {
		return ""
	}
	if len(p.next) == 0 {
		*ends = append(*ends, p)
	}
	way = append(slices.Clip(way), p)
	for _, n := range p.next {
		*steps = append(*steps, Step{Try: "superseded-by", Name: p.displayName(), Found: n.path})
		if c := follow(n, way, seen, ends, steps); c != "" {
			return c
		}
	}
	seen[p] = true
	return ""
}

// displayName returns what a page is known by.
func (p *page) displayName() string {
	if p.atom.URI != "" {
		return p.atom.URI
	}
	return p.path
}

// whyUnfollowed is why nothing can be said to be in force: an end of the walk names
// a successor that is not here.
func (l *Library) whyUnfollowed(ends []*page, steps *[]Step) string {
	for _, p := range ends {
		for _, r := range keyReferences(p, "superseded_by") {
			if r.state != "" {
				continue
			}
			if t := l.locate(r.text, p.path); t.Outcome != Found {
				*steps = append(*steps, Step{Try: "superseded-by", Name: p.displayName(), Note: r.text + ": " + string(t.Outcome)})
				return p.path + " is superseded by " + r.text + ", which is not here"
			}
		}
	}
	return ""
}

func circle(ps []*page) string {
	var out []string
	for _, p := range append(slices.Clip(ps), ps[0]) {
		out = append(out, p.displayName())
	}
	return strings.Join(out, " → ")
}

// circles reports each circle of supersession once, at its first file by path.
func (c *checker) circles() {
	state := map[*page]int{} // 1 on the way, 2 done
	for _, p := range c.lib.pages {
		c.walk(p, state, nil)
	}
}

func (c *checker) walk(p *page, state map[*page]int, way []*page) {
	if state[p] == 2 {
		return
	}
	state[p] = 1
	way = append(way, p)
	for _, n := range p.next {
		if state[n] == 1 {
			c.circular(way[slices.Index(way, n):])
			continue
		}
		c.walk(n, state, way)
	}
	state[p] = 2
}

func (c *checker) circular(ring []*page) {
	start := slices.MinFunc(ring, func(a, b *page) int { return strings.Compare(a.path, b.path) })
	i := slices.Index(ring, start)
	c.at = start
	line := max(start.atom.Line("superseded_by"), start.atom.Line(string(okf.Supersedes)))
	c.add(ruleCircular, line, start.displayName(), "circle of supersession: %s", circle(slices.Concat(ring[i:], ring[:i])))
}
