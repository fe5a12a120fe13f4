package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/anchor"
)

// Tool is one tool and all that a server needs of it.
type Tool struct {
	Name        string
	Description string
	InputSchema json.RawMessage                          // JSON Schema of the arguments
	Handle      func(input json.RawMessage) (any, error) // an error is a call that cannot be meant; a refusal is a result
}

// AnchorInput is what the tool anchor is called with. Stage says which of the
// others it needs: identity a role, every other a token and a payload.
type AnchorInput struct {
	Stage      string            `json:"stage"`
	WorkingDir string            `json:"working_dir"`
	Role       string            `json:"role,omitempty"`
	Mode       anchor.Mode       `json:"mode,omitempty"`
	Strictness anchor.Strictness `json:"strictness,omitempty"`
	Topic      string            `json:"topic,omitempty"`
	Session    string            `json:"session,omitempty"`
	Token      string            `json:"token,omitempty"`
	Payload    string            `json:"payload,omitempty"`
}

// anchorSchema is AnchorInput as a client sees it.
const anchorSchema = `{
  "type": "object",
  "properties": {
    "stage": {"type": "string", "enum": ["identity", "context", "proof", "express"], "description": "identity first; then context and proof, or under mode express only express"},
    "working_dir": {"type": "string", "description": "absolute path of the work tree, or of a directory in it"},
    "role": {"type": "string", "description": "identity only: the role to be bound to"},
    "mode": {"type": "string", "enum": ["full", "express", "lite", "untracked"], "description": "identity only; full if left out"},
    "strictness": {"type": "string", "enum": ["quick", "default", "deep"], "description": "identity only; how much must be proven"},
    "session": {"type": "string", "description": "identity only: the id that your agent program gives this session, as the refusal of the gate names it; the permit is for that session alone"},
    "topic": {"type": "string", "description": "identity only: what the session is about"},
    "token": {"type": "string", "description": "every stage but identity: as identity gave it"},
    "payload": {"type": "string", "description": "every stage but identity: the template of the last answer, filled in"}
  },
  "required": ["stage", "working_dir"],
  "additionalProperties": false
}`

func stages() []string { return []string{"identity", "context", "proof", "express"} }

// maxInput is the longest call that is read, in bytes.
const maxInput = 1 << 20

// Anchor is the tool that binds a session. open finds the desk of a directory;
// what it returns besides is called when the call is over. The answer is an
// anchor.Result.
func Anchor(open func(workingDir string) (anchor.Desk, func() error, error)) Tool {
	return Tool{
		Name: "anchor",
		Description: "Bind this session to a role before its tools may write: identity opens it, context proves that the constitution was read, " +
			"proof says what it means to do and gives the permit. Each answer has the next step and a template for it.",
		InputSchema: json.RawMessage(anchorSchema),
		Handle: func(input json.RawMessage) (any, error) {
			in, err := readAnchor(input)
			if err != nil {
				return nil, fmt.Errorf("anchor: %w", err)
			}
			desk, done, err := open(in.WorkingDir)
			if err != nil {
				return nil, fmt.Errorf("anchor: %w", err)
			}
			r := in.call(desk)
			if r.Errors == nil {
				r.Errors = []anchor.Problem{}
			}
			r.NextStep = asCall(r.NextStep)
			return r, done()
		},
	}
}

// asCall is the next step as one who has this tool and no shell takes it. What is
// no command that the tool stands for stays as it is.
func asCall(step string) string {
	words := strings.Fields(step)
	if len(words) < 4 || words[0] != "odd" || words[1] != "anchor" || !slices.Contains(stages(), words[2]) {
		return step
	}
	if words[2] == "identity" {
		return "call anchor again: stage identity, role " + words[3]
	}
	return "call anchor again: stage " + words[2] + ", token " + words[3] + ", and as payload the template, filled in"
}

// readAnchor reads a call strictly: what it does not know, and what its stage
// does not take, was meant as something.
func readAnchor(input json.RawMessage) (in AnchorInput, err error) {
	if len(input) > maxInput {
		return in, fmt.Errorf("the call is over %d bytes", maxInput)
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return in, fmt.Errorf("the call does not read: %w; see the schema", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return in, errors.New("something stands behind the call")
	}
	opens := in.Stage == "identity"
	switch {
	case !slices.Contains(stages(), in.Stage):
		return in, fmt.Errorf("stage %q: want identity, context, proof or express", in.Stage)
	case in.WorkingDir == "":
		return in, errors.New("working_dir is missing; want the work tree's absolute path")
	case opens && (in.Role == "" || in.Token+in.Payload != ""):
		return in, errors.New("stage identity takes role, and neither token nor payload")
	case !opens && (in.Token == "" || in.Role+string(in.Mode)+string(in.Strictness)+in.Topic+in.Session != ""):
		return in, fmt.Errorf("stage %s takes token and payload, and nothing of identity's", in.Stage)
	}
	return in, nil
}

func (in AnchorInput) call(d anchor.Desk) anchor.Result {
	switch in.Stage {
	case "identity":
		return d.Identity(anchor.IdentityRequest{Role: in.Role, Mode: in.Mode, Strictness: in.Strictness, Topic: in.Topic, HarnessSession: in.Session})
	case "context":
		return d.Context(in.Token, []byte(in.Payload))
	case "proof":
		return d.Proof(in.Token, []byte(in.Payload))
	case "express":
		return d.Express(in.Token, []byte(in.Payload))
	}
	panic("unreachable: stage " + in.Stage)
}
