package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

type compileIn struct {
	Role   string `json:"role" jsonschema:"id of the role atom"`
	Inline bool   `json:"inline,omitempty" jsonschema:"put the bodies of the atoms into the document"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before: the rest of a long document"`
}

type compileOut struct {
	Role     string   `json:"role"`
	Commit   string   `json:"commit,omitempty"` // "" where it was read from files
	Digest   string   `json:"digest"`
	Markdown string   `json:"markdown"`
	Items    []item   `json:"items"`
	Total    int      `json:"total"`
	Gaps     []string `json:"gaps"`
	Next     string   `json:"next,omitempty"`
}

// item is one atom that a persona rests on.
type item struct {
	Section    persona.Section `json:"section"`
	ID         string          `json:"id"`
	Path       string          `json:"path"`
	Blob       string          `json:"blob"`
	Confidence string          `json:"confidence"`
	Tier       string          `json:"tier"`
	Owned      bool            `json:"owned,omitempty"`
}

type contextIn struct {
	Task string `json:"task,omitempty" jsonschema:"id of the task it is about; left out, of none in particular"`
}

type contextOut struct {
	Markdown string         `json:"markdown"`
	Context  map[string]any `json:"context"`
}

type boardIn struct {
	State  string `json:"state,omitempty" jsonschema:"only tasks in this state"`
	All    bool   `json:"all,omitempty" jsonschema:"done ones too"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next of the page before"`
}

type boardOut struct {
	Tasks []BoardTask `json:"tasks"`
	Total int         `json:"total"`
	Next  string      `json:"next,omitempty"`
}

type proposeIn struct {
	Title        string   `json:"title" jsonschema:"in a few words, what is to be done"`
	ID           string   `json:"id,omitempty" jsonschema:"a slug; from the title if left out"`
	Description  string   `json:"description,omitempty" jsonschema:"one sentence"`
	Kind         string   `json:"kind,omitempty" jsonschema:"what sort of work: extract, research, document, fix and so on"`
	Role         string   `json:"role,omitempty" jsonschema:"id of the role whose persona works it"`
	Priority     string   `json:"priority,omitempty" jsonschema:"p0, p1, p2 or p3"`
	Dependencies []string `json:"dependencies,omitempty" jsonschema:"ids of tasks that must be done first"`
	Acceptance   []string `json:"acceptance,omitempty" jsonschema:"sentences that are true when it is done"`
	Inputs       []string `json:"inputs,omitempty" jsonschema:"paths or uris a session reads"`
	Paths        []string `json:"paths,omitempty" jsonschema:"globs of files its session may change"`
	Body         string   `json:"body,omitempty" jsonschema:"markdown below the title"`
}

func (w World) addWork(s *sdk.Server) {
	addTool(s, spec{name: "compile_persona", title: "Compile a role", use: "Compile a role's part of the graph: its teams, processes, policies, systems and terms, with what it was compiled from.",
		limits: requireFields("role")}, w.compileRole)
	addTool(s, spec{name: "context", title: "What to read first", use: "What to read before asking: lease, decisions, artifacts, progress and signals, for one task or in general."}, w.readContext)
	addTool(s, spec{name: "board_list", title: "The board", use: "The tasks on the board, in the order in which they would be drained.",
		limits: func(p map[string]*jsonschema.Schema) {
			for _, st := range board.States() {
				p["state"].Enum = append(p["state"].Enum, string(st))
			}
		}}, w.listBoard)
	addTool(s, spec{name: "task_propose", title: "Propose a task", writes: true,
		use: "File a task in backlog, as an agent; a person decides whether it becomes ready, and only a person gives it commands. Refused without a live session.",
		limits: func(p map[string]*jsonschema.Schema) {
			limitLength(p["title"], 1, 200)
			for _, f := range []string{"id", "description", "kind", "role", "priority"} {
				limitLength(p[f], 1, maxName)
			}
			most := 50
			for _, f := range []string{"dependencies", "acceptance", "inputs", "paths"} {
				p[f].MaxItems = &most
			}
			limitLength(p["body"], 0, 64<<10)
			p["priority"].Enum = []any{"p0", "p1", "p2", "p3"}
		}}, w.proposeTask)
	w.addAnchor(s)
}

func (w World) compileRole(ctx context.Context, in compileIn) (out compileOut, err error) {
	c, err := w.Compile(ctx, in.Role)
	if err != nil {
		return out, &fieldError{"role", err}
	}
	p := c.Persona
	out = compileOut{Role: p.Role.ID, Commit: p.Commit, Digest: p.Digest(), Items: []item{}, Total: len(p.Items), Gaps: append([]string{}, p.Gaps...)}
	for _, it := range append([]persona.Item{p.Role}, p.Items...) {
		out.Items = append(out.Items, item{it.Section, it.ID, it.Path, it.Blob, it.Confidence, it.Tier, it.Owned})
	}
	text, _ := cleanText(string(p.Markdown(c.Graph, in.Inline)), true)
	out.Markdown, out.Next, err = textPage(text, in.Cursor, "compile_persona", p.Role.ID, out.Digest, fmt.Sprint(in.Inline))
	return out, err
}

func (w World) readContext(ctx context.Context, in contextIn) (out contextOut, err error) {
	data, text, err := w.Context(ctx, in.Task)
	if err != nil {
		return out, err
	}
	b, err := json.Marshal(data)
	if err != nil {
		return out, err
	}
	out.Markdown = text
	return out, json.Unmarshal(b, &out.Context)
}

func (w World) listBoard(ctx context.Context, in boardIn) (out boardOut, err error) {
	all, err := w.Board(ctx, BoardQuery{State: board.State(in.State), Done: in.All})
	if err != nil {
		return out, err
	}
	out.Total = len(all)
	out.Tasks, out.Next, err = cutPage(all, pageFacts, in.Cursor, "board_list", in.State, fmt.Sprint(in.All))
	return out, err
}

// proposeTask files what an agent may say of a task. Commands, budgets and the
// contract are a person's, and the tool has no field for them.
func (w World) proposeTask(ctx context.Context, in proposeIn) (Proposed, error) {
	if strings.TrimSpace(okf.Visible(in.Title)) == "" {
		return Proposed{}, errors.New("title: want a few words")
	}
	return w.Propose(ctx, board.Filing{
		ID: okf.ID(in.ID), Title: in.Title, Description: in.Description, Kind: in.Kind, Role: in.Role, Priority: in.Priority,
		Dependencies: in.Dependencies, Acceptance: in.Acceptance, Inputs: in.Inputs, Paths: in.Paths, Body: in.Body,
	})
}
