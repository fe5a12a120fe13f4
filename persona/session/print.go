package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
)

// Print writes e as a text emission, the form Parse reads and package replay
// records: octave payloads, atoms, notes, says, proposals, the deliverable, usage, handoff and outcome. A
// change and what only odd records (Raw, Transcript, At) are not in it.
func Print(e Emission) []byte {
	var b bytes.Buffer
	for _, p := range e.Payloads {
		ticks := Fence(p.Text)
		fmt.Fprintf(&b, "%soctave\n%s%s\n\n", ticks, endLine(p.Text), ticks)
	}
	for _, a := range e.Atoms {
		printAtom(&b, a)
	}
	if len(e.Notes) > 0 {
		v := notes{Schema: SchemaNotes}
		for _, f := range e.Notes {
			v.Notes = append(v.Notes, note(f))
		}
		printObject(&b, v)
	}
	if len(e.Says) > 0 {
		printObject(&b, says{SchemaSay, e.Says})
	}
	for _, v := range e.Proposals {
		printObject(&b, proposal{SchemaProposal, v.Severity, v.Gate, v.Reason})
	}
	if e.Deliverable != nil {
		fmt.Fprintf(&b, "```json\n%s```\n\n", deliver.Encode(*e.Deliverable))
	}
	u := usage{Schema: SchemaUsage, Turns: e.Usage.Turns, Model: e.Usage.Model}
	if e.Usage.CostKnown {
		u.Cost = &e.Usage.Cost
	}
	printObject(&b, u)
	if e.Handoff != "" {
		printObject(&b, handoff{SchemaHandoff, e.Handoff})
	}
	printObject(&b, finish{SchemaFinish, e.Outcome, e.Failure, e.Detail, e.Missing})
	return b.Bytes()
}

// printAtom fences an atom's file with more backticks than any run inside it.
func printAtom(b *bytes.Buffer, a Atom) {
	text := a.Atom.Bytes()
	ticks := Fence(text)
	b.WriteString(ticks + "atom")
	if a.Base != "" {
		b.WriteString(" base=" + a.Base)
	}
	if a.Atom.Path != "" && !strings.ContainsAny(a.Atom.Path, " \t") {
		b.WriteString(" path=" + a.Atom.Path)
	}
	b.WriteByte('\n')
	b.Write(endLine(text))
	b.WriteString(ticks + "\n\n")
}

// endLine is text that ends its last line.
func endLine(text []byte) []byte {
	if len(text) == 0 || bytes.HasSuffix(text, []byte("\n")) {
		return text
	}
	return append(bytes.Clone(text), '\n')
}

func printObject(b *bytes.Buffer, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("unreachable: " + err.Error()) // strings and numbers only
	}
	fmt.Fprintf(b, "```json\n%s\n```\n\n", text)
}

// Fence is a run of backticks, three or more, that no line of text can close.
func Fence(text []byte) string {
	longest, run := 2, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		if run++; run > longest {
			longest = run
		}
	}
	return strings.Repeat("`", longest+1)
}
