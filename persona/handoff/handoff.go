// Package handoff reads, checks, makes and merges handoffs: what one session
// hands the next, encoded so that it can be read alone.
//
// A handoff is an atom of type handoff below handoffs/:
//
//	---
//	type: handoff
//	title: Ferry times, plan to build
//	from: planning
//	to: execution
//	artifact: knowledge/terms/slack-water.md
//	persona: oddie@1
//	run: run-01J…
//	journal: journal/2026-03-02-run-01j….tsv
//	assumptions: [the almanac is this year's]
//	scope_in: [the term and its sources]
//	scope_out: [the timetable]
//	deferred: []
//	would_invalidate: [a new almanac]
//	---
//
// Its minimum content is its transition's, as frontmatter lists or as headed
// lists of the body ("## Assumptions"). An empty list that is written says
// "none" and counts; a list that is not there does not. A handoff is checked
// for presence, never for quality.
package handoff
