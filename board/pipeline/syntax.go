package pipeline

import (
	"bytes"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Parsers are the commands that say whether a source of the language of a file's name
// parses: each reads it as its input. One that takes it is enough. Go and formats of
// data are not among them: [lint.Judge] reads those itself.
func Parsers(name string) [][]string {
	node := []string{"node", "--check", "-"}
	module := []string{"node", "--check", "--input-type=module", "-"}
	switch strings.ToLower(path.Ext(name)) {
	case ".py":
		return [][]string{{"python3", "-I", "-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"}}
	case ".cjs":
		return [][]string{node}
	case ".mjs":
		return [][]string{module}
	case ".js":
		return [][]string{module, node}
	}
	return nil
}

// Unreadable is a finding where output, what a parser printed, says that it read a
// source and that the source does not parse. What else it may say is nothing about the
// source: a program may be missing, or the machine be short of memory.
func Unreadable(name string, output []byte) (policy.Finding, bool) {
	said := syntaxError().FindSubmatch(output)
	if said == nil {
		return policy.Finding{}, false
	}
	line := 0
	if at := syntaxLine().FindSubmatch(output); at != nil {
		line, _ = strconv.Atoi(string(at[1]))
	}
	return policy.Finding{Code: "parse_failed", Severity: policy.Hard, How: policy.BySyntax, Path: name, Line: line,
		Text: "cannot be parsed: " + string(said[0]), Fix: "write the whole file so that it parses"}, true
}

var (
	syntaxError = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:SyntaxError|IndentationError|TabError): [^\r\n]{1,300}`)
	})
	syntaxLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:\[stdin\]:|  File "<unknown>", line )(\d{1,9})`)
	})
)

// Markup reports JavaScript that holds elements of a page (JSX), which the parser of
// the language does not read.
func Markup(src []byte) bool {
	return bytes.Contains(src, []byte("</")) || bytes.Contains(src, []byte("/>"))
}
