package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/odd-cli/odd/okf"
)

// maxInput is the longest call that is read, in bytes.
const maxInput = 1 << 20

// arguments are what a tool takes.
type arguments struct {
	required []string
	fields   map[string]*jsonschema.Resolved
}

// readArguments prepares the schema of a tool's input. One that does not resolve
// is a fault of odd.
func readArguments(s *jsonschema.Schema) arguments {
	a := arguments{required: s.Required, fields: map[string]*jsonschema.Resolved{}}
	for name, p := range s.Properties {
		r, err := p.CloneSchemas().Resolve(nil)
		if err != nil {
			panic("unreachable: " + err.Error())
		}
		a.fields[name] = r
	}
	return a
}

// decodeInto reads the arguments of a call into to. Its error names every field that
// is wrong, missing or unknown.
func (a arguments) decodeInto(raw json.RawMessage, to any) error {
	if len(raw) > maxInput {
		return fmt.Errorf("arguments: over %d bytes", maxInput)
	}
	if len(raw) == 0 || string(raw) == "null" {
		raw = []byte("{}")
	}
	var given map[string]any
	if err := json.Unmarshal(raw, &given); err != nil {
		return errors.New("arguments: want an object with the tool's fields")
	}
	var bad []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if err := a.checkField(name, given[name]); err != nil {
			bad = append(bad, err)
		}
	}
	for _, name := range a.required {
		if _, ok := given[name]; !ok {
			bad = append(bad, fmt.Errorf("%s: is missing", name))
		}
	}
	if len(bad) > 0 {
		return errors.Join(bad...)
	}
	return json.Unmarshal(raw, to)
}

func (a arguments) checkField(name string, v any) error {
	field, ok := a.fields[name]
	if !ok {
		near, best := "", 3
		for _, known := range slices.Sorted(maps.Keys(a.fields)) {
			if d := okf.Distance(name, known); len(name) < 64 && d < best {
				near, best = "; did you mean "+known+"?", d
			}
		}
		return fmt.Errorf("%s: no such field%s; it takes %s", clip(name), near, strings.Join(slices.Sorted(maps.Keys(a.fields)), ", "))
	}
	if err := field.Validate(v); err != nil {
		text := err.Error()
		return fmt.Errorf("%s: %s", name, clip(text[strings.LastIndex(text, "validating ")+max(0, strings.Index(text[strings.LastIndex(text, "validating "):], ": ")+2):]))
	}
	return nil
}

// clip returns at most 200 bytes of a text that somebody sent.
func clip(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + " …"
	}
	return s
}
