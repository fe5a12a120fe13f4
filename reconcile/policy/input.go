package policy

import "mvdan.cc/sh/v3/syntax"

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
	call, err := oneCall(f)
	if err != nil {
		return nil, "", err
	}
	for _, w := range call.Args {
		word, err := plainWord(w)
		if err != nil {
			return nil, "", err
		}
		argv = append(argv, word)
	}
	return argv, input, nil
}

var capitals = lazy(`^[A-Z]+$`)

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
