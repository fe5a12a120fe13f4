package extract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// readStages reads a procedure whose steps are headings: below s, three or more that are
// numbered from one up. All of it is one procedure, and each step a part of it.
func (s *section) readStages() []candidate {
	title, how := howTo(s.subject())
	told := in("instructions steps procedure", strings.ToLower(title[strings.LastIndexByte(title, ' ')+1:]))
	if told {
		title, how = howTo(s.doc.title)
	}
	var steps []*section
	for _, x := range s.doc.sections {
		if x.parent == s || s.title == "" && x.parent == nil && x.level == 2 {
			if n := stage().FindStringSubmatch(x.title); n != nil && n[1] == strconv.Itoa(len(steps)+1) {
				steps = append(steps, x)
			}
		}
	}
	if len(steps) < 3 || !how && !told && !activity(title) || !ruleTitle(title) || s.doc.decides || s.isAside() {
		return nil
	}
	e := evidence{doc: s.doc, from: steps[0].line}
	name := func(x *section) string {
		name := strings.TrimSpace(stage().ReplaceAllString(x.title, ""))
		if inner, ok := strings.CutPrefix(name, "("); ok && strings.HasSuffix(name, ")") {
			return strings.TrimSuffix(inner, ")")
		}
		return name
	}
	instructs, acts, says, named := 0, 0, 0, 0
	for _, x := range steps {
		if ws := words(name(x)); len(ws) > 0 && (isImperative(ws[0]) || activity(name(x))) {
			named++
		}
	}
	for _, x := range s.doc.sections {
		if !slices.ContainsFunc(steps, func(step *section) bool { return x == step || x.isBelow(step) }) {
			continue
		}
		e.to = x.endLine()
		e.passage = append(append(e.passage, x.headingBlock()), x.passageBetween(x.line, e.to)...)
		t := x.readTraits(nil)
		if instructs += t.orders + t.duties; activity(name(x)) {
			acts++
		}
		for _, b := range outermostOf(x.blocks) {
			if b.kind == paragraph {
				says += len(splitSentences(b.run.text))
			}
		}
	}
	if len(renderAll(e.passage, nil)) > maxPassage || instructs+acts < len(steps) || !told && 2*named < len(steps) {
		return nil
	}
	for _, x := range s.doc.sections {
		x.part = x.part || slices.ContainsFunc(steps, func(step *section) bool { return x == step || x.isBelow(step) })
	}
	about := fmt.Sprintf("%d steps: %s … %s", len(steps), name(steps[0]), name(steps[len(steps)-1]))
	score := scoreProcess
	for _, n := range []int{2, 8} {
		if n*instructs < says {
			score -= 8 // it explains more than it instructs
		}
	}
	return []candidate{{kind: process, title: s.qualifyTitle(strings.TrimRight(title, "?: ")), about: clip(about, maxDescription), score: score,
		evidence: []evidence{e}, owners: s.readOwners()}}
}

// isStage reports whether s is one of several numbered headings below another.
func (s *section) isStage() bool {
	return stage().MatchString(s.title) && slices.ContainsFunc(s.doc.sections, func(x *section) bool {
		return x != s && x.parent == s.parent && stage().MatchString(x.title)
	})
}

// stage is the number in front of a heading that is a step.
var stage = lazy(`^(?:[^\pL\pN]+ )?(?:(?i:step|part|phase|stage) )?([0-9]+)[.):]?[ :–—-]+`)
