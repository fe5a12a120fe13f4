package extract

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// readmes are the names of the file that says what a repository is.
var readmes = []string{"README.md", "README.rst", "README.markdown", "readme.md", "Readme.md"}

// manuals are the folders for the documents of a product.
const manuals = "doc docs documentation site website www manual guide guides reference references howto tutorials examples"

// installing and using are the pages, at the top of such a folder or a folder below it, for those who install a product and
// for those who use it.
var (
	top        = "(?i)(?:^|/)_?(?:" + strings.ReplaceAll(manuals, " ", "|") + ")/(?:[^/]+/)?"
	ofManual   = lazy("(?i)^(?:.*?/)??_?(?:" + strings.ReplaceAll(manuals, " ", "|") + ")/")
	installing = lazy(top + `(?:install(?:ation|ing)?|quick[-_]?start|getting[-_]started)[/.]`)
	using      = lazy(top + `(?:users?|(?:user[-_]?)?guide|faq|integrations?|usage|using|tutorials?|operator-manual|manpage|cookbook|beginners?(?:[-_]guide)?|common[-_](?:issues|tasks)|tips-and-tricks|configuration|configuring)[/.]`)
)

// hasProduct reports whether a repository holds a product that others install or import: its
// README says that it is a library, a tool or the like, a document has the command that installs it, there
// are pages for those who install it and for those who use it, or it is packaged and a heading says how to
// install it.
func hasProduct(files fs.FS, docs []*document) bool {
	have := func(page *regexp.Regexp) bool { return len(foldersOf(page, docs)) > 0 }
	if have(installing()) && have(using()) || isPackaged(files) && slices.ContainsFunc(docs, (*document).tellsInstall) {
		return true
	}
	for _, name := range readmes {
		if text, why := readText(files, name); why == "" {
			d, err := readFile(file{name, text})
			return err == nil && d.presentsProduct(append(docs, d))
		}
	}
	return false
}

// foldersOf are the folders for documents that hold such a page.
func foldersOf(page *regexp.Regexp, docs []*document) (out []string) {
	for _, d := range docs {
		if page.MatchString(d.path) {
			out = append(out, ofManual().FindString(d.path))
		}
	}
	return out
}

// tellsInstall reports whether d has a heading on how to install something.
func (d *document) tellsInstall() bool {
	return slices.ContainsFunc(d.sections, func(s *section) bool {
		ws := words(s.title)
		return len(ws) > 0 && in("install installing installation", ws[0])
	})
}

// isPackaged reports whether a repository holds a program or library under a licence: the files that
// say so stand at its top.
func isPackaged(files fs.FS) bool {
	has := func(names string) bool {
		return slices.ContainsFunc(strings.Fields(names), func(name string) bool { _, err := fs.Stat(files, name); return err == nil })
	}
	return has("LICENSE LICENSE.md LICENSE.txt COPYING") && has("go.mod Cargo.toml setup.py pyproject.toml")
}

// installs is a command that installs something by its name.
var installs = lazy(`(?m)\b(?:pip3?|pipx|npm|yarn|pnpm|gem|cargo|go|brew|composer|conda|apt|apt-get|dnf|choco|winget|uv)(?: tool)? (?:install|add|get|i|require)(?: -\S+)* ["']?(\S+)`)

// presentsProduct reports whether d, a README, says that what it names is a library, a tool or the
// like, or names in one word what a document says how to install.
func (d *document) presentsProduct(docs []*document) bool {
	name := firstPart(strings.ReplaceAll(d.title, " - ", " -- "))
	for _, s := range d.sections {
		if b, ok := s.firstProse(); ok {
			subject, pred, _, is := cutCopula(b.run)
			if is && (d.title == "" || sameName(subject, name)) && systemNoun(headNoun(pred)) {
				return true
			}
		}
	}
	ways := map[string]int{}
	for _, m := range installs().FindAllSubmatch(d.raw, -1) {
		name := string(m[1])
		if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") || in(".txt .toml .yml .yaml .json .lock", path.Ext(name)) {
			continue // what this repository itself needs
		}
		if ways[name]++; ways[name] > 2 {
			return true
		}
	}
	ws := words(name)
	return len(ws) == 1 && len(ws[0]) > 1 && slices.ContainsFunc(docs, func(x *document) bool {
		return slices.ContainsFunc(installs().FindAllSubmatch(x.raw, -1), func(m [][]byte) bool {
			name := words(string(m[1]))
			return len(name) > 0 && strings.HasSuffix(name[0], ws[0])
		})
	})
}

// isManual reports whether d, in a repository of a product, tells those who use the product what
// they can do with it: no rule or procedure of the team that makes it.
func (d *document) isManual() bool {
	if path.Dir(d.path) == "." && d.hasWord("install installing installation usage quickstart") {
		return true
	}
	folders := strings.Split(strings.ToLower(path.Dir(d.path)), "/")
	return folders[0] == "contrib" || slices.ContainsFunc(folders[:min(2, len(folders))], func(f string) bool {
		return slices.ContainsFunc(strings.FieldsFunc(f, splitsPath), func(w string) bool { return in(manuals, w) })
	})
}

// forUsers is a folder of what the users of a product read, or of what stands in the reference of a package.
var forUsers = lazy(`(?i)(?:^|/)(?:(?:end-)?users?(?:[-_](?:guide|manual|docs?))?|[^/]+/src/docs?)/`)

// isOutward reports whether d, in a repository of a product, tells those who begin to use it, check it or build on it
// what to do, by its path, its title or its opening.
func (d *document) isOutward() bool {
	return outward().MatchString(d.path) && !d.hasWord("contributing contribute contributor contributors internal internals maintainer maintainers") ||
		forOthers().MatchString(d.title) || anyone().Match(d.raw[:min(len(d.raw), 1000)])
}

// outward, forOthers and anyone are such a path, title and opening.
var (
	outward   = lazy(`(?i)(?:^|/)(?:getting[-_]started|quick[-_]?start|developers?/(?:providers?|plugins?|extensions?|integrations?))/|^(?:website|site|www)/(?:.*/)?guides?/`)
	forOthers = lazy(`(?i)\bfor (?:[\w-]+ ){0,3}(?:users|auditors|adopters|integrators|implement[eo]rs|vendors)$`)
	anyone    = lazy(`(?i)\b(?:document|page|guide) (?:is|are|contains|provides|offers)\b[^.]* for (?:anyone|those|everyone|users|organi[sz]ations) (?:who|that|wh?ishing|wanting|looking)\b`)
)

// isOfTeam reports whether d tells those who make a product what they do.
func (d *document) isOfTeam() bool {
	if d.hasWord("upgrade upgrading upgrades install installation installing uninstall") && !d.hasWord("contributing development dev") {
		return false
	}
	security := d.hasWord("security") && strings.Count(d.path, "/") > 1 // of the product, not of those who make it
	return d.decides || d.isRulebook() || forMakers().Match(d.raw[:min(len(d.raw), 1000)]) || d.hasWord(affairs) && !security || d.isCharter() ||
		!forUsers().MatchString(d.path) && d.hasWord("development develop dev devel developer developers hacking internal internals maintaining maintainer acceptance acceptable deprecating deprecation pull runbook runbooks playbook playbooks ops operations oncall incident incidents adr adrs")
}

// forMakers are the words of an opening that says for whom a document is.
var forMakers = lazy(`(?i)\b(?:page|guide|document|handbook) is (?:intended |meant |written |only )?for (?:[\w-]+\s){0,3}(?:maintainers|contributors|committers|reviewers)\b`)

// beside is a folder of a site for those who contribute, which stands beside one for the users.
var beside = lazy(`(?i)^(.+/)contribut(?:e|ing|ors?)/`)

// sitesOf are the folders for documents that stand, below the top of the repository, beside one for those who contribute.
func sitesOf(docs []*document) (out []string) {
	for _, d := range docs {
		if m := beside().FindStringSubmatch(d.path); m != nil && !slices.Contains(out, m[1]+"docs/") {
			out = append(out, m[1]+"docs/")
		}
	}
	return out
}

// isReference reports whether d tells how an interface is called: it has two headings of such.
func (d *document) isReference() bool {
	said := map[string]bool{}
	for _, s := range d.sections {
		if title := strings.ToLower(s.title); slices.Contains([]string{"arguments", "parameters", "query parameters", "request body", "response", "error codes", "returns"}, title) {
			said[title] = true
		}
	}
	return len(said) > 1
}

// making are the words of a heading for those who make or install a product.
var making = lazy(`(?i)\b(?:install|set(?:ting)? ?up|quick ?start|start(?:ed|ing)?|build|compil|develop|contribut|test|releas|deploy|debug|lint|maint|upgrad|migrat)|^(?:on|from|via|with) `)

// withoutManual takes rules, procedures and systems out of the pages of a product's manual and of an interface's
// reference, and how the product is used out of its README, and tells of the pages that lose some.
func withoutManual(files fs.FS, docs []*document) (skips []skip) {
	product, references := hasProduct(files, docs), map[string]int{}
	for _, d := range docs {
		if d.isReference() {
			references[path.Dir(d.path)]++
		}
	}
	install, use, site := foldersOf(installing(), docs), foldersOf(forUsers(), docs), sitesOf(docs)
	for _, d := range docs {
		n, folder := len(d.found), ofManual().FindString(d.path)
		if product && slices.Contains(readmes, path.Base(d.path)) {
			d.found = slices.DeleteFunc(d.found, func(c candidate) bool {
				return c.kind == process && !making().MatchString(c.title)
			})
		}
		outward := product && d.isOutward() || !d.decides && slices.ContainsFunc(site, func(at string) bool { return strings.HasPrefix(d.path, at) })
		if !outward && (d.isOfTeam() || !(product && (d.isManual() || slices.Contains(install, folder) && slices.Contains(use, folder))) && !forUsers().MatchString(d.path) && references[path.Dir(d.path)] < 2 && !d.isReference()) {
			continue
		}
		d.found = slices.DeleteFunc(d.found, func(c candidate) bool {
			return c.kind != decision && c.kind != artifact && !(c.kind == term && d.place == glossary)
		})
		for _, s := range d.sections {
			s.torn = false
		}
		if len(d.found) < n {
			skips = append(skips, skip{path: d.path, why: "tells users of the product what they can do", class: manual})
		}
	}
	return skips
}
