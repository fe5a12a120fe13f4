package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/persona/anchor"
)

// anchorIn is what the tool anchor is called with. Stage says which of the
// others it needs: identity a role, every other a token and a payload.
type anchorIn struct {
	Stage      string `json:"stage" jsonschema:"identity first; then context and proof, or under mode express only express"`
	WorkingDir string `json:"working_dir" jsonschema:"absolute path of the work tree, or of a directory in it"`
	Role       string `json:"role,omitempty" jsonschema:"identity only: the role to be bound to"`
	Mode       string `json:"mode,omitempty" jsonschema:"identity only; full if left out"`
	Strictness string `json:"strictness,omitempty" jsonschema:"identity only; how much must be proven"`
	Session    string `json:"session,omitempty" jsonschema:"identity only: the id that your agent program gives this session, as the refusal of the gate names it; the permit is for that session alone"`
	Topic      string `json:"topic,omitempty" jsonschema:"identity only: what the session is about"`
	Token      string `json:"token,omitempty" jsonschema:"every stage but identity: as identity gave it"`
	Payload    string `json:"payload,omitempty" jsonschema:"every stage but identity: the template of the last answer, filled in"`
}

func stageNames() []any { return []any{"identity", "context", "proof", "express"} }

// addAnchor registers the tool that binds a session. What it answers governs the session
// that asked, and its templates are sent back letter by letter: nothing is marked.
func (w World) addAnchor(s *sdk.Server) {
	addTool(s, spec{name: "anchor", title: "Bind a session", writes: true, governing: true,
		use: "Bind this session to a role before its tools may write: identity opens it, context proves that the constitution was read, " +
			"proof says what it means to do and gives the permit. Each answer has the next step and a template for it.",
		limits: func(p map[string]*jsonschema.Schema) {
			p["stage"].Enum = stageNames()
			p["mode"].Enum = []any{"full", "express", "lite", "untracked"}
			p["strictness"].Enum = []any{"quick", "default", "deep"}
			limitLength(p["working_dir"], 1, 4<<10)
		}}, w.bindSession)
}

// bindSession takes one stage of a session's handshake at the desk of its directory.
func (w World) bindSession(_ context.Context, in anchorIn) (r anchor.Result, err error) {
	if err := in.checkStage(); err != nil {
		return r, err
	}
	desk, done, err := w.Desk(in.WorkingDir)
	if err != nil {
		return r, err
	}
	switch in.Stage {
	case "identity":
		r = desk.Identity(anchor.IdentityRequest{Role: in.Role, Mode: anchor.Mode(in.Mode), Strictness: anchor.Strictness(in.Strictness), Topic: in.Topic, HarnessSession: in.Session})
	case "context":
		r = desk.Context(in.Token, []byte(in.Payload))
	case "proof":
		r = desk.Proof(in.Token, []byte(in.Payload))
	default:
		r = desk.Express(in.Token, []byte(in.Payload))
	}
	if r.Errors == nil {
		r.Errors = []anchor.Problem{}
	}
	r.NextStep = asCall(r.NextStep)
	return r, done()
}

// checkStage refuses what a stage does not take: it was meant as something.
func (in anchorIn) checkStage() error {
	opens := in.Stage == "identity"
	switch {
	case opens && (in.Role == "" || in.Token+in.Payload != ""):
		return errors.New("stage identity takes role, and neither token nor payload")
	case !opens && (in.Token == "" || in.Role+in.Mode+in.Strictness+in.Topic+in.Session != ""):
		return fmt.Errorf("stage %s takes token and payload, and nothing of identity's", in.Stage)
	}
	return nil
}

// asCall is the next step as one who has this tool and no shell takes it. What is
// no command that the tool stands for stays as it is.
func asCall(step string) string {
	words := strings.Fields(step)
	if len(words) < 4 || words[0] != "odd" || words[1] != "anchor" || !slices.Contains(stageNames(), any(words[2])) {
		return step
	}
	if words[2] == "identity" {
		return "call anchor again: stage identity, role " + words[3]
	}
	return "call anchor again: stage " + words[2] + ", token " + words[3] + ", and as payload the template, filled in"
}
