package okf

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Set is one edit of a top-level key of front matter. A nil Value removes the key. Value
// may be of the types of Field.Value, any string, integer or float type, Stamp, Source or
// Confidence, and any slice or string-keyed map of these.
type Set struct {
	Key   string
	Value any
}

// Edit applies the sets to the file b, in turn, and keeps every other byte. Comments,
// order, quoting and line endings of other keys stay as they are. A changed key keeps its
// place, its spacing, the comment on its line and, if the new value allows, its quotes and
// its list style. A new key is added at the end of the block. A key that already has the
// value is left as it is.
//
// Edit parses the result again. It refuses an edit that would change another key or the
// body, or that would make the file no atom. It also refuses any edit of a block that is
// one flow mapping.
func Edit(b []byte, sets ...Set) ([]byte, error) {
	for _, s := range sets {
		next, err := applySet(b, s)
		if err != nil {
			return nil, fmt.Errorf("edit %s: %w", s.Key, err)
		}
		b = next
	}
	return b, nil
}

// ReplaceBody returns the file b with another body, and with the bytes of its front matter.
// A file without a closed block is returned as it is.
func ReplaceBody(b, body []byte) []byte {
	blk, p := findBlock(b)
	if p != nil {
		return b
	}
	out := bytes.Clone(b[:blk.body])
	if len(body) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return append(out, body...)
}

func applySet(b []byte, s Set) ([]byte, error) {
	want, err := normalizeValue(s.Value)
	if err != nil {
		return nil, err
	}
	if p := checkText(b); p != nil {
		return nil, *p
	}
	blk, p := findBlock(b)
	if p != nil {
		return nil, *p
	}
	before, p := parseStrict(b, blk)
	if p != nil {
		return nil, *p
	}
	old := Atom{Fields: before}
	f, there := old.Field(s.Key)
	if there && want != nil && reflect.DeepEqual(f.Value, want) || !there && want == nil {
		return b, nil
	}
	out, err := spliceKey(b, blk, s.Key, want)
	if err != nil {
		return nil, err
	}
	return out, checkOnlyKeyChanged(before, b[blk.body:], out, s.Key, want)
}

// spliceKey replaces the lines of key, or adds them at the end of the block.
func spliceKey(b []byte, blk block, key string, want any) ([]byte, error) {
	src := b[blk.start:blk.end]
	root, p := parseMapping(src)
	if p != nil {
		return nil, *p
	}
	if root != nil && root.Style&yaml.FlowStyle != 0 {
		return nil, errors.New(`the block is one flow mapping; write it as "key: value" lines`)
	}
	from, to, text := len(src), len(src), ""
	if pl, ok := findKey(src, root, key); ok {
		from, to = pl.from, pl.to
		if want != nil {
			var err error
			if text, err = pl.rewriteValue(src, want); err != nil {
				return nil, err
			}
		}
	} else {
		text = strings.Join(renderEntry(key, want, layout{base: baseIndent(root)}), "\n") + "\n"
		if bytes.HasSuffix(b[:blk.start], []byte("\r\n")) {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
	}
	out := bytes.Clone(b[:blk.start+from])
	out = append(out, text...)
	return append(out, b[blk.start+to:]...), nil
}

func baseIndent(root *yaml.Node) int {
	if root == nil || len(root.Content) == 0 {
		return 0
	}
	return root.Content[0].Column - 1
}

// keySpan is one top-level key in a block: src[from:to] are its lines.
type keySpan struct {
	from, to   int
	key, value *yaml.Node
}

func findKey(src []byte, root *yaml.Node, key string) (keySpan, bool) {
	if root == nil {
		return keySpan{}, false
	}
	starts := lineStarts(src)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != key {
			continue
		}
		p := keySpan{from: starts[root.Content[i].Line-1], to: len(src), key: root.Content[i], value: root.Content[i+1]}
		if i+2 < len(root.Content) {
			p.to = starts[root.Content[i+2].Line-1]
		}
		p.to = trimTail(src, p, starts)
		return p, true
	}
	return keySpan{}, false
}

// trimTail excludes the blank lines and comments after the value that stand in the column
// of the keys; they belong to what follows.
func trimTail(src []byte, p keySpan, starts []int) int {
	to := p.to
	for i := len(starts) - 1; i >= p.key.Line; i-- { // never the key's own line
		if starts[i] >= to {
			continue
		}
		line := src[starts[i]:to]
		t := bytes.TrimSpace(line)
		if len(t) > 0 && !(t[0] == '#' && bytes.IndexByte(line, '#') < p.key.Column) {
			break
		}
		to = starts[i]
	}
	return to
}

func (p keySpan) rewriteValue(src []byte, want any) (string, error) {
	line, _, _ := strings.Cut(string(src[p.from:p.to]), "\n")
	eol := "\n"
	if strings.HasSuffix(line, "\r") {
		line, eol = line[:len(line)-1], "\r\n"
	}
	colon := p.findColon(line)
	if colon < 0 {
		return "", errors.New("the key is written in an unusual way; edit it by hand")
	}
	rest := line[colon+1:]
	gap := rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
	comment := findComment(rest)
	if gap == "" || len(gap) == len(rest) || len(rest) == len(comment) {
		gap = " "
	}
	head, below := p.readLayout().render(want)
	out := line[:colon+1]
	if head != "" {
		out += gap + head
	}
	out += comment + eol
	for _, l := range below {
		out += l + eol
	}
	return out, nil
}

// findColon returns the offset of the colon after the key, or -1.
func (p keySpan) findColon(line string) int {
	at := p.key.Column - 1
	if at > len(line) || strings.TrimLeft(line[:at], " ") != "" {
		return -1
	}
	t := line[at:]
	switch {
	case strings.HasPrefix(t, p.key.Value) && p.key.Value != "":
		at += len(p.key.Value)
	case t != "" && (t[0] == '"' || t[0] == '\''):
		_, rest, ok := unquote(t)
		if !ok {
			return -1
		}
		at = len(line) - len(rest)
	default:
		return -1
	}
	at += len(line[at:]) - len(strings.TrimLeft(line[at:], " "))
	if at >= len(line) || line[at] != ':' {
		return -1
	}
	return at
}

// findComment returns the comment that ends the line of a key, with the blanks before it.
// Quotes hide a "#" only where a value or a flow item starts.
func findComment(rest string) string {
	quote, open := byte(0), true
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		switch {
		case quote != 0:
			if c == '\\' && quote == '"' {
				i++
			} else if c == quote {
				quote = 0
			}
		case open && (c == '"' || c == '\''):
			quote, open = c, false
		case c == '#' && i > 0 && (rest[i-1] == ' ' || rest[i-1] == '\t'):
			return rest[len(strings.TrimRight(rest[:i], " \t")):]
		case strings.IndexByte(" \t", c) < 0:
			open = strings.IndexByte("[{,:", c) >= 0
		}
	}
	return ""
}

// readLayout returns the layout of the old value, for the new one to keep.
func (p keySpan) readLayout() layout {
	l := layout{base: p.key.Column - 1}
	v := p.value
	switch {
	case v.Kind == yaml.ScalarNode && v.Style&yaml.SingleQuotedStyle != 0:
		l.quote = '\''
	case v.Kind == yaml.ScalarNode && v.Style&yaml.DoubleQuotedStyle != 0:
		l.quote = '"'
	case v.Kind != yaml.SequenceNode && v.Kind != yaml.MappingNode:
	case v.Style&yaml.FlowStyle != 0:
		l.flow = true
	case len(v.Content) > 0:
		l.block, l.inner = true, v.Column-1
	}
	return l
}

// checkOnlyKeyChanged returns an error if out differs from the file before in anything but
// key.
func checkOnlyKeyChanged(before []Field, body []byte, out []byte, key string, want any) error {
	a, p := parse("", out)
	if p != nil {
		return *p
	}
	if other := firstMovedField(before, a.Fields, key); other != "" {
		return fmt.Errorf("would change %s too; edit it by hand", other)
	}
	f, there := a.Field(key)
	if there != (want != nil) || !reflect.DeepEqual(f.Value, want) {
		return errors.New("the value does not survive being written; edit it by hand")
	}
	if !bytes.Equal(a.Body(), body) {
		return errors.New("would change the body; edit it by hand")
	}
	return nil
}

// firstMovedField returns the first field, except key, whose value or order changed.
func firstMovedField(before, after []Field, key string) string {
	isKey := func(f Field) bool { return f.Key == key }
	before = slices.DeleteFunc(slices.Clone(before), isKey)
	after = slices.DeleteFunc(slices.Clone(after), isKey)
	for i, f := range before {
		if i >= len(after) || after[i].Key != f.Key || !reflect.DeepEqual(after[i].Value, f.Value) {
			return f.Key
		}
	}
	if len(after) > len(before) {
		return after[len(before)].Key
	}
	return ""
}

// Verify returns the file of a with one more entry in verified, and with confidence
// verified. A draft becomes stable. All other bytes stay.
func Verify(a *Atom, by Stamp) ([]byte, error) {
	sets := []Set{{Key: "verified", Value: append(slices.Clone(a.Verified), by)}, {Key: "confidence", Value: Verified.String()}}
	if a.Status == "draft" {
		sets = append(sets, Set{Key: "status", Value: "stable"})
	}
	return Edit(a.Bytes(), sets...)
}

// VerifiedOnly reports whether file is a with one more entry in verified and no other
// change.
func VerifiedOnly(a *Atom, file []byte) bool {
	is, err := Parse(a.Path, file)
	if err != nil || len(is.Verified) == 0 {
		return false
	}
	want, err := Verify(a, is.Verified[len(is.Verified)-1])
	return err == nil && bytes.Equal(want, file)
}
