//go:build bench

package bench

import "fmt"

// growth shows loading as the bundle grows.
func (p *page) growth() {
	p.say("## Loading, as the bundle grows")
	p.say("Atoms of some 750 bytes with a long tail, in folders of a hundred, links by Zipf's law. The first column of each pair is odd, the second what the machine does with the same files by two workers.")
	var rows [][]string
	for _, n := range p.load.measured("load, no cache") {
		s := p.load
		text, rss := s.find("bytes of text", n), s.find("load, no cache", n)
		beyond := "—"
		if text != nil && rss.MB > 0 {
			beyond = number((rss.MB*1e6 - text.Value) / float64(n))
		}
		rows = append(rows, []string{short(float64(n)),
			s.cell("load, no cache", n), s.cell("read every file", n), s.over("load, no cache", "read every file", n),
			s.cell("load, cache and hand edits", n), s.cell("list and lstat every file", n), s.over("load, cache and hand edits", "list and lstat every file", n),
			s.cell("load, a commit's tree", n), memory(rss.MB), beyond})
	}
	p.table([]string{"atoms", "no cache, ms", "parallel read, ms", "ratio", "cache, hand edits looked for, ms", "list and lstat, ms", "ratio", "from a commit, ms", "peak without cache, MB", "bytes an atom beyond its text"}, rows)
	if len(rows) > 1 {
		p.picture("load", plot{title: "Loading a bundle", xUnit: "atoms", yUnit: "ms", logX: true, logY: true, target: 50, targetName: "50 ms (for a commit)", lines: []line{
			p.load.line("no cache", "load, no cache", wall), faint(p.load.line("parallel read", "read every file", wall)),
			p.load.line("cache, hand edits", "load, cache and hand edits", wall), faint(p.load.line("list and lstat", "list and lstat every file", wall)),
			p.load.line("from a commit", "load, a commit's tree", wall),
		}}, "Time to load bundles of different sizes")
	}
}

func faint(l line) line { l.faint = true; return l }

// asked shows whole commands, and single questions to a loaded graph.
func (p *page) asked() {
	p.say("## Asking, as the bundle grows")
	p.say("Whole commands with a warm cache, in ms. Every command loads the bundle and looks for hand edits first; *start and load* is `odd --version` and that load. The last column is how many times as long the largest bundle takes as the one a tenth its size.")
	sizes := p.commands.measured("odd get")
	head := []string{"command"}
	for _, n := range sizes {
		head = append(head, short(float64(n)))
	}
	names := []string{"start and load", "odd get", "odd knowledge related", "odd compile-persona", "odd task list", "odd search", "odd get --at HEAD", "odd check", "odd get, no cache", "odd search, no cache", "read every file"}
	var rows [][]string
	for _, name := range names {
		row := []string{name}
		for _, n := range sizes {
			if name == "start and load" {
				row = append(row, number(p.startAndLoad(n)))
			} else {
				row = append(row, p.commands.cell(name, n))
			}
		}
		rows = append(rows, append(row, p.factor(name, sizes)))
	}
	if len(sizes) > 0 {
		p.table(append(head, "growth"), rows)
	}
	p.questions(sizes, head)
}

// questions shows what a question costs once the graph is loaded.
func (p *page) questions(sizes []int, head []string) {
	p.say("One question to a loaded graph, in µs: what does not touch more atoms does not take longer. A rare word is in one atom of 500, so ten times the bundle holds ten times the hits.")
	var rows [][]string
	var lines []line
	for _, name := range []string{"get", "related", "compile-persona", "search, a rare word", "search, first"} {
		row := []string{name}
		for _, n := range sizes {
			row = append(row, number(p.commands.find("µs: "+name, n).Value))
		}
		rows = append(rows, append(row, p.factor("µs: "+name, sizes)))
		l := p.commands.line(name, "µs: "+name, value)
		for i := range l.points {
			l.points[i][1] = max(l.points[i][1], 0.1)
		}
		lines = append(lines, l)
	}
	if len(sizes) == 0 {
		return
	}
	p.table(append(head, "growth"), rows)
	if len(sizes) > 1 {
		p.picture("questions", plot{title: "One question to a loaded graph", xUnit: "atoms", yUnit: "µs", logX: true, logY: true, lines: lines}, "Time of a question on bundles of different sizes")
	}
}

// factor is how a figure grows from the last but one size to the last.
func (p *page) factor(name string, sizes []int) string {
	if len(sizes) < 2 {
		return "—"
	}
	at := func(n int) float64 {
		if name == "start and load" {
			return p.startAndLoad(n)
		}
		if f := p.commands.find(name, n); f != nil {
			return f.MS + f.Value
		}
		return 0
	}
	a, b := at(sizes[len(sizes)-2]), at(sizes[len(sizes)-1])
	if a == 0 || b == 0 {
		return "—"
	}
	return fmt.Sprintf("× %.1f", b/a)
}

// startAndLoad is the time of a process that only starts and loads n atoms
// with a cache, looking for hand edits.
func (p *page) startAndLoad(n int) float64 {
	start, _ := p.commands.ms("odd --version", n)
	load, _ := p.commands.ms("load, cache and hand edits", n)
	return start + load
}
