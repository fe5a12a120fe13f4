package canon

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// linkSuccessors links a page to the pages that it names in superseded_by, and the pages
// that it names in supersedes to it. A draft or a proposal supersedes nothing yet.
func (l *Library) linkSuccessors(p *page) {
	for _, r := range keyReferences(p, "superseded_by") {
		if t := l.locate(r.text, p.path); r.state == "" && t.page != nil {
			p.addSuccessor(t.page)
		}
	}
	if p.atom.Status == "draft" || p.atom.Status == "proposed" {
		return
	}
	for _, r := range keyReferences(p, "supersedes") {
		if t := l.locate(r.text, p.path); r.state == "" && t.page != nil {
			t.page.addSuccessor(p)
		}
	}
}

func (p *page) addSuccessor(to *page) {
	if !slices.Contains(p.next, to) {
		p.next = append(p.next, to)
	}
}

// followSuccessors walks to the pages that replace p. way led to p, and pages in seen are
// done. It returns the circle that it runs into, or "".
func followSuccessors(p *page, way []*page, seen map[*page]bool, ends *[]*page, steps *[]Step) string {
	if i := slices.Index(way, p); i >= 0 {
		return formatCircle(way[i:])
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
		if c := followSuccessors(n, way, seen, ends, steps); c != "" {
			return c
		}
	}
	seen[p] = true
	return ""
}

// displayName returns the uri of a page, or else its path.
func (p *page) displayName() string {
	if p.atom.URI != "" {
		return p.atom.URI
	}
	return p.path
}

// whyUnfollowed explains why it is unknown what is in force: a page at the end of the walk
// names a successor that does not exist here. It returns "" if there is none.
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

func formatCircle(ps []*page) string {
	var out []string
	for _, p := range append(slices.Clip(ps), ps[0]) {
		out = append(out, p.displayName())
	}
	return strings.Join(out, " → ")
}

// checkCircles reports each circle of supersession once, at its first file by path.
func (c *checker) checkCircles() {
	state := map[*page]int{} // 1 on the way, 2 done
	for _, p := range c.lib.pages {
		c.findCircle(p, state, nil)
	}
}

func (c *checker) findCircle(p *page, state map[*page]int, way []*page) {
	if state[p] == 2 {
		return
	}
	state[p] = 1
	way = append(way, p)
	for _, n := range p.next {
		if state[n] == 1 {
			c.reportCircle(way[slices.Index(way, n):])
			continue
		}
		c.findCircle(n, state, way)
	}
	state[p] = 2
}

func (c *checker) reportCircle(ring []*page) {
	start := slices.MinFunc(ring, func(a, b *page) int { return strings.Compare(a.path, b.path) })
	i := slices.Index(ring, start)
	c.at = start
	line := max(start.atom.Line("superseded_by"), start.atom.Line(string(okf.Supersedes)))
	c.add(ruleCircular, line, start.displayName(), "circle of supersession: %s", formatCircle(slices.Concat(ring[i:], ring[:i])))
}
