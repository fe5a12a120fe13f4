package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Source is the name of a text emission in problems and in Atom.At.
const Source = "emission"

// block is one fenced block: its info string cut into a word and attributes.
type block struct {
	word string
	info string
	line int // of the opening fence, 1-based
	text []byte
	open bool // no closing fence
}

// Parse reads the fenced blocks of a text emission. Every bad block is a
// located problem and then nothing is returned. An emission that declares no
// outcome parses, as one that failed with Silent, and keeps its Says, because a
// turn of a dialogue ends without an outcome, its Payloads, because proving who
// one is need not be the end of a session, and its Proposals. Turns is 1 and the cost
// unknown unless odd.usage.1 says more.
func Parse(text []byte) (Emission, []okf.Problem) {
	p := parser{e: Emission{Usage: Usage{Turns: 1}}, seen: map[string]int{}}
	for _, b := range splitBlocks(text) {
		p.parseBlock(b)
	}
	if len(p.bad) > 0 {
		return Emission{}, p.bad
	}
	if p.e.Outcome == "" {
		return Emission{Payloads: p.e.Payloads, Says: p.e.Says, Proposals: p.e.Proposals, Usage: p.e.Usage, Outcome: Failed, Failure: Silent,
			Detail: "the agent ended without a result, a json block with schema odd.finish.1"}, nil
	}
	return p.e, nil
}

// Read is Parse for a substrate: problems become the failure Malformed with
// every place in its Detail, and Raw is text.
func Read(text []byte) Emission {
	e, bad := Parse(text)
	if len(bad) > 0 {
		lines := make([]string, len(bad))
		for i, p := range bad {
			lines[i] = p.Error()
		}
		e = Fail(Malformed, strings.Join(lines, "\n"))
		e.Usage.Turns = 1
	}
	e.Raw = text
	return e
}

// Emits reports a text with a block that Parse does not take for prose.
func Emits(text []byte) bool {
	return slices.ContainsFunc(splitBlocks(text), func(b block) bool { return slices.Contains(blockWords(), b.word) })
}

// blockWords are those of the blocks that are not prose.
func blockWords() []string { return []string{"atom", "json", "change", "octave", "plan", "expansion"} }

// splitBlocks cuts text at its fences. Blocks do not nest: inside one, a fence that
// cannot close it is content. Their texts are parts of text.
func splitBlocks(text []byte) []block {
	var out []block
	var cur *block
	var ticks int
	var n, from, at int // lines so far, where the block's text starts, where the line ends
	for l := range bytes.Lines(text) {
		n++
		at += len(l)
		k, info := readFence(l)
		switch {
		case cur == nil && k > 0:
			word, _, _ := strings.Cut(info, " ")
			cur, ticks = &block{word: word, info: info, line: n, open: true}, k
			from = at
		case cur != nil && k >= ticks && info == "":
			cur.open = false
			out, cur = append(out, *cur), nil
		case cur != nil:
			cur.text = text[from:at:at]
		}
	}
	if cur != nil {
		out = append(out, *cur)
	}
	return out
}

// readFence counts the backticks a line starts with, 0 for fewer than three, and
// returns the trimmed rest. As in markdown, a rest with a backtick is no fence.
func readFence(line []byte) (ticks int, info string) {
	rest := bytes.TrimLeft(line, "`")
	ticks = len(line) - len(rest)
	if ticks < 3 || bytes.ContainsRune(rest, '`') {
		return 0, ""
	}
	return ticks, string(bytes.TrimSpace(rest))
}

type parser struct {
	e    Emission
	bad  []okf.Problem
	seen map[string]int // what may stand once, or a path or id → the line it stood on
}

func (p *parser) addProblem(line int, message, hint string) {
	p.bad = append(p.bad, okf.Problem{Code: "odd-emission", Severity: okf.Error,
		Path: Source, Line: line, Message: message, Hint: hint})
}

func (p *parser) parseBlock(b block) {
	if b.open && slices.Contains(blockWords(), b.word) {
		p.addProblem(b.line, "the "+b.word+" block is not closed", "end it with a line of as many backticks")
		return
	}
	switch b.word {
	case "atom":
		p.parseAtom(b)
	case "json":
		p.parseObject(b)
	case "change":
		if p.isFirst("a change", b.line) {
			p.e.Change = &Change{Text: b.text, Line: b.line}
		}
	case "plan":
		if p.isFirst("a plan", b.line) {
			p.e.Plan = &Change{Text: b.text, Line: b.line}
		}
	case "expansion":
		if p.isFirst("an expansion", b.line) {
			p.e.Expansion = &Change{Text: b.text, Line: b.line}
		}
	case "octave":
		late := len(p.e.Atoms) > 0 || p.e.Change != nil || p.e.Deliverable != nil
		p.e.Payloads = append(p.e.Payloads, Payload{Text: b.text, Line: b.line, Late: late})
	}
}

// isFirst reports a second use of key as a problem.
func (p *parser) isFirst(key string, line int) bool {
	if first, dup := p.seen[key]; dup {
		p.addProblem(line, key+" stands twice, first on line "+fmt.Sprint(first), "emit it once")
		return false
	}
	p.seen[key] = line
	return true
}

func (p *parser) parseAtom(b block) {
	file, base, err := readAttributes(b.info)
	if err != nil {
		p.addProblem(b.line, err.Error(), "write ```atom base=BLOB path=terms/x.md, or ```atom alone for a new one")
		return
	}
	a, err := okf.Parse(file, b.text)
	if err != nil {
		p.addProblem(b.line+atomLine(err), atomMessage(err), atomHint(err))
		return
	}
	if file == "" && !a.ExplicitID {
		p.addProblem(b.line, "an atom with neither an id nor a path", "add an id to its frontmatter")
		return
	}
	if !p.isFirst("atom "+string(a.ID), b.line) || file != "" && !p.isFirst("path "+file, b.line) {
		return
	}
	p.e.Atoms = append(p.e.Atoms, Atom{Atom: a, Base: base, At: fmt.Sprintf("%s:%d", Source, b.line)})
}

// readAttributes reads the rest of an atom fence: base and path, each once at most.
func readAttributes(info string) (file, base string, err error) {
	for _, f := range strings.Fields(info)[1:] {
		k, v, ok := strings.Cut(f, "=")
		switch {
		case ok && k == "base" && base == "" && blobID().MatchString(v):
			base = v
		case ok && k == "base":
			return "", "", fmt.Errorf("base %q is not one blob id", v)
		case ok && k == "path" && file == "" && conceptPath(v):
			file = v
		case ok && k == "path":
			return "", "", fmt.Errorf("path %q is not one concept file below the bundle root", v)
		default:
			return "", "", fmt.Errorf("unknown attribute %q", f)
		}
	}
	return file, base, nil
}

// blobID is a git blob id, SHA-1 or SHA-256.
var blobID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// conceptPath accepts the relative path of a concept file (OKF v0.2 §1: index.md
// and log.md are not concepts).
func conceptPath(p string) bool {
	if path.IsAbs(p) || path.Clean(p) != p || strings.HasPrefix(p, "../") || strings.ContainsAny(p, "\\\x00") {
		return false
	}
	b := path.Base(p)
	return strings.HasSuffix(b, ".md") && b != ".md" && b != "index.md" && b != "log.md"
}

func atomLine(err error) int {
	if p, ok := errors.AsType[okf.Problem](err); ok {
		return p.Line
	}
	return 1
}

func atomMessage(err error) string {
	if p, ok := errors.AsType[okf.Problem](err); ok {
		return p.Message
	}
	return err.Error()
}

func atomHint(err error) string {
	var p okf.Problem
	errors.As(err, &p)
	return p.Hint
}

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
