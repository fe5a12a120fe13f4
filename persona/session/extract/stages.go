package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/reconcile/secrets"
)

// readStages reads a procedure whose steps are headings. Below s they are numbered in turn, three or more; or s names
// an affair of the team, and most of what stands below its headings instructs. All of it, with the opening, is one procedure,
// and each step a part of it.
func (s *section) readStages() []candidate {
	title, how := howTo(s.subject())
	told := in("instructions steps procedure", strings.ToLower(title[strings.LastIndexByte(title, ' ')+1:]))
	if told {
		title, how = howTo(s.doc.title)
	}
	title = stripStage(title)
	steps, whole := s.stepsBelow(), s.isAffair() && !s.doc.isRulebook()
	if numbered := numberedOf(steps); len(numbered) > 2 && (how || told || activity(title)) && !whole {
		steps = numbered
	} else if !whole || len(steps) < 2 {
		return nil
	}
	if !ruleTitle(bracketed().ReplaceAllString(title, "")) || s.doc.decides || s.isAside() {
		return nil
	}
	e := evidence{doc: s.doc, passage: s.passageBetween(s.line, s.endLine())}
	opening := evidence{}
	for _, b := range e.passage {
		if b.kind == paragraph {
			opening.quote = append(opening.quote, b.run.text)
		}
	}
	instructs, acts, says, named, parts, orders, all := 0, 0, 0, 0, 0, 0, 0
	for _, x := range steps {
		if ws := words(stripStage(x.title)); len(ws) > 0 && (isImperative(ws[0]) || activity(stripStage(x.title))) {
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
		if instructs += t.orders + t.duties; activity(stripStage(x.title)) {
			acts++
		}
		if all += t.all; len(x.blocks) > 0 {
			if parts++; t.orders > 0 || t.stepped || activity(stripStage(x.title)) || stage().MatchString(x.title) {
				orders++
			}
		}
		for _, b := range outermostOf(x.blocks) {
			if b.kind == paragraph {
				says += len(splitSentences(b.run.text))
			}
		}
	}
	e.from = e.passage[0].from
	if e.isTooLong() || instructs+acts < len(steps) || !whole && !told && 2*named < len(steps) || whole && (3*orders < 2*parts || 4*(instructs+acts) < all || 2*instructs < parts) {
		return nil
	}
	if text := strings.Join(renderAll(e.passage, nil), "\n"); secrets.RedactText(text) != text {
		return nil // the parts without a credential are better than nothing
	}
	for _, x := range s.doc.sections {
		x.part = x.part || slices.ContainsFunc(steps, func(step *section) bool { return x == step || x.isBelow(step) })
	}
	first, last := stripStage(steps[0].title), stripStage(steps[len(steps)-1].title)
	in := "parts"
	if slices.ContainsFunc(steps, func(x *section) bool { return stage().MatchString(x.title) }) {
		in = "steps" // in that order
	}
	about := cmp.Or(opening.summarize(), clip(fmt.Sprintf("%d %s: %s … %s", len(steps), in, first, last), maxDescription))
	score := scoreProcess
	for _, n := range []int{2, 8} {
		if n*instructs < says {
			score -= 8 // it explains more than it instructs
		}
	}
	if title = s.qualifyTitle(strings.TrimRight(title, "?: ")); whole && !namesTeamAffair(title) && !strings.HasSuffix(title, ")") {
		of := s.doc.fileName()
		if s.parent != nil {
			of = s.parent.title
		}
		title += " (" + of + ")"
	}
	return []candidate{{kind: process, title: title, about: about, score: score,
		evidence: []evidence{e}, owners: s.readOwners()}}
}

// stepsBelow are the headings right below s.
func (s *section) stepsBelow() (out []*section) {
	for _, x := range s.doc.sections {
		if x.parent == s && s.title != "" || s.title == "" && x.parent == nil && x.level == 2 {
			out = append(out, x)
		}
	}
	return out
}

// numberedOf are the headings that are numbered from one up, in turn; none where they begin again.
func numberedOf(all []*section) (out []*section) {
	for _, x := range all {
		n := stage().FindStringSubmatch(x.title)
		switch {
		case n == nil:
		case n[1] == strconv.Itoa(len(out)+1):
			out = append(out, x)
		case n[1] == "1":
			return nil
		}
	}
	return out
}

// stripStage takes off a heading that it is a step, and brackets around the rest.
func stripStage(title string) string {
	title = strings.TrimSpace(stage().ReplaceAllString(title, ""))
	if inner, ok := strings.CutPrefix(title, "("); ok && strings.HasSuffix(title, ")") {
		return strings.TrimSuffix(inner, ")")
	}
	return title
}

// isAffair reports whether s, or the heading right above it, names an affair of the team; the first heading of a document is
// named by its file as well.
func (s *section) isAffair() bool {
	return namesTeamAffair(s.subject()) || s.level == 1 && namesTeamAffair(s.doc.fileName()) ||
		s.parent != nil && s.parent.isAffair() && (s.isStage() || activity(s.title))
}

// fileName are the words of the file's name.
func (d *document) fileName() string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(d.stem()), splitsPath), " ")
}

// namesTeamAffair reports whether a title names what people of a team do together, in steps.
func namesTeamAffair(title string) bool {
	return teamAffair().MatchString(title) && !ofNews().MatchString(title)
}

var teamAffair = lazy(`(?i)\b(?:releas(?:e|es|ing)|hotfix(?:es)?|checklist|(?:on|off)boarding|incidents?|take-?downs?|deploy(?:ment|ments|ing)?|re-?index(?:ing)?|roll-?(?:back|out)s?|runbook|playbook|escalations?|(?:process|procedure|workflow|lifecycle)$)\b`)

// ofNews are the words of a title that tells what was released, or how it is thought out.
var ofNews = lazy(`(?i)\bnotes\b|[0-9]\.[0-9]|\b(?:versions?|timeline|schedule|cadence|strateg(?:y|ies)|architecture|policy|guidelines)$`)

// isStage reports whether s is one of several numbered headings below another.
func (s *section) isStage() bool {
	return stage().MatchString(s.title) && slices.ContainsFunc(s.doc.sections, func(x *section) bool {
		return x != s && x.parent == s.parent && stage().MatchString(x.title)
	})
}

// stage is the number in front of a heading that is a step.
var stage = lazy(`^(?:[^\pL\pN]+ )?(?:(?i:step|part|phase|stage) )?([0-9]+)[.):]?[ :–—-]+`)
