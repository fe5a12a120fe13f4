package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one argument as far as the line tells it.
type word struct {
	text  string // its value if known, else how it is written
	known bool   // the shell puts nothing in its place
	glob  bool   // a pattern for the names of files; known is false then
	lead  string // the literal text it begins with

	splits bool // the shell may make several words of it
}

func (w word) is(any ...string) bool {
	return w.known && slices.Contains(any, w.text)
}

// readWord reads a word of the shell. The folder names a shell always has a
// value for count as known: ~ and $HOME are written ~, $PWD is written ".".
func readWord(w *syntax.Word) word {
	out := word{known: true}
	var text strings.Builder
	for i, part := range w.Parts {
		s, known, glob := readPart(part, i == 0)
		text.WriteString(s)
		if out.known && known {
			out.lead += s
		}
		if lit, ok := part.(*syntax.Lit); ok && out.known && glob && !strings.Contains(lit.Value, `\`) {
			out.lead += lit.Value[:strings.IndexAny(lit.Value, "*?[")]
		}
		out.known = out.known && known
		out.glob = out.glob || glob
		out.splits = out.splits || mayBeSeveral(part)
	}
	out.text = text.String()
	if !out.known {
		out.text = wordSource(w)
		if out.glob {
			out.text = text.String()
		}
	}
	return out
}

// mayBeSeveral reports whether a shell may make more than one word of a part.
func mayBeSeveral(part syntax.WordPart) bool {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return part.Param == nil || part.Param.Value != "HOME"
	case *syntax.CmdSubst:
		return true
	case *syntax.DblQuoted:
		return slices.ContainsFunc(part.Parts, func(p syntax.WordPart) bool {
			e, ok := p.(*syntax.ParamExp)
			return ok && (e.Param == nil || e.Param.Value == "@" || e.Index != nil || e.Excl)
		})
	}
	return false
}

func readPart(part syntax.WordPart, first bool) (text string, known, glob bool) {
	switch part := part.(type) {
	case *syntax.Lit:
		text, bare := unescape(part.Value, "")
		known, glob = readBare(bare, first)
		return strings.ReplaceAll(text, "\n", ""), known, glob // a backslash before a line break is neither
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar, false
	case *syntax.DblQuoted:
		return readQuoted(part)
	case *syntax.ParamExp:
		return readParam(part)
	}
	return "", false, false
}

// readBare tells what a shell makes of text without quotes: itself, or with a pattern,
// with braces that multiply it, or with a ~ that stands for a folder, something else.
func readBare(bare string, first bool) (known, glob bool) {
	pattern := strings.ContainsAny(bare, "*?[")
	switch {
	case bare == "[", bare == "{}":
		return true, false
	case pattern:
		return false, !strings.ContainsAny(bare, "{}")
	case strings.Contains(bare, "{") && strings.ContainsAny(bare, ",."):
		return false, false
	case !first && strings.HasPrefix(bare, "~"):
		return true, false
	}
	return !strings.Contains(bare, "=~") && !strings.Contains(bare, ":~"), false
}

func readQuoted(q *syntax.DblQuoted) (text string, known, glob bool) {
	var b strings.Builder
	known = !q.Dollar
	for _, p := range q.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			s, _ := unescape(p.Value, "$`\"\\\n")
			b.WriteString(strings.ReplaceAll(s, "\\\n", ""))
		case *syntax.ParamExp:
			s, ok, _ := readParam(p)
			b.WriteString(s)
			known = known && ok
		case *syntax.CmdSubst:
			s, ok := readHere(p)
			b.WriteString(s)
			known = known && ok
		default:
			known = false
		}
	}
	return b.String(), known, false
}

// readHere returns the text of $(cat <<'END' …), which is the document as it stands.
func readHere(s *syntax.CmdSubst) (text string, known bool) {
	if len(s.Stmts) != 1 || len(s.Stmts[0].Redirs) != 1 || s.Stmts[0].Negated || s.Stmts[0].Background || s.Stmts[0].Coprocess || s.Stmts[0].Disown {
		return "", false
	}
	call, ok := s.Stmts[0].Cmd.(*syntax.CallExpr)
	r := s.Stmts[0].Redirs[0]
	if !ok || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" || r.Op != syntax.Hdoc || r.N != nil {
		return "", false
	}
	doc := readDoc(r.Hdoc)
	return strings.TrimRight(doc.text, "\n"), doc.known && (r.Word.Lit() == "" || !strings.Contains(doc.text, `\`))
}

// readParam knows the two variables that are always folders.
func readParam(p *syntax.ParamExp) (text string, known, glob bool) {
	plain := p.Param != nil && !p.Excl && !p.Length && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Flags == nil && p.NestedParam == nil
	switch {
	case plain && p.Param.Value == "HOME":
		return "~", true, false
	case plain && p.Param.Value == "PWD":
		return ".", true, false
	}
	return "", false, false
}

func wordSource(w *syntax.Word) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, w) != nil {
		return "…"
	}
	return b.String()
}

// call is one program being run.
type call struct {
	argv []word
	dirs dirs
	from input
}

func (c call) name() string { return c.argv[0].text }

func (c call) texts() []string {
	out := make([]string, len(c.argv))
	for i, a := range c.argv {
		out[i] = a.text
	}
	return out
}

func (c call) with(argv []word) call { return call{argv: argv, dirs: c.dirs, from: c.from} }

// option is one flag of a program, by its letter or its long name.
type option struct {
	name  string // "r", "recursive"
	long  bool   // it stands behind two dashes, and may be shortened
	value word
	has   bool // a value came with it
}

// means reports an option by its letter or its long name; "" is none.
func (o option) means(letter, long string) bool {
	if o.long {
		return o.name != "" && strings.HasPrefix(long, o.name)
	}
	return o.name == letter
}

// parsed is an argv taken apart.
type parsed struct {
	options  []option
	operands []word
	dynamic  bool // a word that may be a flag is not known
}

// first is the first operand, no word where there is none.
func (p parsed) first() word {
	if len(p.operands) == 0 {
		return word{}
	}
	return p.operands[0]
}

// options takes an argv apart as getopt does. takes are the letters that have a
// value, long the long names that do.
func (c call) options(takes string, long ...string) parsed {
	var out parsed
	args := c.argv[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		out.dynamic = out.dynamic || a.splits
		switch {
		case !a.known && !strings.HasPrefix(a.lead, "-"):
			out.dynamic = out.dynamic || a.lead == ""
			out.operands = append(out.operands, a)
		case !a.known:
			out.dynamic = true
		case a.text == "--":
			out.operands = append(out.operands, args[i+1:]...)
			return out
		case strings.HasPrefix(a.text, "--"):
			name, value, has := strings.Cut(a.text[2:], "=")
			o := option{name: name, long: true, value: word{text: value, known: true, lead: value}, has: has}
			if !has && hasLongFlag(name, long) && i+1 < len(args) {
				i++
				o.value, o.has = args[i], true
			}
			out.options = append(out.options, o)
		case len(a.text) > 1 && a.text[0] == '-':
			i += out.parseCluster(a.text[1:], takes, args[i+1:])
		default:
			out.operands = append(out.operands, a)
		}
	}
	return out
}

// parseCluster reads letters behind one dash and returns how many words more it took.
func (p *parsed) parseCluster(letters, takes string, rest []word) int {
	for j := range len(letters) {
		o := option{name: letters[j : j+1]}
		if strings.Contains(takes, o.name) {
			if j+1 < len(letters) {
				o.value, o.has = word{text: letters[j+1:], known: true}, true
			} else if len(rest) > 0 {
				o.value, o.has = rest[0], true
			}
			p.options = append(p.options, o)
			if j+1 < len(letters) || len(rest) == 0 {
				return 0
			}
			return 1
		}
		p.options = append(p.options, o)
	}
	return 0
}

// hasLongFlag reports whether a long flag, which may be shortened, is one of names.
func hasLongFlag(given string, names []string) bool {
	return given != "" && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, given) })
}

// option returns the last of the flags of these names. A long name may have
// been shortened.
func (p parsed) option(names ...string) (option, bool) {
	for _, o := range slices.Backward(p.options) {
		for _, n := range names {
			if o.name == n || len(n) > 1 && len(o.name) > 1 && strings.HasPrefix(n, o.name) {
				return o, true
			}
		}
	}
	return option{}, false
}

func (p parsed) has(names ...string) bool {
	_, ok := p.option(names...)
	return ok
}
