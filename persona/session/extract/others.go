package extract

import (
	"slices"
	"strings"
)

// responsible reads "The X is responsible for …" where X ends like a role.
func (s *section) responsible() []candidate {
	var out []candidate
	for _, b := range s.blocks {
		for _, t := range b.texts() {
			for _, sentence := range sentences(t.run.text) {
				who, what, ok := cutAny(sentence, " is responsible for ", " are responsible for ", " is accountable for ")
				ws := words(who)
				if !ok || len(ws) == 0 || len(ws) > 5 || !roleNoun(ws[len(ws)-1]) || len(words(what)) < 2 {
					continue
				}
				title := withoutArticle(who)
				if !name(title, false) {
					continue
				}
				out = append(out, candidate{kind: role, title: capital(title), about: clip(sentence, maxDescription), score: scoreRole - 10,
					evidence: []evidence{{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}}}})
			}
		}
	}
	return out
}

// texts are the pieces of running text of a block.
func (b block) texts() []item {
	if b.kind == paragraph {
		return []item{{from: b.from, to: b.to, run: b.run}}
	}
	if b.kind == bullets || b.kind == steps {
		return b.items
	}
	return nil
}

func cutAny(s string, seps ...string) (before, after string, ok bool) {
	for _, sep := range seps {
		if before, after, ok = strings.Cut(s, sep); ok {
			return before, after, true
		}
	}
	return "", "", false
}

// headedRole reads the sub-headings of a section about roles, and headings that
// are a role's name above a sentence about those who hold it.
func (s *section) headedRole() []candidate {
	below := s.parent != nil && s.parent.own == roles && s.own == none
	if !below && !s.officers() {
		return nil
	}
	e, ok := s.lede()
	if !ok || !name(s.title, s.code) || person(span{text: s.title, kind: strong}) {
		return nil
	}
	c := candidate{kind: role, title: capital(s.title), about: firstSentence(e.quote[0]), score: scoreRole, evidence: []evidence{e}}
	if !below {
		c.score = scoreDefinition
	}
	for _, q := range e.quote {
		if _, head, ok := cutAny(q, "eports to the ", "eports to "); ok {
			c.heads = append(c.heads, strings.TrimRight(firstSentence(head), "."))
		}
	}
	return []candidate{c}
}

// officers reports whether s is headed by a role's name and opens with a sentence
// about its holders: "Triagers" above "Triagers assess newly opened issues."
func (s *section) officers() bool {
	ws := words(s.title)
	b, ok := s.opening()
	if !ok || len(ws) == 0 || len(ws) > 4 || s.topic() == glossary {
		return false
	}
	last := singular(ws[len(ws)-1])
	if !roleNoun(last) || in("guide desk head master chair writer author publisher editor manager engineer", last) {
		return false
	}
	first := words(firstSentence(b.run.text))
	for i, w := range first[:min(6, len(first))] {
		if singular(w) == last && i+1 < len(first) {
			return true
		}
	}
	return false
}

// headedSystem reads the sub-headings of a section about systems.
func (s *section) headedSystem() []candidate {
	if s.parent == nil || s.parent.own != systems || s.own != none || activity(s.title) {
		return nil
	}
	b, ok := s.opening()
	if !ok || !name(s.title, s.code) || !strings.Contains(firstSentence(b.run.text), s.title) || !titled(s.title) {
		return nil
	}
	return []candidate{{kind: system, title: s.title, about: firstSentence(b.run.text), score: scoreSystem,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}}}}}
}

// titled reports whether every word of a name begins large, or it is one word.
func titled(s string) bool {
	ws := strings.Fields(s)
	for _, w := range ws {
		if !proper(w) && len(ws) > 1 && !in("of for and the", w) {
			return false
		}
	}
	return len(ws) <= 4
}

// lede is the heading and what stands right below it: the first paragraph, or
// the first list.
func (s *section) lede() (evidence, bool) {
	if len(s.blocks) == 0 {
		return evidence{}, false
	}
	b := s.blocks[0]
	ts := b.texts()
	if len(ts) == 0 || b.kind == steps || len(words(ts[0].run.text)) < 2 {
		return evidence{}, false
	}
	e := evidence{doc: s.doc, from: s.line, to: b.to}
	for _, t := range ts {
		e.quote = append(e.quote, t.run.text)
	}
	return e, true
}

// makers reads "X produces `file`" and the like. Only a file's name in code is
// taken for what is produced.
func (s *section) makers() []candidate {
	var out []candidate
	for _, b := range s.blocks {
		for _, t := range b.texts() {
			for _, sp := range t.run.spans {
				if sp.kind != codeSpan || !filename(sp.text) {
					continue
				}
				if sentence := sentenceAt(t.run.text, sp.at); produces(sentence, sp.text) {
					out = append(out, candidate{kind: artifact, title: sp.text, about: clip(sentence, maxDescription), score: scoreMaker,
						evidence: []evidence{{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}}}})
				}
			}
		}
	}
	return out
}

func sentenceAt(text string, off int) string {
	at := 0
	for _, s := range sentences(text) {
		at = strings.Index(text[at:], s) + at + len(s)
		if off < at {
			return s
		}
	}
	return ""
}

// produces reports whether a sentence says that what follows a verb of making
// is the file.
func produces(sentence, file string) bool {
	before, _, ok := strings.Cut(sentence, file)
	ws := words(before)
	if !ok || len(ws) < 2 {
		return false
	}
	for _, w := range ws[max(0, len(ws)-5):] {
		if in("produces generates creates writes outputs emits produce generate", w) {
			return !in("if when unless that this it which then and", ws[0])
		}
	}
	return false
}

// filesHeaded reads headings that are a file's name, with their first sentence.
func (s *section) filesHeaded() []candidate {
	title := strings.TrimPrefix(s.title, "The ")
	if !filename(title) || s.topic() == closed {
		return nil
	}
	b, ok := s.opening()
	if !ok || !definable(b.run.text) {
		return nil
	}
	return []candidate{{kind: artifact, title: title, about: firstSentence(b.run.text), score: scoreFile,
		evidence: []evidence{{doc: s.doc, from: s.line, to: b.to, quote: []string{b.run.text}}}}}
}

// rules reads a policy: a section or document that is called one and says
// something, or a list most items of which oblige.
func (s *section) rules() []candidate {
	named := s.own == policies && !boilerplate(s.title)
	whole := s.first() && s.doc.place == policies
	e := evidence{doc: s.doc, from: s.line}
	must, all := 0, 0
	add := func(text string, from, to int) {
		all++
		if normative(text) {
			must++
			e.quote = append(e.quote, text)
		} else if whole && len(e.quote) == 0 {
			e.quote = append(e.quote, text)
		}
		e.to = max(e.to, to)
	}
	for _, t := range s.body(whole || named) {
		for _, q := range sentences(t.run.text) {
			add(q, t.from, t.to)
		}
	}
	if len(e.quote) == 0 || !whole && !named && (must < 3 || 3*must < 2*all || !nameable(s.title) || s.code || identifier(s.title) || strings.Contains(s.title, "_")) || named && !whole && must == 0 {
		return nil
	}
	title := s.subject()
	if !nameable(title) && !whole {
		return nil
	}
	c := candidate{kind: policy, title: capital(s.qualified(title)), score: scorePolicy, evidence: []evidence{e}, owners: s.owners()}
	if !whole && !named {
		c.score -= 12
	}
	c.about = firstSentence(e.quote[0])
	if b, ok := s.opening(); ok && (whole || named) && !strings.HasSuffix(sentences(b.run.text)[0], ":") {
		c.about = firstSentence(b.run.text)
		if e.quote[0] != sentences(b.run.text)[0] {
			c.evidence[0].quote = append([]string{sentences(b.run.text)[0]}, e.quote...)
		}
	}
	return []candidate{c}
}

// first reports whether s is the section a document opens with.
func (s *section) first() bool {
	for _, x := range s.doc.sections {
		if x.title != "" || len(x.blocks) > 0 {
			return x == s
		}
	}
	return false
}

// body is the running text of s and, deep, of the sections below it.
func (s *section) body(deep bool) []item {
	var out []item
	for _, x := range s.doc.sections {
		if x != s && !(deep && x.below(s)) {
			continue
		}
		for _, b := range x.blocks {
			for _, t := range b.texts() {
				if len(words(t.run.text)) >= 3 {
					out = append(out, t)
				}
			}
		}
	}
	return out
}

func (s *section) below(top *section) bool {
	for p := s.parent; p != nil; p = p.parent {
		if p == top {
			return true
		}
	}
	return false
}

// decided reads a document that is a decision record by its folder.
func (s *section) decided() []candidate {
	if !s.first() || s.doc.place != decisions || s.doc.title == "" || topicOf(s.doc.stem()) == decisions || in("readme template index", strings.ToLower(s.doc.stem())) {
		return nil
	}
	e := evidence{doc: s.doc, from: s.line}
	for _, x := range s.doc.sections {
		if b, ok := x.opening(); ok && len(words(b.run.text)) >= 6 {
			e.to, e.quote = b.to, []string{b.run.text}
			if x != s {
				e.from = b.from
			}
			return []candidate{{kind: decision, title: s.doc.title, about: firstSentence(b.run.text), score: scoreDecision, evidence: []evidence{e}}}
		}
	}
	return nil
}

// declared reads a document whose front matter says what it is: one with a type,
// as the concepts of an OKF bundle have, or one that is called as a file.
func (s *section) declared() []candidate {
	d := s.doc
	if s != d.sections[0] || d.fields[0] == 0 || len(words(d.about)) < 4 || d.typ == "" && !filename(d.title) || !nameable(d.title) {
		return nil
	}
	c := candidate{kind: declaredKind(d.typ), title: d.title, about: firstSentence(d.about), score: scoreDeclared,
		evidence: []evidence{{doc: d, from: d.fields[0], to: d.fields[1], quote: []string{d.title + ": " + d.about}}}}
	if d.owner != "" {
		c.owners = []string{d.owner}
	}
	return []candidate{c}
}

// declaredKind maps the open vocabulary of types to the kinds that are emitted:
// its own word, else a word for something that is done, run, or meant, else an
// artifact.
func declaredKind(typ string) string {
	ws := words(typ)
	if len(ws) == 0 {
		return artifact
	}
	last := singular(ws[len(ws)-1])
	switch {
	case in("term process role system policy decision", last):
		return last
	case in("metric concept definition glossary", last):
		return term
	case in("runbook playbook procedure howto guide-to", last):
		return process
	case in("service tool application platform api database", last):
		return system
	case in("rule standard guideline", last):
		return policy
	case last == "adr":
		return decision
	}
	return artifact
}

// itself reads a document that says what it is: "This guide describes …".
func (s *section) itself() []candidate {
	b, ok := s.opening()
	if !ok || !s.first() && s.level != 1 || s.doc.title == "" || !nameable(s.doc.title) || generic(s.doc.title) || in("readme", strings.ToLower(s.doc.title)) {
		return nil
	}
	ws := words(b.run.text)
	if len(ws) < 6 || !in("this these", ws[0]) || !in("document guide page specification spec report handbook manual reference proposal runbook "+
		"playbook checklist template tutorial section chapter article readme rfc paper plan", ws[1]) {
		return nil
	}
	if !(ws[2] == "is" && articleFirst(ws[3])) && !slices.ContainsFunc(ws[:min(len(ws), 8)], func(w string) bool {
		return in("describes explains covers shows documents specifies outlines provides contains lists walks helps help defines details "+
			"summarises summarizes collects records gives tells introduces sets", w)
	}) {
		return nil
	}
	return []candidate{{kind: artifact, title: s.doc.title, about: firstSentence(b.run.text), score: scoreDocument,
		evidence: []evidence{{doc: s.doc, from: b.from, to: b.to, quote: []string{b.run.text}}}}}
}

// usage is where a command was used.
type usage struct {
	line string
	at   evidence
}

// programs reads the commands that documents use again and again: at least
// three times, in two places. What is said of them is the sentence before the
// first use that mentions it, else the command itself.
func programs(docs []*document) []candidate {
	uses := map[string][]usage{}
	var order []string
	for _, d := range docs {
		for _, s := range d.sections {
			for i, b := range s.blocks {
				for _, l := range shell(b) {
					w := argv0(l)
					if w == "" {
						continue
					}
					u := usage{l, evidence{doc: d, from: b.from, to: b.to, commands: []string{l}}}
					if i > 0 && s.blocks[i-1].kind == paragraph {
						u.at.from, u.at.quote = s.blocks[i-1].from, []string{s.blocks[i-1].run.text}
					}
					if uses[w] == nil {
						order = append(order, w)
					}
					uses[w] = append(uses[w], u)
				}
			}
		}
	}
	var out []candidate
	for _, w := range order {
		if c, ok := program(w, uses[w]); ok {
			out = append(out, c)
		}
	}
	return out
}

func program(w string, uses []usage) (candidate, bool) {
	places := map[string]bool{}
	for _, u := range uses {
		places[u.at.doc.path] = true
	}
	if len(uses) < 3 || len(places) < 2 {
		return candidate{}, false
	}
	c := candidate{kind: system, title: w, score: scoreCommand, evidence: []evidence{uses[0].at}}
	c.about = clip("A command, used as in: "+uses[0].line, maxDescription)
	for _, u := range uses {
		if len(u.at.quote) > 0 && explained(u.at.quote[0], w) {
			c.about, c.evidence[0] = firstSentence(u.at.quote[0]), u.at
			break
		}
	}
	return c, true
}

// explained reports whether the first sentence of text says what w is or does.
func explained(text, w string) bool {
	first := " " + strings.Join(words(firstSentence(text)), " ") + " "
	for _, says := range []string{" " + w + " is a", " " + w + " is the ", " " + w + " can ", " use " + w + " to ", " uses " + w + " to ", " using " + w + " to "} {
		if strings.Contains(first, says) {
			return true
		}
	}
	return false
}
