// Package site draws the board and the knowledge of one commit as HTML pages.
//
// The pages need no server and no network: they open from a folder, link to each
// other relatively, and load one style sheet, one script and one search index that
// lie beside them. They are read-only. Where a person must decide, a page shows the
// command to type in a terminal.
//
//	index.html          the board: a column a state
//	tasks/STATE.html    all tasks of a state, and STATE-2.html where one page is too short
//	task/ID.html        a task: its text, its history, its proposal
//	review/ID.html      a proposal: rendered, as a diff, and what it rests on
//	knowledge.html      the atoms by type, and knowledge/N.html for a type with many
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
	"context"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"html/template"
	"iter"
	"maps"
	"net"
	"net/http"
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

// A page holds so much that a browser draws it at once: tasks in a column of the board,
// atoms of a type, lines of a list, events of the log.
const columnLimit, typeLimit, listLimit, logLimit = 20, 40, 500, 1000

//go:embed page.html site.css site.js
var assets embed.FS

// Pages draws each page when it is asked for. Build it with New.
type Pages struct {
	b      *Board
	page   *template.Template
	byID   map[okf.ID]*board.Row
	acts   map[okf.ID][]Event
	atoms  []*okf.Atom // the knowledge: every atom but tasks, in order of type and title
	types  []group     // the same by type
	guides bool        // some of it is a guide
	files  map[string]file
}

// file is a page: the kind that the template knows, the title, and what it shows.
type file struct {
	kind, title string
	data        func() (any, error)
}

// New prepares the pages of a board.
func New(b *Board) (*Pages, error) {
	p := &Pages{b: b, byID: map[okf.ID]*board.Row{}, acts: map[okf.ID][]Event{}, files: map[string]file{}}
	var err error
	p.page, err = template.New("page.html").Funcs(template.FuncMap{
		"date": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"word": stateWord,
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
	p.types = typesOf(p.atoms)
	p.guides = slices.ContainsFunc(p.types, func(g group) bool { return g.Type == "guide" })
	p.registerPages()
	return p, nil
}

// registerPages names every page.
func (p *Pages) registerPages() {
	p.files["index.html"] = file{"board", "Board", func() (any, error) { return boardPage{p.listGoals(), p.listColumns()}, nil }}
	p.files["knowledge.html"] = file{"knowledge", "Knowledge", func() (any, error) { return p.types, nil }}
	p.files["log.html"] = file{"log", "Log", func() (any, error) { return p.buildLogPage(), nil }}
	p.files["spend.html"] = file{"spend", "Spend", func() (any, error) { return p.spendBars(), nil }}
	p.files["promises.html"] = file{"promises", "Promises", func() (any, error) { return p.b.Promises, nil }}
	number := map[board.State]int{}
	for _, t := range p.b.Tasks {
		number[t.State]++
		p.files["task/"+string(t.ID)+".html"] = file{"task", t.Title, func() (any, error) { return p.buildTaskPage(t) }}
	}
	for _, s := range board.States() {
		p.addList("tasks/"+string(s), "Tasks: "+stateWord(s), number[s], func() []line { return taskLines(p.newColumn(s, len(p.b.Tasks)).Tasks) })
	}
	for _, g := range p.types {
		if g.More() > 0 {
			p.addList(g.stem, "Knowledge: "+g.Type, len(g.atoms), func() []line { return atomLines(g.atoms) })
		}
	}
	for id := range p.b.Proposal {
		p.files["review/"+string(id)+".html"] = file{"review", "Review: " + p.byID[id].Title, func() (any, error) { return p.buildReviewPage(id) }}
	}
	for _, a := range p.atoms {
		p.files["atom/"+string(a.ID)+".html"] = file{"atom", a.Title, func() (any, error) { return p.buildAtomPage(a) }}
	}
}

func stateWord(s board.State) string { return strings.ReplaceAll(string(s), "_", " ") }

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
		content, err = p.searchIndex()
		return content, true, err
	}
	f, known := p.files[name]
	if !known {
		return nil, false, nil
	}
	data, err := f.data()
	if err != nil {
		return nil, true, err
	}
	var b bytes.Buffer
	err = p.page.Execute(&b, frame{p.b, f.kind, f.title, strings.Repeat("../", strings.Count(name, "/")), p.guides, data})
	return b.Bytes(), true, err
}

// frame is what every page has around its content.
type frame struct {
	Board             *Board
	Kind, Title, Root string
	Guides            bool
	Data              any
}

// searchIndex is the search index as a script, so that it loads from a folder too. An
// entry is id, title, type and description; a task's page is told by its type.
func (p *Pages) searchIndex() ([]byte, error) {
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

// atomHref is the path of an atom's page from the top of the site.
func atomHref(a *okf.Atom) string {
	if board.IsTask(a) {
		return path.Join("task", string(a.ID)+".html")
	}
	return path.Join("atom", string(a.ID)+".html")
}

// Current gives the pages as the board is now, and a name for that state, which changes
// when the board does.
type Current func(ctx context.Context) (pages *Pages, state string, err error)

// cookie holds the token after the first request, so that links need not.
const cookie = "odd-serve"

// Server serves the pages to whoever has the token, at an address of this machine. It
// answers GET alone, only to requests that name the host, and "/tip" with the state.
func Server(host, token string, now Current) *http.Server {
	s := server{host, token, now}
	return &http.Server{Handler: http.HandlerFunc(s.handleRequest), ReadHeaderTimeout: 10 * time.Second}
}

type server struct {
	host, token string
	now         Current
}

func (s server) handleRequest(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if !s.isOwnHost(r.Host) {
		http.Error(w, "this server answers to "+s.host+" alone", http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "pages can only be read", http.StatusMethodNotAllowed)
		return
	}
	if s.isToken(r.URL.Query().Get("token")) {
		http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		http.Redirect(w, r, "/"+strings.TrimLeft(r.URL.Path, "/"), http.StatusSeeOther)
		return
	}
	if c, err := r.Cookie(cookie); err != nil || !s.isToken(c.Value) {
		http.Error(w, "open the address that odd serve printed; it has the token", http.StatusForbidden)
		return
	}
	s.answerPage(w, r)
}

// isOwnHost tells whether a request's Host is this server: a web page of another name that
// leads here is refused.
func (s server) isOwnHost(host string) bool {
	_, port, err := net.SplitHostPort(s.host)
	return host == s.host || err == nil && host == net.JoinHostPort("localhost", port)
}

func (s server) isToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

var contentTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

func (s server) answerPage(w http.ResponseWriter, r *http.Request) {
	pages, state, err := s.now(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	switch name {
	case "":
		name = "index.html"
	case "tip":
		_, _ = w.Write([]byte(state))
		return
	}
	content, known, err := pages.File(name)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case !known && strings.HasPrefix(name, "review/"): // it is decided
		http.Redirect(w, r, "/task/"+strings.TrimPrefix(name, "review/"), http.StatusSeeOther)
	case !known:
		http.Error(w, "there is no such page; the board may have changed", http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
		_, _ = w.Write(content)
	}
}
