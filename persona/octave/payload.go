package octave

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

// Literals is Listed with every text in quotes.
func Literals(key string, texts ...string) *Entry {
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
