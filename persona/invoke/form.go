package invoke

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/surface"
)

// The pieces of how an answer is written; package session reads them.
const (
	formAtom = "Each atom is one fenced block that starts in column one: the word atom,\n" +
		"for a change of one that exists base=BLOB path=terms/x.md, and inside it the whole file. A file\n" +
		"that holds fences gets a longer one. A path is below the bundle's folder, a resource below the top of the repository.\n\n" +
		"```atom\n---\ntype: term\nid: lead-time\ntitle: Lead time\ndescription: The days between an order and its delivery.\n" +
		"sources:\n  - {id: handbook, resource: docs/handbook.md, title: lines 12-14}\n---\n\n" +
		"The days between an order and its delivery.[^handbook]\n\n[^handbook]: docs/handbook.md, lines 12-14\n```\n\n"
	formNotes = "What you noticed:\n\n" +
		"```json\n{\"schema\": \"odd.notes.1\", \"notes\": [{\"type\": \"O\", \"facet\": \"open\", \"title\": \"two dates differ\", \"content\": \"…\"}]}\n```\n\n" +
		"What people should decide, one block each; severity is emergency, high, medium or low, and an emergency\nstops the work: nothing of this session is kept:\n\n" +
		"```json\n{\"schema\": \"odd.proposal.1\", \"severity\": \"medium\", \"gate\": \"framing\", \"reason\": \"…\"}\n```\n\n" +
		"What it cost, where you know it, and then, last, how it ended:\n\n" +
		"```json\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": 0, \"model\": \"…\"}\n```\n\n" +
		"```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n\n" +
		"Other outcomes: failed (with failure and detail), handoff_insufficient (with missing, a list of what\n" +
		"the handoff should have held), refused (you may not do what is asked; a note says why). Prose outside the\n" +
		"blocks is kept in the transcript and means nothing to the machine.\n"
)

// answerForm is how a session under t answers: one block of each kind it may or must
// write, its own deliverable among them and nobody else's.
func answerForm(t Terms) string {
	var b strings.Builder
	b.WriteString("Answer in markdown. ")
	if t.Role == "" || t.Mutates {
		b.WriteString(formAtom)
	} else {
		b.WriteString("Each block starts in column one; a block holds one JSON object and nothing else.\n\n")
	}
	if t.Role != "" {
		kinds := sayKinds(t)
		said := deliver.Say{Kind: kinds[0], Text: "…"}
		if slices.Contains(kinds, "progress") {
			said.Kind = "progress"
		}
		if t.Engagement == contract.Assistant {
			said.Marker = session.Done
		}
		fmt.Fprintf(&b, "What you say on the way, if anything, by kind (%s):\n\n%s", strings.Join(kinds, ", "), sayBlock(said))
	}
	if d, ok := exampleOf(t.Deliverable); ok {
		fmt.Fprintf(&b, "What you hand over, once; a list with nothing in it is written [] and says none:\n\n```json\n%s```\n\n", deliver.Encode(d))
	}
	return b.String() + formNotes
}

func sayBlock(s deliver.Say) string {
	marker := ""
	if s.Marker != "" {
		marker = fmt.Sprintf(", \"marker\": %q", s.Marker)
	}
	return fmt.Sprintf("```json\n{\"schema\": %q, \"says\": [{\"kind\": %q, \"text\": %q%s}]}\n```\n\n", session.SchemaSay, s.Kind, s.Text, marker)
}

// sayKinds are what a session's mode calls the things it says, without those that
// count against it or fail it. Under an override there is no one mode.
func sayKinds(t Terms) []string {
	c := contract.Contract{Engagement: t.Engagement}
	if len(t.Modes) == 1 {
		c.Mode = t.Modes[0]
	}
	return slices.DeleteFunc(surface.Kinds(c), func(k string) bool {
		fails := k == "question" && t.Engagement == contract.Agent && c.Mode != contract.Exploration
		return fails || c.Mode != "" && (k == "decision" || k == "recommendation")
	})
}

func (b *Brief) addForm(t Terms) {
	text := answerForm(t)
	b.addPart("emission", text, len(text))
}

// exampleOf is a complete deliverable of a schema, for the form.
func exampleOf(schema string) (d deliver.Deliverable, ok bool) {
	d.Schema = schema
	switch schema {
	case deliver.SchemaSynthesis:
		d.Synthesis = &deliver.Synthesis{Possibilities: []string{"print the delay beside the promise"}, Tensions: []string{"short pages against full ones"},
			Unknowns: []string{"who reads the delay"}, Frames: []string{"a delay is news", "a delay is a defect"}, Rejected: []string{}}
	case deliver.SchemaPlan:
		d.Plan = &deliver.Plan{Artifact: "knowledge/terms/lead-time.md", Assumptions: []string{"the handbook is this year's"}, ScopeIn: []string{"the term and its sources"},
			ScopeOut: []string{"the order form"}, Deferred: []string{}, WouldInvalidate: []string{"a new handbook"}, Steps: []string{"read lines 12-14", "write the term"}}
	case deliver.SchemaClaims:
		d.Claims = &deliver.Claims{Artifact: "knowledge/terms/lead-time.md", Does: []string{"says what a lead time is"}, DoesNot: []string{"say how long it is"},
			Scope: "docs/handbook.md, lines 12-14", Evidence: []string{"docs/handbook.md:12"}}
	case deliver.SchemaFindings:
		d.Findings = &deliver.Findings{Artifact: "knowledge/terms/lead-time.md", Findings: []deliver.Finding{{ID: "F1", Location: "knowledge/terms/lead-time.md:7",
			Claim: "the days are working days", Evidence: "docs/handbook.md:13 counts calendar days", Classification: deliver.Defect, Disposition: deliver.Fix}}}
	case deliver.SchemaRemediation:
		d.Remediation = &deliver.Remediation{Artifact: "knowledge/terms/lead-time.md", Remedies: []deliver.Remedy{
			{Finding: "F1", Changed: []string{"knowledge/terms/lead-time.md"}, Why: "calendar days, as the handbook counts"}}}
	case deliver.SchemaCommentary:
		d.Commentary = &deliver.Commentary{Says: []string{"the same date stands in two places"}}
	default:
		return d, false
	}
	return d, true
}
