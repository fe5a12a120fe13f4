//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// page is BENCHMARKS.md and its pictures, drawn from what is stored.
type page struct {
	strings.Builder
	t                                                                         *testing.T
	load, commands, reconcile, tasks, drain, soak, start, peers, reader, gate *section
}

// sections are the files of figures, in the order of the page.
var sections = []string{"load", "commands", "reconcile", "tasks", "drain", "soak", "start", "peers", "reader", "gate"}

// TestBenchPage draws the page again from what is stored, and measures nothing.
func TestBenchPage(t *testing.T) { draw(t) }

func draw(t *testing.T) {
	t.Helper()
	p := &page{t: t}
	for i, s := range []**section{&p.load, &p.commands, &p.reconcile, &p.tasks, &p.drain, &p.soak, &p.start, &p.peers, &p.reader, &p.gate} {
		*s = stored(t, sections[i])
	}
	for _, part := range []func(){p.head, p.targets, p.growth, p.asked, p.boards, p.drained, p.soaked, p.started, p.beside, p.read, p.gated} {
		part()
	}
	write(t, filepath.Join(root, "BENCHMARKS.md"), p.String())
}

func (p *page) say(format string, args ...any) { fmt.Fprintf(p, format+"\n\n", args...) }

// head says how to read the page, and where and when each part was measured.
func (p *page) head() {
	p.say("# Benchmarks")
	p.say("Times are wall times of fresh processes, the least of several runs, each job in turns with what stands beside it, pages of files warm. The ratio is the figure: a machine twice as fast moves both sides. Nothing here is asserted; every answer was checked.")
	p.say("`make bench` measures all of it again, `make bench BENCH=Peers` one part, and draws this page. Figures, with CPU times and memory, are in [testscripts/bench/figures](testscripts/bench/figures).")
	var rows [][]string
	for _, name := range sections {
		s := stored(p.t, name)
		if len(s.Figures) == 0 {
			continue
		}
		others := "nothing else ran"
		switch {
		case s.Busy == nil:
			others = "nobody looked"
		case *s.Busy > 0.2:
			others = fmt.Sprintf("**%.1f processors were at work before it began, times are too long**", *s.Busy)
		}
		rows = append(rows, []string{name, s.Commit, s.Date, s.Machine, s.Disk, others})
	}
	p.table([]string{"part", "commit", "its date", "machine", "files on", "beside it"}, rows)
}

// table writes a table; cells that look like numbers stand at the right.
func (p *page) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		p.say("Not measured yet.")
		return
	}
	line := func(cells []string) { fmt.Fprintf(p, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	var marks []string
	for i := range head {
		mark := "---"
		if c := rows[0][min(i, len(rows[0])-1)]; i > 0 && strings.ContainsAny(c, "0123456789—") && !strings.ContainsAny(c, "acdefghijlnopqrstuvwyz-") {
			mark = "---:"
		}
		marks = append(marks, mark)
	}
	line(marks)
	for _, r := range rows {
		line(r)
	}
	p.WriteString("\n")
}

// picture writes a plot beside the figures and links it.
func (p *page) picture(name string, pic interface{ svg() string }, alt string) {
	write(p.t, filepath.Join("plots", name+".svg"), pic.svg())
	p.say("![%s](testscripts/bench/plots/%s.svg)", alt, name)
}

// measured are the sizes a section has figures of a job for.
func (s *section) measured(name string) (all []int) {
	for _, f := range s.Figures {
		if f.Name == name {
			all = append(all, f.N)
		}
	}
	slices.Sort(all)
	return all
}

// line is a job's times over its sizes; get chooses the value.
func (s *section) line(title, name string, get func(figure) float64) line {
	l := line{name: title}
	for _, n := range s.measured(name) {
		l.points = append(l.points, [2]float64{float64(n), get(*s.find(name, n))})
	}
	return l
}

func wall(f figure) float64  { return f.MS }
func value(f figure) float64 { return f.Value }

// number is a time or size with three significant digits.
func number(v float64) string {
	switch {
	case v < 0:
		return "−" + number(-v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// memory is a peak in MB, or a dash where a child had less than its parent.
func memory(mb float64) string {
	if mb == 0 {
		return "—"
	}
	return number(mb)
}

// cell is the time of a job on n items, or a dash.
func (s *section) cell(name string, n int) string {
	if f := s.find(name, n); f != nil {
		return number(f.MS)
	}
	return "—"
}

// over is one time over another, or a dash.
func (s *section) over(name, beside string, n int) string {
	a, okA := s.ms(name, n)
	b, okB := s.ms(beside, n)
	if !okA || !okB || b == 0 {
		return "—"
	}
	return fmt.Sprintf("%.2f", a/b)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
