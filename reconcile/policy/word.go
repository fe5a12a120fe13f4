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

func knownWord(text string) word { return word{text: text, known: true, lead: text} }

func (w word) is(any ...string) bool { return w.known && slices.Contains(any, w.text) }

// readWord reads a word of the shell. The folder names a shell always has a
// value for count as known: ~ and $HOME are written ~, $PWD is written ".".
func readWord(w *syntax.Word) word {
	out := word{known: true}
	var text, bare strings.Builder // bare: without what is quoted
	for i, part := range w.Parts {
		s, known, glob := readPart(part, i == 0)
		text.WriteString(s)
		if out.known && known {
			out.lead += s
		}
		if lit, ok := part.(*syntax.Lit); ok {
			if out.known && glob && !strings.Contains(lit.Value, `\`) {
				out.lead += lit.Value[:strings.IndexAny(lit.Value, "*?[")]
			}
			_, unquoted := unescape(lit.Value, "")
			bare.WriteString(unquoted)
		}
		out.known = out.known && known
		out.glob = out.glob || glob
		out.splits = out.splits || mayBeSeveral(part)
	}
	if _, rest, opens := strings.Cut(bare.String(), "{"); opens && (strings.Contains(rest, ",") || strings.Contains(rest, "..")) {
		out.known, out.glob, out.splits = false, false, true
		out.lead, _, _ = strings.Cut(out.lead, "{")
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
	switch wordSource(p) {
	case "$HOME", "${HOME}":
		return "~", true, false
	case "$PWD", "${PWD}":
		return ".", true, false
	}
	return "", false, false
}

func wordSource(w syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, w) != nil {
		return "…"
	}
	return b.String()
}

// readDoc reads the body of a here-document: nothing in it is a pattern.
func readDoc(doc *syntax.Word) word {
	out := word{known: true}
	if doc == nil {
		return out
	}
	for _, part := range doc.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			out.text += part.Value
		case *syntax.SglQuoted:
			out.text += part.Value
		default:
			out.known = false
		}
	}
	return out
}
