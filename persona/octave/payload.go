package octave

import (
	"fmt"
	"strconv"
)

// Identity is the payload of an anchor: an envelope named IDENTITY whose META
// says which version of the contract it keeps, and the parts that are given.
//
//	===IDENTITY===
//	META:
//	  TYPE::IDENTITY
//	  VERSION::"5.0"
//	TENSIONS:
//	  L1::"[UNTESTED]⇌CTX:cmd/drain.go:40-58[no test covers the timeout]→TRIGGER[write one first]"
//	COMMIT:
//	  ARTIFACT::"cmd/drain_test.go"
//	  GATE::"go test ./cmd -run Drain"
//	===END===
//
// Emit writes it. Whatever the strings are, Get returns them: what is not a name
// is in quotes.
func Identity(parts ...*Entry) *Entry {
	meta := Fields("META", Keyed("TYPE", "IDENTITY"), Keyed("VERSION", "5.0"))
	return &Entry{Kind: Envelope, Key: "IDENTITY", Entries: append([]*Entry{meta}, parts...)}
}

// Fields is a block.
func Fields(key string, entries ...*Entry) *Entry {
	return &Entry{Kind: Block, Key: key, Entries: entries}
}

// Keyed is a pair whose text is written as Quote has it.
func Keyed(key, text string) *Entry { return &Entry{Kind: Pair, Key: key, Value: textValue(text)} }

// Literal is a pair whose text is always in quotes: a path, a command, a sentence.
func Literal(key, text string) *Entry {
	return &Entry{Kind: Pair, Key: key, Value: Value{Kind: Quoted, Text: text}}
}

// Listed is a pair whose value is a list of texts.
func Listed(key string, texts ...string) *Entry {
	v := Value{Kind: List}
	for _, t := range texts {
		v.Items = append(v.Items, &Entry{Kind: Item, Value: textValue(t)})
	}
	return &Entry{Kind: Pair, Key: key, Value: v}
}

// literals is Listed with every text in quotes.
func literals(key string, texts []string) *Entry {
	e := Listed(key, texts...)
	for _, i := range e.Value.Items {
		i.Value.Kind = Quoted
	}
	return e
}

func textValue(text string) Value {
	if name(text) {
		return Value{Kind: Word, Text: text}
	}
	return Value{Kind: Quoted, Text: text}
}

// Bind is who an agent says it is.
type Bind struct {
	Role       string
	Cognition  string
	Archetypes []string // may be none, and then the key is left out
	Authority  string   // RESPONSIBLE[scope] or DELEGATED[parent::task]
}

// Entry is the block BIND.
func (b Bind) Entry() *Entry {
	e := Fields("BIND", Keyed("ROLE", b.Role), Keyed("COGNITION", b.Cognition))
	if len(b.Archetypes) > 0 {
		e.Entries = append(e.Entries, Listed("ARCHETYPES", b.Archetypes...))
	}
	e.Entries = append(e.Entries, Literal("AUTHORITY", b.Authority))
	return e
}

// Arm is what the server found about the place of work.
type Arm struct {
	Phase       string
	Branch      string
	Files       int      // changed
	TopFiles    []string // may be none, and then the key is left out
	Focus       string   // may be empty, and then the key is left out
	ContextHash string
}

// Entry is the block ARM.
func (a Arm) Entry() *Entry {
	files := &Entry{Kind: Pair, Key: "FILES", Value: Value{Kind: Word, Text: strconv.Itoa(a.Files)}}
	e := Fields("ARM", Keyed("PHASE", a.Phase), Literal("BRANCH", a.Branch), files)
	if len(a.TopFiles) > 0 {
		e.Entries = append(e.Entries, literals("TOP_FILES", a.TopFiles))
	}
	if a.Focus != "" {
		e.Entries = append(e.Entries, Keyed("FOCUS", a.Focus))
	}
	e.Entries = append(e.Entries, Literal("CONTEXT_HASH", a.ContextHash))
	return e
}

// Tensions is the block TENSIONS, its lines keyed L1, L2 and so on.
func Tensions(lines ...string) *Entry {
	e := Fields("TENSIONS")
	for i, line := range lines {
		e.Entries = append(e.Entries, Literal(fmt.Sprintf("L%d", i+1), line))
	}
	return e
}

// Commit is what an agent will deliver, and what proves it.
type Commit struct {
	Artifact string // a path
	Gate     string // a command or a method
}

// Entry is the block COMMIT.
func (c Commit) Entry() *Entry {
	return Fields("COMMIT", Literal("ARTIFACT", c.Artifact), Literal("GATE", c.Gate))
}
