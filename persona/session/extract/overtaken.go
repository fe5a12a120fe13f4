package extract

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// record is a decision of a numbered file, with what it says of records before it.
type record struct {
	at       int // index among the candidates
	dir      string
	file     string
	order    string
	title    string // without the words that say how far it is
	removes  string // the thing that its title takes away, "" for none; named says that it is spelt as a name is
	named    bool
	replaced []string // the files of records that it says it replaces
	stands   bool     // it is not pending
}

// withoutOverturned takes out the decisions that a later record of their folder overturns: one that removes or replaces
// by name what they are about, decides the same again, or says that it replaces them. The second result is what it took
// out.
func withoutOverturned(cs []candidate) (kept []candidate, gone []skip) {
	var all []record
	for i, c := range cs {
		if p := c.evidence[0].doc.path; c.kind == decision && digits().MatchString(path.Base(p)) {
			all = append(all, c.readRecord(i))
		}
	}
	by := map[int]record{}
	for _, r := range all {
		if at := slices.IndexFunc(all, func(o record) bool {
			return o.stands && o.dir == r.dir && r.order < o.order && o.overturns(r, cs[r.at])
		}); at >= 0 {
			by[r.at] = all[at]
		}
	}
	for i, c := range cs {
		if r, is := by[i]; is {
			gone = append(gone, skip{path: fmt.Sprintf("%s:%d", c.evidence[0].doc.path, c.evidence[0].from), why: path.Join(r.dir, r.file) + " is later"})
		} else {
			kept = append(kept, c)
		}
	}
	return kept, gone
}

func (c candidate) readRecord(at int) record {
	d := c.evidence[0].doc
	r := record{at: at, dir: path.Dir(d.path), file: path.Base(d.path), order: orderOf(d.path), title: strings.Join(stageless(c.title), " "), stands: d.pending() == ""}
	if m := removes().FindStringSubmatch(c.title); m != nil {
		r.removes, r.named = m[1], strings.ContainsFunc(m[1][1:], unicode.IsUpper)
	}
	for _, s := range d.sections {
		for _, b := range s.blocks {
			for _, t := range b.listTexts() {
				if len(t.run.spans) == 0 || !replaces().MatchString(t.run.text) {
					continue
				}
				for _, sp := range t.run.spans {
					if file, _, _ := strings.Cut(path.Base(sp.to), "#"); sp.kind == link {
						r.replaced = append(r.replaced, file)
					}
				}
			}
		}
	}
	return r
}

// overturns reports whether a later record leaves nothing of an earlier one, which is c.
func (r record) overturns(earlier record, c candidate) bool {
	if r.removes != "" {
		said := c.title
		if r.named {
			said += " " + strings.Join(c.evidence[0].quote, " ")
		}
		if slices.ContainsFunc(words(said), func(w string) bool { return strings.EqualFold(w, r.removes) }) {
			return true
		}
	}
	return r.file != earlier.file && r.title == earlier.title || slices.Contains(r.replaced, earlier.file)
}

// stageless are the words of a title without those that say how far it is.
func stageless(title string) []string {
	return slices.DeleteFunc(words(title), func(w string) bool {
		return in("planned plan planning proposed completed complete final initial revised updated the a an", w)
	})
}

// removes is a title that says of one thing that it goes, and replaces are the words about a record that does.
var (
	removes  = lazy(`^(?i:remove|drop|retire|decommission|stop using|do not use|no longer use|replace|(?:migrate|move|switch)(?: away)? from) ([\w.-]+)(?: ;|[,;:]| (?i:with|by|in|to|and|for|from)\b|$)`)
	replaces = lazy(`(?i)^(?:this (?:\S+ )?)?(?:supersedes|replaces|reverses|overturns)\b|\bsince (?:that|this) decision\b|\b(?:that|this) decision no longer\b`)
)

// isPassing reports whether a decision holds for a while, or says what is to be built, as a list of work does, and
// neither why nor what else comes of it.
func (e evidence) isPassing() bool {
	ts := e.texts()
	return slices.ContainsFunc(ts, func(t item) bool { return forAWhile().MatchString(t.run.text) }) ||
		len(ts) > 2 && 4*count(ts, func(t item) bool { return isWork(words(t.run.text)) }) >= 3*len(ts)
}

// forAWhile are the words of who has not decided yet.
var forAWhile = lazy(`(?i)\bfor the (?:time being|moment)\b|\bpresumably\b|\bas (?:a|an) (?:stop-?gap|interim|temporary)\b`)

// isWork reports whether a text gives an order to build something.
func isWork(ws []string) bool {
	return len(ws) > 1 && in("add build create design develop implement investigate make refactor rewrite write", ws[0])
}

// leftBy are the tools that a tree which uses them shows by a file or a folder, whose name begins so.
var leftBy = map[string]string{
	"appveyor": "appveyor.y", "bower": "bower.json", "circleci": ".circleci", "cypress": "cypress", "grunt": "gruntfile", "gulp": "gulpfile",
	"lerna": "lerna.json", "pipenv": "pipfile", "pnpm": "pnpm-", "poetry": "poetry.lock", "storybook": ".storybook",
	"travis": ".travis.y", "tslint": "tslint.json", "vagrant": "vagrantfile", "yarn": "yarn.lock",
}

// usesTool is a sentence by which somebody uses one of them.
var usesTool = lazy(`(?i)(\bnot |\bstop |\blonger |\bof |\bthan )?(?:\b(?:use|using|adopt|adopting|choose|chose|(?:switch|move|migrate) to) (?:the )?(` + tools() + `)\b|\b(` + tools() + `) (?:will be|is) used\b)`)

func tools() string {
	var names []string
	for name := range leftBy {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, "|")
}

// tree is what the files of a repository are called, in lower case, and how many are of a program and documents.
type tree struct {
	names           map[string]bool
	paths           []string
	programs, texts int
}

// maxNames bounds the files that a tree is looked at for.
const maxNames = 100_000

// readTree lists files; whole is false where it did not see all of them, so that nothing can be said to be gone.
func readTree(files fs.FS) (t tree, whole bool) {
	t.names = map[string]bool{}
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if len(t.paths) == maxNames {
			return errors.New("too many files")
		}
		t.names[strings.ToLower(d.Name())] = true
		t.paths = append(t.paths, "/"+strings.ToLower(p))
		switch {
		case d.IsDir():
		case isReadable(p):
			t.texts++
		case in(".c .cc .cpp .cs .ex .go .hs .java .js .jsx .kt .php .py .rb .rs .scala .swift .ts .tsx .vue", path.Ext(p)):
			t.programs++
		}
		return nil
	})
	return t, err == nil
}

// withoutGone takes out the decisions about what the tree no longer has, a file that they link to or what a tool that
// they choose always leaves, and the procedures that run such a script. Only a tree of a program tells that. The
// second result is what it took out, and why.
func withoutGone(files fs.FS, cs []candidate) (kept []candidate, gone []skip) {
	if !slices.ContainsFunc(cs, func(c candidate) bool { return c.kind == decision || c.kind == process && len(c.listScripts()) > 0 }) {
		return cs, nil
	}
	t, whole := readTree(files)
	if !whole || t.programs <= t.texts {
		return cs, nil
	}
	for _, c := range cs {
		what := ""
		switch scripts := c.listScripts(); c.kind {
		case decision:
			what = c.namesGone(files, t)
		case process:
			if at := slices.IndexFunc(scripts, func(s string) bool { return !t.holds(s) }); at >= 0 {
				what = scripts[at]
			}
		}
		if what != "" {
			gone = append(gone, skip{path: c.title, why: what + " is not in the repository any more"})
		} else {
			kept = append(kept, c)
		}
	}
	return kept, gone
}

// script is a word of a command, or marked as code, that names a script of the tree by a relative path.
var script = lazy(`^(?:\.{1,2}/)*((?:[\w-][\w.-]*/)*[\w-][\w.-]*\.(?:sh|bash|py|rb|pl|mjs|js|ts))$`)

// listScripts are the scripts that c runs or names by a path: none where it makes files, or works elsewhere.
func (c candidate) listScripts() (out []string) {
	add := func(word string, bare bool) {
		if m := script().FindStringSubmatch(word); m != nil && (bare || strings.Contains(word, "/")) {
			out = append(out, m[1])
		}
	}
	elsewhere := false
	var read func(bs []block)
	read = func(bs []block) {
		for _, b := range bs {
			cmds := shellCommands(b)
			elsewhere = elsewhere || slices.ContainsFunc(cmds, leaves().MatchString)
			for _, w := range strings.Fields(strings.Join(cmds, "\n")) {
				add(w, true)
			}
			for _, it := range append([]item{{run: b.run}}, b.items...) {
				for _, sp := range it.run.spans {
					if sp.kind == codeSpan {
						add(sp.text, false)
					}
				}
				read(it.below)
			}
		}
	}
	for _, e := range c.evidence {
		read(e.passage)
	}
	if elsewhere {
		return nil
	}
	return out
}

// leaves is a command that makes files or goes where the tree is not.
var leaves = lazy(`(?:^|\s)(?:git clone|curl|wget|ssh|scp|docker (?:run|exec)|kubectl exec|touch|unzip|tar|npx)\s|(?:^|\s)cd (?:[~/$<]|\.\./)|> ?\w`)

// holds reports whether a path of t ends so.
func (t tree) holds(script string) bool {
	return slices.ContainsFunc(t.paths, func(p string) bool { return strings.HasSuffix(p, "/"+strings.ToLower(script)) })
}

// namesGone is the file or tool of a decision that t no longer has, "" for none.
func (c candidate) namesGone(files fs.FS, t tree) string {
	for _, x := range c.evidence[0].texts() {
		for _, sp := range x.run.spans {
			to, _, _ := strings.Cut(sp.to, "#")
			p := path.Join(path.Dir(c.evidence[0].doc.path), to)
			if sp.kind != link || strings.Contains(to, ":") || strings.HasPrefix(to, "/") || !fs.ValidPath(p) || !isFilename(path.Base(p)) || isReadable(p) {
				continue
			}
			if _, err := fs.Stat(files, p); err != nil {
				return p
			}
		}
		for _, m := range usesTool().FindAllStringSubmatch(x.run.text, -1) {
			tool := m[2] + m[3]
			if m[1] == "" && !t.has(leftBy[strings.ToLower(tool)]) {
				return tool
			}
		}
	}
	return ""
}

// has reports whether a name in t begins so.
func (t tree) has(prefix string) bool {
	for name := range t.names {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
