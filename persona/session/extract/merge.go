package extract

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// findCandidates reads what one document says exists.
func (d *document) findCandidates() []candidate {
	if why, _ := d.whyPast(); d.listsVersions() || why != "" {
		return nil
	}
	var out []candidate
	for _, s := range d.sections {
		if !s.isClosed() && !s.part {
			out = append(out, s.soundOf(s.readStages())...)
			out = append(out, s.findCandidates()...)
		}
	}
	out = d.takeBelow(d.joinParts(out))
	for i, c := range out {
		if c.kind == policyAtom && restates(c.title, c.about) {
			out[i].about = ""
		}
	}
	return out
}

// findCandidates reads a section. What is a step, a decision or a role's description is not a
// policy as well: of a rule and a procedure the plainer one is read.
func (s *section) findCandidates() (out []candidate) {
	defer func() { s.gave = len(out) > 0 }()
	for _, read := range []func() []candidate{s.headedRole, s.readResponsible, s.readDecision} {
		out = append(out, s.soundOf(read())...)
	}
	course, rules := s.soundOf(s.readProcedure()), s.soundOf(s.readRules(out))
	if len(course) > 0 && len(rules) > 0 && rules[0].score > course[0].score {
		course = nil
	} else if len(course) > 0 {
		rules = nil
	}
	for _, c := range append(course, rules...) {
		c.score -= s.countLacks(c)
		out = append(out, c)
	}
	s.torn = s.torn && len(out) == 0
	if s.doc.hasWord("comparison comparisons alternatives configuration configuring settings") {
		return out // things of others, and what they are set to
	}
	if isBoilerplate(s.title) {
		if s.isIntroduction() {
			out = append(out, s.soundOf(s.readStatedDefinitions())...)
		}
		return out
	}
	for _, read := range []func() []candidate{s.readDefinitionLists, s.readHeadingDefinitions, s.readStatedDefinitions} {
		out = append(out, s.soundOf(read())...)
	}
	return out
}

func (s *section) soundOf(cs []candidate) []candidate {
	for i := range cs {
		cs[i].score -= cs[i].countFlaws(s)
		if s.parent != nil {
			cs[i].under = s.parent.title
		}
		if first, rest, ok := strings.Cut(cs[i].title, " "); ok && cs[i].kind == role && in("Your Our My", first) {
			cs[i].title = capitalize(rest)
		}
	}
	return slices.DeleteFunc(cs, func(c candidate) bool {
		return c.title == "" || c.kind == "" || len(c.evidence) == 0 || c.evidence[0].from < 1 || c.evidence[0].to < c.evidence[0].from || c.evidence[0].to > len(s.doc.lines) || c.kind == role && (s.doc.decides || s.doc.hasWord("conduct") || s.level < 2 && s.doc.isGuide())
	}) // there as often a program
}

// countLacks is how much speaks against keeping a rule or a procedure that is one: a rule that opens its
// document, which as often says what the document is for; few things to do, a heading that names no action
// or is far down, which are as often part of another procedure, or tell how a program is used; what installs
// something in a few lines.
func (s *section) countLacks(c candidate) (n int) {
	if c.kind == policyAtom {
		if s.isFirst() && !s.doc.isForAgents() {
			n = 6
		}
		return n
	}
	t := s.readTraits(nil)
	if t.orders < 5 {
		n = 4
	}
	if isEveryday(s.title) {
		n += 12
	}
	if s.level > 3 {
		n += 3
	}
	if partOf().MatchString(s.title) {
		n += 6
	}
	if title, how := howTo(s.activity()); !how && !activity(title) && !namesAffair(title) && !s.isRemedy() {
		n += 4
	}
	return n
}

// partOf is a heading that is a part of another, or that one may leave out.
var partOf = lazy(`(?i)^[0-9]+\.[0-9]|\(optional\)$`)

// countFlaws is how much speaks against showing c among the first: nothing describes it, it begins with
// what stands for something else, or its heading does not name it.
func (c candidate) countFlaws(s *section) (n int) {
	if !in("policy process role decision", c.kind) || len(c.evidence) == 0 {
		return 0
	}
	e := c.evidence[0]
	defer func() {
		if c.kind == process && namesTeamAffair(c.title) {
			n -= 8
		}
	}()
	if c.about == "" && !(c.kind == policyAtom && slices.ContainsFunc(e.passage, func(b block) bool { return len(b.items) > 1 })) {
		n = 2 // a list of rules says itself what it is
	}
	if c.kind == process && (len(e.steps) > 0 || len(e.commands) > 0) {
		n /= 2
	}
	if len(e.passage) > 0 && e.passage[0].kind == paragraph {
		if q := firstOf(e.passage[0].run.text); pronounFirst(q) || sequels().MatchString(strings.ToLower(q)) {
			n += 3
		}
	}
	if c.kind == policyAtom && e.isTrifling() {
		n += 6
	}
	switch title := sectionNumber().ReplaceAllString(s.title, ""); {
	case c.kind == decision: // named by its document
	case isLabel(title) || vague().MatchString(title) || isBoilerplate(title) && !in("requirements security", strings.ToLower(title)) && phraseTopic(strings.ToLower(title)) != policies:
		n += 6
	case strings.HasSuffix(title, "?"):
		n += 3
	case c.about != "" && c.kind != role && !sharesWord(c.title, c.about):
		n += 2
	}
	return n
}

// vague is a heading that says how its text is meant, and not of what it is.
var vague = lazy(`(?i)^(?:(?:practical|other|general|some|more|key|a|an) )?(?:advice|cautions?|cautionary notes?|considerations?|expectations?|notes?|guidance|details|(?:must|should|could|what to|to) do|principles|the short version|background|introduction)$`)

// sharesWord reports whether a sentence has a word of a title, whatever its ending.
func sharesWord(title, sentence string) bool {
	ws := words(sentence)
	return slices.ContainsFunc(words(bracketed().ReplaceAllString(title, "")), func(w string) bool {
		return len(w) > 3 && slices.ContainsFunc(ws, func(x string) bool { return strings.HasPrefix(x, w[:min(len(w), 5)]) })
	})
}

// mergeCandidates makes one candidate of all that name one thing of one kind, and then of
// all that share a name: one concept is one atom. The plainest source describes
// it and says its kind, except that a term is what another source says it is;
// the others add their lines.
// The second result names what two documents define in different words.
func mergeCandidates(cs []candidate) ([]candidate, []clash) {
	cs, clashes := joinCopies(cs)
	tellApart(cs)
	slices.SortStableFunc(cs, func(a, b candidate) int { return b.score - a.score })
	cs = foldByKey(cs, func(c candidate) string { return keyOf(c.kind, c.title) }, func(a *candidate, b candidate) {
		if a.about != b.about && a.score >= scoreWhatIs && b.score >= scoreWhatIs && a.evidence[0].doc != b.evidence[0].doc {
			clashes = append(clashes, clash{a.title, a.evidence[0], b.evidence[0]})
		}
	})
	cs = foldByKey(cs, func(c candidate) string { return cmp.Or(wholeSlug(c.title), slug(c.title)) }, func(a *candidate, b candidate) {
		if a.kind == term {
			a.kind = b.kind // a glossary may explain what runs, works or is made, too
		}
	})
	first := map[string]candidate{} // long titles may have one id all the same; they are not one concept
	cs = slices.DeleteFunc(cs, func(c candidate) bool {
		f, taken := first[slug(c.title)]
		if taken {
			clashes = append(clashes, clash{f.title, f.evidence[0], c.evidence[0]})
		} else {
			first[slug(c.title)] = c
		}
		return taken
	})
	return cs, clashes
}

// withoutCopies takes out the rules and procedures that stand word for word in three or more documents of
// one folder: they are of the form that those fill in. The second result is what it took out.
func withoutCopies(cs []candidate) (kept []candidate, copies []skip) {
	say := map[string][]*document{}
	key := func(c candidate) string {
		e := c.evidence[0]
		return path.Dir(e.doc.path) + "\n" + strings.Join(renderAll(e.passage, nil), "\n")
	}
	for _, c := range cs {
		if k, d := key(c), c.evidence[0].doc; !slices.Contains(say[k], d) {
			say[k] = append(say[k], d)
		}
	}
	for _, c := range cs {
		if e := c.evidence[0]; (c.kind == policyAtom || c.kind == process) && len(say[key(c)]) > 2 {
			copies = append(copies, skip{path: fmt.Sprintf("%s:%d", e.doc.path, e.from), why: "as others of its folder say", class: formed})
		} else {
			kept = append(kept, c)
		}
	}
	return kept, copies
}

// keepLatest leaves of what documents of several years or versions say under one heading what the
// last of them says. The second result is what it left out, each with the document that holds.
func keepLatest(cs []candidate) (kept []candidate, older []skip) {
	type edition struct{ order, path string }
	last := map[string]edition{}
	of := func(c candidate) (string, edition) {
		p := c.evidence[0].doc.path
		hide := func(string) string { return "#" }
		return c.kind + " " + replaceEditions(c.title, hide) + " " + replaceEditions(p, hide), edition{replaceEditions(p, orderOf), p}
	}
	for _, c := range cs {
		if k, e := of(c); e.order > last[k].order {
			last[k] = e
		}
	}
	for _, c := range cs {
		if k, e := of(c); e.order == last[k].order {
			kept = append(kept, c)
		} else {
			older = append(older, skip{path: fmt.Sprintf("%s:%d", e.path, c.evidence[0].from), why: last[k].path + " is later"})
		}
	}
	return kept, older
}

// orderOf is s with its numbers filled up, so that it sorts by them.
func orderOf(s string) string {
	return digits().ReplaceAllStringFunc(s, func(d string) string { return fmt.Sprintf("%08s", d) })
}

var (
	digits = lazy(`[0-9]+`)
	// editioned is a number, which may have dots, with the letters before it.
	editioned = lazy(`[a-z]*[0-9]+(?:\.[0-9]+)*`)
	// century is a year from 1900 to 2099.
	century = lazy(`^(?:19|20)[0-9]{2}$`)
)

// replaceEditions returns s in lower case with its years and version numbers replaced. A version
// number has a dot or a v before it: http-404 and team-2 have none.
func replaceEditions(s string, with func(string) string) string {
	return editioned().ReplaceAllStringFunc(strings.ToLower(s), func(n string) string {
		at := strings.IndexAny(n, "0123456789")
		word, number := n[:at], n[at:]
		switch {
		case word == "v":
			word = ""
		case !strings.Contains(number, ".") && !century().MatchString(number):
			return n
		}
		return word + with(number)
	})
}

// joinCopies makes one rule of those that say most of the same in two places, word for word: it quotes the one that
// obliges to more, else the shorter one, whose heading is about nothing else, and the lines of the other that
// say the same are a source. Short ones are alike by accident. The second result names those that do not oblige to the same.
func joinCopies(cs []candidate) (kept []candidate, differ []clash) {
	duties := func(ts []item) int {
		return count(ts, func(t item) bool { return weighText(t.run.text, cs[0].evidence[0].doc, true).weight > 2 })
	}
	at := map[string]int{} // which of kept has a text
next:
	for _, also := range cs {
		for _, t := range also.evidence[0].texts() {
			k, met := at[letters(t.run.text)]
			if !met {
				at[letters(t.run.text)] = len(kept)
			} else if k < len(kept) && also.kind == policyAtom && kept[k].kind == policyAtom && len(also.evidence)+len(kept[k].evidence) == 2 {
				is := kept[k]
				same, theirs, n, more := also.evidence[0].split(is.evidence[0])
				ours, mine, _, less := is.evidence[0].split(also.evidence[0])
				if n < 80 || 7*(more+less) > 3*n {
					continue
				}
				if d := duties(theirs) - duties(mine); d > 0 || d == 0 && len(theirs) < len(mine) {
					is, also, same = also, is, ours
				}
				e := evidence{doc: also.evidence[0].doc, from: same[0].from, to: same[len(same)-1].to, copied: true}
				for _, t := range same {
					e.passage = append(e.passage, block{run: t.run})
				}
				if duties(theirs)+duties(mine) > 0 {
					differ = append(differ, clash{is.title, is.evidence[0], e})
				}
				also.evidence = []evidence{e}
				is.absorbSource(also)
				kept[k] = is
				continue next
			}
		}
		kept = append(kept, also)
	}
	return kept, differ
}

// texts are the paragraphs and items that e quotes, each with its lines.
func (e evidence) texts() (out []item) {
	for _, b := range e.passage {
		out = append(out, b.listTexts()...)
	}
	return out
}

// split are the texts of e that another quotes as well, and those that it does not, each with their bytes.
func (e evidence) split(o evidence) (same, rest []item, n, m int) {
	for _, t := range e.texts() {
		if slices.ContainsFunc(o.texts(), func(x item) bool { return letters(x.run.text) == letters(t.run.text) }) {
			same, n = append(same, t), n+len(t.run.text)
		} else {
			rest, m = append(rest, t), m+len(t.run.text)
		}
	}
	return same, rest, n, m
}

// saysSame reports whether two places are quoted alike.
func (e evidence) saysSame(o evidence) bool {
	said := func(e evidence) string { return letters(strings.Join(renderAll(e.passage, nil), "")) }
	return said(e) == said(o)
}

// tellApart tells rules and procedures of one title in several places by the document, or by
// the heading above: they are not one concept, unless they say the same. Nor are offices of one word, as Member,
// that two folders have. The first in the order of files keeps its title.
func tellApart(cs []candidate) {
	first := map[string]*candidate{}
	name := func(title string) string { return slug(strings.TrimPrefix(keyOf(process, title), process)) }
	for i := range cs {
		c := &cs[i]
		k := name(bracketed().ReplaceAllString(c.title, ""))
		switch {
		case c.kind == role && !strings.Contains(c.title, " "):
			k = role + k
		case c.kind != policyAtom && c.kind != process:
			continue
		}
		switch f := first[k]; {
		case f == nil:
			copied := *c
			first[k] = &copied
		case c.kind == f.kind && f.evidence[0].saysSame(c.evidence[0]) && (c.kind == policyAtom || sameName(f.evidence[0].doc.displayName(), c.evidence[0].doc.displayName())):
			c.title, c.evidence[0].copied = f.title, true
		case c.kind == role && path.Dir(f.evidence[0].doc.path) == path.Dir(c.evidence[0].doc.path):
		case name(f.title) != name(c.title):
		case f.evidence[0].doc != c.evidence[0].doc && strings.HasSuffix(c.title, ")"):
			c.title = strings.TrimSpace(bracketed().ReplaceAllString(c.title, "")) + " (" + clip(firstPart(c.evidence[0].doc.displayName()), 50) + ")"
		case f.evidence[0].doc != c.evidence[0].doc && !sameName(c.title, firstPart(c.evidence[0].doc.displayName())):
			c.title += " (" + c.evidence[0].doc.shortName() + ")"
		case f.evidence[0].doc == c.evidence[0].doc && f.evidence[0].from != c.evidence[0].from && c.under != "":
			c.title = strings.TrimSpace(bracketed().ReplaceAllString(c.title, "")) + " (" + clip(c.under, 50) + ")"
		}
	}
}

// bracketed is what stands in brackets at the end of a title.
var bracketed = lazy(` \([^()]*\)$`)

// clash is one name that two documents define differently.
type clash struct {
	title string
	a, b  evidence
}

// foldByKey joins candidates of one key into the first, in order.
func foldByKey(cs []candidate, key func(candidate) string, met func(first *candidate, next candidate)) []candidate {
	at := map[string]int{}
	var out []candidate
	for _, c := range cs {
		k := key(c)
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, c)
			continue
		}
		met(&out[i], c)
		out[i].absorbSource(c)
	}
	return out
}

// absorbSource adds what o says of the same thing. A source that the reader does not vouch for is left
// out where another is sound, which then describes the thing.
func (c *candidate) absorbSource(o candidate) {
	if c.evidence[0].whyDoubted() != "" {
		*c, o = o, *c
	}
	for _, e := range o.evidence {
		if e.whyDoubted() != "" {
			continue
		}
		if !slices.ContainsFunc(c.evidence, func(x evidence) bool { return x.doc == e.doc && x.from <= e.from && e.to <= x.to }) {
			e.copied = e.copied || slices.ContainsFunc(c.evidence, e.saysSame)
			c.evidence = append(c.evidence, e)
		}
	}
	c.aliases = union(c.aliases, o.aliases)
	if c.kind == o.kind {
		c.programs = union(c.programs, o.programs)
	}
	c.owners, c.heads = union(c.owners, o.owners), union(c.heads, o.heads)
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// worthOf is what a maintainer would look at first: rules, procedures, decisions and roles before
// what a document names besides.
var worthOf = map[string]int{term: -8, role: -1, system: -12, artifact: -14}

// rankCandidates orders candidates, the plainest first: by score, a point more for every further
// document that says it, at most five, and less for a document that is put away and for an old decision. A document
// and a kind that has many loses some with each, so that the first ones tell of the whole.
func rankCandidates(cs []candidate, thisYear string) {
	worth := make(map[string]int, len(cs))
	name := func(c candidate) string { return c.kind + " " + c.title }
	sort := func() {
		slices.SortStableFunc(cs, func(a, b candidate) int {
			return cmp.Or(worth[name(b)]-worth[name(a)], strings.Compare(a.kind, b.kind), strings.Compare(a.title, b.title))
		})
	}
	for i, c := range cs {
		docs := map[*document]bool{}
		for _, e := range c.evidence {
			docs[e.doc] = true
		}
		cs[i].score -= c.evidence[0].doc.shelfPenalty(thisYear)
		worth[name(c)] = 12*(cs[i].score+worthOf[c.kind]+min(len(docs)-1, 5)) - 4*c.evidence[0].doc.age(thisYear)
	}
	sort()
	kinds, docs := map[string]int{}, map[*document]int{}
	for _, c := range cs {
		d := c.evidence[0].doc
		worth[name(c)] -= 8*min(docs[d], 15) + 2*min(kinds[c.kind], 40)
		docs[d]++
		kinds[c.kind]++
	}
	sort()
}
