package servers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/odd-cli/odd/okf"
)

// What a schema may be at most.
const (
	mostSchema = 16 << 10 // bytes, as a model is shown it
	mostParts  = 2000     // schemas in it, with what it refers to
	mostDepth  = 40
	mostWords  = 600 // bytes of one description in it
)

// keywords say what stands under the keywords of JSON Schema that odd knows. Others
// are left out.
func keywords() map[string]string {
	out := map[string]string{}
	for shape, words := range map[string]string{
		"value":  "type enum const default format pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems uniqueItems minContains maxContains minProperties maxProperties required dependentRequired",
		"text":   "title description",
		"ref":    "$ref",
		"schema": "additionalProperties not if then else contains propertyNames unevaluatedProperties unevaluatedItems items",
		"list":   "allOf anyOf oneOf prefixItems",
		"map":    "properties patternProperties $defs definitions dependentSchemas",
		"never":  "$dynamicRef $recursiveRef",
	} {
		for _, w := range strings.Fields(words) {
			out[w] = shape
		}
	}
	return out
}

// schema reads a server's schema of a tool's arguments keyword by keyword: as a
// model is shown it, and as arguments are held to it.
func (s *server) schema(given any) (json.RawMessage, checker, error) {
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	top, ok := v.(map[string]any)
	if kind, said := top["type"]; !ok || said && kind != "object" {
		return nil, nil, errors.New("its schema is not that of an object")
	}
	r := &reading{s: s, words: keywords()}
	clean, err := r.schema(top, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	whole := clean.(map[string]any)
	whole["type"] = "object"
	if n, err := (&counting{whole, map[string]int{}}).parts(whole, nil); err != nil || n > mostParts {
		return nil, nil, fmt.Errorf("its schema: %w", cmp.Or(err, fmt.Errorf("has more than %d parts", mostParts)))
	}
	shown, err := json.Marshal(whole)
	switch {
	case err != nil:
		return nil, nil, err
	case len(shown) > mostSchema:
		return nil, nil, fmt.Errorf("its schema is %d bytes, at most %d", len(shown), mostSchema)
	}
	var parsed jsonschema.Schema
	if err := json.Unmarshal(shown, &parsed); err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	check, err := parsed.Resolve(nil)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	return shown, check, nil
}

// reading is one schema that is read.
type reading struct {
	s     *server
	words map[string]string
}

// schema is v with the keywords that odd knows alone.
func (r *reading) schema(v any, depth int) (any, error) {
	m, ok := v.(map[string]any)
	switch _, yes := v.(bool); {
	case depth > mostDepth:
		return nil, fmt.Errorf("is nested more than %d deep", mostDepth)
	case yes:
		return v, nil
	case !ok:
		return nil, errors.New("holds something else where a schema should stand")
	}
	out := map[string]any{}
	for word, below := range m {
		is := r.words[word]
		if is == "" {
			continue
		}
		clean, err := r.keyword(is, below, depth+1)
		if err != nil {
			return nil, at(word, depth, err)
		}
		out[word] = clean
	}
	return out, nil
}

// at says where in a schema an error is, as far as that helps.
func at(place string, depth int, err error) error {
	if depth > 5 {
		return err
	}
	return fmt.Errorf("%s: %w", place, err)
}

// keyword is what stands under a keyword of a shape.
func (r *reading) keyword(shape string, v any, depth int) (any, error) {
	switch shape {
	case "text":
		text, _ := v.(string)
		return r.s.about(text, mostWords), nil
	case "value":
		return v, plain(v)
	case "ref":
		if ref, _ := v.(string); ref != "#" && !strings.HasPrefix(ref, "#/") {
			return nil, errors.New("refers to something outside")
		}
		return v, plain(v)
	case "list":
		return r.list(v, depth)
	case "map":
		return r.readNamed(v, depth)
	case "schema":
		if _, many := v.([]any); many { // items, as it once was
			return r.list(v, depth)
		}
		return r.schema(v, depth)
	}
	return nil, errors.New("is a reference that odd does not follow")
}

func (r *reading) list(v any, depth int) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New("is no list")
	}
	out := make([]any, len(list))
	for i, one := range list {
		var err error
		if out[i], err = r.schema(one, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *reading) readNamed(v any, depth int) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("is no table")
	}
	out := map[string]any{}
	for name, one := range m {
		if err := plain(name); err != nil {
			return nil, err
		}
		var err error
		if out[name], err = r.schema(one, depth); err != nil {
			return nil, at(name, depth, err)
		}
	}
	return out, nil
}

// plain refuses a value that has to stay as it is and holds what nobody can see.
func plain(v any) error {
	switch v := v.(type) {
	case string:
		if okf.Visible(v) != v {
			return errors.New("holds signs that nobody can see")
		}
	case []any:
		for _, one := range v {
			if err := plain(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range v {
			if err := cmp.Or(plain(name), plain(one)); err != nil {
				return err
			}
		}
	}
	return nil
}

// counting counts the schemas of a whole, with each reference followed.
type counting struct {
	whole map[string]any
	known map[string]int // by reference
}

var errCycle = errors.New("refers to itself")

// parts counts the schemas in v; on are the references that led there.
func (c *counting) parts(v any, on []string) (int, error) {
	n := 0
	add := func(below any, on []string) error {
		m, err := c.parts(below, on)
		if n += m; n > mostParts {
			n = mostParts + 1
		}
		return err
	}
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if err := add(one, on); err != nil {
				return n, err
			}
		}
	case map[string]any:
		n = 1
		for word, below := range v {
			if ref, ok := below.(string); ok && word == "$ref" {
				m, err := c.follow(ref, on)
				if n = min(n+m, mostParts+1); err != nil {
					return n, err
				}
				continue
			}
			if err := add(below, on); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// follow counts what a reference stands for, each once.
func (c *counting) follow(ref string, on []string) (int, error) {
	if n, ok := c.known[ref]; ok {
		return n, nil
	}
	if slices.Contains(on, ref) || ref == "#" {
		return 0, errCycle
	}
	to, ok := any(c.whole), true
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		var m map[string]any
		if m, ok = to.(map[string]any); !ok {
			return 0, errors.New("refers to what is not there")
		}
		if to, ok = m[step]; !ok {
			return 0, errors.New("refers to what is not there")
		}
	}
	n, err := c.parts(to, append(slices.Clone(on), ref))
	if err == nil {
		c.known[ref] = n
	}
	return n, err
}
