package extract

import (
	"slices"
	"strings"
)

func (s *section) responsible() []candidate {
	var out []candidate
	for i, b := range s.blocks {
		for _, t := range b.texts() {
			for _, sentence := range sentences(t.run.text) {
				who, what, ok := cutAny(sentence, " is responsible for ", " are responsible for ", " is accountable for ")
				ws, title := words(who), withoutArticle(who)
				if !ok || len(ws) == 0 || in("nobody no none not if when in for at on as his her their our my its your", ws[0]) || len(ws) > 5 || len(words(what)) < 2 || !name(title, false) ||
					!roleNoun(ws[len(ws)-1]) && !(s.doc.governs && acronym(title)) {
					continue
				}
				e := evidence{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}}
				if strings.HasSuffix(sentence, ":") && b.kind == paragraph && i+1 < len(s.blocks) && s.blocks[i+1].kind == bullets {
					if e.to = s.blocks[i+1].last(); e.to-e.from < maxRules {
						e.passage = s.passage(e.from, e.to)
					}
				}
				out = append(out, candidate{kind: role, title: capital(title), about: firstSentence(sentence), score: scoreRole - 10, evidence: []evidence{e}})
			}
		}
	}
	return out
}

// acronym reports whether a name is one, as SSC and TSC are.
func acronym(s string) bool { return len(s) > 1 && len(s) < 6 && s == strings.ToUpper(s) && proper(s) }

// headedRole reads the role a heading names: below a heading about roles, in a document
// that governs, where the opening speaks of the heading's holders, and what a document
// about an office says under Purpose, Responsibilities and the like. But in the first the
// role is all that the section says of it.
func (s *section) headedRole() []candidate {
	title, duties := responsibilitiesOf(s.title)
	if in("purpose responsibilities duties mandate mission", strings.ToLower(title)) && officeTitle(s.doc.title) && s.level > 1 {
		title, duties = s.doc.title, true
	}
	below := s.parent != nil && s.parent.own == roles && s.own == none
	office := duties && (s.doc.governs || title == s.doc.title) || s.doc.governs && officeTitle(title)
	if s.topic() == glossary || !below && !office && !s.officers() || activity(title) || imperative(strings.ToLower(title)) || !name(title, s.code) || person(span{text: title, kind: strong}) {
		return nil
	}
	e, ok := s.lede()
	c := candidate{kind: role, title: capital(title), score: scoreDefinition}
	if office {
		e = s.roleEvidence()
		if ok = e.from > 0 && e.to-e.from < maxRules && !s.shows(); ok {
			e.quote, e.steps = append(e.quote, e.steps...), nil
			e.passage = s.passage(e.from, e.to)
		}
	}
	if !ok || len(e.quote) == 0 || len(words(e.quote[0])) < 4 && len(e.quote) == 1 || e.namesHolders() {
		return nil
	}
	if below {
		if ws := words(title); !office && !officeNoun(ws[len(ws)-1]) && !strings.Contains(firstOf(e.quote[0]), "responsible") {
			return nil // a duty, or what the role works with
		}
		c.score = scoreRole
	}
	c.about, c.evidence = firstSentence(e.quote[0]), []evidence{e}
	for _, q := range e.quote {
		if _, head, ok := cutAny(q, "eports to the ", "eports to "); ok {
			c.heads = append(c.heads, strings.TrimRight(firstSentence(head), "."))
		}
	}
	return []candidate{c}
}

// namesHolders reports whether e names those who hold an office, or the document that tells
// of it, and says nothing of the office.
func (e evidence) namesHolders() bool {
	if ws := words(e.quote[0]); len(e.quote) == 1 && (pronounFirst(e.quote[0]) || in("have see", ws[0]) || instruction(e.quote[0]) || slices.Contains(ws, "listed")) {
		return true
	}
	return !slices.ContainsFunc(e.quote, func(q string) bool { return !strings.Contains(q, "@") && len(words(q)) > 4 })
}

// roleEvidence returns what s says of a role: without a list of its holders that the site fills in.
func (s *section) roleEvidence() evidence {
	n := len(s.blocks)
	for n > 0 && left.MatchString(s.blocks[n-1].run.text) {
		n--
	}
	return s.whole(s.blocks[:n])
}

// responsibilitiesOf takes "Responsibilities of the X" and "X responsibilities" to X.
func responsibilitiesOf(title string) (string, bool) {
	title = sectionNumber.ReplaceAllString(title, "")
	if rest, ok := cutPrefixFold(title, "responsibilities of "); ok {
		return withoutArticle(rest), true
	}
	if rest, ok := cutPrefixFold(title, "role of "); ok {
		return withoutArticle(rest), true
	}
	ws := strings.Fields(title)
	if n := len(ws); n > 1 && in("responsibilities role duties", strings.ToLower(ws[n-1])) && roleNoun(strings.ToLower(ws[n-2])) {
		return strings.Join(ws[:n-1], " "), true
	}
	return title, false
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return s[len(prefix):], true
	}
	return s, false
}

// officeNoun is roleNoun with the names of offices that are no profession.
func officeNoun(w string) bool {
	w = singular(w)
	return roleNoun(w) || in("liaison tsc cpc advisor representative member voter sponsor ambassador delegate", w)
}

// officeTitle reports whether a heading is the name of an office.
func officeTitle(title string) bool {
	ws := words(title)
	return len(ws) > 0 && len(ws) <= 4 && officeNoun(ws[len(ws)-1]) && !slices.Contains(ws, "for") && !in("guide desk head master author editor style how why your all", ws[len(ws)-1]) &&
		!in("establishment election selection formation composition for to become becoming about our no no-longer former past previous emeritus", ws[0])
}

func (s *section) officers() bool {
	ws := words(s.title)
	b, ok := s.opening()
	if !ok || len(ws) == 0 || len(ws) > 4 {
		return false
	}
	last := singular(ws[len(ws)-1])
	if !officeNoun(last) || in("guide desk head master chair writer author publisher editor manager engineer", last) {
		return false
	}
	first := words(firstSentence(b.run.text))
	at := slices.IndexFunc(first[:min(6, len(first))], func(w string) bool { return singular(w) == last })
	return at >= 0 && at+1 < len(first) && !in("each every", first[0])
}

// person reports whether a name in a section about roles is somebody's and not
// a role's.
func person(l span) bool {
	if strings.HasPrefix(l.text, "@") || l.kind == link {
		return true
	}
	ws := strings.Fields(l.text)
	return len(ws) >= 2 && len(ws) <= 3 && proper(ws[0]) && proper(ws[1]) && !officeNoun(strings.ToLower(ws[len(ws)-1]))
}

// owners are the roles the section or its front matter names as owner: "Owner: X",
// "Owned by X", "X is responsible for this", "The X does this".
func (s *section) owners() []string {
	var out []string
	if s.doc.owner != "" {
		out = append(out, s.doc.owner)
	}
	for _, b := range s.blocks {
		for _, t := range b.texts() {
			if o := owner(t.run.text); o != "" && b.kind != steps {
				out = append(out, o)
			}
		}
	}
	return out
}

// owner reads one sentence that names an owner.
func owner(text string) string {
	first := strings.TrimRight(firstSentence(text), ".")
	lower := strings.ToLower(first)
	for _, p := range []string{"owner: ", "owned by ", "responsible: ", "owner — ", "process owner: "} {
		if strings.HasPrefix(lower, p) && len(strings.Fields(first)) <= 7 {
			return withoutArticle(first[len(p):])
		}
	}
	for _, p := range []string{" does this", " is responsible for this", " owns this", " runs this"} {
		if who, _, ok := strings.Cut(first, p); ok && len(strings.Fields(who)) <= 4 {
			return withoutArticle(who)
		}
	}
	return ""
}
