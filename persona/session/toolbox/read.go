package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
	"github.com/odd-cli/odd/reconcile/policy"
)

// The most that is listed.
const (
	mostListed  = 1000 // names
	mostMatches = 200  // lines
	mostLine    = 240  // bytes of one
)

// readers are the tools that look at the tree.
func readers() []entry {
	one := func(about string) param { return param{name: "path", kind: isText, must: true, about: about} }
	some := param{name: "path", kind: isText, about: "the folder to look in, from the top of the repository; all of it without one"}
	tool := func(name, about string, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about}, path: "path", grant: "fetch", do: do, params: params}
	}
	return []entry{
		tool("read_file", "Reads a text file of the repository, with line numbers. A file must have been read before it can be edited, overwritten or deleted.", readFile,
			one("the file, from the top of the repository"),
			param{name: "first", kind: isInt, most: 1 << 30, about: "the first line, from 1"},
			param{name: "last", kind: isInt, most: 1 << 30, about: "the last line"}),
		tool("list_dir", "Lists what is in a folder: folders end in a slash, files are told with their size.", listDir, some),
		tool("glob_files", "Lists the files whose path a glob means; ** stands for any number of folders.", globFiles,
			param{name: "glob", kind: isText, must: true, about: "a glob from the top of the repository, like cmd/**/*.go"}),
		tool("search_code", "Finds lines that hold a text, or match a regular expression (RE2), in the files of the repository.", searchCode,
			param{name: "query", kind: isText, must: true, about: "what to look for"},
			param{name: "how", kind: isText, oneOf: []string{"text", "regexp"}, about: "text, which is what is meant without it, or regexp"},
			some, param{name: "glob", kind: isText, about: "only in files that it means"}),
		tool("list_symbols", "Lists what a source file declares. Go is parsed; other languages are read by text patterns, and the answer says so.", listSymbols,
			one("the source file")),
		tool("get_callers", "Lists where a function, method or type is used. Go is parsed; other languages are read by text patterns, and the answer says so.", getCallers,
			param{name: "symbol", kind: isText, must: true, about: "its name, without package or receiver"}, some),
	}
}

// top is a path argument, the top of the tree where it was not given.
func (c *call) top() string { return cmp.Or(c.at, ".") }

// text reads a file that must be text.
func (c *call) text(p string) (string, error) {
	b, _, err := c.b.tree.load(p, c.b.o.Limits.FileBytes)
	if err != nil {
		return "", err
	}
	if !isPlain(b) {
		return "", failf("not_text", "%s is not text (%d bytes)", p, len(b))
	}
	return string(b), nil
}

func isPlain(b []byte) bool { return utf8.Valid(b) && !strings.ContainsRune(string(b), 0) }

// readFile shows lines of a file and remembers that it was read as it is now.
func readFile(_ context.Context, c *call) (string, error) {
	s, err := c.text(c.at)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(policy.RedactFile(c.at, []byte(s))), "\n") // of a part, nobody could tell what it is
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first, last := max(c.args.num("first", 1), 1), min(c.args.num("last", len(lines)), len(lines))
	if first > last && len(lines) > 0 {
		return "", failf("bad_arguments", "first: %s has %d lines", c.at, len(lines))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, lines %d to %d of %d\n", c.at, first, last, len(lines))
	for i := first; i <= last; i++ {
		fmt.Fprintf(&out, "%d\t%s", i, lines[i-1])
	}
	c.b.knows(c.at, []byte(s))
	return out.String(), nil
}

// knows notes what the session knows of a file.
func (b *Box) knows(p string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read[p] = hash(content)
}

func listDir(_ context.Context, c *call) (string, error) {
	view := c.b.tree.view()
	if view == nil {
		return "", failf("missing", "this session has no files")
	}
	if info, err := fs.Stat(view, c.top()); err == nil && !info.IsDir() { // a pipe would make the listing wait
		return "", failf("not_a_folder", "%s is no folder", c.top())
	}
	entries, err := fs.ReadDir(view, c.top())
	if err != nil {
		return "", missing(c.top(), err)
	}
	var out []string
	for _, e := range entries {
		if policy.InGit(e.Name()) {
			continue
		}
		line := e.Name()
		switch info, err := e.Info(); {
		case e.IsDir():
			line += "/"
		case err == nil && e.Type().IsRegular():
			line += fmt.Sprintf("  %d bytes", info.Size())
		case e.Type()&fs.ModeSymlink != 0:
			line += "  symbolic link, not followed"
		default:
			line += "  no regular file"
		}
		out = append(out, line)
	}
	return formatList(out, "the folder is empty"), nil
}

// formatList returns a list, cut where it is too long.
func formatList(lines []string, none string) string {
	if len(lines) == 0 {
		return none
	}
	if n := len(lines); n > mostListed {
		lines = append(lines[:mostListed:mostListed], fmt.Sprintf("and %d more", n-mostListed))
	}
	return strings.Join(lines, "\n")
}

// globArgument returns the glob argument, checked; "" means every file.
func (c *call) globArgument() (string, error) {
	g := c.args.text("glob")
	if g == "" {
		return "", nil
	}
	if err := policy.CheckGlob(g); err != nil {
		return "", failf("bad_arguments", "glob: %v", err)
	}
	return g, nil
}

func globFiles(ctx context.Context, c *call) (string, error) {
	g, err := c.globArgument()
	if err != nil {
		return "", err
	}
	var out []string
	full, err := c.b.tree.walk(ctx, ".", func(f file) bool {
		if policy.MatchGlob(g, f.path) {
			out = append(out, f.path)
		}
		return true
	})
	return formatList(out, "no file is meant by it") + beyond(full), err
}

// beyond says that not every file was looked at.
func beyond(full bool) string {
	if full {
		return fmt.Sprintf("\nonly the first %d files were looked at", mostFiles)
	}
	return ""
}

func searchCode(ctx context.Context, c *call) (string, error) {
	g, err := c.globArgument()
	if err != nil {
		return "", err
	}
	query := c.args.text("query")
	if c.args.text("how") != "regexp" {
		query = regexp.QuoteMeta(query)
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return "", failf("bad_arguments", "query: %v", err)
	}
	var out []string
	skipped, more := 0, 0
	full, err := c.b.tree.walk(ctx, c.top(), func(f file) bool {
		if g != "" && !policy.MatchGlob(g, f.path) {
			return true
		}
		b, err := f.load(c.b.o.Limits.FileBytes)
		if err != nil || !isPlain(b) {
			skipped++
			return true
		}
		if !re.Match(b) {
			return true
		}
		for i, l := range strings.Split(string(policy.RedactFile(f.path, b)), "\n") {
			switch {
			case !re.MatchString(l):
			case len(out) < mostMatches:
				out = append(out, fmt.Sprintf("%s:%d: %s", f.path, i+1, clip(strings.TrimSpace(l), mostLine)))
			default:
				more++
			}
		}
		return true
	})
	text := formatList(out, "no line matches")
	if more > 0 {
		text += fmt.Sprintf("\nand %d more lines", more)
	}
	if skipped > 0 {
		text += fmt.Sprintf("\nnot looked into, too large or no text: %d files", skipped)
	}
	return text + beyond(full), err
}

// librarians are the tools that read the bundle.
func librarians() []entry {
	atom := param{name: "atom", kind: isText, must: true, about: "an atom's id, path, uri or stem"}
	edges := param{name: "edges", kind: isWords, about: "only these kinds of edge"}
	tool := func(name, about string, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about}, grant: name, do: do, params: params}
	}
	return []entry{
		tool("search", "Finds atoms of the knowledge base by words.", search,
			param{name: "query", kind: isText, must: true, about: "the words"},
			param{name: "type", kind: isText, about: "only atoms of this type"},
			param{name: "limit", kind: isInt, most: 50, about: "how many; 10 without it"}),
		tool("get", "Shows an atom: its fields, confidence, sources, edges and text.", get, atom),
		tool("related", "Lists what an atom is joined with, both ways.", findRelated, atom, edges),
		tool("expand", "Lists what can be reached from an atom.", expand, atom, edges,
			param{name: "depth", kind: isInt, most: 5, about: "over how many edges; 2 without it"}),
	}
}

// formatValue returns a value as a model reads it, with <, > and & as they are, so that what is
// no text to be shown is seen for what it is.
func formatValue(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

func search(_ context.Context, c *call) (string, error) {
	found, total := served.Search(c.b.o.Request.Graph, c.args.text("query"), c.args.text("type"), max(c.args.num("limit", 10), 1))
	return formatValue(map[string]any{"found": found, "total": total})
}

// atom finds the atom that a call names.
func (c *call) atom() (*okf.Atom, error) {
	a, err := c.b.o.Request.Graph.Find(c.args.text("atom"))
	if err != nil {
		return nil, failf("missing", "%s", err.Error())
	}
	return a, nil
}

// edges reads the kinds of edge that a call names.
func (c *call) edges() ([]okf.EdgeKind, error) {
	kinds, err := served.Kinds(c.args.words("edges"))
	if err != nil {
		return nil, failf("bad_arguments", "edges: %s", err.Error())
	}
	return kinds, nil
}

func get(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	return formatValue(served.WholeOf(c.b.o.Request.Graph, a))
}

func findRelated(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	kinds, err := c.edges()
	if err != nil {
		return "", err
	}
	return formatValue(served.Related(c.b.o.Request.Graph, a.ID, kinds...))
}

func expand(_ context.Context, c *call) (string, error) {
	a, err := c.atom()
	if err != nil {
		return "", err
	}
	kinds, err := c.edges()
	if err != nil {
		return "", err
	}
	return formatValue(served.Expand(c.b.o.Request.Graph, a.ID, max(c.args.num("depth", 2), 1), false, kinds...))
}
