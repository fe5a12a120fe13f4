package octave

import (
	"fmt"
	"strings"
)

// Set returns the file with the text of one value replaced, and no other byte. What
// was in quotes stays in quotes; a bare word stays bare if the text can be one;
// the text of a fence replaces the lines in it. A list or a block has no text.
// What is about to be returned is read again first: if the path would not answer
// with text and end where it should, that is an error and not a file.
func (d *Doc) Set(path, text string) ([]byte, error) {
	v, err := d.Get(path)
	if err != nil {
		return nil, err
	}
	switch v.Kind {
	case List, Nested:
		what := map[ValueKind]string{List: "a list; name an element, as " + path + "[0]", Nested: "a block; name a key in it"}[v.Kind]
		return nil, fmt.Errorf("%s: %s is %s", d.name, path, what)
	case Fence:
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		body := text
		if strings.HasSuffix(d.src[:v.bodyFrom], "\r\n") {
			body = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return d.replaceSpan(path, v.bodyFrom, v.bodyTo, body, func(n Value) bool { return n.Kind == Fence && n.Text == text && n.bodyTo == v.bodyFrom+len(body) })
	}
	written := Quote(text)
	if (v.Kind == Word || v.Kind == Empty) && isSimple(text) {
		written = text
	}
	return d.replaceSpan(path, v.from, v.to, written, func(n Value) bool { return n.Text == text && n.Raw == written })
}

// SetRaw returns the file with one value replaced by raw, which is a value as it is
// written: a word, "text", [a,list]. Any but a fence and a block can be replaced.
func (d *Doc) SetRaw(path, raw string) ([]byte, error) {
	v, err := d.Get(path)
	if err != nil {
		return nil, err
	}
	if v.Kind == Fence || v.Kind == Nested {
		return nil, fmt.Errorf("%s: %s is a %s, and only a value can be replaced by one", d.name, path, v.Kind)
	}
	return d.replaceSpan(path, v.from, v.to, raw, func(n Value) bool { return n.Kind != Empty && n.Raw == raw })
}

// replaceSpan replaces a span, if the result reads as it should.
func (d *Doc) replaceSpan(path string, from, to int, text string, right func(Value) bool) ([]byte, error) {
	next, p := parse(d.name, []byte(d.src[:from]+text+d.src[to:]))
	next.reportNotes(p.notes, Lenient)
	v, err := next.Get(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %s would no longer be read: %w", d.name, path, err)
	}
	if !right(v) {
		return nil, fmt.Errorf("%s: %s: what is given is not one value of OCTAVE here; put it in double quotes", d.name, path)
	}
	return next.Bytes(), nil
}
