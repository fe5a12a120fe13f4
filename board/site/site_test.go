package site_test

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/site"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/okftest"
)

var hostile = `<script>alert(1)</script> & "quotes" 'single' </svg>`

// bundle has two atoms that link to each other, text that would run in a browser if it
// could, and a task in every state.
func bundle(t *testing.T) *site.Board {
	t.Helper()
	files := fstest.MapFS{
		"terms/tide.md": {Data: []byte("---\ntype: term\nid: tide\ntitle: " + fmt.Sprintf("%q", hostile) + "\ndescription: " + fmt.Sprintf("%q", hostile) + "\nrelates_to: [harbour]\n---\n\n" +
			"Water moves. <img src=x onerror=alert(1)> ![shot](https://example.org/x.png) [run](javascript:alert(1)) [home](../systems/harbour.md) [gone](../systems/none.md) [out](https://example.org/)[^a]\n\n[^a]: A note.\n")},
		"systems/harbour.md": {Data: []byte("---\ntype: system\nid: harbour\ntitle: Harbour\n---\n\n# Harbour\n\nSee [the tide](../terms/tide.md).\n\n- [x] dredged\n")},
	}
	for i, s := range board.States() {
		files[fmt.Sprintf("tasks/t%d.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\ntype: task\nid: t%d\ntitle: %q\nstate: %s\ncreated: x\n---\n\nDo it <b>now</b>.\n", i, hostile, s)}
	}
	g, problems, err := okf.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Log(p)
	}
	rows, _ := board.Rows(g)
	b := &site.Board{
		Name: "harbour <b>", Branch: "main", Commit: "abc1234", At: time.Unix(0, 0), Graph: g, Tasks: rows,
		Proposal: map[okf.ID]site.Proposal{},
		Events:   []site.Event{{At: time.Unix(60, 0), Who: hostile, Task: "t0", Text: hostile, Cost: 1500000}},
		Months:   []site.Month{{Name: "1970-01", Spent: 1500000, Runs: 1}, {Name: "1970-02"}},
		Promises: []site.Promise{{Number: 1, Name: hostile, Proved: "x", Attested: "y"}},
	}
	for _, r := range rows {
		if r.State == board.Review {
			b.Proposal[r.ID] = site.Proposal{Branch: "odd/review/t.1", Card: hostile, Diff: "diff --git a b\n@@ -1 +1 @@\n-" + hostile + "\n+" + hostile + "\n", Atoms: []okf.Atom{*g.ByID("tide")}}
		}
	}
	return b
}

func pagesOf(t *testing.T, b *site.Board) map[string]string {
	t.Helper()
	p, err := site.New(b)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name := range p.Paths() {
		content, known, err := p.File(name)
		if err != nil || !known {
			t.Fatalf("%s: known %t, %v", name, known, err)
		}
		out[name] = string(content)
	}
	return out
}

var link = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// Every link of every page leads to a file of the site, a place on its page, or a
// web address that the text itself names.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	pages := pagesOf(t, bundle(t))
	for name, text := range pages {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(m[1])
			if err != nil {
				t.Errorf("%s: %q: %v", name, m[1], err)
				continue
			}
			if u.Scheme == "https" && u.Host == "example.org" || u.String() == "data:," || u.Path == "" && u.Scheme == "" {
				continue
			}
			if _, ok := pages[path.Join(path.Dir(name), u.Path)]; !ok || u.Scheme != "" {
				t.Errorf("%s leads to %q, which is not there", name, m[1])
			}
		}
	}
	if !strings.Contains(pages["atom/tide.html"], `href="../atom/harbour.html">home</a>`) {
		t.Error("the link between two atoms does not lead to the page")
	}
	if !strings.Contains(pages["atom/harbour.html"], `href="../atom/tide.html"`) {
		t.Error("the picture and the backlinks do not lead back")
	}
}

// Text of atoms, tasks, diffs and events never becomes markup.
func TestTextIsData(t *testing.T) {
	t.Parallel()
	for name, text := range pagesOf(t, bundle(t)) {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		for _, bad := range []string{"<script>", "onerror", "javascript:", "<img", "x.png", "<b>now", "harbour <b>"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s holds %q", name, bad)
			}
		}
		if strings.Count(text, "<h1>") != 1 || strings.Count(text, "<main") != 1 {
			t.Errorf("%s: want one h1 and one main", name)
		}
	}
	if got := pagesOf(t, bundle(t))["search.js"]; strings.Contains(got, "<script>") {
		t.Errorf("search.js holds markup: %s", got)
	}
	if got := pagesOf(t, bundle(t))["atom/harbour.html"]; !strings.Contains(got, "<li>☑ dredged</li>") {
		t.Errorf("a check box, which has no label, is not drawn as text: %s", got)
	}
}

// A decision is shown as the command to type.
func TestPagesShowTheCommand(t *testing.T) {
	t.Parallel()
	b := bundle(t)
	pages := pagesOf(t, b)
	id := string(b.Tasks[slices.IndexFunc(b.Tasks, func(r *board.Row) bool { return r.State == board.Review })].ID)
	if want := "odd approve " + id; !strings.Contains(pages["index.html"], want) || !strings.Contains(pages["review/"+id+".html"], want) {
		t.Errorf("neither board nor review shows %q", want)
	}
	if !strings.Contains(pages["spend.html"], "$1.50") {
		t.Error("spend.html does not show $1.50")
	}
}

// A column that is too long leads to a page with all of its tasks.
func TestLongColumns(t *testing.T) {
	t.Parallel()
	b := bundle(t)
	for i := range 100 {
		b.Tasks = append(b.Tasks, &board.Row{ID: okf.ID(fmt.Sprintf("more-%d", i)), Title: "More", State: board.Backlog})
	}
	pages := pagesOf(t, b)
	if !strings.Contains(pages["index.html"], `<a href="tasks/backlog.html">81 more</a>`) {
		t.Error("the board does not lead to the other tasks")
	}
	if !strings.Contains(pages["index.html"], `<span class="count">101</span>`) {
		t.Error("the board does not tell how many tasks there are")
	}
	if n := strings.Count(pages["tasks/backlog.html"], "<li>"); n != 101 {
		t.Errorf("tasks/backlog.html lists %d tasks, want 101", n)
	}
}

// FuzzText draws any text as an atom's and a task's, and finds no markup of it.
func FuzzText(f *testing.F) {
	f.Add("# x\n\n<script>alert(1)</script>")
	f.Add("[a](javascript:alert(1)) ![b](http://x/y) <a href=x onclick=y>")
	f.Add(strings.Repeat("> ", 60) + "deep")
	f.Add("|a|\n|-|\n|<img src=x>|\n\n[^1]\n\n[^1]: <svg onload=x>")
	f.Fuzz(func(t *testing.T, body string) {
		a, err := okf.Parse("terms/x.md", []byte("---\ntype: term\nid: x\ntitle: X\n---\n\n"+body))
		if err != nil {
			t.Skip()
		}
		p, err := site.New(&site.Board{Name: "n", Graph: okf.NewGraph([]okf.Atom{a})})
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := p.File("atom/x.html")
		if err != nil {
			t.Fatal(err)
		}
		inside := string(text[strings.Index(string(text), "<main"):])
		for _, m := range regexp.MustCompile(`<[a-zA-Z][^>]*`).FindAllString(inside, -1) {
			lower := strings.ToLower(m)
			if strings.HasPrefix(lower, "<script") || strings.HasPrefix(lower, "<img") || strings.HasPrefix(lower, "<iframe") || regexp.MustCompile(`\son[a-z]+=`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(lower, "")) || strings.Contains(lower, `href="javascript:`) {
				t.Errorf("%q became %s", body, m)
			}
		}
	})
}

// A page costs the same on a large board: drawing one reads no list of all atoms.
func TestPagesOfALargeBoard(t *testing.T) {
	cost := func(atoms int) float64 {
		g, _, err := okf.Load(okftest.FS(atoms))
		if err != nil {
			t.Fatal(err)
		}
		p, err := site.New(&site.Board{Graph: g})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			if _, known, err := p.File("atom/dept-0000/role-0.html"); !known || err != nil {
				t.Fatal(known, err)
			}
		})
	}
	if small, large := cost(200), cost(2000); large > small+100 {
		t.Errorf("an atom's page takes %.0f allocations among 200 atoms and %.0f among 2,000", small, large)
	}
}
