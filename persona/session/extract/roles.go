package extract

import (
	"slices"
	"strings"
)

// readResponsible reads a list below "X responsibilities:", and "The X is responsible for …" where a section
// begins with it; further on it tells who acts in what the section is about.
func (s *section) readResponsible() []candidate {
	var out []candidate
	for i, b := range s.blocks[:max(0, len(s.blocks)-1)] {
		if title, is := responsibilitiesOf(strings.TrimSuffix(strings.TrimRight(b.run.text, " :*_"), " including")); is && b.kind == paragraph && leadsUp(b) && s.blocks[i+1].kind == bullets && canName(title, false) {
			e := evidence{doc: s.doc, from: b.from, to: s.blocks[i+1].lastLine(), quote: []string{b.run.text}}
			e.passage = s.passageBetween(e.from, e.to)
			out = append(out, candidate{kind: role, title: capitalize(title), score: scoreRole, evidence: []evidence{e}})
		}
	}
	for _, b := range s.blocks[:min(1, len(s.blocks))] {
		for _, t := range b.listTexts() {
			for _, sentence := range splitSentences(t.run.text) {
				who, what, ok := cutAny(sentence, " is responsible for ", " are responsible for ", " is accountable for ")
				ws, title := words(who), withoutArticle(who)
				if !ok || len(ws) == 0 || in("nobody no none not if when in for at on as his her their our my its your", ws[0]) || len(ws) > 5 || len(words(what)) < 2 || !canName(title, false) || isStep(title) ||
					!roleNoun(ws[len(ws)-1]) {
					continue
				}
				e := evidence{doc: s.doc, from: t.from, to: t.to, quote: []string{sentence}, passage: []block{{from: t.from, to: t.to, run: t.run}}}
				out = append(out, candidate{kind: role, title: capitalize(title), about: describeBy(sentence), score: scoreRole - 10, evidence: []evidence{e}})
			}
		}
	}
	return out
}

// headedRole reads the role a heading names, below a heading about roles or anywhere, and what a
// document about an office says under Purpose, Responsibilities and the like. In a document
// that governs the role is all that the section says of it.
func (s *section) headedRole() []candidate {
	title, duties := responsibilitiesOf(s.title)
	if in("purpose responsibilities duties mandate mission", strings.ToLower(title)) && officeTitle(s.doc.title) && s.level > 1 {
		title, duties = s.doc.title, true
	}
	below := s.parent != nil && s.parent.own == roles && s.own == none
	titled := officeTitle(title)
	office := duties && (s.doc.governs || title == s.doc.title) || s.doc.governs && titled
	if s.nearestTopic() == glossary || !below && !office && !titled || !(duties && len(s.blocks) > 0 && (s.blocks[0].kind != paragraph || leadsUp(s.blocks[0]) || strings.Contains(s.blocks[0].run.text, "responsib"))) && !s.tellsOf(title) || activity(title) || isStep(title) || !canName(title, s.code) || namesPerson(span{text: title, kind: strong}) {
		return nil
	}
	e := s.wholeOf(s.blocks[:min(1, len(s.blocks))])
	e.from, e.quote, e.steps, e.passage = s.line, append(e.quote, e.steps...), nil, s.passageBetween(e.from, e.to)
	c := candidate{kind: role, title: capitalize(title), score: scoreDefinition}
	if office || len(e.quote) > 0 && len(words(e.quote[0])) < 5 {
		if e = s.roleEvidence(); e.to-e.from >= maxRules || s.showsCode() {
			return nil
		}
		e.quote, e.steps, e.passage = append(e.quote, e.steps...), nil, s.passageBetween(e.from, e.to)
		s.addFacets(&e)
	}
	if len(e.quote) == 0 || len(words(e.quote[0])) < 4 && len(e.quote) == 1 || pointsElsewhere().MatchString(e.quote[0]) || s.holdsCourse() {
		return nil
	}
	if below {
		if ws := words(title); !office && !officeNoun(ws[len(ws)-1]) && !strings.Contains(firstOf(e.quote[0]), "responsible") {
			return nil // a duty, or what the role works with
		}
		c.score = scoreRole
	}
	if office && (duties || s.nearestTopic() == roles || s.doc.isCharter() || strings.Contains(firstOf(e.quote[0]), "responsible")) {
		c.score = scoreRole
	}
	c.about, c.evidence = describeBy(e.quote[0]), []evidence{e}
	for _, q := range e.quote {
		if _, head, ok := cutAny(q, "eports to the ", "eports to "); ok {
			c.heads = append(c.heads, strings.TrimRight(firstSentence(head), "."))
		}
	}
	return []candidate{c}
}

// addFacets adds to what s says of an office what stands right below it of the same office: what its holders do and may do.
func (s *section) addFacets(e *evidence) {
	if e.to < s.endLine() {
		return
	}
	for _, x := range s.doc.sectionsBelow(s) {
		if !facets().MatchString(x.title) || x.endLine()-e.from >= maxRules {
			return
		}
		x.part, e.to = true, x.endLine()
		e.passage = append(append(e.passage, x.headingBlock()), x.passageBetween(x.line, e.to)...)
	}
}

// facets are the headings of what an office is.
var facets = lazy(`(?i)^(?:key |main )?(?:responsibilities|expectations|privileges|requirements|duties|qualifications|permissions|rights|tasks|powers|authority)(?: (?:and|&) (?:responsibilities|expectations|privileges|requirements|duties|qualifications|permissions|rights|tasks))?$`)

// pointsElsewhere begins a text that says where a role is described.
var pointsElsewhere = lazy(`^(?:To (?:see|learn|find)|See|Please see|For (?:more|details)|Thank you|(?:Official )?[Ll]ist of) |\.md\b|\b(?:is|are) (?:available (?:here|at|in|on)|described|documented)\b`)

// holdsCourse reports whether s holds a list of steps.
func (s *section) holdsCourse() bool {
	bs := outermostOf(s.blocks)
	for i, b := range bs {
		if b.kind == steps && len(b.items) > 1 && s.isCourse(bs, i) {
			return true
		}
	}
	return false
}

// isStep reports whether a heading says what to do, as "Meet with the team": no office has such a word
// in its name, or a verb alone.
func isStep(title string) bool {
	ws := words(title)
	return len(ws) == 1 && isImperative(ws[0]) || slices.ContainsFunc(ws, func(w string) bool { return in("with to from by at into about until as across", w) }) || len(ws) > 2 && in("your our the a an", ws[1])
}

// tellsOf reports whether s says what those in an office are or do: its first sentence speaks of
// them, or begins with what they do, and tells neither who they are, nor how many, nor how they
// come to it, nor what they must do.
func (s *section) tellsOf(title string) bool {
	if len(s.blocks) == 0 || len(s.blocks[0].listTexts()) == 0 {
		return false
	}
	first := firstOf(s.blocks[0].listTexts()[0].run.text)
	ws, office := words(first), words(title)
	if _, weight := findDuty(ws); len(ws) < 3 || weight > 1 || strings.HasSuffix(first, "!") || strings.HasSuffix(first, "?") || comesToHold().MatchString(first) || counted().MatchString(first) ||
		pronounFirst(first) || in("each every see have", ws[0]) || isInstruction(first) {
		return false
	}
	last := singular(office[len(office)-1])
	at := slices.IndexFunc(ws[:min(7, len(ws))], func(w string) bool { return singular(strings.Trim(w, ".'’")) == last })
	if at > 0 && in("by of to for from", ws[at-1]) {
		return false
	}
	return at >= 0 || strings.Contains(first, "responsible") || strings.HasSuffix(ws[0], "s") && len(ws[0]) > 3 && !strings.HasPrefix(strings.ToLower(first), ws[0]+":")
}

var (
	// comesToHold are the words of how somebody comes to an office, which is a rule and not the office.
	comesToHold = lazy(`(?i)^new |\b(?:elect|select|nominat|becom|appoint|resign)(?:s|e|es|ed|ing|ions?)?\b|\bcandidates?\b|\bconsists? of\b|\bvotes?\b|\bstatus (?:may|can|is) `)
	// counted are those of who holds it, and where they are listed.
	counted = lazy(`(?i)\b(?:[0-9]+|two|three|four|five|six|seven|eight|nine|ten) (?:\S+ ){0,3}(?:maintainers|contributors|members|companies|committers|leads)\b|\b(?:listed|tracked|found|currently|existing)\b|@|https?:`)
)

// roleEvidence returns what s says of a role: up to where it says how somebody comes to hold it,
// and without a list of its holders that the site fills in.
func (s *section) roleEvidence() evidence {
	n := slices.IndexFunc(s.blocks, func(b block) bool { return b.kind == paragraph && comesToHold().MatchString(firstOf(b.run.text)) })
	if n < 0 {
		n = len(s.blocks)
	}
	for n > 0 && left().MatchString(s.blocks[n-1].run.text) {
		n--
	}
	return s.wholeOf(s.blocks[:n])
}

// responsibilitiesOf takes "Responsibilities of the X" and "X responsibilities" to X.
func responsibilitiesOf(title string) (string, bool) {
	title = sectionNumber().ReplaceAllString(title, "")
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

// isOfDuties reports whether d is about what somebody in a role has to do.
func (d *document) isOfDuties() bool {
	_, is := responsibilitiesOf(d.title)
	return is
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
	return len(ws) > 0 && len(ws) <= 4 && officeNoun(ws[len(ws)-1]) && !slices.Contains(ws, "for") && !in("guide desk head master author editor style how why your all", singular(ws[len(ws)-1])) &&
		!in("establishment election selection removal initial nominated new formation composition for to become becoming about our no no-longer inactive former past previous emeritus", ws[0])
}

// namesPerson reports whether a name in a section about roles is somebody's and not
// a role's.
func namesPerson(l span) bool {
	if strings.HasPrefix(l.text, "@") || l.kind == link {
		return true
	}
	ws := strings.Fields(bracketed().ReplaceAllString(l.text, ""))
	return len(ws) >= 2 && len(ws) <= 3 && isCapitalized(ws[0]) && isCapitalized(ws[1]) && !officeNoun(strings.ToLower(ws[len(ws)-1]))
}

// readOwners are the roles the section or its front matter names as owner: "Owner: X",
// "Owned by X", "X is responsible for this", "The X does this".
func (s *section) readOwners() []string {
	var out []string
	if s.doc.owner != "" {
		out = append(out, s.doc.owner)
	}
	for _, b := range s.blocks {
		for _, t := range b.listTexts() {
			if o := readOwner(t.run.text); o != "" && b.kind != steps {
				out = append(out, o)
			}
		}
	}
	return out
}

// readOwner reads one sentence that names an owner.
func readOwner(text string) string {
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
