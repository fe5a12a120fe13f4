package extract

import "strings"

// programs is the first word of every fenced shell command of s, in order,
// each once.
func (s *section) programs() []string {
	var out []string
	seen := map[string]bool{}
	for _, b := range s.blocks {
		for _, l := range shell(b) {
			if w := argv0(l); w != "" && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// shell returns the command lines of a fenced block that is a shell's: by its
// language, or by the prompts in it. Output and comments are left out.
func shell(b block) []string {
	if b.kind != code {
		return nil
	}
	named := in("sh bash shell zsh console terminal shell-session shellsession", strings.ToLower(b.lang))
	prompted := false
	for _, l := range b.lines {
		prompted = prompted || strings.HasPrefix(l, "$ ")
	}
	if !named && !(prompted && b.lang == "") {
		return nil
	}
	var out []string
	continued := false
	for _, l := range b.lines {
		cmd, isPrompt := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(l), "% "), "$ ")
		cmd, more := strings.CutSuffix(cmd, "\\")
		switch {
		case continued:
			out[len(out)-1] += " " + strings.TrimPrefix(cmd, "> ")
			continued = more
		case cmd == "" || strings.HasPrefix(cmd, "#") || prompted && !isPrompt:
		default:
			out, continued = append(out, cmd), more
		}
	}
	return out
}

// argv0 is the program a command line runs, "" when that says nothing: shell
// words, paths, variables.
func argv0(line string) string {
	for _, w := range strings.Fields(line) {
		if w == "sudo" || strings.Contains(w, "=") && !strings.HasPrefix(w, "-") {
			continue
		}
		if shellWord(w) || len(w) < 2 || !plainWord(w) {
			return ""
		}
		return w
	}
	return ""
}

// plainWord accepts the names programs have.
func plainWord(w string) bool {
	for i, r := range w {
		if r >= 'a' && r <= 'z' || i > 0 && (r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			continue
		}
		return false
	}
	return true
}
