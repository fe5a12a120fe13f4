package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tidwall/jsonc"
	"go.yaml.in/yaml/v4"
	"mvdan.cc/sh/v3/syntax"

	"github.com/odd-cli/odd/reconcile/policy"
)

// The semantic guardian compares what a file does after a change with what it
// did before. Go is compared by its syntax tree, every other language by its
// text; each finding says which. No detector looks at a state alone: what was
// there before is not the change's doing.

// delta is one file of a change, with both of its states read.
type delta struct {
	File
	dir, ext string
	test     bool // it holds tests
	was, now side
	moved    moved
	lost     counts[string] // the lines that it has less often than before
	come     counts[string] // those that it has more often
}

// side is one state of a file.
type side struct {
	src  []byte
	here bool  // the file is there
	err  error // why it does not parse, for a known language
	// tree is the syntax of a Go file, as much of it as parses.
	tree    *ast.File
	fset    *token.FileSet
	imports map[string]string // names of its imports, with their paths
	read    *int              // bytes that were read of it, see text
}

// readFiles parses every file of the change once.
func (c *change) readFiles() {
	for _, f := range c.files {
		c.deltas = append(c.deltas, newDelta(f))
	}
	c.findMoves()
	for _, f := range c.policy.Beside {
		f.After = f.Before
		if path.Ext(f.Path) == ".go" || isTest(f.Path) {
			c.beside = append(c.beside, newDelta(f))
		}
	}
}

// moved is what a file has given to other files of its change.
type moved struct{ lines, bytes int }

// findMoves finds what each file gave to the others: lines that it has less often
// than before, and that another has more often.
func (c *change) findMoves() {
	gained := counts[string]{}
	for _, d := range c.deltas {
		was, now := countOf(d.was.lines()), countOf(d.now.lines())
		d.lost, d.come = was.subtract(now), now.subtract(was)
		for l, n := range d.come {
			gained[l] += n
		}
	}
	for _, d := range c.deltas {
		for l, n := range d.lost {
			n = min(n, gained[l])
			d.moved.lines += n
			d.moved.bytes += n * (len(l) + 1)
		}
	}
}

func newDelta(f File) *delta {
	d := &delta{File: f, dir: path.Dir(f.Path), ext: strings.ToLower(path.Ext(f.Path)), test: isTest(f.Path)}
	d.was = parseSide(d.ext, f.Before)
	d.now = d.was
	if !bytes.Equal(f.Before, f.After) || (f.Before == nil) != (f.After == nil) {
		d.now = parseSide(d.ext, f.After)
	}
	return d
}

// isTest reports whether a file holds tests, by the habits of many languages.
func isTest(p string) bool {
	base := strings.ToLower(path.Base(p))
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch {
	case ext == ".go":
		return strings.HasSuffix(stem, "_test") && !passedOver(p)
	case ext == ".txtar" || base == "conftest.py":
		return true
	}
	if slices.Contains(proseExts(), ext) {
		return false
	}
	if strings.HasPrefix(stem, "test_") || slices.ContainsFunc([]string{"_test", ".test", ".spec", "_spec"}, func(end string) bool { return strings.HasSuffix(stem, end) }) {
		return true
	}
	return ext != "" && slices.ContainsFunc(strings.Split(strings.ToLower(path.Dir(p)), "/"), func(dir string) bool {
		return slices.Contains([]string{"tests", "__tests__", "spec", "test"}, dir)
	})
}

// passedOver reports a path that the go command does not look at.
func passedOver(p string) bool {
	return slices.ContainsFunc(strings.Split(p, "/"), func(name string) bool {
		return name == "testdata" || name != "" && strings.IndexByte("_.", name[0]) >= 0
	})
}

// maxBrackets is how deep brackets may stand in one another in data.
const maxBrackets = 1000

// parseSide reads one state of a file.
func parseSide(ext string, src []byte) side {
	s := side{src: src, here: src != nil}
	if src == nil {
		return s
	}
	switch ext {
	case ".go":
		s.fset = token.NewFileSet()
		s.tree, s.err = parser.ParseFile(s.fset, "", src, parser.ParseComments|parser.AllErrors)
		s.imports, s.read = importsOf(s.tree), new(int)
	case ".sh", ".bash":
		_, s.err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(src), "")
	case ".json", ".toml", ".yaml", ".yml", ".md", ".markdown":
		s.err = parseData(ext, src)
	}
	return s
}

// wholeParse reports a language whose files odd parses whole.
func wholeParse(ext string) bool {
	return slices.Contains([]string{".sh", ".bash", ".json", ".toml", ".yaml", ".yml"}, ext)
}

func parseData(ext string, src []byte) error {
	data := src
	if ext == ".md" || ext == ".markdown" {
		front, ok, err := splitFront(src)
		if !ok || err != nil {
			return err
		}
		ext, data = ".yaml", front
	}
	if bracketDepth(data) > maxBrackets {
		return fmt.Errorf("brackets are nested more than %d deep", maxBrackets)
	}
	switch ext {
	case ".json":
		var v json.RawMessage
		return json.Unmarshal(jsonc.ToJSON(data), &v) // tsconfig.json and others may hold comments
	case ".toml":
		var v map[string]any
		return toml.Unmarshal(data, &v)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var n yaml.Node
		if err := d.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// splitFront takes the frontmatter from a Markdown file; ok is false where it
// has none.
func splitFront(src []byte) (front []byte, ok bool, err error) {
	rest, ok := bytes.CutPrefix(src, []byte("---\n"))
	if !ok {
		if rest, ok = bytes.CutPrefix(src, []byte("---\r\n")); !ok {
			return nil, false, nil
		}
	}
	for at := 0; at < len(rest); {
		line, _, _ := bytes.Cut(rest[at:], []byte("\n"))
		if string(bytes.TrimRight(line, "\r")) == "---" {
			return rest[:at], true, nil
		}
		at += len(line) + 1
	}
	if !bytes.Contains(rest, []byte(": ")) {
		return nil, false, nil // a rule across the page, and no frontmatter
	}
	return nil, true, errors.New("the frontmatter has no closing ---")
}

// bracketDepth returns how deep brackets stand in one another at most, quoted ones too.
func bracketDepth(src []byte) int {
	depth, most := 0, 0
	for _, c := range src {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}

// how says which way the file is judged.
func (d *delta) how() policy.How {
	if d.goTrees() {
		return policy.BySyntax
	}
	return policy.ByText
}

// goTrees reports whether both states that exist are whole syntax trees of Go.
func (d *delta) goTrees() bool {
	return d.ext == ".go" && d.was.err == nil && d.now.err == nil
}

// oneFinding is one finding of a rule about the file.
func (d *delta) oneFinding(code string, how policy.How, line int, text string) []policy.Finding {
	return []policy.Finding{newFinding(code, how, d.Path, line, text)}
}

// checkParses judges files of known languages that do not parse.
func checkParses(_ *change, d *delta) []policy.Finding {
	switch {
	case d.After == nil || d.now.err == nil && d.was.err == nil:
		return nil
	case d.ext != ".go" && slices.ContainsFunc(strings.Split(d.dir, "/"), func(dir string) bool { return dir == "testdata" || dir == "fixtures" }):
		return nil // what a test reads may be broken on purpose
	case d.now.err == nil:
		return d.oneFinding("parse_failed_before", policy.ByText, 0, "could not be parsed before the change: "+oneLine(d.was.err))
	case d.was.err != nil:
		return d.oneFinding("parse_failed_before", policy.ByText, 0, "cannot be parsed, and could not before: "+oneLine(d.now.err))
	}
	return d.oneFinding("parse_failed", policy.BySyntax, 0, "cannot be parsed: "+oneLine(d.now.err))
}

func oneLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
