// Package site draws the board and the knowledge of one commit as HTML pages.
//
// The pages need no server and no network: they open from a folder, link to each
// other relatively, and load one style sheet, one script and one search index that
// lie beside them. They are read-only. Where a person must decide, a page shows the
// command to type in a terminal.
//
//	index.html          the board: a column a state
//	tasks/STATE.html    all tasks of a state, where a column does not hold them
//	task/ID.html        a task: its text, its history, its proposal
//	review/ID.html      a proposal: rendered, as a diff, and what it rests on
//	knowledge.html      all atoms by type
//	atom/ID.html        an atom: rendered, its neighbours as a picture, its backlinks
//	log.html            what agents and people did
//	spend.html          money by month
//	promises.html       what odd check proves of history
//
// Text of atoms, tasks and diffs is data: raw HTML in it is left out, no link in it
// runs a script, and no image is loaded.
package site

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"html/template"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
)

// Board is what the pages show. It is not changed by drawing.
type Board struct {
	Name     string // of the repository
	Branch   string
	Commit   string // short id
	At       time.Time
	Paused   string // the reason, "" when the board is not paused
	Graph    *okf.Graph
	Tasks    []*board.Row
	Proposal map[okf.ID]Proposal // of tasks in review
	Events   []Event             // oldest first
	Months   []Month             // oldest first
	Promises []Promise
	Live     bool // served: a page asks whether the board has changed
}

// Proposal is what waits for a person.
type Proposal struct {
	Branch string
	Card   string // the summary, as odd review prints it
	Diff   string // unified, without colours
	Atoms  []okf.Atom
}

// Event is one thing that happened.
type Event struct {
	At   time.Time
	Who  string
	Task okf.ID
	Text string
	Cost budget.MicroUSD
}

// Month is what one month cost.
type Month struct {
	Name  string // 2006-01
	Spent budget.MicroUSD
	Runs  int
}

// Promise is one row of what odd check proves.
type Promise struct {
	Number                 int
	Name, Proved, Attested string
}

// columnLimit is how many tasks a column of the board holds, and logLimit how many
// events the log does; more would only make the pages slow.
const columnLimit, logLimit = 40, 1000

//go:embed page.html site.css site.js
var assets embed.FS

// Pages draws each page when it is asked for. Build it with New.
type Pages struct {
	b     *Board
	page  *template.Template
	byID  map[okf.ID]*board.Row
	acts  map[okf.ID][]Event
	atoms []*okf.Atom                            // the knowledge: every atom but tasks, in order of type and title
	files map[string]func() (any, string, error) // by path: data, and the template's name
}

// New prepares the pages of a board.
func New(b *Board) (*Pages, error) {
	p := &Pages{b: b, byID: map[okf.ID]*board.Row{}, acts: map[okf.ID][]Event{}, files: map[string]func() (any, string, error){}}
	var err error
	p.page, err = template.New("page.html").Funcs(template.FuncMap{
		"date": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"day":  func(t time.Time) string { return t.UTC().Format("2006-01-02") },
		"word": func(s board.State) string { return strings.ReplaceAll(string(s), "_", " ") },
	}).ParseFS(assets, "page.html")
	if err != nil {
		return nil, err
	}
	for _, t := range b.Tasks {
		p.byID[t.ID] = t
	}
	for _, e := range b.Events {
		if e.Task != "" {
			p.acts[e.Task] = append(p.acts[e.Task], e)
		}
	}
	if b.Graph != nil {
		p.atoms = slices.DeleteFunc(slices.Clone(b.Graph.Atoms()), board.IsTask)
		slices.SortStableFunc(p.atoms, func(a, b *okf.Atom) int {
			return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)))
		})
	}
	p.register()
	return p, nil
}

// register names every page.
func (p *Pages) register() {
	p.files["index.html"] = func() (any, string, error) { return p.board(), "board", nil }
	p.files["knowledge.html"] = func() (any, string, error) { return p.knowledge(), "knowledge", nil }
	p.files["log.html"] = func() (any, string, error) { return p.log(), "log", nil }
	p.files["spend.html"] = func() (any, string, error) { return p.spend(), "spend", nil }
	p.files["promises.html"] = func() (any, string, error) { return p.b.Promises, "promises", nil }
	for _, s := range board.States() {
		p.files["tasks/"+string(s)+".html"] = func() (any, string, error) { return p.column(s, len(p.b.Tasks)), "tasks", nil }
	}
	for _, t := range p.b.Tasks {
		p.files["task/"+string(t.ID)+".html"] = func() (any, string, error) { d, err := p.task(t); return d, "task", err }
	}
	for id := range p.b.Proposal {
		p.files["review/"+string(id)+".html"] = func() (any, string, error) { d, err := p.review(id); return d, "review", err }
	}
	for _, a := range p.atoms {
		p.files["atom/"+string(a.ID)+".html"] = func() (any, string, error) { d, err := p.atom(a); return d, "atom", err }
	}
}

// Paths yields the path of every file, sorted.
func (p *Pages) Paths() iter.Seq[string] {
	return slices.Values(slices.Sorted(func(yield func(string) bool) {
		for _, name := range []string{"site.css", "site.js", "search.js"} {
			if !yield(name) {
				return
			}
		}
		for name := range maps.Keys(p.files) {
			if !yield(name) {
				return
			}
		}
	}))
}

// File is the content of a path; known is false where there is no such page.
func (p *Pages) File(name string) (content []byte, known bool, err error) {
	switch name {
	case "site.css", "site.js":
		content, err = assets.ReadFile(name)
		return content, true, err
	case "search.js":
		content, err = p.index()
		return content, true, err
	}
	draw := p.files[name]
	if draw == nil {
		return nil, false, nil
	}
	data, kind, err := draw()
	if err != nil {
		return nil, true, err
	}
	var b bytes.Buffer
	err = p.page.Execute(&b, frame{
		Board: p.b, Kind: kind, Data: data, Title: p.title(kind, name),
		Root: strings.Repeat("../", strings.Count(name, "/")), Guides: slices.ContainsFunc(p.atoms, func(a *okf.Atom) bool { return a.Type == "guide" }),
	})
	return b.Bytes(), true, err
}

// frame is what every page has around its content.
type frame struct {
	Board             *Board
	Kind, Title, Root string
	Guides            bool
	Data              any
}

func (p *Pages) title(kind, name string) string {
	id := okf.ID(strings.TrimSuffix(name[strings.IndexByte(name, '/')+1:], ".html"))
	switch kind {
	case "board":
		return "Board"
	case "task":
		return p.byID[id].Title
	case "review":
		return "Review: " + p.byID[id].Title
	case "atom":
		return p.b.Graph.ByID(id).Title
	case "tasks":
		return "Tasks: " + strings.ReplaceAll(string(id), "_", " ")
	}
	return strings.ToUpper(kind[:1]) + kind[1:]
}

// index is the search index as a script, so that it loads from a folder too. An
// entry is id, title, type and description; a task's page is told by its type.
func (p *Pages) index() ([]byte, error) {
	entries := [][4]string{}
	for _, a := range p.atoms {
		entries = append(entries, [4]string{string(a.ID), a.Title, a.Type, firstChars(a.Description, 160)})
	}
	for _, t := range p.b.Tasks {
		entries = append(entries, [4]string{string(t.ID), t.Title, board.Type, string(t.State)})
	}
	text, err := json.Marshal(entries)
	return slices.Concat([]byte("window.oddIndex = "), text, []byte(";\n")), err
}

func firstChars(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// href is the path of an atom's page from the top of the site.
func href(a *okf.Atom) string {
	if board.IsTask(a) {
		return path.Join("task", string(a.ID)+".html")
	}
	return path.Join("atom", string(a.ID)+".html")
}
