package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// block is one fenced block of a text emission.
type block struct {
	word, attributes string
	text             []byte
}

// String is the block as package session reads it.
func (k block) String() string {
	text := bytes.TrimSuffix(k.text, []byte("\n"))
	fence := session.Fence(text)
	return fmt.Sprintf("%s%s%s\n%s\n%s\n", fence, k.word, k.attributes, text, fence)
}

// mostEmitted bounds one emitted block.
const mostEmitted = 1 << 20

// drafts are the tools that hand something over.
func drafts() []entry {
	return []entry{
		{Tool: Tool{Name: "emit_atom", Description: "Hands over one atom of the knowledge base: a whole Markdown file with frontmatter."}, grant: "emit_atom", lone: true,
			do: emits(atomBlock), params: []param{
				{name: "text", kind: isText, must: true, most: mostEmitted, about: "the whole file, frontmatter and body"},
				{name: "path", kind: isText, about: "where it stands below the bundle's root; not needed where the file has an id"},
				{name: "base", kind: isText, most: 64, about: "the blob id of the atom it changes; left out for a new one"},
			}},
		{Tool: Tool{Name: "emit_change", Description: "Hands over a change of files that are no atoms, as one object of schema 2b.1, or 2b.1-noop where nothing is to be done. Not needed where the files were edited with edit_file and write_file: those edits are the change."},
			grant: "emit_change", lone: true, do: emits(changeBlock), params: []param{
				{name: "change", kind: isAny, must: true, most: mostEmitted, about: "the object"},
			}},
		{Tool: Tool{Name: "emit_json", Description: "Hands over notes, something said, a handoff, a proposal or the deliverable: one object with its schema."}, lone: true,
			do: emits(jsonBlock), params: []param{
				{name: "object", kind: isAny, must: true, most: mostEmitted, about: "the object, with its schema, as the brief's part emission has it"},
			}},
		{Tool: Tool{Name: "emit_text", Description: "Hands over a plan, an expansion or an octave payload, where the brief asks for one."}, lone: true,
			do: emits(textBlock), params: []param{
				{name: "word", kind: isText, must: true, oneOf: []string{"plan", "expansion", "octave"}, about: "which of them"},
				{name: "text", kind: isText, must: true, most: mostEmitted, about: "its text"},
			}},
		{Tool: Tool{Name: "finish", Description: "Ends the session with its outcome. Nothing counts without it."}, lone: true,
			do: emits(finishBlock), params: []param{
				{name: "outcome", kind: isText, must: true, oneOf: []string{"completed", "failed", "handoff_insufficient", "refused"}, about: "how the work ended"},
				{name: "failure", kind: isText, most: 200, about: "a short name, of the outcome failed"},
				{name: "detail", kind: isText, about: "why, in a few sentences"},
				{name: "missing", kind: isWords, most: 100, about: "what the handoff should have held, of the outcome handoff_insufficient"},
			}},
	}
}

func atomBlock(c *call) block {
	k := block{word: "atom", text: []byte(c.args.text("text"))}
	for _, name := range []string{"path", "base"} {
		if v := c.args.text(name); v != "" {
			k.attributes += " " + name + "=" + strings.NewReplacer("\n", "\uFFFD", "`", "\uFFFD").Replace(v)
		}
	}
	return k
}

func changeBlock(c *call) block { return block{word: "change", text: indented(c.args.raw["change"])} }
func jsonBlock(c *call) block   { return block{word: "json", text: indented(c.args.raw["object"])} }
func textBlock(c *call) block {
	return block{word: c.args.text("word"), text: []byte(c.args.text("text"))}
}

func finishBlock(c *call) block {
	v := map[string]any{"schema": session.SchemaFinish, "outcome": c.args.text("outcome")}
	for _, name := range []string{"failure", "detail"} {
		if s := c.args.text(name); s != "" {
			v[name] = s
		}
	}
	if m := c.args.words["missing"]; len(m) > 0 {
		v["missing"] = m
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("unreachable: " + err.Error()) // texts only
	}
	return block{word: "json", text: text}
}

func indented(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	return b.Bytes()
}

// emits makes a tool of how its block is made. A block that package session does
// not read, together with those before it, is not taken.
func emits(make func(*call) block) func(context.Context, *call) (string, error) {
	return func(_ context.Context, c *call) (string, error) {
		b, text := c.b, make(c).String()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.done {
			return "", failf("finished", "the session has declared its outcome")
		}
		e, bad := session.Parse([]byte(emitted(append(b.blocks[:len(b.blocks):len(b.blocks)], text))))
		if len(bad) > 0 {
			var lines []string
			for _, p := range bad {
				lines = append(lines, strings.TrimSuffix(p.Message+"; "+p.Hint, "; "))
			}
			return "", failf("bad_emission", "%s", strings.Join(lines, "\n"))
		}
		b.blocks = append(b.blocks, text)
		b.done = e.Failure != session.Silent
		return "taken", nil
	}
}

func emitted(blocks []string) string { return strings.Join(blocks, "\n") }

// Emission is what the session handed over so far, with what it cost and did.
// finished says that it declared its outcome, or cannot go on.
func (b *Box) Emission(u session.Usage) (e session.Emission, finished bool) {
	x := b.exploration()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over != nil {
		e = *b.over
		e.Raw = []byte(emitted(b.blocks))
	} else {
		e = session.Read([]byte(emitted(b.blocks)))
	}
	e.Usage, e.Seen, e.Exploration = u, true, &x
	e.Calls = append([]session.Call(nil), b.calls...)
	return e, b.done || b.over != nil
}

// Text takes what a model says in fenced blocks, as package session reads them,
// beside what it handed over with tools. What cannot be read is not taken, and the
// answer tells why; a text without a block is no emission and is nothing to it.
func (b *Box) Text(round int, text string) Answer {
	return Answer{}
}
