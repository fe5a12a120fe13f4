package okf

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// keyOrder ranks the keys that odd knows in the order of a canonical file: what the atom
// is, the state and limits of a task, the edges, and who says so.
var keyOrder = sync.OnceValue(func() map[string]int {
	keys := []string{
		"type", "id", "uri", "title", "description", "resource", "tags", "status", "stale_after",
	}
	keys = append(append(keys, taskKeys()...), "confidence")
	for _, k := range EdgeKinds() {
		keys = append(keys, string(k))
	}
	order := map[string]int{}
	for i, k := range append(keys, "sources", "generated", "verified") {
		order[k] = i
	}
	return order
})

// taskKeys lists the keys of a task in the order of a canonical file.
func taskKeys() []string {
	return []string{
		"state", "kind", "priority", "role", "goal", "team", "signal", "dependencies", "soft_dependencies", "acceptance", "inputs", "paths",
		"commands", "budget_usd", "max_turns", "claimed_by", "lease_expires", "attempts", "result", "rejected", "blocked_reason",
	}
}

// New formats a new file in canonical form and parses it. The known keys come first in
// fixed order, then the others as given, a blank line, the body and one newline. Fields
// without a value are left out, and Line is ignored. A Value may be what a Set's may. Two
// fields with one key are an error, as are fields that Parse refuses.
func New(path string, fields []Field, body string) (Atom, error) {
	kept := make([]Field, 0, len(fields))
	for _, f := range fields {
		v, err := normalizeValue(f.Value)
		if err != nil {
			return Atom{}, fmt.Errorf("%s: %s: %w", path, f.Key, err)
		}
		if v != nil {
			kept = append(kept, Field{Key: f.Key, Value: v})
		}
	}
	kept = orderFields(kept)
	a, err := Parse(path, formatFile(kept, []byte(body)))
	if err != nil {
		return Atom{}, err
	}
	for i, f := range kept {
		if !reflect.DeepEqual(f.Value, a.Fields[i].Value) {
			return Atom{}, fmt.Errorf("%s: %s: %v does not survive being written", path, f.Key, f.Value)
		}
	}
	return a, nil
}

// formatFile formats a file of fields that are in order.
func formatFile(fields []Field, body []byte) []byte {
	var out bytes.Buffer
	out.WriteString("---\n")
	for _, f := range fields {
		for _, line := range renderEntry(f.Key, f.Value, layout{}) {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	out.WriteString("---\n")
	out.Write(normalizeBody(body))
	return out.Bytes()
}

// normalizeBody returns a body as New writes it: LF line ends, a blank line before it and
// one newline at its end. An empty body stays empty.
func normalizeBody(body []byte) []byte {
	for bytes.Contains(body, []byte("\r\n")) { // also after a CR
		body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	}
	body = bytes.Trim(body, "\r\n")
	if len(body) == 0 {
		return nil
	}
	return slices.Concat([]byte("\n"), body, []byte("\n"))
}

// orderFields puts known keys first, in keyOrder.
func orderFields(fields []Field) []Field {
	keys := keyOrder()
	rank := func(f Field) int {
		if i, known := keys[f.Key]; known {
			return i
		}
		return len(keys)
	}
	out := slices.Clone(fields)
	slices.SortStableFunc(out, func(a, b Field) int { return rank(a) - rank(b) })
	return out
}

// renderEntry returns the lines of one top-level key without their ends.
func renderEntry(key string, v any, l layout) []string {
	first := strings.Repeat(" ", l.base) + quoteAs(key, 0) + ":"
	if v == nil {
		return []string{first}
	}
	head, below := l.render(v)
	if head != "" {
		first += " " + head
	}
	return append([]string{first}, below...)
}
