package config

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// SetLease is Set of [governance] lease, "off" or "required".
func SetLease(file string, b []byte, value string) ([]byte, error) {
	if _, err := Parse(file, b); err != nil {
		return nil, err
	}
	return Set(file, b, []string{"governance", "lease"}, formatTOML(value))
}

// Set returns odd.toml b with the key at path set to value, which is TOML, and every
// other byte as it was. A key that is not set yet takes the place of a line that shows it
// behind "# ", or the first below its table's header, or a table of its own at the end.
// A header that is shown so is taken with it.
// What Set returns is read again: where anything else would change, or the file would not
// be valid, that is an error.
func Set(file string, b []byte, path []string, value string) ([]byte, error) {
	want, err := decodeTOML(file, b)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if _, err := toml.Decode("v = "+value, &v); err != nil || len(v) != 1 {
		return nil, fmt.Errorf("%s: %s is no TOML value", toml.Key(path), value)
	}
	if !putAt(want, path, v["v"]) {
		return nil, cannotEdit(file, path)
	}
	for _, out := range placesFor(b, path, value) {
		if got, err := decodeTOML(file, out); err == nil && reflect.DeepEqual(got, want) {
			_, err := Parse(file, out)
			return out, err
		}
	}
	return nil, cannotEdit(file, path)
}

// Unset returns odd.toml b without the key at path and its line, and every other byte as
// it was.
func Unset(file string, b []byte, path []string) ([]byte, error) {
	want, err := decodeTOML(file, b)
	if err != nil {
		return nil, err
	}
	start, end, ok := valueSpan(b, path)
	if !ok || !dropAt(want, path) {
		return nil, cannotEdit(file, path)
	}
	start = bytes.LastIndexByte(b[:start], '\n') + 1
	if nl := bytes.IndexByte(b[end:], '\n'); nl >= 0 {
		end += nl + 1
	} else {
		end = len(b)
	}
	out := slices.Concat(b[:start], b[end:])
	if got, err := decodeTOML(file, out); err != nil || !reflect.DeepEqual(got, want) {
		return nil, cannotEdit(file, path)
	}
	_, err = Parse(file, out)
	return out, err
}

func cannotEdit(file string, path []string) error {
	return fmt.Errorf("%s: %s cannot be edited safely here; edit the file yourself, with [%s] on a line of its own and %s below it",
		file, toml.Key(path), toml.Key(path[:len(path)-1]), toml.Key(path[len(path)-1:]))
}

// decodeTOML returns what TOML b holds, for comparison.
func decodeTOML(file string, b []byte) (map[string]any, error) {
	v := map[string]any{}
	if _, err := toml.Decode(string(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))), &v); err != nil {
		return nil, Errors{syntaxError(file, b, err)}
	}
	return v, nil
}

// putAt sets the value at path below table, and reports whether a table is there, or can be.
func putAt(table map[string]any, path []string, value any) bool {
	for _, name := range path[:len(path)-1] {
		if table[name] == nil {
			table[name] = map[string]any{}
		}
		below, ok := table[name].(map[string]any)
		if !ok {
			return false
		}
		table = below
	}
	table[path[len(path)-1]] = value
	return true
}

// dropAt removes the value at path below table, and reports whether there was one.
func dropAt(table map[string]any, path []string) bool {
	for _, name := range path[:len(path)-1] {
		below, ok := table[name].(map[string]any)
		if !ok {
			return false
		}
		table = below
	}
	_, ok := table[path[len(path)-1]]
	delete(table, path[len(path)-1])
	return ok
}

// placesFor returns the places that value may take in b, the best first.
func placesFor(b []byte, path []string, value string) [][]byte {
	if start, end, ok := valueSpan(b, path); ok {
		return [][]byte{slices.Concat(b[:start], []byte(value), b[end:])}
	}
	name, above := toml.Key(path[len(path)-1:]).String(), toml.Key(path[:len(path)-1]).String()
	line := name + " = " + value + "\n"
	header := regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*` + regexp.QuoteMeta(above) + `[ \t]*\][^\n]*(?:\n|\z)`)
	var out [][]byte
	at := header.FindIndex(b)
	if at == nil {
		head := bytes.Clone(b)
		if len(head) > 0 && head[len(head)-1] != '\n' {
			head = append(head, '\n')
		}
		out = append(out, slices.Concat(head, []byte("\n["+above+"]\n"+line)))
		m := regexp.MustCompile(`(?m)^# *(\[` + regexp.QuoteMeta(above) + `\]\n)`).FindSubmatchIndex(b)
		if m == nil {
			return out
		}
		b = slices.Concat(b[:m[0]], b[m[2]:]) // its header is shown, and perhaps the key
		at = []int{m[0], m[0] + m[3] - m[2]}
	} else {
		out = append(out, slices.Concat(bytes.TrimRight(b[:at[1]], "\n"), []byte("\n"+line), b[at[1]:]))
	}
	end := len(b)
	if next := regexp.MustCompile(`(?m)^[ \t]*(?:# *)?\[[^\n]*$`).FindIndex(b[at[1]:]); next != nil {
		end = at[1] + next[0]
	}
	shown := regexp.MustCompile(`(?m)^# *(` + regexp.QuoteMeta(name) + ` *= *)`)
	if m := shown.FindSubmatchIndex(b[at[1]:end]); m != nil {
		key, from := b[at[1]+m[2]:at[1]+m[3]], at[1]+m[1]
		out = slices.Insert(out, 0, slices.Concat(b[:at[1]+m[0]], key, []byte(value), b[valueEnd(b, from):]))
	}
	return out
}

// valueSpan is where the value of the key at path stands in b.
func valueSpan(b []byte, path []string) (start, end int, ok bool) {
	root, err := parseTree(b)
	if err != nil {
		return 0, 0, false
	}
	part := `(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')`
	key := regexp.MustCompile(`(?m)^[ \t]*` + part + `(?:[ \t]*\.[ \t]*` + part + `)*[ \t]*=[ \t]*`)
	from := 0
	for range lineOf(root, path) {
		if m := key.FindIndex(b[from:]); m != nil && bytes.IndexByte(b[from:from+m[0]], '\n') < 0 { // a text of several lines is at its last
			start, ok = from+m[1], true
		}
		from += bytes.IndexByte(b[from:], '\n') + 1
	}
	if !ok {
		return 0, 0, false
	}
	return start, valueEnd(b, start), true
}

// valueEnd is where the TOML value that begins at i ends in b.
func valueEnd(b []byte, i int) int {
	for _, q := range []string{`"""`, `'''`, `"`, `'`} {
		if !bytes.HasPrefix(b[i:], []byte(q)) {
			continue
		}
		for j := i + len(q); j < len(b); j++ {
			if q[0] == '"' && b[j] == '\\' {
				j++
			} else if bytes.HasPrefix(b[j:], []byte(q)) {
				return j + len(q)
			}
		}
		return len(b)
	}
	if i < len(b) && (b[i] == '[' || b[i] == '{') {
		for j := i + 1; j < len(b); {
			switch c := b[j]; {
			case c == ']' || c == '}':
				return j + 1
			case c == '#':
				j += max(1, bytes.IndexByte(b[j:], '\n'))
			case strings.IndexByte(`"'[{`, c) >= 0:
				j = valueEnd(b, j)
			default:
				j++
			}
		}
		return len(b)
	}
	end := i
	for end < len(b) && strings.IndexByte(" \t\r\n#,]}", b[end]) < 0 {
		end++
	}
	return end
}

// ParseKey reads the name of a key as a person types it: parts with dots between them,
// a part of other characters than letters, digits, _ and - in quotes.
func ParseKey(s string) ([]string, error) {
	var v map[string]any
	md, err := toml.Decode(s+" = 0", &v)
	keys := md.Keys()
	if err != nil || len(v) != 1 || len(keys) == 0 || strings.ContainsAny(s, "#\r\n") {
		return nil, fmt.Errorf(`%q is no name of a key; want one like drain.max_tasks or prices."gpt-4.1".input_usd`, s)
	}
	return keys[len(keys)-1], nil
}

// Literal is a value in TOML from the words that a person types for the key at path. What
// the reference shows of the key says of which kind it is: a text needs no quotes, and
// the parts of a list are words, or one word of TOML that begins with "[".
func Literal(path []string, words []string) string {
	d, _ := Explain(path)
	switch shown := d.Value + " "; {
	case len(words) == 1 && strings.HasPrefix(words[0], "[") && shown[0] == '[':
		return words[0]
	case ListsCommands(path):
		return formatTOML([][]string{words})
	case shown[0] == '[':
		return formatTOML(words)
	case len(words) == 1 && shown[0] != '"' && plainValue(words[0]):
		return words[0]
	}
	return formatTOML(strings.Join(words, " "))
}

// ListsCommands reports a key whose value is a list of commands, each a list of words.
func ListsCommands(path []string) bool {
	d, _ := Explain(path)
	return strings.HasPrefix(d.Value, "[[")
}

// plainValue reports a TOML value that is a number, true or false.
func plainValue(s string) bool {
	var v map[string]any
	if _, err := toml.Decode("v = "+s, &v); err != nil || len(v) != 1 || strings.ContainsAny(s, "#\n") {
		return false
	}
	switch v["v"].(type) {
	case int64, float64, bool:
		return true
	}
	return false
}

func formatTOML(v any) string {
	b, err := toml.Marshal(map[string]any{"v": v})
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(strings.TrimPrefix(string(b), "v = "))
}

// Setting is one key that an odd.toml sets.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"` // in TOML
	Line  int    `json:"line"`
	value any
}

// Plain is the value as a shell takes it: a text without quotes, all else in TOML.
func (s Setting) Plain() string {
	if text, ok := s.value.(string); ok {
		return text
	}
	return s.Value
}

// Settings are the keys that odd.toml b sets, in the order of the lines. The tables of
// [[mcp]] are numbered from 1.
func Settings(file string, b []byte) ([]Setting, error) {
	if _, err := Parse(file, b); err != nil {
		return nil, err
	}
	root, err := parseTree(b)
	if err != nil {
		return nil, err
	}
	var out []Setting
	var walk func(n node, path toml.Key)
	walk = func(n node, path toml.Key) {
		for i, c := range n.children {
			name := c.name
			if name == "" {
				name = fmt.Sprint(i + 1)
			}
			at := append(slices.Clone(path), name)
			if len(c.children) > 0 || c.table {
				walk(c, at)
				continue
			}
			value := formatTOML(c.value)
			if c.literal != "" {
				value = c.literal
			}
			out = append(out, Setting{Key: at.String(), Value: value, Line: c.line, value: c.value})
		}
	}
	walk(root, nil)
	slices.SortStableFunc(out, func(a, b Setting) int { return a.Line - b.Line })
	return out, nil
}
