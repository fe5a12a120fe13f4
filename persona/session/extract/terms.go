package extract

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// The kinds of atoms.
const (
	term       = "term"
	process    = "process"
	role       = "role"
	system     = "system"
	artifact   = "artifact"
	policyAtom = "policy"
	decision   = "decision"
)

// candidate is one thing a document says exists.
type candidate struct {
	kind     string
	title    string
	about    string // one sentence of the source
	score    int
	evidence []evidence
	aliases  []string
	owners   []string // titles of roles the source names as owner
	heads    []string // titles of roles it says this one reports to
	under    string   // the heading above its own
	programs []string // argv[0] of its fenced commands, in order
}

// evidence is where a document says it, and what stands there with the markdown
// taken off: prose, steps in order, commands.
type evidence struct {
	doc      *document
	from, to int
	quote    []string
	steps    []string
	lists    int // how many lists the steps are of
	commands []string
	passage  []block // all that is quoted; the three above only name and describe it
	copied   bool    // another document is quoted that says the same

	breaksOff bool // what is said there is longer than an atom quotes
}

// The scores: how plainly a source says that the thing exists and what it is.
// Ranking under MaxAtoms goes by them alone, so they are an order and not a measure.
const (
	scoreGlossary   = 82 // a definition list, table or list that is there to define
	scoreWhatIs     = 76 // "What is X?", a glossary's own sub-heading
	scoreProcess    = 86 // a procedure with its steps
	scoreRole       = 80
	scoreSigns      = 74 // a policy or a process whose signs just suffice
	scoreDecision   = 86
	scoreSystem     = 70
	scoreDefinition = 70 // "An X is a …" where X is the subject
	scoreStrong     = 80 // from here on strong evidence speaks for a candidate
	scoreBold       = 58 // a bold word and a definition in a glossary
)

// newDefinition returns a named thing with its text, of the kind the section is about. b is where
// it stands.
func (s *section) newDefinition(name, text string, b block, score int) candidate {
	c := candidate{title: name, about: describeBy(text), score: score}
	if c.about != "" && !strings.HasPrefix(text, name) {
		c.about = capitalize(c.about)
	}
	if ws := words(text); c.about != "" && len(ws) > 0 && in("is are means refers describes denotes was has provides", ws[0]) {
		c.about = clip(name+" "+firstSentence(text), maxDescription) // a sentence needs its subject
	}
	if c.kind = s.nearestTopic().listedKind(); c.kind != role && isFilename(name) {
		c.kind = artifact
		if in("go py js ts mjs cjs sh sql proto", strings.TrimPrefix(path.Ext(name), ".")) || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "/") {
			c.kind = "" // part of a program, or a file of somebody's computer
		}
	}
	c.title, c.aliases = splitAlias(name)
	c.title = capitalize(c.title)
	if around := s.subject(); c.kind == term && adjective().MatchString(c.title) {
		if s.own == glossary {
			around = s.doc.shortName()
		}
		c.title += " (" + clip(around, 50) + ")"
	}
	c.evidence = []evidence{{doc: s.doc, from: b.from, to: b.to, quote: []string{name + ": " + text}, passage: []block{b}}}
	return c
}

// adjective is a name that ends in a word which says how something is, and not what.
var adjective = lazy(`(?i)(?:^|[ -])(?:[a-z]+[^aei]able|[a-z]+[^e]ed|recommended|required|optional|minimal|external|internal)$`)

// listedKind is the kind of what a section of this topic lists by name.
func (t topic) listedKind() string {
	switch t {
	case roles:
		return role
	case systems:
		return system
	case files:
		return artifact
	}
	return term
}

// splitAlias takes an abbreviation in brackets off a name: "Service level
// objective (SLO)".
func splitAlias(name string) (string, []string) {
	head, rest, ok := strings.Cut(name, " (")
	if alias, closed := strings.CutSuffix(rest, ")"); ok && closed && !strings.ContainsAny(alias, "() ") && len(alias) <= 12 {
		return head, []string{alias}
	}
	return name, nil
}

// readDefinitionLists reads the definition lists, definition tables and bold lists of s.
func (s *section) readDefinitionLists() []candidate {
	var out []candidate
	for i, b := range s.blocks {
		led := i > 0 && leadsUp(s.blocks[i-1])
		terms := led && defines().MatchString(s.blocks[i-1].run.text)
		switch b.kind {
		case definitions:
			out = append(out, s.definitionList(b, led && !terms)...)
		case table:
			out = append(out, s.definitionTable(b)...)
		case bullets:
			out = append(out, s.boldList(b, terms)...)
		case paragraph:
			if lead, rest, ok := b.run.splitLead(); ok && lead.kind == strong && canName(lead.text, false) && isDefinition(rest) && s.nearestTopic() == glossary {
				out = append(out, s.newDefinition(lead.text, rest, b, scoreBold))
			}
		}
	}
	return out
}

// definitionList reads a definition list. In reStructuredText, and behind a sentence that promises something else than
// terms, those explain anything, and some answer questions.
func (s *section) definitionList(b block, led bool) []candidate {
	var out []candidate
	if (isRST(s.doc.path) || led) && !s.listsThings() || mishaps().MatchString(s.title) || slices.ContainsFunc(b.items, func(it item) bool { return strings.HasSuffix(it.cells[0].text, "?") }) {
		return nil
	}
	for _, it := range b.items {
		t := strings.TrimRight(it.cells[0].text, ": ")
		code := len(it.cells[0].spans) > 0 && it.cells[0].spans[0].kind == codeSpan
		shown := len(it.cells[1].spans) > 0 && it.cells[1].spans[0].kind == codeSpan && it.cells[1].spans[0].at == 0 // what one writes for it
		if canName(t, code) && !shown && isDefinition(firstOf(it.cells[1].text)) {
			out = append(out, s.newDefinition(t, it.cells[1].text, it.definitionRow(0, 1), scoreGlossary))
		}
	}
	return out
}

// mishaps is a heading above what goes wrong.
var mishaps = lazy(`(?i)\btroubleshoot|\berrors?\b|\bproblems?\b|\bissues\b|\bsymptoms\b`)

// definitionRow is the cells of a row that name a thing and explain it.
func (it item) definitionRow(name, text int) block {
	return block{kind: definitions, from: it.from, to: it.to, items: []item{{cells: []run{it.cells[name], it.cells[text]}}}}
}

// findColumns finds the column that names and the one that explains, and what the
// table is about. Both are -1 when there is none.
func (s *section) findColumns(header []string) (nameCol, textCol int, t topic) {
	nameCol, textCol = -1, -1
	for i, h := range header {
		h = strings.Trim(h, " *")
		if nameCol < 0 {
			first, _, _ := strings.Cut(h, "/")
			if t = columnTopic(first); t != none {
				nameCol = i
			}
		} else if textCol < 0 && isExplanation(h) {
			textCol = i
		}
	}
	return nameCol, textCol, t
}

// columnTopic is what a column holds the names of.
func columnTopic(h string) topic {
	switch {
	case in("term terms concept word acronym abbreviation expression", h):
		return glossary
	case in("role roles", h):
		return roles
	case in("tool system service integration dependency application software platform", h):
		return systems
	case in("file document artifact artefact deliverable filename", h):
		return files
	}
	return none
}

// listsThings reports whether the section lists things by name.
func (s *section) listsThings() bool {
	switch s.nearestTopic() {
	case glossary, roles, systems, files:
		return true
	}
	return false
}

func isExplanation(h string) bool {
	switch h {
	case "what it is", "what it does", "what it is for", "what for", "used for", "responsible for", "what they do", "what it means", "what we use it for",
		"main responsibilities", "key responsibilities":
		return true
	}
	return in("notes definition meaning description explanation purpose responsibility responsibilities duties role use usage function about", h)
}

func (s *section) definitionTable(b block) []candidate {
	n, x, t := s.findColumns(b.header)
	if n < 0 || x < 0 {
		return nil
	}
	var out []candidate
	for _, it := range b.items {
		title, text := it.cells[n].text, it.cells[x].text
		code := len(it.cells[n].spans) > 0 && it.cells[n].spans[0].kind == codeSpan && t != systems
		if !canName(title, code) || len(words(text)) < 3 || in("to for none no if see", words(text)[0]) {
			continue
		}
		c := s.newDefinition(title, text, it.definitionRow(n, x), scoreGlossary)
		if c.kind != "" {
			c.kind = t.listedKind()
		}
		if c.kind == system {
			c.score = scoreSystem
		}
		if x > n+1 { // what stands between the two is not said, so neither runs into the other
			c.evidence[0].passage = []block{{run: it.cells[n]}, {run: it.cells[x]}}
		}
		out = append(out, c)
	}
	return out
}

// boldList reads "- **Name**: text". In a section that lists things, the name
// may also be a link or code; below a lead that promises terms a bold word names one.
func (s *section) boldList(b block, led bool) []candidate {
	if !s.listsThings() && !led {
		return nil
	}
	var out []candidate
	for _, it := range b.items {
		lead, rest, ok := it.run.splitLead()
		if head, tail, cut := cutAny(it.run.text, " - ", " – ", " — ", ": "); !ok && cut && (s.nearestTopic() == glossary || s.nearestTopic() == roles && officeTitle(head)) {
			lead, rest, ok = span{kind: strong, text: head}, tail, true
		}
		if _, weight := findDuty(words(firstOf(rest))); s.nearestTopic() == glossary && weight > 1 {
			continue // a rule about what the name stands for
		}
		if !ok || !s.mayName(lead) || !isDefinition(rest) && (s.nearestTopic() != roles || len(words(rest)) < 2) || s.nearestTopic() == roles && !slices.ContainsFunc(strings.Fields(rest), func(w string) bool { return !isCapitalized(w) && !in("and or", w) && w[0] != '@' }) || !s.listsThings() && lead.kind != strong {
			continue
		}
		c := s.newDefinition(lead.text, rest, block{from: it.from, to: it.to, run: it.run}, scoreStrong)
		if ws := words(lead.text); led && c.kind == term && roleNoun(singular(ws[len(ws)-1])) {
			c.kind = role
		}
		if lead.kind == codeSpan {
			c.title = lead.text // a command is called as it is typed
		}
		out = append(out, c)
	}
	return out
}

// defines are the words of a lead that promises terms and what they mean.
var defines = lazy(`(?i)\b(?:terminology|terms|definitions|vocabulary)\b`)

// mayName reports whether what an item begins with may name a thing here. In lower
// case with a slash it is a repository or a path.
func (s *section) mayName(l span) bool {
	if !canName(l.text, l.kind == codeSpan && s.nearestTopic() != systems) || s.nearestTopic() == roles && (namesPerson(l) || isImperative(words(l.text)[0])) ||
		strings.Contains(l.text, "/") && l.text == strings.ToLower(l.text) && !isFilename(l.text) {
		return false
	}
	if s.nearestTopic() == files && !isFilename(l.text) {
		return false
	}
	switch l.kind {
	case strong:
		return true
	case codeSpan:
		return isFilename(l.text) || s.nearestTopic() == systems
	case link:
		return s.nearestTopic() == systems
	}
	return s.nearestTopic() == glossary
}

// readHeadingDefinitions reads what a heading says it defines: "What is X?", and the
// sub-headings of a glossary.
func (s *section) readHeadingDefinitions() []candidate {
	b, ok := s.firstProse()
	if !ok {
		return nil
	}
	title, what := whatIs(s.title)
	below := s.parent != nil && s.parent.own == glossary || s.parent != nil && s.level >= 2 && s.doc.place == glossary
	if ws := words(title); len(ws) == 0 || in("how why when where", ws[0]) {
		return nil
	}
	if !what && !(below && s.own == none) || !canName(title, s.code) || !isDefinition(b.run.text) {
		return nil
	}
	if opening := words(b.run.text); what && !articleFirst(b.run.text) && !slices.ContainsFunc(opening[:min(6, len(opening))], func(w string) bool { return sameName(w, title[strings.LastIndexByte(title, ' ')+1:]) }) {
		return nil // what stands there is no answer
	}
	c := s.newDefinition(title, b.run.text, b, scoreWhatIs)
	c.evidence[0].quote = []string{b.run.text}
	c.evidence[0].from, c.evidence[0].passage = s.line, []block{s.headingBlock(), b}
	return []candidate{c}
}

// whatIs takes the question off a heading.
func whatIs(title string) (string, bool) {
	lower := strings.ToLower(title)
	for _, p := range []string{"what is ", "what are ", "what's ", "what does "} {
		if !strings.HasPrefix(lower, p) {
			continue
		}
		t := strings.TrimRight(title[len(p):], "? ")
		t = withoutArticle(strings.TrimSuffix(t, " mean"))
		first, _, _ := strings.Cut(strings.ToLower(t), " ")
		return t, !in("considered in not on for inside covered wrong new next difference it this that these my your our happening included supported needed", first)
	}
	return title, false
}

func withoutArticle(s string) string {
	for _, a := range []string{"a ", "an ", "the ", "A ", "An ", "The "} {
		if t, ok := strings.CutPrefix(s, a); ok {
			return t
		}
	}
	return s
}

// readStatedDefinitions reads "An X is a …" where X is what the section is about, or is set
// off in the sentence itself.
func (s *section) readStatedDefinitions() []candidate {
	if s.nearestTopic() == praise || s.nearestTopic() == decisions {
		return nil
	}
	var out []candidate
	for i, b := range s.blocks {
		if b.kind != paragraph {
			continue
		}
		subject, pred, marked, ok := cutCopula(b.run)
		marked = marked || ok && s.presentsRepository(subject, pred)
		if !ok || !marked && (i > 0 || !sameName(subject, s.subject())) || !canName(subject, false) || len(words(pred)) < 4 ||
			isIdentifier(subject) || s.code && !isFilename(subject) {
			continue
		}
		if c := s.readStatement(subject, pred, b); c.kind != term || marked || s.nearestTopic() == glossary || !s.doc.coded && !s.doc.isRulebook() {
			out = append(out, c)
		}
	}
	return out
}

// presentsRepository reports whether the beginning of a README says what its repository is.
func (s *section) presentsRepository(subject, pred string) bool {
	if !strings.EqualFold(s.doc.stem(), "readme") && s.doc.stem() != "index" || strings.Contains(subject, " ") || !systemNoun(headNoun(pred)) {
		return false
	}
	return s.isFirst() || s.isIntroduction() || s.level <= 1
}

func (s *section) readStatement(subject, pred string, b block) candidate {
	c := s.newDefinition(subject, b.run.text, b, scoreDefinition)
	c.evidence[0].quote = []string{b.run.text}
	head := headNoun(pred)
	if ws := words(subject); c.kind == role && !officeNoun(ws[len(ws)-1]) {
		c.kind = term
	}
	switch {
	case c.kind == term && systemNoun(head) && (isCapitalized(subject) || s.level <= 1 || !strings.Contains(subject, " ")):
		c.kind = system
		if !strings.Contains(subject, " ") {
			c.title = subject
		}
	case c.kind == term && (roleNoun(head) || in("role maintainer", head)) && !in("manager master guide engine", head) && s.nearestTopic() != glossary:
		c.kind = role
	}
	return c
}

// isIdentifier reports whether a subject is a symbol of a program, a pronoun, or
// a sentence's adverb and not a thing's name.
func isIdentifier(s string) bool {
	if strings.ContainsAny(s, ":(),&") || in("this that it there these those which he she they we you i one", strings.ToLower(s)) {
		return true
	}
	for _, w := range strings.Fields(s) {
		small := false
		for i, r := range w {
			if small && unicode.IsUpper(r) && !isCapitalized(w) || r == '.' && i > 0 && !strings.HasSuffix(w, ".js") && !isFilename(w) {
				return true
			}
			small = small || unicode.IsLower(r)
		}
	}
	return false
}

// cutCopula cuts a paragraph's first sentence at "is a". marked tells that the
// subject is set off as bold, emphasis or a file's name.
func cutCopula(r run) (subject, pred string, marked, ok bool) {
	first := firstSentence(r.text)
	for _, v := range []string{" is ", " are ", " refers to ", " means ", " denotes "} {
		before, after, found := strings.Cut(first, v)
		if !found || len(strings.Fields(before)) > 7 || (v == " is " || v == " are ") && !articleFirst(after) {
			continue
		}
		subject = withoutArticle(strings.TrimSpace(bracketed().ReplaceAllString(before, "")))
		return subject, after, r.setsOff(subject, before), true
	}
	return "", "", false, false
}

// setsOff reports whether the subject a run begins with is set off from the rest.
func (r run) setsOff(subject, before string) bool {
	for _, s := range r.spans {
		first := strings.HasPrefix(r.text, s.text) || strings.HasSuffix(before, " "+s.text) && withoutArticle(before) == s.text
		if first && strings.HasPrefix(subject, s.text) && (s.kind == strong || s.kind == emphasis || s.kind == codeSpan && isFilename(s.text)) {
			return true
		}
	}
	return false
}

// headNoun is the word a predicate turns on: the last before its first relative
// clause or preposition, participles passed over.
func headNoun(pred string) string {
	if what, of, ok := cutAny(pred, "set of ", "collection of ", "suite of "); ok && len(words(what)) < 3 {
		return singular(headNoun(of))
	}
	head := ""
	for _, w := range words(pred) {
		if in("that which who whose for of to used in on with by from where when within and or as designed written built into at between", w) {
			break
		}
		if w = strings.Trim(w, ".'"); head == "" || !strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "able") && !strings.HasSuffix(w, "ing") {
			head = w
		}
	}
	return head
}

// sameName compares two names without case, article, brackets and plural.
func sameName(a, b string) bool { return b != "" && key(a) == key(b) }
