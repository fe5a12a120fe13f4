package site

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
)

// column is the tasks of one state.
type column struct {
	State board.State
	Tasks []*board.Row
	Count int // of all tasks in the state
	More  int // tasks that Tasks leaves out
}

// boardPage is the first page: how far the goals are, and the tasks by state.
type boardPage struct {
	Goals   []string
	Columns []column
}

// listColumns lists every state; of what is done, the newest come first.
func (p *Pages) listColumns() []column {
	var out []column
	for _, s := range board.States() {
		out = append(out, p.newColumn(s, columnLimit))
	}
	return out
}

func (p *Pages) listGoals() []string {
	if p.b.Graph == nil {
		return nil
	}
	return board.DirectionOf(p.b.Graph, p.b.Tasks).Lines()
}

func (p *Pages) newColumn(s board.State, limit int) column {
	c := column{State: s}
	for _, t := range p.b.Tasks {
		if t.State == s {
			c.Tasks = append(c.Tasks, t)
		}
	}
	if s == board.Done {
		slices.SortStableFunc(c.Tasks, func(a, b *board.Row) int { return strings.Compare(b.Created, a.Created) })
	} else {
		c.Tasks = board.Order(c.Tasks, board.IndexOf(p.b.Tasks))
	}
	c.Count = len(c.Tasks)
	if n := c.Count - limit; n > 0 {
		c.Tasks, c.More = c.Tasks[:limit], n
	}
	return c
}

type taskPage struct {
	*board.Row
	Path       string
	Facts      [][2]string
	Text       template.HTML
	Acceptance []string
	Rejected   []board.Rejection
	Events     []Event
	Cost       budget.MicroUSD
	InReview   bool
}

func (p *Pages) buildTaskPage(row *board.Row) (taskPage, error) {
	d := taskPage{Row: row, Events: p.acts[row.ID]}
	_, d.InReview = p.b.Proposal[row.ID]
	for _, e := range d.Events {
		d.Cost += e.Cost
	}
	a := p.b.Graph.ByID(row.ID)
	if a == nil {
		return d, nil
	}
	t, err := board.ReadTask(p.b.Graph, a)
	if err != nil {
		return d, nil //nolint:nilerr // odd check tells it; the page shows what the list has
	}
	d.Path, d.Acceptance, d.Rejected = a.Path, t.Acceptance, t.Rejected
	fact := func(name, value string) {
		if value != "" {
			d.Facts = append(d.Facts, [2]string{name, value})
		}
	}
	fact("kind", t.Kind)
	fact("role", t.Role)
	fact("priority", t.Priority)
	fact("goal", t.Goal)
	fact("inputs", strings.Join(t.Inputs, ", "))
	fact("files it may change", strings.Join(t.Paths, ", "))
	if t.Budget > 0 {
		fact("budget", "$"+t.Budget.String())
	}
	var needs []string
	for _, id := range t.Dependencies {
		needs = append(needs, string(id))
	}
	fact("waits for", strings.Join(needs, ", "))
	fact("claimed by", t.ClaimedBy)
	fact("blocked", t.BlockedReason)
	d.Text, err = p.renderText(a, "task/"+string(row.ID)+".html", 2)
	return d, err
}

// reviewPage is a proposal beside what it rests on.
type reviewPage struct {
	Proposal
	Task     *board.Row
	Rendered []rendered
	Lines    []diffLine
	Cut      int // lines of the diff that are left out
}

type rendered struct {
	okf.Atom
	Text template.HTML
}

// diffLine is a line of a diff; Class says how it is drawn.
type diffLine struct{ Class, Text string }

// diffLimit is how many lines of a diff a page shows.
const diffLimit = 4000

func (p *Pages) buildReviewPage(id okf.ID) (reviewPage, error) {
	d := reviewPage{Proposal: p.b.Proposal[id], Task: p.byID[id]}
	for _, a := range d.Atoms {
		text, err := p.renderText(&a, "review/"+string(id)+".html", 3)
		if err != nil {
			return d, err
		}
		d.Rendered = append(d.Rendered, rendered{a, text})
	}
	lines := strings.Split(strings.TrimSuffix(d.Diff, "\n"), "\n")
	if n := len(lines) - diffLimit; n > 0 {
		lines, d.Cut = lines[:diffLimit], n
	}
	for _, l := range lines {
		class := ""
		switch {
		case strings.HasPrefix(l, "diff "), strings.HasPrefix(l, "index "), strings.HasPrefix(l, "+++"), strings.HasPrefix(l, "---"):
			class = "file"
		case strings.HasPrefix(l, "@@"):
			class = "hunk"
		case strings.HasPrefix(l, "+"):
			class = "added"
		case strings.HasPrefix(l, "-"):
			class = "removed"
		}
		d.Lines = append(d.Lines, diffLine{class, l})
	}
	return d, nil
}

// group is the atoms of one type.
type group struct {
	Type  string
	atoms []*okf.Atom
	stem  string // of the pages that list all of them
}

// Lines are the first atoms of the type, and More how many others there are.
func (g group) Lines() []line { return atomLines(g.atoms[:len(g.atoms)-g.More()]) }
func (g group) More() int     { return max(0, len(g.atoms)-typeLimit) }
func (g group) Count() int    { return len(g.atoms) }
func (g group) Href() string  { return g.stem + ".html" }

func typesOf(atoms []*okf.Atom) []group {
	var out []group
	for _, a := range atoms {
		if len(out) == 0 || out[len(out)-1].Type != a.Type {
			out = append(out, group{Type: a.Type, stem: fmt.Sprintf("knowledge/%d", len(out)+1)})
		}
		last := &out[len(out)-1]
		last.atoms = append(last.atoms, a)
	}
	return out
}

// line is one of a list: a link, and what is told beside it.
type line struct {
	Href, Title, Quiet string
	Here               bool // the page that it is on
}

func taskLines(rows []*board.Row) (out []line) {
	for _, t := range rows {
		quiet := string(t.ID)
		for _, more := range []string{t.Priority, t.Role} {
			if more != "" {
				quiet += " · " + more
			}
		}
		out = append(out, line{Href: "task/" + string(t.ID) + ".html", Title: t.Title, Quiet: quiet})
	}
	return out
}

func atomLines(atoms []*okf.Atom) (out []line) {
	for _, a := range atoms {
		out = append(out, line{Href: atomHref(a), Title: a.Title, Quiet: a.Description})
	}
	return out
}

// listPage is a part of a long list, with links to the other parts.
type listPage struct{ Lines, Parts []line }

// addList registers the pages of a list of n lines: STEM.html, STEM-2.html and so on.
func (p *Pages) addList(stem, title string, n int, lines func() []line) {
	all := sync.OnceValue(lines)
	var parts []line
	for i := range max(1, (n+listLimit-1)/listLimit) {
		name := stem + ".html"
		if i > 0 {
			name = fmt.Sprintf("%s-%d.html", stem, i+1)
		}
		parts = append(parts, line{Href: name, Title: strconv.Itoa(i + 1)})
	}
	for i, part := range parts {
		head := title
		if i > 0 {
			head = fmt.Sprintf("%s, part %d", title, i+1)
		}
		p.files[part.Href] = file{"list", head, func() (any, error) {
			d := listPage{Lines: all()[i*listLimit : min(n, (i+1)*listLimit)]}
			if len(parts) > 1 {
				d.Parts = slices.Clone(parts)
				d.Parts[i].Here = true
			}
			return d, nil
		}}
	}
}

type atomPage struct {
	*okf.Atom
	Text      template.HTML
	Picture   template.HTML
	Tasks     []line // of a goal: those that name it
	Backlinks []okf.Backlink
	titles    func(okf.ID) string
	hrefs     func(okf.ID) string
}

// TitleOf and HrefOf are of another atom.
func (d atomPage) TitleOf(id okf.ID) string { return d.titles(id) }

// HrefOf is the path of another atom's page from the top of the site.
func (d atomPage) HrefOf(id okf.ID) string { return d.hrefs(id) }

func (p *Pages) buildAtomPage(a *okf.Atom) (atomPage, error) {
	name := "atom/" + string(a.ID) + ".html"
	d := atomPage{Atom: a, Backlinks: p.b.Graph.Backlinks(a.ID), titles: p.titleOf, hrefs: p.hrefOf}
	if a.Type == board.GoalType {
		rows := board.Serving(p.b.Graph, p.b.Tasks, a)
		d.Tasks = taskLines(rows)
		for i := range d.Tasks {
			d.Tasks[i].Quiet = stateWord(rows[i].State) + " · " + d.Tasks[i].Quiet
		}
	}
	d.Picture = p.drawAtom(a, strings.Repeat("../", strings.Count(name, "/")))
	var err error
	d.Text, err = p.renderText(a, name, 1)
	return d, err
}

func (p *Pages) titleOf(id okf.ID) string {
	if a := p.b.Graph.ByID(id); a != nil && a.Title != "" {
		return a.Title
	}
	return string(id)
}

func (p *Pages) hrefOf(id okf.ID) string {
	if a := p.b.Graph.ByID(id); a != nil {
		return atomHref(a)
	}
	return ""
}

// logPage is what happened, the newest first.
type logPage struct {
	Events []Event
	More   int
}

func (p *Pages) buildLogPage() logPage {
	d := logPage{Events: slices.Clone(p.b.Events)}
	slices.Reverse(d.Events)
	if n := len(d.Events) - logLimit; n > 0 {
		d.Events, d.More = d.Events[:logLimit], n
	}
	return d
}

// bar is a month with the width of its bar in percent of the dearest month.
type bar struct {
	Month
	Percent int64
}

func (p *Pages) spendBars() []bar {
	var most budget.MicroUSD
	for _, m := range p.b.Months {
		most = max(most, m.Spent)
	}
	var out []bar
	for _, m := range p.b.Months {
		b := bar{Month: m}
		if most > 0 {
			b.Percent = int64(m.Spent * 100 / most)
		}
		out = append(out, b)
	}
	return out
}
