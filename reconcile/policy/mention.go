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
func (w *walker) judgeMentions(c call) {
	name := programName(c.name())
	if name == "odd" || name == "git" && len(c.argv) > 1 && c.argv[1].is("add", "stage", "commit", "tag", "branch", "notes", "push") {
		return // their words are titles, messages and names
	}
	if verb := w.expandText(c, c.options("C").first()); strings.Contains(c.name(), "/") && slices.Contains([]string{"approve", "reject", "undo"}, verb) {
		w.addHard("command_human_act", c.name()+" may be a copy of odd, and only a person may run odd "+verb, "leave it to a person")
	}
	if name == "patch" || name == "git" && len(c.argv) > 1 && c.argv[1].is("apply", "am") {
		w.judgePatches(c)
	}
	var said []word
	for _, a := range c.argv[1:] {
		said = append(said, splitNames(w.expandText(c, a))...)
	}
	for i, a := range said {
		w.refuseGoverning(c, a)
		if name, _, _ := strings.Cut(a.text, "@"); denyTableName(name) == "odd" && i+1 < len(said) {
			runs := c.with(said[i:])
			w.humanAct(runs, runs.options(""))
		}
	}
}

// maxPatch is how much of a patch is looked at, in bytes.
const maxPatch = 1 << 20

// judgePatches judges the files that a patch names, whether the line has it or a file of the work tree.
func (w *walker) judgePatches(c call) {
	for _, a := range splitNames(w.said) {
		w.refuseGoverning(c, a)
	}
	for _, name := range append(c.texts(), w.v.Reads...) {
		for _, d := range c.dirs.at {
			at := w.resolvePath(d, name)
			if w.p.Files == nil || isOutside(at) {
				continue
			}
			b, err := fs.ReadFile(w.p.Files, at)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(b[:min(len(b), maxPatch)])) {
				if head, file, _ := strings.Cut(line, " "); slices.Contains([]string{"+++", "---", "diff", "rename", "copy"}, head) {
					for _, a := range splitNames(file) {
						w.refuseGoverning(c, a)
					}
				}
			}
		}
	}
}

// expandText is what a word may stand for: what is written, without the escapes of $'…', with the
// values that the line sets, and with any name where braces list some. A word that the rest of
// the line fills in may be anything that the line says, so all of it is looked at in the end.
func (w *walker) expandText(c call, a word) string {
	if a.known || a.glob || a.text == "" {
		return a.text
	}
	out := escaped().ReplaceAllStringFunc(a.text, func(s string) string {
		if t, err := strconv.Unquote(`"` + strings.ReplaceAll(s[2:len(s)-1], `"`, `\"`) + `"`); err == nil {
			return t
		}
		return s
	})
	out = variables().ReplaceAllStringFunc(out, func(s string) string {
		set := assignments().FindAllStringSubmatch(w.said, -1)
		for _, m := range slices.Backward(set) {
			if m[1] == strings.Trim(s, "${}") {
				return m[2]
			}
		}
		return s
	})
	out = braces().ReplaceAllString(out, "*")
	if out == a.text && w.fills == nil {
		w.fills = &c
	}
	return out
}

var (
	variables   = lazyRegexp(`\$(?:\{\w+\}|\w+)`)
	assignments = lazyRegexp(`(?:^|[\s;&|(])(\w+)=["']?([\w./-]+)`)
	escaped     = lazyRegexp(`\$'[^']*'`)
	braces      = lazyRegexp(`\{[^{}\s]*[,.][^{}\s]*\}`)
)

// splitNames are the names in a text that is more than one: a list, a script, KEY=VALUE.
func splitNames(text string) []word {
	var out []word
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`\\,;:=<>|&(){}$!+", r) }) {
		out = append(out, word{text: p, known: true, lead: p})
	}
	return out
}

// refuseGoverning refuses a file that governs where a word names it, as it stands, close behind
// a flag's letters, by its address, or by the name it has once it is unpacked.
func (w *walker) refuseGoverning(c call, a word) {
	names := []string{a.text, strings.TrimSuffix(a.text, path.Ext(a.text))}
	if strings.HasPrefix(a.text, "//") {
		names = append(names, path.Base(a.text))
	}
	if strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") {
		for i := 2; i < min(len(a.text), 8); i++ {
			names = append(names, a.text[i:])
		}
	}
	for _, dir := range c.dirs.at {
		for _, n := range names {
			r := w.resolvePath(dir, n)
			found := []string{r}
			if strings.ContainsAny(n, "*?[") && w.p.Files != nil && !isOutside(r) {
				found, _ = fs.Glob(w.p.Files, r)
			}
			for _, p := range found {
				w.refuseGoverningPath(c, p)
			}
		}
	}
}

// refuseGoverningPath refuses a path that governs, once.
func (w *walker) refuseGoverningPath(c call, p string) {
	if isOutside(p) || p == "." || w.seen["\x00"+p] {
		return
	}
	w.seen["\x00"+p] = true
	for _, f := range CheckProtected(p, nil) {
		base, ext := strings.ToLower(path.Base(p)), strings.ToLower(path.Ext(p))
		switch f.Code {
		case "protected_git", "protected_agent", "protected_anchor":
		case "protected_governance", "protected_record", "protected_workflow": // their folders hold programs too
			if !slices.Contains([]string{".toml", ".jsonl", ".tsv", ".yml", ".yaml"}, ext) && base != "allowed_signers" && base != "codeowners" {
				continue
			}
		default:
			continue
		}
		f.How, f.Text = BySyntax, fmt.Sprintf("nobody knows which files %s writes, and %s", c.name(), f.Text)
		w.addFinding(f)
	}
}
