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

func readTools() []entry {
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

// pathOrTop is a path argument, the top of the tree where it was not given.
func (c *call) pathOrTop() string { return cmp.Or(c.at, ".") }

// readText reads a file that must be text.
func (c *call) readText(p string) (string, error) {
	b, _, err := c.b.tree.readFile(p, c.b.o.Limits.FileBytes)
	if err != nil {
		return "", err
	}
	if !isPlain(b) {
		return "", failWith("not_text", "%s is not text (%d bytes)", p, len(b))
	}
	return string(b), nil
}

func isPlain(b []byte) bool { return utf8.Valid(b) && !strings.ContainsRune(string(b), 0) }

// readFile shows lines of a file and remembers that it was read as it is now.
func readFile(_ context.Context, c *call) (string, error) {
	s, err := c.readText(c.at)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(policy.RedactFile(c.at, []byte(s))), "\n") // of a part, nobody could tell what it is
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	first, last := max(c.args.getInt("first", 1), 1), min(c.args.getInt("last", len(lines)), len(lines))
	if first > last && len(lines) > 0 {
		return "", failWith("bad_arguments", "first: %s has %d lines", c.at, len(lines))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s, lines %d to %d of %d\n", c.at, first, last, len(lines))
	for i := first; i <= last; i++ {
		fmt.Fprintf(&out, "%d\t%s", i, lines[i-1])
	}
	c.b.noteRead(c.at, []byte(s))
	return out.String(), nil
}

// noteRead notes what the session knows of a file.
func (b *Box) noteRead(p string, content []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.read[p] = hashHex(content)
}

func listDir(_ context.Context, c *call) (string, error) {
	view := c.b.tree.openView()
	if view == nil {
		return "", failWith("missing", "this session has no files")
	}
	if info, err := fs.Stat(view, c.pathOrTop()); err == nil && !info.IsDir() { // a pipe would make the listing wait
		return "", failWith("not_a_folder", "%s is no folder", c.pathOrTop())
	}
	entries, err := fs.ReadDir(view, c.pathOrTop())
	if err != nil {
		return "", asMissing(c.pathOrTop(), err)
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
	g := c.args.getText("glob")
	if g == "" {
		return "", nil
	}
	if err := policy.CheckGlob(g); err != nil {
		return "", failWith("bad_arguments", "glob: %v", err)
	}
	return g, nil
}

func globFiles(ctx context.Context, c *call) (string, error) {
	g, err := c.globArgument()
	if err != nil {
		return "", err
	}
	var out []string
	full, err := c.b.tree.walkFiles(ctx, ".", func(f file) bool {
		if policy.MatchGlob(g, f.path) {
			out = append(out, f.path)
		}
		return true
	})
	return formatList(out, "no file is meant by it") + notePartial(full), err
}

// notePartial says that not every file was looked at.
func notePartial(full bool) string {
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
	query := c.args.getText("query")
	if c.args.getText("how") != "regexp" {
		query = regexp.QuoteMeta(query)
	}
	re, err := regexp.Compile(query)
	if err != nil {
		return "", failWith("bad_arguments", "query: %v", err)
	}
	var out []string
	skipped, more := 0, 0
	full, err := c.b.tree.walkFiles(ctx, c.pathOrTop(), func(f file) bool {
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
				out = append(out, fmt.Sprintf("%s:%d: %s", f.path, i+1, okf.Clip(strings.TrimSpace(l), mostLine)))
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
	return text + notePartial(full), err
}

func bundleTools() []entry {
	atom := param{name: "atom", kind: isText, must: true, about: "an atom's id, path, uri or stem"}
	edges := param{name: "edges", kind: isWords, about: "only these kinds of edge"}
	tool := func(name, about string, do func(context.Context, *call) (string, error), params ...param) entry {
		return entry{Tool: Tool{Name: name, Description: about}, grant: name, do: do, params: params}
	}
	return []entry{
		tool("search", "Finds atoms of the knowledge base by words.", searchAtoms,
			param{name: "query", kind: isText, must: true, about: "the words"},
			param{name: "type", kind: isText, about: "only atoms of this type"},
			param{name: "limit", kind: isInt, most: 50, about: "how many; 10 without it"}),
		tool("get", "Shows an atom: its fields, confidence, sources, edges and text.", getAtom, atom),
		tool("related", "Lists what an atom is joined with, both ways.", findRelated, atom, edges),
		tool("expand", "Lists what can be reached from an atom.", expandAtom, atom, edges,
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

func searchAtoms(_ context.Context, c *call) (string, error) {
	found, total := served.Search(c.b.o.Request.Graph, c.args.getText("query"), c.args.getText("type"), max(c.args.getInt("limit", 10), 1))
	return formatValue(map[string]any{"found": found, "total": total})
}

func (c *call) findAtom() (*okf.Atom, error) {
	a, err := c.b.o.Request.Graph.Find(c.args.getText("atom"))
	if err != nil {
		return nil, failWith("missing", "%s", err.Error())
	}
	return a, nil
}

// findAtomAndKinds finds the atom and the kinds of edge that a call names.
func (c *call) findAtomAndKinds() (*okf.Atom, []okf.EdgeKind, error) {
	a, err := c.findAtom()
	if err != nil {
		return nil, nil, err
	}
	kinds, err := served.Kinds(c.args.getWords("edges"))
	if err != nil {
		return nil, nil, failWith("bad_arguments", "edges: %s", err.Error())
	}
	return a, kinds, nil
}

func getAtom(_ context.Context, c *call) (string, error) {
	a, err := c.findAtom()
	if err != nil {
		return "", err
	}
	return formatValue(served.WholeOf(c.b.o.Request.Graph, a))
}

func findRelated(_ context.Context, c *call) (string, error) {
	a, kinds, err := c.findAtomAndKinds()
	if err != nil {
		return "", err
	}
	return formatValue(served.Related(c.b.o.Request.Graph, a.ID, kinds...))
}

func expandAtom(_ context.Context, c *call) (string, error) {
	a, kinds, err := c.findAtomAndKinds()
	if err != nil {
		return "", err
	}
	return formatValue(served.Expand(c.b.o.Request.Graph, a.ID, max(c.args.getInt("depth", 2), 1), false, kinds...))
}
