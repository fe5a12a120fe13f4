package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The schemas a json block may carry.
const (
	SchemaNotes   = "odd.notes.1"
	SchemaUsage   = "odd.usage.1"
	SchemaHandoff = "odd.handoff.1"
	SchemaFinish  = "odd.finish.1"
)

type note struct {
	Type    string `json:"type"`
	Facet   string `json:"facet,omitempty"`
	Title   string `json:"title"`
	Content string `json:"content"`
}

type notes struct {
	Schema string `json:"schema"`
	Notes  []note `json:"notes"`
}

type usage struct {
	Schema string `json:"schema"`
	Turns  int    `json:"turns"`
	Cost   *int64 `json:"cost_micro_usd,omitempty"`
	Model  string `json:"model,omitempty"`
}

type handoff struct {
	Schema  string `json:"schema"`
	Handoff string `json:"handoff"`
}

type finish struct {
	Schema  string  `json:"schema"`
	Outcome Outcome `json:"outcome"`
	Failure string  `json:"failure,omitempty"`
	Detail  string  `json:"detail,omitempty"`
}

// object reads a json block by its schema.
func (p *parser) object(b block) {
	schema, err := schemaOf(b.text)
	if err != nil {
		p.problem(b.line+at(b.text, err), err.Error(), "write one JSON object with a schema; an example belongs in a block of another word")
		return
	}
	switch schema {
	case SchemaNotes:
		err = p.notes(b)
	case SchemaUsage:
		err = p.usage(b)
	case SchemaHandoff:
		err = p.handoff(b)
	case SchemaFinish:
		err = p.finish(b)
	default:
		p.problem(b.line, fmt.Sprintf("unknown schema %q", schema),
			"the schemas are "+strings.Join([]string{SchemaNotes, SchemaUsage, SchemaHandoff, SchemaFinish}, ", "))
	}
	if err != nil {
		p.problem(b.line+at(b.text, err), schema+": "+err.Error(), "")
	}
}

func (p *parser) notes(b block) error {
	var v notes
	if err := decode(b.text, &v); err != nil {
		return err
	}
	for i, f := range v.Notes {
		if f.Type == "" || f.Title == "" {
			return fmt.Errorf("note %d has no type or no title", i+1)
		}
		p.e.Notes = append(p.e.Notes, Note(f))
	}
	return nil
}

func (p *parser) usage(b block) error {
	var v usage
	if err := decode(b.text, &v); err != nil {
		return err
	}
	if v.Turns < 0 || v.Cost != nil && *v.Cost < 0 {
		return errors.New("turns and cost_micro_usd are not negative")
	}
	if !p.once(SchemaUsage, b.line) {
		return nil
	}
	p.e.Usage = Usage{Turns: max(v.Turns, 1), Model: v.Model}
	if v.Cost != nil {
		p.e.Usage.Cost, p.e.Usage.CostKnown = *v.Cost, true
	}
	return nil
}

func (p *parser) handoff(b block) error {
	var v handoff
	if err := decode(b.text, &v); err != nil {
		return err
	}
	if p.once(SchemaHandoff, b.line) {
		p.e.Handoff = v.Handoff
	}
	return nil
}

func (p *parser) finish(b block) error {
	var v finish
	if err := decode(b.text, &v); err != nil {
		return err
	}
	switch {
	case !known(v.Outcome):
		return fmt.Errorf("unknown outcome %q; the outcomes are completed, failed, handoff_insufficient, refused", v.Outcome)
	case v.Outcome != Failed && v.Failure != "":
		return fmt.Errorf("outcome %s with a failure", v.Outcome)
	case v.Outcome == Failed && v.Failure == "":
		v.Failure = "declared"
	}
	if p.once(SchemaFinish, b.line) {
		p.e.Outcome, p.e.Failure, p.e.Detail = v.Outcome, v.Failure, v.Detail
	}
	return nil
}

// schemaOf returns the object's schema. It reads the keys itself, because the
// decoder takes the last of two equal keys and matches them in any case, and an
// outcome must not depend on either.
func schemaOf(text []byte) (string, error) {
	if !json.Valid(text) {
		var v any
		return "", json.Unmarshal(text, &v)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", errors.New("not a JSON object")
	}
	schema, seen := "", map[string]bool{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return "", err
		}
		key, _ := k.(string)
		if folded := strings.ToLower(key); seen[folded] || folded != key {
			return "", fmt.Errorf("key %q stands twice or is not lower case", key)
		}
		seen[key] = true
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return "", err
		}
		if key == "schema" && json.Unmarshal(v, &schema) != nil {
			return "", errors.New("schema is not a string")
		}
	}
	if schema == "" {
		return "", errors.New("a json block without a schema")
	}
	return schema, nil
}

// decode reads text strictly: no unknown key, one value.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// at is the line inside text, from 1, a decoding error points to; 1 when it does not say.
func at(text []byte, err error) int {
	off := int64(0)
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		off = syntax.Offset
	case errors.As(err, &typ):
		off = typ.Offset
	}
	off = min(max(off, 0), int64(len(text)))
	return 1 + bytes.Count(bytes.TrimRight(text[:off], "\n"), []byte("\n"))
}
