package toolbox

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/jsontree"
)

// kind is what an argument may be.
type kind string

const (
	isText  kind = "string"
	isInt   kind = "integer"
	isWords kind = "array" // of strings
	isAny   kind = "object"
)

// param is one argument of a tool. The tool's schema and the check of what a model
// gives are made of the same list.
type param struct {
	name  string
	kind  kind
	must  bool
	about string
	most  int      // bytes of a text or object, value of an integer, words of a list; 0: the kind's own
	oneOf []string // of a text
}

// The most of each kind, where its param is silent.
const (
	mostText  = 4 << 10 // bytes
	mostWords = 64      // of a list
	mostArgs  = 2 << 20 // bytes of all arguments of a call
)

func (p param) upperBound() int {
	switch {
	case p.most > 0:
		return p.most
	case p.kind == isWords:
		return mostWords
	}
	return mostText
}

// schemaFor is the JSON Schema of the params: an object that has nothing beside them.
func schemaFor(params []param) json.RawMessage {
	props, must := map[string]any{}, []string{}
	for _, p := range params {
		v := map[string]any{"type": string(p.kind), "description": p.about}
		switch p.kind {
		case isWords:
			v["items"] = map[string]any{"type": "string"}
			v["maxItems"] = p.upperBound()
		case isInt:
			v["minimum"], v["maximum"] = 0, p.upperBound()
		}
		if len(p.oneOf) > 0 {
			v["enum"] = p.oneOf
		}
		props[p.name] = v
		if p.must {
			must = append(must, p.name)
		}
	}
	out, err := json.Marshal(map[string]any{"type": "object", "properties": props, "required": must, "additionalProperties": false})
	if err != nil {
		panic("unreachable: " + err.Error()) // texts and numbers only
	}
	return out
}

// args are the checked arguments of a call, those that were given.
type args map[string]json.RawMessage

func (a args) getText(name string) string { return getArg[string](a, name, "") }

// getInt is an integer argument, or def where it was not given.
func (a args) getInt(name string, def int) int { return getArg(a, name, def) }

func (a args) getWords(name string) []string { return getArg[[]string](a, name, nil) }

func getArg[T any](a args, name string, v T) T {
	_ = json.Unmarshal(a[name], &v) // it was checked, or there is none
	return v
}

// readArgs reads the arguments of a call. The error names the field. A null is one that was
// not given.
func readArgs(raw json.RawMessage, params []param) (args, error) {
	a := args{}
	fields, err := readMembers(raw)
	if err != nil {
		return a, err
	}
	for name, v := range fields {
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		if i < 0 {
			return a, fmt.Errorf("%q is no argument; the arguments are %s", okf.Clip(name, 64), paramNames(params))
		}
		if string(v) == "null" {
			continue
		}
		if err := params[i].checkValue(v); err != nil {
			return a, fmt.Errorf("%s: %w", name, err)
		}
		a[name] = v
	}
	for _, p := range params {
		if p.must && a[p.name] == nil {
			return a, fmt.Errorf("%s: is missing; %s", p.name, p.about)
		}
	}
	return a, nil
}

func paramNames(params []param) string {
	var out []string
	for _, p := range params {
		out = append(out, p.name)
	}
	if out == nil {
		return "none"
	}
	return strings.Join(out, ", ")
}

func (p param) checkValue(v json.RawMessage) error {
	switch p.kind {
	case isText:
		return p.checkText(v)
	case isInt:
		var n int
		if json.Unmarshal(v, &n) != nil || n < 0 || n > p.upperBound() {
			return fmt.Errorf("want an integer from 0 to %d", p.upperBound())
		}
	case isWords:
		return p.checkWords(v)
	case isAny:
		if v[0] != '{' || len(v) > p.upperBound() {
			return fmt.Errorf("want an object of at most %d bytes", p.upperBound())
		}
	}
	return nil
}

func (p param) checkText(v json.RawMessage) error {
	var s string
	switch {
	case json.Unmarshal(v, &s) != nil:
		return errors.New("want a text")
	case len(s) > p.upperBound():
		return fmt.Errorf("is %d bytes, at most %d", len(s), p.upperBound())
	case len(p.oneOf) > 0 && !slices.Contains(p.oneOf, s):
		return fmt.Errorf("want one of %s", strings.Join(p.oneOf, ", "))
	case p.must && s == "" && p.most == 0:
		return fmt.Errorf("is empty; %s", p.about)
	}
	return nil
}

func (p param) checkWords(v json.RawMessage) error {
	var list []*string
	if json.Unmarshal(v, &list) != nil || len(list) > p.upperBound() {
		return fmt.Errorf("want a list of at most %d texts", p.upperBound())
	}
	for i, s := range list {
		if s == nil || len(*s) > mostText || strings.ContainsRune(*s, 0) {
			return fmt.Errorf("element %d: want a text of at most %d bytes", i, mostText)
		}
	}
	return nil
}

// readMembers are the members of an object, each once. No arguments at all are none.
func readMembers(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0:
		return nil, nil
	case len(raw) > mostArgs:
		return nil, fmt.Errorf("arguments: are %d bytes, at most %d", len(raw), mostArgs)
	}
	o, bad := jsontree.ParseUnique(raw)
	switch {
	case bad != nil:
		return nil, fmt.Errorf("arguments: %w", bad)
	case o.Kind != '{':
		return nil, errors.New("arguments: want one JSON object")
	}
	out := map[string]json.RawMessage{}
	for _, m := range o.Members {
		out[m.Name] = raw[m.Value.From:m.Value.To]
	}
	return out, nil
}

// keyFor is the SHA-256, in hex, of arguments as compact JSON with sorted keys, of
// the bytes as they stand where they are no JSON.
func keyFor(raw json.RawMessage) string {
	canonical := []byte(raw)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if len(raw) <= mostArgs && d.Decode(&v) == nil {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) == nil {
			canonical = bytes.TrimSpace(b.Bytes())
		}
	}
	return hashHex(canonical)
}

func hashHex(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
