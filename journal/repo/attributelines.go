package repo

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// attributeLine is a line of an attributes file that gives something.
type attributeLine struct {
	number  int
	pattern string
	macro   string // the name that it defines, in place of a pattern
	given   []string
}

// attributeBlanks are what git takes words apart at.
const attributeBlanks = " \t\r\n"

func attributeFields(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(attributeBlanks, c) })
}

// attributeLines reads a file as git does: comments, and patterns that begin with !,
// give nothing.
func attributeLines(text []byte) (out []attributeLine) {
	for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		line, _, _ = strings.Cut(line, "\x00")
		line = strings.Trim(line, attributeBlanks)
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, rest, quoted := unquoteC(line)
		if !quoted {
			end := strings.IndexAny(line+" ", attributeBlanks)
			pattern, rest = line[:end], line[end:]
		}
		l := attributeLine{number: i + 1, pattern: pattern, given: attributeFields(rest)}
		if name, ok := strings.CutPrefix(pattern, "[attr]"); ok && name != "" {
			l.pattern, l.macro = "", strings.Trim(name, attributeBlanks)
		} else if pattern == "" || pattern[0] == '!' {
			continue
		}
		out = append(out, l)
	}
	return out
}

// gives reports that a line sets an attribute or a macro, to whatever value.
func (l attributeLine) gives(name string) bool {
	return slices.ContainsFunc(l.given, func(g string) bool { return attributeName(g) == name })
}

// unquoteC takes the string in git's quotes from the beginning of a line.
func unquoteC(line string) (text, rest string, ok bool) {
	if line == "" || line[0] != '"' {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		switch c := line[i]; c {
		case '"':
			return b.String(), line[i+1:], true
		case '\\':
			n, size := escapedC(line[i+1:])
			if size == 0 {
				return "", "", false
			}
			b.WriteByte(n)
			i += size
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// escapedC is the byte that follows a backslash, and the length of its spelling; 0
// where git knows none.
func escapedC(s string) (c byte, size int) {
	if s == "" {
		return 0, 0
	}
	if at := strings.IndexByte(`abfnrtv\"`, s[0]); at >= 0 {
		return "\a\b\f\n\r\t\v\\\""[at], 1
	}
	if len(s) < 3 || s[0] > '3' {
		return 0, 0
	}
	for _, d := range []byte(s[:3]) {
		if d < '0' || d > '7' {
			return 0, 0
		}
		c = c<<3 | (d - '0')
	}
	return c, 3
}

// couldMatch is false only where a pattern of a file in a folder cannot be about a
// path, whatever the wildcards in it stand for and however case counts.
func couldMatch(pattern, in, p string) bool {
	if pattern == "" || strings.HasSuffix(pattern, "/") { // a folder has no attributes
		return false
	}
	p = subject(pattern, in, p)
	pattern = strings.TrimPrefix(pattern, "/")
	first := strings.IndexAny(pattern, `*?[\`)
	if first < 0 {
		return strings.EqualFold(pattern, p)
	}
	head, tail := pattern[:first], strings.TrimLeft(pattern[strings.LastIndexAny(pattern, `*?[]\`)+1:], "/")
	return len(head) <= len(p) && len(tail) <= len(p) && strings.EqualFold(head, p[:len(head)]) && strings.EqualFold(tail, p[len(p)-len(tail):])
}

// subject is what of a path a pattern of a file in a folder is held against.
func subject(pattern, in, p string) string {
	if !strings.Contains(pattern, "/") {
		return path.Base(p)
	}
	return strings.TrimPrefix(strings.TrimPrefix(p, in), "/")
}

// attributeMatches reports that a pattern of a file in a folder is about a path,
// where fold says so in letters of either case.
func attributeMatches(pattern, in, p string, fold bool) bool {
	flags := "(?s)"
	if fold {
		flags = "(?si)"
	}
	if pattern == "" {
		return false
	}
	re, err := regexp.Compile(flags + "^" + globbed(strings.TrimPrefix(pattern, "/")) + "$")
	return err == nil && re.MatchString(subject(pattern, in, p))
}

// globbed is the regular expression of a pattern; it does not compile where the
// pattern matches nothing.
func globbed(pattern string) string {
	var b strings.Builder
	first := strings.IndexAny(pattern, `*?[\`) // git compares what stands before by itself
	for i := 0; i < len(pattern); {
		text, size := regexp.QuoteMeta(pattern[i:i+1]), 1
		switch pattern[i] {
		case '?':
			text = `[^/]`
		case '*':
			text, size = stars(pattern[i:], i == first || pattern[i-1] == '/')
		case '[':
			text, size = class(pattern[i:])
		case '\\':
			if i++; i == len(pattern) {
				return `(`
			}
			text = regexp.QuoteMeta(pattern[i : i+1])
		}
		b.WriteString(text)
		i += size
	}
	return b.String()
}

// stars is what the asterisks at the beginning of a pattern match: several that begin
// a folder's name and are all of it any number of folders.
func stars(pattern string, begins bool) (text string, size int) {
	rest := strings.TrimLeft(pattern, "*")
	size = len(pattern) - len(rest)
	switch {
	case size < 2 || !begins || rest != "" && rest[0] != '/':
		return `[^/]*`, size
	case rest == "":
		return `.*`, size
	}
	return `(?:.*/)?`, size + 1
}

// classes is one in brackets, whose first ] is none that closes it.
var classes = regexp.MustCompile(`^\[([!^]?)(\]?(?:\[:\w+:\]|\\.|[^\]\\])*)\]`)

// class is what the brackets at the beginning of a pattern match.
func class(pattern string) (text string, size int) {
	m := classes.FindStringSubmatch(pattern)
	switch {
	case m == nil:
		return `(`, len(pattern)
	case m[1] != "":
		return `[^/` + bracketed(m[2]) + `]`, len(m[0])
	}
	return `[` + bracketed(m[2]) + `]`, len(m[0])
}

var inBrackets = regexp.MustCompile(`\[:\w+:\]|\\.|[\[\]^]`)

// bracketed spells the inside of brackets for a regular expression.
func bracketed(in string) string {
	return inBrackets.ReplaceAllStringFunc(in, func(s string) string {
		if len(s) > 2 {
			return s
		}
		return regexp.QuoteMeta(s[len(s)-1:])
	})
}

// placedFile is one that has a say on what lies in a folder.
type placedFile struct {
	attributeFile
	in string // the folder, "" for all
}

// strongest are the files with a say on a path, the one that beats the others first.
func (a attributes) strongest(p string) (out []placedFile) {
	own := slices.Clone(a.everywhere)
	if n := len(own) - 1; n >= 0 && own[n].name == filepath.Join(a.r.common, "info", "attributes") {
		out, own = append(out, placedFile{own[n], ""}), own[:n]
	}
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		in := prefixOf(dir)
		if b, ok := a.files[in]; ok {
			out = append(out, placedFile{attributeFile{path.Join(in, attributesFile), b}, in})
		}
		if in == "" {
			break
		}
	}
	for _, f := range slices.Backward(own) {
		out = append(out, placedFile{f, ""})
	}
	return out
}

// located says where a path gets an attribute from: git does not tell.
func (a attributes) located(p, name, value string) Converted {
	c := Converted{Path: p, Has: name}
	if value != "set" {
		c.Has += "=" + value
	}
	files := a.strongest(p)
	meant := macros(files, c.Has)
	for _, fold := range []bool{false, true} { // git has matched it, in one way or the other
		for _, f := range files {
			for _, l := range slices.Backward(attributeLines(f.bytes)) {
				if slices.ContainsFunc(l.given, func(g string) bool { return slices.Contains(meant, g) }) && attributeMatches(l.pattern, f.in, p, fold) {
					c.File, c.Line, c.ways = f.name, l.number, ways(l.pattern, f.in, p, fold)
					return c
				}
			}
		}
	}
	c.ways = ways("", "", p, false)
	return c
}

// macros are the spellings of an attribute: itself, and the names that stand for it.
func macros(files []placedFile, has string) []string {
	out := []string{has}
	for n := 0; n < len(out); n++ {
		for _, f := range files {
			for _, l := range attributeLines(f.bytes) {
				if l.macro != "" && slices.Contains(l.given, out[n]) && !slices.Contains(out, l.macro) {
					out = append(out, l.macro)
				}
			}
		}
	}
	return out
}

// kinds are what odd writes below a bundle's root, each by a file as it has them.
var kinds = []string{"tasks/a.md", "handoffs/a.md", "journal/a.tsv", "ledger/a/a.jsonl", "proposals/a.jsonl", "governance/a.jsonl", "pause.toml"}

// ways are patterns, for the file in a folder, of all that a line with a pattern is
// about and odd writes: the whole bundle where it is about every kind, else the
// folders of those that it is about, and a path's own folder where it is of none.
func ways(pattern, in, p string, fold bool) []string {
	root, kind := bundleOf(p)
	if kind == "" {
		return []string{wayOf(in, folderOf(p))}
	}
	var all []string
	for _, k := range kinds {
		name := path.Join(root, k)
		if below, _, _ := strings.Cut(k, "/"); below == kind || strings.HasPrefix("/"+name, path.Join("/", in)) && attributeMatches(pattern, in, name, fold) {
			all = append(all, wayOf(in, wholeOf(path.Join(root, below), k)))
		}
	}
	if len(all) == len(kinds) {
		return []string{wayOf(in, path.Join(root, "**"))}
	}
	return all
}

// bundleOf takes a path apart where odd's own kinds begin; kind is "" for none.
func bundleOf(p string) (root, kind string) {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if slices.ContainsFunc(kinds, func(k string) bool { below, _, _ := strings.Cut(k, "/"); return below == part }) {
			return path.Join(parts[:i]...), part
		}
	}
	return "", ""
}

func folderOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir + "/**"
	}
	return p
}

func wholeOf(name, kind string) string {
	if strings.Contains(kind, "/") {
		return name + "/**"
	}
	return name
}

// special is what a pattern has to escape.
var special = regexp.MustCompile(`[*?\[\]\\]|^!`)

// wayOf spells a path, which may end in /**, as a pattern of the file in a folder.
func wayOf(in, p string) string {
	name, all := strings.CutSuffix(p, "**")
	if all && strings.HasPrefix(in+"/", name) {
		return "**"
	}
	name = special.ReplaceAllString(strings.TrimPrefix(strings.TrimPrefix(name, in), "/"), `\$0`)
	if !all && !strings.Contains(name, "/") {
		name = "/" + name
	}
	if all {
		name += "**"
	}
	if strings.ContainsAny(name, attributeBlanks+`"`) || name[0] == '#' {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "\r", `\r`, "\n", `\n`).Replace(name) + `"`
	}
	return name
}

// wayOut tells the lines that keep an attribute from what odd writes.
func (c Converted) wayOut() string {
	less := "-"
	if attributeName(c.Has) == "working-tree-encoding" { // git does not accept one that is unset
		less = "!"
	}
	lines := make([]string, len(c.ways))
	for i, way := range c.ways {
		if lines[i] = way + " " + less + attributeName(c.Has); strings.ContainsAny(way, `"\`) {
			lines[i] = "'" + lines[i] + "'"
		} else {
			lines[i] = `"` + lines[i] + `"`
		}
	}
	what, where := "line", "at its end"
	if len(lines) > 1 {
		what = "lines"
	}
	if c.File == "" {
		where = "to info/attributes in git's directory"
	}
	return fmt.Sprintf("add the %s %s %s", what, strings.Join(lines, ", "), where)
}
