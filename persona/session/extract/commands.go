package extract

import (
	"slices"
	"strings"
)

// listPrograms is the first word of every fenced shell command of s, in order,
// each once.
func (s *section) listPrograms() []string {
	var out []string
	seen := map[string]bool{}
	for _, b := range s.blocks {
		for _, l := range shellCommands(b) {
			if w := argv0(l); w != "" && !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
	}
	return out
}

// prompt is what a terminal shows in front of a command; setting is a line that only gives a variable a value.
var setting, prompt = lazy(`^[A-Z_0-9]+=\S*(?:\s+#.*)?$`), lazy(`^\s*(?:\([\w. -]+\) ?)?(?:[\w.-]+@[^$%#]*[$%#]|[\w./~:-]*[$]|%) +`)

// shellCommands returns the command lines of a fenced block that is a shell's: by its language, by the
// prompts in it or, where it names no language, by the programs that all its lines run. Output,
// comments and lines that only set a variable are left out.
func shellCommands(b block) []string {
	if b.kind != code {
		return nil
	}
	lang := strings.ToLower(b.lang)
	named := in("sh bash shell zsh console terminal shell-session shellsession powershell", lang)
	prompted := slices.ContainsFunc(b.lines, prompt().MatchString)
	if unnamed := in("text plain none no-highlight plaintext", lang) || lang == ""; !named && !(unnamed && (prompted || b.runsPrograms())) {
		return nil
	}
	var out []string
	continued := false
	for _, l := range b.lines {
		cmd := prompt().ReplaceAllString(l, "")
		isPrompt := cmd != l
		cmd, more := strings.CutSuffix(strings.TrimSpace(cmd), "\\")
		switch {
		case continued:
			out[len(out)-1] += " " + strings.TrimPrefix(cmd, "> ")
			continued = more
		case cmd == "" || strings.HasPrefix(cmd, "#") || prompted && !isPrompt || setting().MatchString(cmd):
		default:
			out, continued = append(out, cmd), more
		}
	}
	return out
}

// runsPrograms reports whether every line of b that begins a command runs a program that
// documents of a team name often.
func (b block) runsPrograms() bool {
	n, continued := 0, false
	for _, l := range b.lines {
		if l = strings.TrimSpace(l); continued || l == "" || strings.HasPrefix(l, "#") {
			continued = continued && strings.HasSuffix(l, "\\")
			continue
		}
		continued = strings.HasSuffix(l, "\\")
		first, rest, _ := strings.Cut(l, " ")
		if !strings.HasPrefix(first, "./") && !(rest != "" && in("git npm npx yarn pnpm pip pip3 pipx python python3 docker docker-compose kubectl helm make cargo go curl wget sudo apt apt-get "+
			"brew cd mkdir cp mv rm ssh scp rsync terraform aws gcloud az ansible ansible-playbook bundle rake gem rails mvn gradle systemctl service psql mysql oc poetry uv tox "+
			"pytest hugo export source chmod vagrant heroku cf openssl gpg gh virsh zfs zpool kind minikube dotnet php composer conda dnf yum", first)) {
			return false
		}
		n++
	}
	return n > 0
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
