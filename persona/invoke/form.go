package invoke

// form is how an answer is written; package session reads it.
const form = "Answer in markdown. Each atom is one fenced block that starts in column one: the word atom,\n" +
	"for a change of one that exists base=BLOB path=terms/x.md, and inside it the whole file. A file\n" +
	"that holds fences gets a longer one.\n\n" +
	"```atom\n---\ntype: term\nid: lead-time\ntitle: Lead time\ndescription: The days between an order and its delivery.\n" +
	"sources:\n  - {id: handbook, resource: docs/handbook.md, title: lines 12-14}\n---\n\n" +
	"The days between an order and its delivery.[^handbook]\n\n[^handbook]: docs/handbook.md, lines 12-14\n```\n\n" +
	"What you noticed and what it cost, where you know it, and then, last, how it ended:\n\n" +
	"```json\n{\"schema\": \"odd.notes.1\", \"notes\": [{\"type\": \"O\", \"facet\": \"open\", \"title\": \"two dates differ\", \"content\": \"…\"}]}\n```\n\n" +
	"```json\n{\"schema\": \"odd.usage.1\", \"turns\": 1, \"cost_micro_usd\": 0, \"model\": \"…\"}\n```\n\n" +
	"```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n\n" +
	"Other outcomes: failed (with failure and detail), handoff_insufficient (with missing, a list of what\n" +
	"the handoff should have held), refused. Prose outside the\n" +
	"blocks is kept in the transcript and means nothing to the machine.\n"
