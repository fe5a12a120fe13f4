package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/jsontree"
)

// The schemas a json block may carry.
const (
	SchemaNotes    = "odd.notes.1"
	SchemaUsage    = "odd.usage.1"
	SchemaHandoff  = "odd.handoff.1"
	SchemaFinish   = "odd.finish.1"
	SchemaSay      = "odd.say.1"
	SchemaProposal = "odd.proposal.1"
)

// The most of each that is read. What is larger is refused by name: it is no
// report but a dump.
const (
	maxObject    = 1 << 20 // bytes of one json block
	maxSays      = 500     // an emission's
	maxMissing   = 100     // of an insufficient handoff
	maxProposals = 50      // an emission's
	maxReason    = 500     // bytes of a proposal's reason
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
	Schema  string   `json:"schema"`
	Outcome Outcome  `json:"outcome"`
	Failure string   `json:"failure,omitempty"`
	Detail  string   `json:"detail,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

type says struct {
	Schema string        `json:"schema"`
	Says   []deliver.Say `json:"says"`
}

type proposal struct {
	Schema   string `json:"schema"`
	Severity string `json:"severity"`
	Gate     string `json:"gate"`
	Reason   string `json:"reason"`
}

// schemaNames lists every schema of a json block.
func schemaNames() []string {
	return append([]string{SchemaNotes, SchemaUsage, SchemaHandoff, SchemaFinish, SchemaSay, SchemaProposal}, deliver.Schemas()...)
}

// parseObject reads a json block by its schema.
func (p *parser) parseObject(b block) {
	if len(b.text) > maxObject {
		p.addProblem(b.line, fmt.Sprintf("a json block of %d bytes, at most %d", len(b.text), maxObject), "say less, or name a file")
		return
	}
	schema, err := schemaOf(b.text)
	if err != nil {
		p.addProblem(b.line+errorLine(b.text, err), err.Error(), "write one whole JSON object with a schema and nothing beside it; an example belongs in a block of another word")
		return
	}
	switch schema {
	case SchemaNotes:
		err = p.parseNotes(b)
	case SchemaUsage:
		err = p.parseUsage(b)
	case SchemaHandoff:
		err = p.parseHandoff(b)
	case SchemaFinish:
		err = p.parseFinish(b)
	case SchemaSay:
		err = p.parseSays(b)
	case SchemaProposal:
		err = p.parseProposal(b)
	default:
		if !slices.Contains(deliver.Schemas(), schema) {
			p.addProblem(b.line, fmt.Sprintf("unknown schema %q", schema), "the schemas are "+strings.Join(schemaNames(), ", "))
			return
		}
		p.parseDeliverable(schema, b)
	}
	if err != nil {
		p.addProblem(b.line+errorLine(b.text, err), schema+": "+err.Error(), "")
	}
}

func (p *parser) parseNotes(b block) error {
	var v notes
	if err := decodeStrict(b.text, &v); err != nil {
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

// The most that an agent may tell of one session, so that no sum over many of them
// is beyond what an integer holds.
const (
	mostTurns = 1_000_000
	mostCost  = 1_000_000_000_000 // micro-USD
)

func (p *parser) parseUsage(b block) error {
	var v usage
	if err := decodeStrict(b.text, &v); err != nil {
		return err
	}
	if v.Turns < 0 || v.Cost != nil && *v.Cost < 0 {
		return errors.New("turns and cost_micro_usd are not negative")
	}
	if v.Turns > mostTurns || v.Cost != nil && *v.Cost > mostCost {
		return fmt.Errorf("turns are at most %d, and cost_micro_usd %d: more is no session's", mostTurns, int64(mostCost))
	}
	if !p.isFirst(SchemaUsage, b.line) {
		return nil
	}
	p.e.Usage = Usage{Turns: max(v.Turns, 1), Model: v.Model}
	if v.Cost != nil {
		p.e.Usage.Cost, p.e.Usage.CostKnown = *v.Cost, true
	}
	return nil
}

func (p *parser) parseHandoff(b block) error {
	var v handoff
	if err := decodeStrict(b.text, &v); err != nil {
		return err
	}
	if p.isFirst(SchemaHandoff, b.line) {
		p.e.Handoff = v.Handoff
	}
	return nil
}

func (p *parser) parseFinish(b block) error {
	var v finish
	if err := decodeStrict(b.text, &v); err != nil {
		return err
	}
	switch {
	case !isKnownOutcome(v.Outcome):
		return fmt.Errorf("unknown outcome %q; the outcomes are completed, failed, handoff_insufficient, refused", v.Outcome)
	case v.Outcome != Failed && v.Failure != "":
		return fmt.Errorf("outcome %s with a failure", v.Outcome)
	case v.Outcome == Failed && v.Failure == "":
		v.Failure = "declared"
	}
	if err := checkInsufficient(v); err != nil {
		return err
	}
	if p.isFirst(SchemaFinish, b.line) {
		p.e.Outcome, p.e.Failure, p.e.Detail, p.e.Missing = v.Outcome, v.Failure, v.Detail, v.Missing
	}
	return nil
}

// checkInsufficient holds the outcome handoff_insufficient to its promise: it names
// what is missing, and no other outcome does.
func checkInsufficient(v finish) error {
	switch {
	case v.Outcome != HandoffInsufficient && len(v.Missing) > 0:
		return fmt.Errorf("outcome %s with something missing; only %s has missing", v.Outcome, HandoffInsufficient)
	case v.Outcome != HandoffInsufficient:
		return nil
	case len(v.Missing) == 0:
		return fmt.Errorf("outcome %s without missing; name what the handoff should have held", HandoffInsufficient)
	case len(v.Missing) > maxMissing:
		return fmt.Errorf("missing has %d texts, at most %d", len(v.Missing), maxMissing)
	}
	for i, m := range v.Missing {
		if strings.TrimSpace(m) == "" {
			return fmt.Errorf("missing[%d] is empty", i)
		}
	}
	return nil
}

// parseSays reads what was said; several blocks add up, in order.
func (p *parser) parseSays(b block) error {
	var v says
	if err := decodeStrict(b.text, &v); err != nil {
		return err
	}
	if len(p.e.Says)+len(v.Says) > maxSays {
		return fmt.Errorf("%d says in one emission, at most %d", len(p.e.Says)+len(v.Says), maxSays)
	}
	for i, s := range v.Says {
		if err := s.Check(); err != nil {
			return fmt.Errorf("says[%d]: %w", i, err)
		}
		p.e.Says = append(p.e.Says, s)
	}
	return nil
}

// The words a proposal may use. Package gate has the same lists; a name that is
// not among them is a problem, never sorted last.
var (
	severities = []string{"emergency", "high", "medium", "low"}
	gates      = []string{"framing", "commitment", "evaluation", "emergency"}
)

// parseProposal reads one proposal; several blocks add up, in order.
func (p *parser) parseProposal(b block) error {
	var v proposal
	if err := decodeStrict(b.text, &v); err != nil {
		return err
	}
	switch reason := strings.TrimSpace(v.Reason); {
	case len(p.e.Proposals) == maxProposals:
		return fmt.Errorf("more than %d proposals in one emission", maxProposals)
	case !slices.Contains(severities, v.Severity):
		return fmt.Errorf("unknown severity %q; want one of %s", v.Severity, strings.Join(severities, ", "))
	case !slices.Contains(gates, v.Gate):
		return fmt.Errorf("unknown gate %q; want one of %s", v.Gate, strings.Join(gates, ", "))
	case reason == "":
		return errors.New("a proposal without a reason")
	case len(reason) > maxReason:
		return fmt.Errorf("a reason of %d bytes, at most %d", len(reason), maxReason)
	}
	p.e.Proposals = append(p.e.Proposals, Proposal{v.Severity, v.Gate, strings.TrimSpace(v.Reason)})
	return nil
}

// parseDeliverable reads the one thing a session hands over. A second one is a
// problem, of the same schema or of another: nobody could say which was meant.
func (p *parser) parseDeliverable(schema string, b block) {
	d, err := deliver.Decode(schema, b.text)
	var bad deliver.Problems
	switch first := p.e.Deliverable; {
	case errors.As(err, &bad):
		for _, f := range bad {
			p.addProblem(b.line+f.Line, placePrefix(schema, f.At)+f.Message, "")
		}
	case err != nil:
		p.addProblem(b.line, schema+": "+err.Error(), "")
	case first != nil:
		p.addProblem(b.line, fmt.Sprintf("a second deliverable, %s; the first is %s on line %d", schema, first.Schema, p.seen["deliverable"]),
			"hand over one, as one block")
	default:
		p.seen["deliverable"] = b.line
		p.e.Deliverable = &d
	}
}

// placePrefix is the head of a message about a place inside an object, "" for the object.
func placePrefix(schema, at string) string {
	if at == "" {
		return schema + ": "
	}
	return schema + ": " + at + ": "
}

// schemaOf returns the object's schema. It reads the keys itself, because the
// decoder takes the last of two equal keys and matches them in any case, and an
// outcome must not depend on either.
func schemaOf(text []byte) (string, error) {
	o, err := jsontree.Parse(text)
	if err != nil {
		return "", err
	}
	if o.Kind != '{' {
		return "", errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	for _, m := range o.Members {
		if seen[m.Name] || strings.ToLower(m.Name) != m.Name {
			return "", fmt.Errorf("key %q stands twice or is not lower case", m.Name)
		}
		seen[m.Name] = true
	}
	schema, ok := o.Get("schema")
	switch {
	case ok && schema.Kind != '"':
		return "", errors.New("schema is not a string")
	case schema.Text == "":
		return "", errors.New("a json block without a schema")
	}
	return schema.Text, nil
}

// decodeStrict reads text strictly: no unknown key, one value.
func decodeStrict(text []byte, v any) error {
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

// errorLine is the line inside text, from 1, a decoding error points to; 1 when it does not say.
func errorLine(text []byte, err error) int {
	off := int64(0)
	var syntax *jsontree.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		off = int64(syntax.Offset) + 1
	case errors.As(err, &typ):
		off = typ.Offset
	}
	off = min(max(off, 0), int64(len(text)))
	return 1 + bytes.Count(bytes.TrimRight(text[:off], "\n"), []byte("\n"))
}
