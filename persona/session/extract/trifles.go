package extract

import (
	"slices"
	"strings"
)

// trifle is the words up to which a rule says little, unless it says what people must do.
const trifle = 28

// isTrifling reports whether a rule that e quotes is not worth an atom: its first sentence leaves what holds to
// another document or to what stands above its heading, or it is a few words of advice. In a charter, and for agents,
// few words are a rule.
func (e evidence) isTrifling() bool {
	var ts []string
	n, heads, hard := 0, 0, e.doc.isCharter() || e.doc.isForAgents()
	for _, b := range e.passage {
		if b.kind == caption {
			heads++
		}
		if heads > 1 || b.kind == table || b.kind == code || len(b.items) > 1 {
			hard = true
		}
		for _, t := range b.listTexts() {
			ts = append(ts, t.run.text)
			for _, q := range splitSentences(t.run.text) {
				ws := words(q)
				n += len(ws)
				at, weight := findDuty(ws)
				hard = hard || weight > 2 && !(at == 0 && in("avoid please", ws[0]))
			}
		}
	}
	if len(ts) == 0 {
		return false
	}
	first := firstOf(ts[0])
	return len(ts) == 1 && (ofAnother().MatchString(first) || beyond().MatchString(first)) || n < trifle && !hard
}

// ofAnother are the words of a sentence that leaves what holds to another document.
var ofAnother = lazy(`(?i)\b(?:follow|read|view|see|respect|adhere to|abide by|comply with)(?: all)?(?: of)? (?:(?:the|our|its|their)(?: \S+){0,2}|\S+['’]s(?: \S+)?) (?:code of conduct|polic(?:y|ies))\b|\bwe publish (?:a|an|the|our)\b`)

// beyond are the words of an opening that goes on from what stands above its heading.
var beyond = lazy(`(?i)\b(?:specified|described|mentioned|listed|stated|defined|outlined|noted|given|explained|covered|discussed) (?:above|earlier)\b|\bthe above\b|\babove[- ]mentioned\b`)

// isEveryday reports whether a heading says no more than that something is built, run, tested or the like, as that of every
// program does.
func isEveryday(title string) bool {
	ws := words(bracketed().ReplaceAllString(title, ""))
	const deeds = "build building compile compiling develop developing development format formatting install installing installation lint linter linting quickstart run running setup start started starting " +
		"test testing tests update updating usage use using add adding debug debugging"
	return slices.ContainsFunc(ws, func(w string) bool { return in(deeds, w) }) && !slices.ContainsFunc(ws, func(w string) bool {
		return !in(deeds, w) && !in("a all an and app application binaries binary code container containers dependencies dependency docker docs documentation environment everything for from full get getting how image images in instructions "+
			"integration it linters local locally of on our project requirements server set site source steps suite the this to unit up via with your", w)
	})
}

// isOfProgram reports whether d tells those who work on a program how: a README, or a guide for them.
func (d *document) isOfProgram() bool {
	return strings.EqualFold(d.stem(), "readme") || d.hasWord("contributing develop developer developers developing development dev getting hacking building testing")
}

// tellsWhy reports whether e says two sentences or more of its own, besides what leads up to its commands.
func (e evidence) tellsWhy() bool {
	n := 0
	for _, t := range e.texts() {
		n += count(splitSentences(t.run.text), func(q string) bool { return len(words(q)) > 3 && sentenceEnd().MatchString(q) })
	}
	return n > 1
}

// isBare reports whether e is one or two commands, and a few words.
func (e evidence) isBare() bool {
	n := 0
	for _, t := range e.texts() {
		n += len(words(t.run.text))
	}
	return len(e.steps) == 0 && len(e.commands) > 0 && len(e.commands) < 3 && n < trifle/2
}
