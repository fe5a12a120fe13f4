package toolbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// workTools returns the tools that hand over what a session was asked for, which one that
// is asked for a step before it has no use for.
func workTools() []entry {
	return []entry{
		emitTool("emit_atom", "emit_atom", "Hands over one atom of the knowledge base: a whole Markdown file with frontmatter.", atomBlock,
			param{name: "text", kind: isText, must: true, most: mostEmitted, about: "the whole file, frontmatter and body"},
			param{name: "path", kind: isText, about: "where it stands below the bundle's root; not needed where the file has an id"},
			param{name: "base", kind: isText, most: 64, about: "the blob id of the atom it changes; left out for a new one"}),
		emitTool("emit_change", "emit_change", "Hands over a change of files that are no atoms, as one object of schema 2b.1, or 2b.1-noop where nothing is to be done. "+
			"It is not needed where the files were edited with edit_file and write_file: those edits are the change.", changeBlock,
			param{name: "change", kind: isAny, must: true, most: mostEmitted, about: "the object"}),
	}
}

// emitTools are those of every session.
func emitTools() []entry {
	return []entry{
		emitTool("emit_json", "", "Hands over notes, something said, a handoff, a proposal or the deliverable: one object with its schema.", jsonBlock,
			param{name: "object", kind: isAny, must: true, most: mostEmitted, about: "the object, with its schema, as the brief's part emission has it"}),
		emitTool("emit_text", "", "Hands over a plan, an expansion or an octave payload, where the brief asks for one.", textBlock,
			param{name: "word", kind: isText, must: true, oneOf: []string{"plan", "expansion", "octave"}, about: "which of them"},
			param{name: "text", kind: isText, must: true, most: mostEmitted, about: "its text"}),
		emitTool("finish", "", "Ends the session with its outcome. Nothing counts without it.", finishBlock,
			param{name: "outcome", kind: isText, must: true, oneOf: []string{"completed", "failed", "handoff_insufficient", "refused"}, about: "how the work ended"},
			param{name: "failure", kind: isText, most: 200, about: "a short name, of the outcome failed"},
			param{name: "detail", kind: isText, about: "why, in a few sentences"},
			param{name: "missing", kind: isWords, most: 100, about: "what the handoff should have held, of the outcome handoff_insufficient"}),
	}
}

func atomBlock(c *call) block {
	k := block{word: "atom", text: []byte(c.args.getText("text"))}
	for _, name := range []string{"path", "base"} {
		if v := c.args.getText(name); v != "" {
			k.attributes += " " + name + "=" + strings.NewReplacer("\n", "\uFFFD", "`", "\uFFFD").Replace(v)
		}
	}
	return k
}

func changeBlock(c *call) block { return block{word: "change", text: indentJSON(c.args["change"])} }
func jsonBlock(c *call) block   { return block{word: "json", text: indentJSON(c.args["object"])} }
func textBlock(c *call) block {
	return block{word: c.args.getText("word"), text: []byte(c.args.getText("text"))}
}

func finishBlock(c *call) block {
	v := map[string]any{"schema": session.SchemaFinish, "outcome": c.args.getText("outcome")}
	for _, name := range []string{"failure", "detail"} {
		if s := c.args.getText(name); s != "" {
			v[name] = s
		}
	}
	if m := c.args.getWords("missing"); len(m) > 0 {
		v["missing"] = m
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic("unreachable: " + err.Error()) // texts only
	}
	return block{word: "json", text: text}
}

func indentJSON(raw json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return raw
	}
	return b.Bytes()
}

// emitTool is a tool that hands a block over. One that package session does not read,
// together with those before it, is not taken.
func emitTool(name, grant, about string, make func(*call) block, params ...param) entry {
	return entry{Tool: Tool{Name: name, Description: about}, grant: grant, lone: true, make: make, params: params,
		do: func(_ context.Context, c *call) (string, error) { return "taken", c.b.addEmission(make(c).String()) }}
}

// addEmission adds blocks to what was emitted, or says what speaks against it.
func (b *Box) addEmission(text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return failWith("finished", "the session has declared its outcome")
	}
	_, done, err := b.readEmission(text)
	if err != nil {
		return err
	}
	b.blocks, b.done = append(b.blocks, text), done
	return nil
}

// readEmission is what was emitted and text, read together as if it ended there; done says
// that it does.
func (b *Box) readEmission(text string) (e session.Emission, done bool, err error) {
	all := joinBlocks(append(b.blocks[:len(b.blocks):len(b.blocks)], text))
	e, bad := session.Parse([]byte(all))
	if done = e.Failure != session.Silent; len(bad) == 0 && !done {
		e, bad = session.Parse([]byte(joinBlocks([]string{all, ending})))
		e.Outcome = ""
	}
	if len(bad) == 0 {
		return e, done, nil
	}
	var lines []string
	for _, p := range bad {
		lines = append(lines, strings.TrimSuffix(p.Message+"; "+p.Hint, "; "))
	}
	return e, false, failWith("bad_emission", "%s", strings.Join(lines, "\n"))
}

// ending is an outcome for what has none yet, so that it is read whole.
const ending = "```json\n{\"schema\": \"" + session.SchemaFinish + "\", \"outcome\": \"completed\"}\n```\n"

func joinBlocks(blocks []string) string { return strings.Join(blocks, "\n") }

// Emission is what the session handed over so far, with what it cost and did.
// finished says that it declared its outcome, or cannot go on.
func (b *Box) Emission(u session.Usage) (e session.Emission, finished bool) {
	x := b.countExploration()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over != nil {
		e = *b.over
		e.Raw = []byte(joinBlocks(b.blocks))
	} else {
		e = session.Read([]byte(joinBlocks(b.blocks)))
	}
	e.Usage, e.Seen, e.Exploration = u, true, &x
	e.Calls = append([]session.Call(nil), b.calls...)
	return e, b.done || b.over != nil
}

// Text takes what a model says in fenced blocks, as package session reads them,
// beside what it handed over with tools. It goes by the same rules: what they
// refuse or cannot read is not taken, and the answer tells why. A text without a
// block is no emission, and its answer is empty.
func (b *Box) Text(text string) Answer {
	if !session.Emits([]byte(text)) {
		return Answer{}
	}
	code, why := b.checkReady(text)
	if code == "" {
		err := b.addEmission(text)
		if err == nil {
			return Answer{Text: formatAnswer("what you emitted was taken", "", b.o.Limits.Output)}
		}
		code, why = "bad_emission", err.Error()
	}
	return Answer{Text: formatAnswer("what you emitted was not taken ["+code+"]", why, b.o.Limits.Output), Failed: true, Code: code}
}

// checkReady says which rule speaks against emitting text now: a change that was not
// explored enough, or one that says there is nothing to do beside files that were
// written. code is "" for none.
func (b *Box) checkReady(text string) (code, why string) {
	b.mu.Lock()
	e, _, err := b.readEmission(text)
	ran := b.ran
	b.mu.Unlock()
	if err != nil {
		return "", "" // take tells
	}
	switch {
	case e.Change != nil && isNoopChange(e.Change.Text):
		if b.hasAltered() {
			return "noop_with_writes", "it says that there is nothing to do, and files were written; hand over what was written, or delete it again"
		}
		return "", ""
	case e.Change == nil && (e.Outcome != session.Completed || !b.mayChange(ran)):
		return "", ""
	}
	if short := b.countExploration().Shortfall(b.o.Request.Complexity); short != "" {
		return "exploration_insufficient", short
	}
	return "", ""
}

// mayChange reports a session that changes files at its desk, or may have: it did, an
// earlier one of the same work did, or it ran a program where changes are judged.
func (b *Box) mayChange(ran bool) bool {
	return b.hasAltered() || b.wroteBefore() || ran && b.o.Request.Complexity != ""
}

// hasAltered reports that a file which the session wrote is not as it was at the base.
func (b *Box) hasAltered() bool {
	b.mu.Lock()
	list := slices.Sorted(maps.Keys(b.wrote))
	b.mu.Unlock()
	for _, p := range list {
		is, _, err := b.tree.readFile(p, mostHeld)
		was, _, gone := loadFrom(b.tree.files, p, mostHeld)
		if (err == nil) != (gone == nil) || !bytes.Equal(is, was) {
			return true
		}
	}
	return false
}

// wroteBefore reports that an earlier session of the same work wrote to the desk, which
// this one hands over with what it did itself.
func (b *Box) wroteBefore() bool {
	return slices.ContainsFunc(b.o.Request.Explored, func(c session.Call) bool {
		return c.Status == session.CallOK && slices.ContainsFunc(writeTools(), func(e entry) bool { return e.Name == c.Tool })
	})
}

// isNoopChange reports a change that says there is nothing to do, in either of its forms.
func isNoopChange(text []byte) bool {
	var v struct {
		Version string `json:"schema_version"`
		Noop    bool   `json:"no_op"`
	}
	return json.Unmarshal(text, &v) == nil && (v.Noop || v.Version == "2b.1-noop")
}
