package extract

import (
	"strings"
)

// topic is what a section is about, as its heading, a heading above it, its
// file or a folder says.
type topic uint8

const (
	none topic = iota
	glossary
	roles
	systems
	policies
	files
	processes
	decisions
	praise // features, benefits, goals: bold words there are not terms
	closed // boilerplate: nothing is read below it
)

// topicOf classifies one title. A long heading is a sentence, not a class.
func topicOf(title string) topic {
	ws := words(title)
	if len(ws) == 0 || len(ws) > 6 || len(ws) == 1 && !isCapitalized(title) && title != strings.ToUpper(title) {
		return none // a single small word is a key or an option
	}
	lower := strings.Join(ws, " ")
	if strings.HasPrefix(lower, "terms of") || strings.HasPrefix(lower, "terms and cond") {
		return closed
	}
	if t := phraseTopic(lower); t != none {
		return t
	}
	last := ws[len(ws)-1]
	for _, w := range []string{last, ws[0]} {
		if t := wordTopic(w); t != none {
			return t
		}
	}
	return none
}

func phraseTopic(lower string) topic {
	switch lower {
	case "table of contents", "contents", "toc", "license", "licence", "changelog", "release notes", "references", "see also",
		"further reading", "acknowledgements", "credits", "change log", "version history", "history", "bibliography":
		return closed
	case "who does what", "who we are":
		return roles
	case "tech stack", "technology stack", "stack":
		return systems
	case "code of conduct":
		return policies
	case "file structure", "directory structure", "project structure", "repository layout", "layout", "project layout":
		return files
	case "use cases", "why", "key features":
		return praise
	}
	return none
}

// wordTopics are the words that tell a topic.
var wordTopics = []struct {
	words string
	topic topic
}{
	{"glossary terminology terms definitions vocabulary nomenclature acronyms abbreviations words jargon", glossary},
	{"roles responsibilities raci stakeholders owners ownership", roles},
	{"tools tooling systems integrations services", systems},
	{"policy policies rules standards conventions guardrails", policies},
	{"files artifacts artefacts deliverables documents", files},
	{"runbook runbooks playbook playbooks procedures processes howto howtos how-to how-tos", processes},
	{"decisions adr adrs", decisions},
	{"features benefits highlights advantages goals non-goals philosophy principles why roadmap limitations comparison", praise},
}

func wordTopic(w string) topic {
	for _, t := range wordTopics {
		if in(t.words, w) {
			return t.topic
		}
	}
	return none
}

// nearestTopic is the nearest class around s: its own heading, those above it, the
// file, the folders from the inside out.
func (s *section) nearestTopic() topic {
	for p := s; p != nil; p = p.parent {
		if p.own != none {
			return p.own
		}
	}
	return s.doc.place
}

// classify sets what the headings and the place of d say.
func (d *document) classify() {
	d.place = d.topicOfPath()
	for _, s := range d.sections {
		s.own = topicOf(s.title)
	}
}

// topicOfPath returns the class the file's name or folder gives.
func (d *document) topicOfPath() topic {
	parts := strings.Split(strings.TrimSuffix(d.path, "/"), "/")
	parts[len(parts)-1] = d.stem()
	for i := len(parts) - 1; i >= 0; i-- {
		w := strings.ToLower(parts[i])
		if strings.Contains(w, "decision-record") || strings.HasPrefix(w, "adr-") {
			return decisions
		}
		if t := wordTopic(w); t != none && t != praise && !(i < len(parts)-1 && (t == files || t == systems)) {
			return t
		}
	}
	return none
}

// versionTitle is a heading of a change log: a version, alone or with its date.
var versionTitle = lazy(`^\[?v?[0-9]+(?:\.[0-9]+)+[\w.-]*\]?(?:[ /(–—-].*[0-9]{4}.*)?$`)

// listsVersions reports whether most of d are headings of versions, as in a change log.
func (d *document) listsVersions() bool {
	n := 0
	for _, s := range d.sections {
		if versionTitle().MatchString(s.title) {
			n++
		}
	}
	return n > 2 && 3*n > len(d.sections)
}

// isClosed reports whether nothing is read from s: a licence, a table of contents, what no longer is, or what
// stands below one, but for what the top heading of a table of contents has below it.
func (s *section) isClosed() bool {
	for p := s; p != nil; p = p.parent {
		contents := p != s && p.level == 1 && strings.HasSuffix(strings.ToLower(p.title), "contents")
		if phraseTopic(strings.ToLower(p.title)) == closed && !contents || bygone().MatchString(p.title) {
			return true
		}
	}
	return false
}

// bygone is a heading of what no longer is.
var bygone = lazy(`(?i)^(?:legacy|deprecated|obsolete|superseded)(?: [\w-]+)?$|\((?:legacy|deprecated|obsolete|superseded)\)$`)

// isIntroduction reports whether a section about the document is one that says what the document
// is about, as an introduction does.
func (s *section) isIntroduction() bool {
	return in("introduction intro overview about description summary abstract background", strings.ToLower(s.title)) &&
		(s.parent == nil || s.parent.level <= 1)
}

// subject is what s is about: its title, or the document's for the text before
// the first heading and for an introduction.
func (s *section) subject() string {
	if s.title == "" || s.isIntroduction() {
		return s.doc.title
	}
	return s.title
}

// firstProse is the section's first prose paragraph that stands at its top level.
func (s *section) firstProse() (block, bool) {
	for _, b := range s.blocks {
		if b.kind == paragraph && !b.nested && isProseRun(b.run) {
			return b, true
		}
		if b.kind != paragraph && b.kind != raw {
			break
		}
	}
	return block{}, false
}

// isProseRun wants a sentence: badges, single links, bold labels and fragments are none.
func isProseRun(r run) bool {
	if len(words(r.text)) < 4 {
		return false
	}
	for _, s := range r.spans {
		if (s.kind == link || s.kind == strong) && len(s.text) >= len(r.text)-1 {
			return false
		}
	}
	return true
}

func (b block) listTexts() []item {
	if b.kind == paragraph {
		return []item{{from: b.from, to: b.to, run: b.run}}
	}
	if b.kind == bullets || b.kind == steps {
		return b.items
	}
	var out []item
	if b.kind == definitions {
		for _, it := range b.items {
			out = append(out, item{from: it.from, to: it.to, run: it.cells[1]})
		}
	}
	return out
}

func cutAny(s string, seps ...string) (before, after string, ok bool) {
	for _, sep := range seps {
		if before, after, ok = strings.Cut(s, sep); ok {
			return before, after, true
		}
	}
	return "", "", false
}
