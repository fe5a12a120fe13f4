package policy

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// judgeMentions judges the words of a program of which nobody knows what it writes or runs.
// A file that governs odd, git, agents or CI may be what it writes: behind a flag that no
// table has, in a script, out of a pattern. What reads as a call of odd may be what it runs.
func judgeMentions(p *program) {
	name := programName(p.name())
	if name == "odd" || name == "git" && len(p.argv) > 1 && p.argv[1].is("add", "stage", "commit", "tag", "branch", "notes", "push") {
		return // their words are titles, messages and names
	}
	if verb := p.expandText(p.options("C").first()); strings.Contains(p.name(), "/") && slices.Contains([]string{"approve", "reject", "undo"}, verb) {
		p.addHard("command_human_act", p.name()+" may be a copy of odd, and only a person may run odd "+verb, "leave it to a person")
	}
	if name == "patch" || name == "git" && len(p.argv) > 1 && p.argv[1].is("apply", "am") {
		judgePatches(p)
	}
	var said []word
	for _, a := range p.argv[1:] {
		said = append(said, splitNames(p.expandText(a))...)
	}
	for i, a := range said {
		p.refuseGoverning(a)
		if name, _, _ := strings.Cut(a.text, "@"); denyTableName(name) == "odd" && i+1 < len(said) {
			humanAct(p, p.with(said[i:]))
		}
	}
}

// maxPatch is how much of a patch is looked at, in bytes.
const maxPatch = 1 << 20

// judgePatches judges the files that a patch names, whether the line has it or a file of the work tree.
func judgePatches(p *program) {
	named := p.said
	for _, name := range append(p.texts(), p.v.Reads...) {
		for _, at := range p.places(name) {
			if p.policy.Files == nil || isOutside(at) {
				continue
			}
			b, _ := fs.ReadFile(p.policy.Files, at)
			for line := range strings.Lines(string(b[:min(len(b), maxPatch)])) {
				if head, file, _ := strings.Cut(line, " "); slices.Contains([]string{"+++", "---", "diff", "rename", "copy"}, head) {
					named += " " + file
				}
			}
		}
	}
	for _, a := range splitNames(named) {
		p.refuseGoverning(a)
	}
}

// expandText is what a word may stand for: what is written, without the escapes of $'…', with the
// values that the line sets, and with any name where braces list some. A word that the rest of
// the line fills in may be anything that the line says, so all of it is looked at in the end.
func (p *program) expandText(a word) string {
	if a.known || a.glob || a.text == "" {
		return a.text
	}
	out := escaped().ReplaceAllStringFunc(a.text, func(s string) string {
		if t, err := strconv.Unquote(`"` + strings.ReplaceAll(s[2:len(s)-1], `"`, `\"`) + `"`); err == nil {
			return t
		}
		return s
	})
	out = expansions().ReplaceAllStringFunc(out, func(s string) string {
		for _, m := range slices.Backward(assignments().FindAllStringSubmatch(p.said, -1)) {
			if m[1] == strings.Trim(s, "${}") {
				return m[2]
			}
		}
		return s
	})
	out = braces().ReplaceAllString(out, "*")
	if out == a.text && p.fills == nil {
		p.fills = p
	}
	return out
}

var (
	expansions  = lazyRegexp(`\$(?:\{\w+\}|\w+)`)
	assignments = lazyRegexp(`(?:^|[\s;&|(])(\w+)=["']?([\w./-]+)`)
	escaped     = lazyRegexp(`\$'[^']*'`)
	braces      = lazyRegexp(`\{[^{}\s]*[,.][^{}\s]*\}`)
)

// splitNames are the names in a text that is more than one: a list, a script, KEY=VALUE.
func splitNames(text string) []word {
	var out []word
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`\\,;:=<>|&(){}$!+", r) }) {
		out = append(out, knownWord(p))
	}
	return out
}

// refuseGoverning refuses a file that governs where a word names it, as it stands, close behind
// a flag's letters, by its address, or by the name it has once it is unpacked.
func (p *program) refuseGoverning(a word) {
	names := []string{a.text}
	if inner := strings.TrimSuffix(a.text, path.Ext(a.text)); strings.Trim(inner, "*?./") != "" {
		names = append(names, inner)
	}
	if strings.HasPrefix(a.text, "//") {
		names = append(names, path.Base(a.text))
	}
	if strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") {
		for i := 2; i < min(len(a.text), 8); i++ {
			names = append(names, a.text[i:])
		}
	}
	for _, n := range names {
		for _, r := range p.places(n) {
			found := []string{r}
			if strings.ContainsAny(n, "*?[") && p.policy.Files != nil && !isOutside(r) {
				found, _ = fs.Glob(p.policy.Files, r)
			}
			for _, at := range found {
				p.refuseGoverningPath(at)
			}
		}
	}
}

// refuseGoverningPath refuses a path that governs, once.
func (p *program) refuseGoverningPath(at string) {
	if isOutside(at) || at == "." || p.seen["\x00"+at] {
		return
	}
	p.seen["\x00"+at] = true
	for _, f := range CheckProtected(at, nil) {
		base, ext := strings.ToLower(path.Base(at)), strings.ToLower(path.Ext(at))
		switch f.Code {
		case "protected_git", "protected_agent", "protected_anchor":
		case "protected_governance", "protected_record", "protected_workflow": // their folders hold programs too
			if !slices.Contains([]string{".toml", ".jsonl", ".tsv", ".yml", ".yaml"}, ext) && base != "allowed_signers" && base != "codeowners" {
				continue
			}
		default:
			continue
		}
		f.How, f.Text = BySyntax, fmt.Sprintf("nobody knows which files %s writes, and %s", p.name(), f.Text)
		p.addFinding(f)
	}
}
