package repo

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/refusal"
	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

// Whatever git would store as other bytes is refused, with the line that says so,
// before anything is written; what git stores as it is is committed.
func TestConverted(t *testing.T) {
	task := func(text string) Changes { return Changes{"k/tasks/a.md": []byte(text)} }
	repoFile := func(name, text string) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) { repotest.Write(t, r.Root(), name, text) }
	}
	set := func(args ...string) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) { repotest.Git(t, r.Root(), append([]string{"config"}, args...)...) }
	}
	committed := func(text string) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) {
			repotest.Write(t, r.Root(), ".gitattributes", text)
			repotest.Git(t, r.Root(), "add", ".")
			repotest.Git(t, r.Root(), "commit", "-qm", "attributes")
			if err := os.Remove(filepath.Join(r.Root(), ".gitattributes")); err != nil { // the commit's own count without a work tree's
				t.Fatal(err)
			}
		}
	}
	both := func(all ...func(testing.TB, *Repo)) func(testing.TB, *Repo) {
		return func(t testing.TB, r *Repo) {
			for _, one := range all {
				one(t, r)
			}
		}
	}
	for name, c := range map[string]struct {
		lay  func(testing.TB, *Repo)
		ch   Changes
		want string // of the refusal; "" for a commit
	}{
		"nothing":                   {repoFile("x", "y"), task("a\n"), ""},
		"a filter, committed":       {committed("# secrets\n*.md filter=git-crypt diff=git-crypt\n"), task("a\n"), ".gitattributes:2: k/tasks/a.md has filter=git-crypt: "},
		"a filter, untracked":       {repoFile("k/.gitattributes", "tasks/** filter=x\n"), task("a\n"), "k/.gitattributes:1: k/tasks/a.md has filter=x"},
		"a filter of the clone":     {repoFile(".git/info/attributes", "\n/k/*/a.md filter=x\n"), task("a\n"), "info/attributes:2: k/tasks/a.md has filter=x: "},
		"a filter that is none":     {repoFile(".gitattributes", "*.md filter\n"), task("a\n"), ""},
		"a filter of the person":    {both(repoFile("../mine", "*.md filter=x\n"), func(t testing.TB, r *Repo) { set("core.attributesFile", r.Root()+"/../mine")(t, r) }), task("a\n"), "mine:1: k/tasks/a.md has filter=x"},
		"a filter in the commit":    {repoFile("x", "y"), Changes{"k/.gitattributes": []byte("*.md filter=x\n"), "k/a.md": []byte("a\n")}, "k/.gitattributes:1: k/a.md has filter=x"},
		"a macro":                   {repoFile(".gitattributes", "[attr]secret filter=x diff\n*.txt secret\n*.md secret\n"), task("a\n"), ".gitattributes:1: k/tasks/a.md has filter=x"},
		"a quoted pattern":          {repoFile(".gitattributes", `"k/tasks/[a-c].m\144" filter=x`), task("a\n"), ".gitattributes:1: k/tasks/a.md has filter=x"},
		"a quote right before":      {repoFile(".gitattributes", "\"*.md\"filter=x\n"), task("a\n"), "git check-attr -a: k/tasks/a.md has filter=x"},
		"folders between":           {repoFile(".gitattributes", "k/**/tasks/a.md filter=x\n"), task("a\n"), ".gitattributes:1: k/tasks/a.md has filter=x"},
		"a folder with a dot":       {repoFile(".k/.gitattributes", "*.md filter=x\n"), Changes{".k/a.md": []byte("a\n"), "k/a.md": []byte("a\n")}, ".k/.gitattributes:1: .k/a.md has filter=x"},
		"another case":              {both(repoFile(".gitattributes", "*.MD filter=x\n"), set("core.ignorecase", "true")), task("a\n"), ".gitattributes:1: k/tasks/a.md has filter=x"},
		"the last line":             {repoFile(".gitattributes", "*.md filter=x\n* filter=y\n*.txt filter=z\n"), task("a\n"), ".gitattributes:2: k/tasks/a.md has filter=y"},
		"the nearest file":          {both(repoFile(".gitattributes", "*.md filter=x\n"), repoFile("k/.gitattributes", "*.md -filter\n")), task("a\n"), ""},
		"a filter of others":        {repoFile(".gitattributes", "*.bin filter=lfs\n"), task("a\n"), ""},
		"what a filter has goes":    {repoFile(".gitattributes", "*.md filter=x\n"), Changes{"k/tasks/a.md": nil, "k/x": []byte("y")}, ""},
		"an encoding":               {repoFile(".gitattributes", "*.md working-tree-encoding=UTF-16LE\n"), task("a\n"), ".gitattributes:1: k/tasks/a.md has working-tree-encoding=UTF-16LE"},
		"the same encoding":         {repoFile(".gitattributes", "*.md working-tree-encoding=utf-8\n"), task("a\n"), ""},
		"keywords":                  {repoFile(".gitattributes", "* ident\n"), task("$Id: 1 $\n"), ".gitattributes:1: k/tasks/a.md has ident: git would store $Id$"},
		"no keywords":               {repoFile(".gitattributes", "* ident\n"), task("$Id$\n"), ""},
		"keywords that do not end":  {repoFile(".gitattributes", "* ident\n"), task("$Id: 1\n$"), ""},
		"line ends past an unknown": {repoFile(".gitattributes", "*.md text=foo crlf\n"), task("a\r\n"), ".gitattributes:1: k/tasks/a.md has crlf"},
		"line ends":                 {repoFile(".gitattributes", "*.md text\n"), task("a\r\n"), ".gitattributes:1: k/tasks/a.md has text: git would store LF"},
		"line ends by eol":          {repoFile(".gitattributes", "*.md eol=crlf\n"), task("a\r\n"), ".gitattributes:1: k/tasks/a.md has eol=crlf"},
		"line ends by an old name":  {repoFile(".gitattributes", "*.md crlf\n"), task("a\r\n"), ".gitattributes:1: k/tasks/a.md has crlf"},
		"line ends as git's":        {both(repoFile(".gitattributes", "* text=auto eol=crlf\n"), set("core.autocrlf", "true")), task("a\n"), ""},
		"line ends that stay":       {repoFile(".gitattributes", "* text=auto\n*.md -text\n"), task("a\r\n"), ""},
		"found line ends that stay": {both(repoFile(".gitattributes", "* text=auto\n"), set("core.autocrlf", "true")), task("a\r\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := fresh(t, "x", "1\n")
			c.lay(t, r)
			r = open(t, r.Root())
			base := OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD"))
			tree := OID(repotest.Git(t, r.Root(), "rev-parse", "HEAD^{tree}"))
			before := repotest.Git(t, r.Root(), "count-objects")
			var edits []FileEdit
			for p, b := range c.ch {
				if b != nil {
					edits = append(edits, FileEdit{Path: p, After: b, NewMode: object.ModeFile})
				}
			}
			for how, commit := range map[string]func() (OID, error){
				"make":   func() (OID, error) { return r.Make(t.Context(), []OID{base}, c.ch, agent, "m") },
				"on":     func() (OID, error) { return r.MakeOn(t.Context(), []OID{base}, tree, c.ch, agent, "m") },
				"edits":  func() (OID, error) { return r.MakeEdits(t.Context(), []OID{base}, edits, agent, "m") },
				"person": func() (OID, error) { return r.PersonCommit(t.Context(), []OID{base}, base, c.ch, "m") },
			} {
				oid, err := commit()
				if c.want == "" {
					if err != nil {
						t.Fatalf("%s: %v", how, err)
					}
					continue
				}
				no := (*refusal.Refusal)(nil)
				if !errors.As(err, &no) || no.Code != "converted" || !strings.Contains(no.Text, c.want) || oid != "" {
					t.Errorf("%s: got %v, want a refusal with %q", how, err, c.want)
				}
				if now := repotest.Git(t, r.Root(), "count-objects"); now != before {
					t.Errorf("%s: refused, and objects were written: %s, before %s", how, now, before)
				}
			}
			if c.want != "" {
				return
			}
			// What is committed is what git would have stored of the same bytes.
			for p, b := range c.ch {
				if b == nil {
					continue
				}
				repotest.Write(t, r.Root(), p, string(b))
				got, _ := r.Make(t.Context(), []OID{base}, c.ch, agent, "m")
				repotest.Git(t, r.Root(), "read-tree", string(got))
				repotest.Git(t, r.Root(), "add", "-A")
				if is, was := repotest.Git(t, r.Root(), "rev-parse", ":"+p), repotest.Git(t, r.Root(), "rev-parse", string(got)+":"+p); is != was {
					t.Errorf("%s: git stores %s, odd stored %s", p, is, was)
				}
			}
		})
	}
}

// Where no attributes file has a word that changes bytes, no git is asked.
func TestConvertedAsksNobody(t *testing.T) {
	r, base := fresh(t, ".gitattributes", "k/journal/*.tsv merge=union\n*.png binary\n* text=auto\n", "k/tasks/a.md", "a\n")
	withoutGit(t, r)
	if got, err := r.Converted(t.Context(), base, Changes{"k/tasks/b.md": []byte("b\n")}); err != nil || len(got) > 0 {
		t.Errorf("got %v, %v; want nothing, without git", got, err)
	}
}

// withoutGit lets no git start but for what it has told of its settings.
func withoutGit(t *testing.T, r *Repo) {
	t.Helper()
	s, err := r.loadSettings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.settings.last = s
	r.git.Base = append([]string{"PATH=/nowhere"}, r.git.Base...)
	t.Setenv("PATH", "/nowhere")
}

// Who follows the advice to the letter is not refused again.
func TestConvertedWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, line, p, want string }{
		{"k b", "*.md filter=x", "k b/x/tasks/a.md", "x/tasks/** -filter"},
		{"", "*.jsonl filter=x", "k b/x/ledger/a.jsonl", `"k b/x/ledger/**" -filter`},
		{"k b/x", "* working-tree-encoding=UTF-16", "k b/x/a.md", "** !working-tree-encoding"},
	} {
		r, base := fresh(t, "x", "1\n")
		at := path.Join(c.in, ".gitattributes")
		repotest.Write(t, r.Root(), at, c.line+"\n")
		refused := func() []Converted {
			return repotest.Must[[]Converted](t)(r.Converted(t.Context(), base, Changes{c.p: []byte("a\n")}))
		}
		if got := refused(); len(got) != 1 || !strings.Contains(got[0].Error(), "add the line "+c.want+" at the end of "+at) {
			t.Errorf("%s: %v does not advise %s", c.line, got, c.want)
		}
		repotest.Write(t, r.Root(), at, c.line+"\n"+c.want+"\n")
		if left := refused(); len(left) > 0 {
			t.Errorf("%s: with the advice: %v", c.line, left)
		}
	}
}

// A temporary directory that is named from where odd stands is found by git too.
func TestConvertedBesideRelativeTemp(t *testing.T) {
	r, base := fresh(t, ".gitattributes", "k/** filter=x\n", "tmp/x", "1\n")
	t.Chdir(r.Root())
	t.Setenv("TMPDIR", "tmp")
	if got, err := r.Converted(t.Context(), base, Changes{"k/a.md": []byte("a\n")}); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}
