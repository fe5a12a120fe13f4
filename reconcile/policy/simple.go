package policy

import (
	"fmt"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// ParseSimple reads a line that is exactly one command of plain words, the same in
// every shell: quotes and backslashes may keep a word together, and nothing
// else has a meaning. No second command, pipe, redirection, expansion, pattern,
// assignment, comment, negation or background. Otherwise the error says which
// construct stands at which column (in bytes, from 1).
func ParseSimple(line string) (argv []string, err error) {
	if at := strings.IndexAny(line, "\n\r"); at >= 0 {
		return nil, notSimple(at+1, "a line break")
	}
	f, err := parse(line)
	if err != nil {
		return nil, err
	}
	return simpleWords(f)
}

// simpleWords returns the words of the only command of a file.
func simpleWords(f *syntax.File) (argv []string, err error) {
	call, err := oneCall(f)
	if err != nil {
		return nil, err
	}
	for _, w := range call.Args {
		s, err := plainWord(w)
		if err != nil {
			return nil, err
		}
		argv = append(argv, s)
	}
	return argv, nil
}

func notSimple(column int, what string) error {
	return fmt.Errorf("column %d: %s is not allowed; write one command of plain words", column, what)
}

// oneCall returns the only command of a file, or which construct it is instead.
func oneCall(f *syntax.File) (*syntax.CallExpr, error) {
	if len(f.Stmts) == 0 {
		return nil, notSimple(1, "no command")
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	switch {
	case len(f.Stmts) > 1:
		return nil, notSimple(startColumn(f.Stmts[1]), "a second command")
	case s.Negated:
		return nil, notSimple(startColumn(s), "!")
	case s.Background || s.Coprocess || s.Disown:
		return nil, notSimple(int(s.Semicolon.Col()), "&")
	case s.Semicolon.IsValid():
		return nil, notSimple(int(s.Semicolon.Col()), ";")
	case len(s.Redirs) > 0:
		return nil, notSimple(int(s.Redirs[0].OpPos.Col()), s.Redirs[0].Op.String())
	case len(s.Comments)+len(f.Last) > 0:
		return nil, notSimple(startColumn(&append(s.Comments, f.Last...)[0]), "a comment")
	case !ok:
		return nil, notSimple(startColumn(s), constructName(s.Cmd))
	case len(call.Assigns) > 0:
		return nil, notSimple(startColumn(call.Assigns[0]), "an assignment")
	}
	return call, nil
}

func startColumn(n syntax.Node) int { return int(n.Pos().Col()) }

// constructName names a node of the shell's grammar for a person.
func constructName(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		return n.Op.String()
	case *syntax.CmdSubst:
		return "$(…)"
	case *syntax.ParamExp:
		return "$NAME"
	case *syntax.ProcSubst:
		return n.Op.String() + "…)"
	case *syntax.ArithmExp:
		return "$((…))"
	case *syntax.ExtGlob, *syntax.BraceExp:
		return "a pattern"
	case *syntax.Subshell:
		return "(…)"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.DeclClause:
		return "a declaration"
	}
	return fmt.Sprintf("a compound command (%s)", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", n), "*syntax.")))
}

// plainWord returns the text of a word in which nothing is expanded.
func plainWord(w *syntax.Word) (string, error) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			s, at, what := readUnquoted(part.Value, i == 0)
			if what != "" {
				return "", notSimple(startColumn(part)+at, what)
			}
			b.WriteString(s)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", notSimple(startColumn(part), "$'…'")
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			s, err := plainQuoted(part)
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		default:
			return "", notSimple(startColumn(part), constructName(part))
		}
	}
	if i := strings.IndexFunc(b.String(), unicode.IsControl); i >= 0 {
		return "", notSimple(startColumn(w), "a control character in a word")
	}
	return b.String(), nil
}

func plainQuoted(q *syntax.DblQuoted) (string, error) {
	if q.Dollar {
		return "", notSimple(startColumn(q), `$"…"`)
	}
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", notSimple(startColumn(part), constructName(part))
		}
		s, bare := unescape(lit.Value, "$`\"\\")
		if at := strings.IndexAny(bare, "$`!"); at >= 0 {
			return "", notSimple(startColumn(lit)+at, fmt.Sprintf("%q inside quotes", bare[at]))
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// readUnquoted returns what a word's bare text stands for, or where which construct
// begins in it. Beyond bash it refuses what the other shells expand.
func readUnquoted(s string, first bool) (text string, at int, what string) {
	text, bare := unescape(s, "")
	for i, c := range bare {
		switch {
		case strings.ContainsRune("*?[]", c):
			return "", i, "a pattern"
		case strings.ContainsRune("{}", c):
			return "", i, "a brace"
		case strings.ContainsRune("$`", c):
			return "", i, "an expansion"
		case strings.ContainsRune("!^#", c):
			return "", i, fmt.Sprintf("%q, which a shell may expand", c)
		case c == '~' && (first && i == 0 || i > 0 && strings.ContainsRune("=:", rune(bare[i-1]))):
			return "", i, "~"
		case c == '=' && first && i == 0:
			return "", i, "= before a word"
		}
	}
	return text, 0, ""
}

// unescape takes the backslashes out of a literal. bare is the same length as
// s with what a backslash took the meaning from, and the backslash itself,
// blanked. Where only is not empty, a backslash before any other character
// stands for itself.
func unescape(s, only string) (text, bare string) {
	var t, b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (only == "" || strings.IndexByte(only, s[i+1]) >= 0) {
			i++
			t.WriteByte(s[i])
			b.WriteString("  ")
			continue
		}
		t.WriteByte(s[i])
		b.WriteByte(s[i])
	}
	return t.String(), b.String()
}

// ParseSimpleInput reads what ParseSimple reads, and the same command with a text for its
// standard input: one here-document whose end is a quoted word of capitals, so
// that nothing in the text has a meaning in any shell.
//
//	odd anchor context TOKEN - <<'END'
//	…
//	END
func ParseSimpleInput(line string) (argv []string, input string, err error) {
	f, err := parse(line)
	if err != nil || len(f.Stmts) == 0 || len(f.Stmts[0].Redirs) == 0 {
		argv, err = ParseSimple(line)
		return argv, "", err
	}
	s := f.Stmts[0]
	input, ok := quotedText(s.Redirs[0])
	if !ok || len(s.Redirs) > 1 {
		return nil, "", notSimple(int(s.Redirs[0].OpPos.Col()), "a redirection that is no <<'END'")
	}
	s.Redirs = nil
	argv, err = simpleWords(f)
	return argv, input, err
}

var capitals = lazyRegexp(`^[A-Z]+$`)

// quotedText is the text of a here-document in which nothing is expanded.
func quotedText(r *syntax.Redirect) (string, bool) {
	if r.Op != syntax.Hdoc || r.N != nil || r.Hdoc == nil || len(r.Word.Parts) != 1 {
		return "", false
	}
	end, ok := r.Word.Parts[0].(*syntax.SglQuoted)
	if !ok || end.Dollar || !capitals().MatchString(end.Value) {
		return "", false
	}
	text := ""
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		text += lit.Value
	}
	return text, true
}
