package servers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/odd-cli/odd/okf"
)

// What a schema may be at most.
const (
	mostSchema = 16 << 10 // bytes, as a model is shown it
	mostParts  = 2000     // schemas in it, with what it refers to
	mostDepth  = 50
	mostWords  = 600 // bytes of one description in it
)

// toolSchema reads a server's schema of a tool's arguments: as a model is shown it, and as
// arguments are held to it. What says nothing of arguments is left out.
func (s *server) toolSchema(given any) (json.RawMessage, checker, error) {
	shown, check, err := s.readSchema(given)
	if err != nil {
		return nil, nil, fmt.Errorf("its schema: %w", err)
	}
	return shown, check, nil
}

func (s *server) readSchema(given any) (json.RawMessage, checker, error) {
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDepth(raw); err != nil {
		return nil, nil, err
	}
	var parsed jsonschema.Schema
	if json.Unmarshal(raw, &parsed) != nil {
		return nil, nil, errors.New("holds something else where a schema should stand")
	}
	if raw[0] != '{' || parsed.Types != nil || parsed.Type != "" && parsed.Type != "object" {
		return nil, nil, errors.New("is not that of an object")
	}
	parsed.Type = "object"
	if err := s.cleanSchema(&parsed); err != nil {
		return nil, nil, err
	}
	shown, err := json.Marshal(&parsed)
	if err != nil {
		return nil, nil, err
	}
	var whole map[string]any
	if err := cmp.Or(json.Unmarshal(shown, &whole), checkVisible(whole)); err != nil {
		return nil, nil, err
	}
	n, err := (&counting{whole, map[string]int{}}).countParts(whole, nil)
	switch {
	case err != nil:
		return nil, nil, err
	case n > mostParts:
		return nil, nil, fmt.Errorf("has more than %d parts", mostParts)
	case len(shown) > mostSchema:
		return nil, nil, fmt.Errorf("is %d bytes, at most %d", len(shown), mostSchema)
	}
	check, err := parsed.Resolve(nil)
	return shown, check, err
}

// checkDepth refuses JSON that is nested too deep to be looked at.
func checkDepth(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	for depth := 0; depth <= mostDepth; {
		switch t, err := d.Token(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case t == json.Delim('{') || t == json.Delim('['):
			depth++
		case t == json.Delim('}') || t == json.Delim(']'):
			depth--
		}
	}
	return fmt.Errorf("is nested more than %d deep", mostDepth)
}

// cleanSchema drops what is no matter of arguments from a schema and all below it, shows its
// words as a server's are shown, and refuses a reference that leads elsewhere.
func (s *server) cleanSchema(c *jsonschema.Schema) error {
	c.Title, c.Description = s.describeText(c.Title, mostWords), s.describeText(c.Description, mostWords)
	c.ID, c.Schema, c.Comment, c.Anchor, c.DynamicAnchor, c.Vocabulary, c.Examples = "", "", "", "", "", nil, nil
	c.ContentEncoding, c.ContentMediaType, c.ContentSchema = "", "", nil
	if _, recurs := c.Extra["$recursiveRef"]; recurs || c.DynamicRef != "" {
		return errors.New("holds a reference that odd does not follow")
	}
	c.Extra = nil
	if c.Ref != "" && c.Ref != "#" && !strings.HasPrefix(c.Ref, "#/") {
		return errors.New("refers to something outside")
	}
	for _, of := range reflect.ValueOf(c).Elem().Fields() {
		var below []*jsonschema.Schema
		switch v := of.Interface().(type) {
		case *jsonschema.Schema:
			below = []*jsonschema.Schema{v}
		case []*jsonschema.Schema:
			below = v
		case map[string]*jsonschema.Schema:
			below = slices.Collect(maps.Values(v))
		}
		for _, one := range below {
			if one == nil {
				continue
			}
			if err := s.cleanSchema(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkVisible refuses a value that has to stay as it is and holds what nobody can see.
func checkVisible(v any) error {
	switch v := v.(type) {
	case string:
		if okf.Visible(v) != v {
			return errors.New("holds signs that nobody can see")
		}
	case []any:
		for _, one := range v {
			if err := checkVisible(one); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range v {
			if err := cmp.Or(checkVisible(name), checkVisible(one)); err != nil {
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

// countParts counts the schemas in v; on are the references that led there.
func (c *counting) countParts(v any, on []string) (int, error) {
	n := 0
	add := func(below any, on []string) error {
		m, err := c.countParts(below, on)
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
				m, err := c.countReference(ref, on)
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

// countReference counts what a reference stands for, each once.
func (c *counting) countReference(ref string, on []string) (int, error) {
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
	n, err := c.countParts(to, append(slices.Clone(on), ref))
	if err == nil {
		c.known[ref] = n
	}
	return n, err
}
