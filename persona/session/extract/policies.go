package extract

import (
	"cmp"
	"slices"
	"strings"
)

// maxRules bounds the lines of one policy: a section with more obligations is quoted
// place by place.
const maxRules = 60

// piece is a block, or a list with its lead, that obliges people to something.
type piece struct {
	from, to int
	weight   int    // of its strongest sentence
	says     string // that sentence
	course   bool   // it is a list of steps
	orders   bool   // it is a list of what to do and not to do
}

// readRules reads a policy: what a section obliges people to, whole paragraphs and lists, so
// that conditions stay with what they condition. One section is one policy. A section or
// a document that is called a policy is one also by what it opens with. What one of others
// cites is left to it, and a section of things to do that says as often what must be is
// neither a rule nor a procedure.
func (s *section) readRules(others []candidate) []candidate {
	whole := s.isFirst() && s.doc.place == policies
	title := sectionNumber().ReplaceAllString(s.subject(), "")
	_, how := howTo(title)
	if _, what := whatIs(title); what || how && !s.doc.isRulebook() || s.nearestTopic() == glossary || s.own == roles || s.doc.decides || s.doc.isOfDuties() || s.isAside() || s.doc.hasWord("troubleshooting") || introduces().MatchString(s.doc.title) || argues().MatchString(s.title) || rung().MatchString(s.title) || !whole && (!ruleTitle(title) || s.code) {
		return nil
	}
	if isFilename(s.title) && len(s.doc.sections) > 3 { // and says what the document is
		return nil
	}
	called := s.own == policies && !isBoilerplate(s.title) || whole
	named := called || s.doc.governs
	ps := slices.DeleteFunc(s.listPieces(named), func(p piece) bool {
		return slices.ContainsFunc(others, func(c candidate) bool { return c.evidence[0].from <= p.to && p.from <= c.evidence[0].to })
	})
	if rule := append(s.statedRule(), s.readGate()...); len(rule) > 0 && len(others) == 0 {
		return rule
	}
	if len(ps) == 0 && (!whole || len(s.doc.sections) > 2) {
		return nil
	}
	if b, ok := s.firstProse(); ok && called && len(others) == 0 && !pronounFirst(b.run.text) && !(s.isFirst() && describesItself().MatchString(b.run.text)) && (len(ps) == 0 || b.to < ps[0].from) && !strings.HasSuffix(b.run.text, ":") {
		ps = append([]piece{{from: b.from, to: b.to, says: firstOf(b.run.text)}}, ps...)
	}
	if len(ps) == 0 {
		return nil
	}
	t := s.readTraits(ps)
	margin, other := t.weighSigns()
	if margin < 0 || margin-other < t.leastMargin() && !(t.strongest >= minPlain && !t.stepped && s.doc.isRulebook()) {
		near := margin > -doubt
		if margin = 0; slices.ContainsFunc(ps, func(p piece) bool { return p.orders }) {
			ps, margin = slices.DeleteFunc(ps, func(p piece) bool { return !p.orders && p.weight < plainDuty }), 6
		} else {
			ps = s.plainRules(ps)
		}
		if len(ps) == 0 || len(others) > 0 {
			s.torn = s.torn || near
			return nil
		}
	}
	c := candidate{kind: policyAtom, title: s.qualifyTitle(title), score: scoreSigns + margin, owners: s.readOwners()}
	c.evidence = s.joinEvidence(ps, len(others) == 0)
	c.about = s.describeRule(ps, c.evidence[0], named)
	return []candidate{c}
}

// introduces is a title of what teaches something, or tells how it came about, and argues one of what speaks for something.
var introduces, argues = lazy(`(?i)^(?:an? )?(?:intro(?:duction)? to|understanding|overview of|history of) `), lazy(`(?i)^the (?:[\w-]+ )?(?:(?:case|argument|importance|benefits?|value|myth|problem)(?::| for | of | with )|principle:)`)

// rung is a heading of one of several that are told by their rank, which says little without the others.
var rung = lazy(`(?i)^(?:p|tier |level |priority )-?[0-9]+\b`)

// minPlain is the weight of a piece that is a rule wherever it stands: it says what people must
// do, in a document about how they work with each other. A charter holds little but rules.
const minPlain = 7

// plainRules are the pieces that are rules whatever stands around them.
func (s *section) plainRules(ps []piece) []piece {
	charter := s.doc.isCharter()
	if !charter && !s.doc.hasWord(affairs) {
		return nil
	}
	return slices.DeleteFunc(ps, func(p piece) bool {
		return p.weight < minPlain && !charter || p.weight < 2 || p.course || pronounFirst(p.says)
	})
}

// statedRule reads a policy of a heading that obliges by itself, as "Secrets must be rotated": what
// stands below it explains it.
func (s *section) statedRule() []candidate {
	title := sectionNumber().ReplaceAllString(s.title, "")
	ws, bs := words(title), outermostOf(s.blocks)
	at, weight := findDuty(ws)
	orders := len(ws) > 2 && s.doc.isRulebook() && in("never don't don’t always only avoid", ws[0])
	if len(bs) == 0 || weight < 3 && !orders || s.doc.shelfPenalty("9999") > 0 || !orders && (at == 0 || at == len(ws)-1 || len(ws) < 4) || strings.HasSuffix(s.title, "?") {
		return nil
	}
	e := evidence{doc: s.doc, from: s.line, quote: []string{s.title}, passage: []block{s.headingBlock()}}
	for _, b := range bs {
		if !b.isEmpty() && (b.lastLine()-s.line < shortRules || b.from == bs[0].from) {
			e.to, e.passage = b.lastLine(), append(e.passage, b)
		}
	}
	if e.to-e.from >= maxRules {
		return nil
	}
	about := clip(title, maxDescription)
	if b, ok := s.firstProse(); ok && orders && sharesWord(s.title, firstOf(b.run.text)) {
		about = cmp.Or(describeBy(b.run.text), about)
	}
	return []candidate{{kind: policyAtom, title: title, about: about, score: scoreSigns + 8, owners: s.readOwners(), evidence: []evidence{e}}}
}

// describeRule describes a rule: the sentence of a paragraph of ps that obliges most, else the first of
// what e quotes of the section, each where it stands alone, with what limits it; else the lead of a list, or
// the item of a list that has no other. An item of several says not what the rule is.
func (s *section) describeRule(ps []piece, e evidence, named bool) string {
	bs := slices.DeleteFunc(outermostOf(s.blocks), block.isEmpty)
	if best := s.mostObliging(bs, ps, named); best != "" {
		return best
	}
	if b, ok := s.firstProse(); ok && e.from <= b.from && b.to <= e.to {
		if q := firstOf(b.run.text); len(words(q)) > 5 && standsAlone(q) && !invites().MatchString(q) && sentenceEnd().MatchString(q) && isCapitalized(q) {
			about, _ := withLimits(b.run.text, q)
			return about
		}
		return aboutOfLead(b.run.text)
	}
	if len(e.passage) == 1 && len(e.passage[0].items) == 1 && standsAlone(firstOf(e.passage[0].items[0].run.text)) {
		return clip(e.passage[0].items[0].run.text, maxDescription)
	}
	return ""
}

// mostObliging is the sentence of a paragraph of ps that obliges most and stands alone, with what limits it in
// the same paragraph and in the one behind it.
func (s *section) mostObliging(bs []block, ps []piece, named bool) string {
	best, most := "", -1
	for i, b := range bs {
		at := slices.IndexFunc(ps, func(p piece) bool { return p.from <= b.from && b.from <= p.to })
		if at < 0 || b.kind != paragraph {
			continue
		}
		text := b.run.text
		if i+1 < len(bs) && bs[i+1].kind == paragraph {
			text += " " + bs[i+1].run.text
		}
		for _, q := range splitSentences(b.run.text) {
			w := weighSentence(q, s.doc, named)
			if w > 1 && !sharesWord(s.title, q) {
				w = 1
			}
			if w > most && most < plainDuty && (w > 0 || ps[at].weight == 0) && standsAlone(q) && isCapitalized(q) && !isRestriction(q) {
				most = w
				best, _ = withLimits(text, q)
			}
		}
	}
	return best
}

// plainDuty is the weight from which the first sentence that obliges describes a rule.
const plainDuty = 3

// sectionNumber is what stands in front of a heading that is one of several.
var sectionNumber = lazy(`^(?:[^\pL\pN]+ )?(?:(?i:section|article|chapter|rule|issue|optional step) [0-9]+(?:\.[0-9]+)*[.):]*|[A-Z][.)]|[0-9]+(?:\.[0-9]+)*[.):]|[0-9]+(?:\.[0-9]+)+) +`)

// ruleTitle reports whether a heading may name a policy: short, a name and no symbol.
func ruleTitle(title string) bool {
	ws := strings.Fields(title)
	return title != "" && !in("means is are to of for and or by with the a an", ws[len(ws)-1]) && len(ws) <= 12 && len(title) <= 90 && !strings.ContainsAny(title, "!;{}<>=[]|\\_$…") && !strings.Contains(title, "://") &&
		hasBalancedBrackets(title) && !(len(ws) == 1 && (isIdentifier(title) || !isCapitalized(title) && strings.ContainsAny(title, "-."))) && strings.ContainsAny(strings.ToLower(title), "abcdefghijklmnopqrstuvwxyz")
}

// listPieces are the blocks of s that oblige, in order. A list is whole, with the paragraph
// that leads up to it. named tells that the place is one for rules, where a weaker word
// counts.
func (s *section) listPieces(named bool) []piece {
	var out []piece
	bs := slices.DeleteFunc(outermostOf(s.blocks), block.isEmpty)
	for i := 0; i < len(bs); i++ {
		b := bs[i]
		leading := b.kind == paragraph && i+1 < len(bs) && leadsUp(b)
		if leading {
			i++
		}
		p := piece{from: b.from, to: bs[i].lastLine()}
		if (bs[i].kind == bullets || bs[i].kind == steps || bs[i].kind == definitions) && !areLinksOnly(bs[i].items) && !(bs[i].kind == bullets && beginWithLinks(bs[i].items)) {
			p.weight, p.says = bs[i].weighList(s.doc, named)
			if leading {
				p = p.underLead(b.run.text, bs[i], weighText(b.run.text, s.doc, named))
			}
		} else if s.isFirst() && b.kind == paragraph && describesItself().MatchString(b.run.text) {
			continue
		} else if leading || b.kind == paragraph && !b.nested && !strings.HasSuffix(b.run.text, ":") {
			w := weighText(b.run.text, s.doc, named)
			p.weight, p.says = w.weight, w.says
		}
		if p.to > 0 && s.listsOrders(bs, i) {
			p.orders, p.weight = true, max(p.weight, plainDuty)
		}
		if p.course = s.isCourse(bs, i); p.weight > 0 && p.to-p.from < maxRules {
			out = append(out, p)
		}
	}
	return out
}

// describesItself are the words of an opening about the document it opens.
var describesItself = lazy(`(?i)\bthis (?:document|page|guide|handbook|section|article|charter) (?:is|provides|records|describes|outlines|defines|covers|contains|explains|lists|details|aims|serves|sets|establishes|will help|helps)\b|\bthis is a checklist\b|\binformation in this (?:document|page|guide)\b|^[A-Z]\w+ (?:allows|enables|lets|supports) `)

// underLead is a list with its lead, which says what its items are: rules, or none.
func (p piece) underLead(lead string, list block, own piece) piece {
	for _, w := range strings.Split("if you:|ways|example|e.g|no longer|not valid|obsolete|myth|used to|outdated|go wrong", "|") {
		if strings.Contains(strings.ToLower(lead), w) {
			return piece{}
		}
	}
	if p.says == "" || own.weight > p.weight {
		p.says = list.listTexts()[0].run.text
	}
	all := splitSentences(lead)
	p.weight, p.says = max(p.weight, own.weight), strings.TrimRight(all[len(all)-1], ": ")+": "+p.says
	return p
}

// leadsUp reports whether a paragraph leads up to what stands below it: it ends in a colon,
// or with no mark at all, as a bold label does.
func leadsUp(b block) bool {
	text := strings.TrimRight(b.run.text, " *_")
	return !b.nested && text != "" && !strings.ContainsAny(text[len(text)-1:], ".!?)\"'")
}

// weighList weighs a list by its strongest item, below it too, and tells that.
func (b block) weighList(d *document, named bool) (weight int, says string) {
	oblige := 0
	b.items = b.listTexts()
	for _, it := range b.items {
		best := weighText(it.run.text, d, named)
		for _, x := range it.below {
			if w := weighText(x.run.text, d, named); w.weight > best.weight {
				best = w
			}
		}
		if best.weight > 0 {
			oblige++
		}
		if best.weight > weight {
			weight, says = best.weight, best.says
		}
	}
	boxes := count(b.items, func(it item) bool { return strings.HasPrefix(it.run.text, "[ ]") })
	switch {
	case 2*countLeading(b.items) > len(b.items), 2*boxes > len(b.items), b.listsFiles() && 2*oblige < len(b.items), b.kind == steps && len(b.items) > 2 && 2*oblige < len(b.items):
		return 0, "" // steps, each under what is done in it, or with what one has to heed
	case oblige == 0 && named && len(b.items) > 1 && 3*count(b.items, func(it item) bool { return isInstruction(it.run.text) }) >= 2*len(b.items) && d.isRulebook():
		return 4, b.items[0].run.text
	case oblige >= 3 && oblige == len(b.items) && weight >= 3:
		weight += 5 // a list of nothing but rules
	}
	return weight, says
}

// The headings of text that is no rule and no procedure, whatever it says.
const (
	weighed = "weighed" // what a proposal weighs and plans, down to the next heading of its level
	warned  = "warned"  // what is shown and not to be done
)

// asides says by what a heading is known as one of them.
var asides = []struct {
	as     string
	fits   func(title, one string) bool
	titles string
}{
	{weighed, strings.HasPrefix, "alternative|rejected|option "},
	{warned, strings.HasPrefix, "why |please |what happens |what if |so what"},
	{warned, strings.Contains, "tips|anti-pattern|antipattern|mistake|pitfall| don't| don’t|results|example|no longer|deprecated|legacy"},
	{warned, strings.EqualFold, "the short version|short version|tl;dr|conclusion|conclusions|closing remarks|final thoughts|summary|in summary|takeaways|prerequisite|prerequisites|pre-requisites|before you begin|before you start"},
	{weighed, strings.EqualFold, "get involved|getting involved|findings|review summary|assumptions|context and assumptions|scenarios|contact|contacts|contact us|community|get in touch|getting in touch|follow us|stay in touch|join us|support|getting help|get help|communication|faq|faqs|frequently asked questions|suggestions|additional reading|additional readings|reading|materials|mission|vision|audience|audiences|meeting times|outcomes|desired outcomes|scope|in scope|out of scope|recommendations|template|templates|context|background|rationale|problem|the problem|problem statement|problem description|context and problem statement|challenges|current challenges|current state|goal|motivation|goals|objectives|approach|non-goals|goals and non-goals|user stories|use cases|drawbacks|risks|risks and mitigations|open questions|options|considered options|proposed solution|decision|" +
		"proposal|design details|future work|unresolved questions|design evaluation|prior art|graduation criteria|project goals|design goals|how to teach this|reference implementation|" +
		"backwards compatibility|security implications|pros and cons|pros|cons|trade-offs|tradeoffs|test plan|work plan|implementation plan|upgrade & migration strategy|" +
		"implementation pull requests|action items|lessons learned|implementations|timeline|todo|to do|to-do"},
}

// isKnownHeading reports whether a heading is one of those.
func isKnownHeading(title, as string) bool {
	title = strings.ToLower(sectionNumber().ReplaceAllString(title, ""))
	for _, a := range asides {
		if a.as == as && slices.ContainsFunc(strings.Split(a.titles, "|"), func(one string) bool { return a.fits(title, one) }) {
			return true
		}
	}
	return false
}

// isDesign reports whether d says how a program is to be: it holds code, and sections of a proposal, or
// uses the words of a specification, most often of no people.
func (d *document) isDesign() bool {
	weighs, all, people := 0, 0, 0
	for _, s := range d.sections {
		if isKnownHeading(s.title, weighed) {
			weighs++
		}
		for _, b := range s.blocks {
			for _, t := range b.listTexts() {
				for _, q := range splitSentences(t.run.text) {
					if specified().MatchString(q) {
						if all++; speaksOfPeople(words(q)) {
							people++
						}
					}
				}
			}
		}
	}
	return d.coded && weighs > 2 || all > 3 && 2*people < all && !d.hasWord(affairs) && !d.isCharter()
}

// specified are the words of a specification, as it writes them.
var specified = lazy(`\b(?:MUST|SHALL|SHOULD)\b`)

// isAside reports whether s holds text that is no rule and no procedure.
func (s *section) isAside() bool {
	if isKnownHeading(s.title, warned) || s.doc.designs || once().MatchString(s.title) || fromTo().MatchString(s.title) || verifies().MatchString(s.title) {
		return true
	}
	if len(s.blocks) <= 2 && slices.ContainsFunc(s.blocks, func(b block) bool { return moved().MatchString(b.run.text) }) {
		return true
	}
	for p := s; p != nil; p = p.parent {
		if isKnownHeading(p.title, weighed) || strings.Contains(strings.ToLower(p.title), "example") || verdict().MatchString(p.title) && !p.forbids() || slices.ContainsFunc(p.blocks, func(b block) bool { return informs().MatchString(b.run.text) }) {
			return true
		}
	}
	return false
}

// once is a heading of what is done before the rest holds, and verifies one of what those do who download something.
var once, verifies = lazy(`(?i)^(?:the )?(?:initial|inaugural|bootstrap(?:ping)?|interim|transition(?:al)?) (?:[\w-]+ )?(?:elections?|(?:steering )?committee|council|board|members(?:hip)?|maintainers|phase|period|term)$`), lazy(`(?i)^verify(?:ing)? (?:\S+ ){0,4}(?:signatures?|checksums?|provenance|binar(?:y|ies))\b`)

// verdict is a heading without which the lines below it say the contrary, or nothing.
var verdict = lazy(`(?i)^(?:not )?(?:ok|okay|allowed|approved|accepted|acceptable|good|bad|right|wrong|yes|no|do|dos|do not|don['’]?t|don['’]?ts|never|avoid)[.:!]?$`)

// moved are the words of a text that says where another is now.
var moved = lazy(`(?i)\b(?:has|have|was|were) (?:been )?moved to\b`)

// informs are the words of a section that says that it holds no rules.
var informs = lazy(`(?i)\bsection is (?:purely |only )?(?:informational|informative|non-normative)\b|\brules above (?:overrule|take precedence)`)

func firstPart(title string) string {
	head, _, _ := strings.Cut(title, " -- ")
	return head
}

// weighText is the sentence of a text that obliges most, and how strongly.
func weighText(text string, d *document, named bool) (best piece) {
	for _, q := range splitSentences(text) {
		if w := weighSentence(q, d, named); w > best.weight {
			best.weight, best.says = w, q
		}
	}
	if best.weight > 0 && d.governs {
		best.weight++
	}
	return best
}

// weighSentence weighs a sentence: how strong its word is, and whether it speaks of people. What
// should happen is no rule for them.
func weighSentence(q string, d *document, named bool) int {
	ws := words(q)
	if len(ws) < 3 && !(len(ws) > 1 && strings.HasSuffix(q, ":")) || len(ws) == 3 && !(named && in("must", ws[1])) && !strings.HasSuffix(q, ":") || strings.HasSuffix(q, "?") || in("i i'm i’m i'll i’ll i've my", ws[0]) || strings.HasPrefix(strings.Join(ws[:2], " "), "for example") {
		return 0
	}
	at, weight := findDuty(ws)
	if of := strings.TrimPrefix(strings.Join(ws[:min(3, len(ws))], " "), "in "); weight < 3 && strings.HasPrefix(of, "this ") && in("document page guide handbook section article", words(of)[1]) {
		return 0 // of the text itself
	}
	if in("occasionally sometimes often", ws[0]) || ofItself().MatchString(q) || weight < 3 && (strings.HasSuffix(q, "!") || invites().MatchString(q)) {
		return 0
	}
	if weight < 2 && d.isCharter() {
		if i, w := strongestOf(customs, ws); w > 0 {
			at, weight = i, w
		}
	}
	if weight < 2 || d.hasWord("contributing contribute development developer developers") && in("offer offers provide provides give gives", ws[at]) { // or tells of tools
		return min(weight, 1)
	}
	if !named && (at == 0 || ws[at-1] == "we") { // an imperative, or what somebody did
		weight--
	}
	if slices.ContainsFunc(ws[max(0, at-9):at], func(w string) bool { return personNoun(singular(strings.Trim(w, ".'’"))) }) {
		weight += 2
	} else if named || at == 0 {
		weight++
	}
	if named {
		weight++
	}
	return weight
}

// ofItself are the words of a sentence that says why, or obliges to nothing but the text it stands in.
var ofItself = lazy(`(?i)^(?:the|our|one|another) (?:reason|rationale)s?\b|\b(?:follow|read|adhere to|abide by|comply with)(?: all)?(?: of)? (?:these|this|the following) (?:guide|rule|standard|polic|convention|page|document|section|instruction|practice)`)

// invites are the words of a sentence that leaves something to those it speaks to, or thanks them.
var invites = lazy(`(?i)\bfeel free\b|\bwe (?:believe|think|(?:\w+ )?welcome)\b|\b(?:more than|always|also|are|you're|is) (?:very )?welcome\b|\b(?:love|happy|glad|appreciate|thank|hope|eager|excited)\b|\blet us know\b|\b(?:any|have|more) questions?\b|\b(?:provide|send|give|your) feedback\b|\bin the meantime\b`)

// pronounFirst reports whether a sentence begins with a word that stands for another, or
// that joins it to the one before.
func pronounFirst(s string) bool {
	ws := words(s)
	return len(ws) == 0 || in("thus also however but so therefore additionally alternatively importantly then otherwise likewise similarly and or it they this these that those he she its their such he's it's they're", ws[0])
}

// rulebooks are the words in the path of a document that lays down rules, and affairs those
// of one that is about how people work with each other.
const (
	rulebooks = "contributing contribute conduct principles policy policies guideline guidelines standard standards convention conventions rules requirements style expectations practices codestyle"
	affairs   = "governance contributor contributors contribution security charter charters onboarding offboarding maintainers membership moderation moderators election elections " +
		"review reviews reviewing process processes workflow release releases releasing benefits"
)

// isForRules reports whether a document is there for rules, by its name or place.
func (d *document) isForRules() bool { return d.isRulebook() || d.hasWord(affairs) || d.isCharter() }

func (d *document) isRulebook() bool {
	return d.place == policies || d.hasWord(rulebooks) || d.isForAgents()
}

// isForAgents reports whether d says what coding agents have to heed.
func (d *document) isForAgents() bool {
	return in("agents claude gemini copilot-instructions", strings.ToLower(d.stem()))
}

// isCharter reports whether d says how people decide with each other, and who they are.
func (d *document) isCharter() bool {
	const list = "governance charter charters bylaws constitution membership ladder election elections voting council councils committee committees team teams roles"
	return d.hasWord(list) || slices.ContainsFunc(words(d.title), func(w string) bool { return in("governance charter bylaws constitution", w) })
}

// hasWord reports whether the path of d has one of these words.
func (d *document) hasWord(list string) bool {
	return slices.ContainsFunc(d.pathWords(), func(part string) bool { return in(list, part) })
}

// pathWords are the words of the path of d.
func (d *document) pathWords() []string {
	return strings.FieldsFunc(strings.ToLower(d.path), splitsPath)
}

func splitsPath(r rune) bool { return strings.ContainsRune("/-_. ", r) }

// speaksToPeople reports whether a document is about how people work with each other: most
// of its paragraphs speak of them, and few hold code.
func (d *document) speaksToPeople() bool {
	all, people, coded := 0, 0, 0
	for _, s := range d.sections {
		for _, b := range s.blocks {
			ts := b.listTexts()
			all += len(ts)
			coded += count(ts, func(t item) bool {
				return slices.ContainsFunc(t.run.spans, func(sp span) bool { return sp.kind == codeSpan })
			})
			people += count(ts, func(t item) bool {
				return slices.ContainsFunc(words(t.run.text), func(w string) bool {
					return in("we our us you your you’re you're we’re we're everyone employee employees company manager team teams people committee members maintainers", w)
				})
			})
			if b.kind == code {
				coded += 3
			}
		}
	}
	return all >= 3 && 2*people >= all && 6*coded <= all
}

func (s *section) isFirst() bool {
	for _, x := range s.doc.sections {
		if x.title != "" || len(x.blocks) > 0 {
			return x == s
		}
	}
	return false
}
