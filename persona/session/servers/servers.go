// Package servers lets a session use MCP servers that a person configured: it
// starts them, holds them to what they may do, and gives their tools to whoever
// runs the session.
//
//	set := servers.Open(ctx, servers.Options{Specs: servers.For(specs, contract), …})
//	defer set.Close()
//	request.Extra = set.Tools()
//
// A server is a stranger's program, and nothing that it says is believed.
//
// # Promises
//
//  1. A program is started by package cage alone, with a folder of its own, and
//     sees no more of the environment than a check does and what its Spec lists.
//  2. Over HTTP nothing is dialled but the URL. An answer that points elsewhere is
//     a failure, because the token would go there too.
//  3. The tools are listed once. What the list was is kept as its SHA-256, and a
//     server that says later that it has changed is told of and not asked again.
//  4. A tool that a Spec does not allow is none. A name is made by toolName, and of
//     two tools with one name there is neither. A schema is read keyword by keyword,
//     and one that is none, refers to itself or hides signs costs its tool.
//  5. Descriptions are shortened, without what nobody can see and without
//     credentials, and marked where they read like an instruction.
//  6. Every tool counts as one that changes something, unless a person says
//     otherwise, or the server does and a person said to believe it.
//  7. Arguments are held to the schema before they are sent. One that looks like a
//     credential, or that holds more than [MaxArguments], is refused.
//  8. What a server asks of its client, to ask a model, a person or for folders, is
//     refused by name.
//  9. A server that is slow, breaks, lies or never ends costs itself: it is ended,
//     its calls fail under one code, and the session goes on.
//
// Why a server is lost, and why a call comes to nothing, has a word each: see [Codes].
package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
)

// Options are what the servers of one session stand on.
type Options struct {
	Specs   []Spec
	Environ []string  // odd's own
	Run     string    // of the drain, which a program sees as ODD_RUN
	Version string    // of odd, as a server is told
	Cage    cage.Cage // how programs are held
	// Desk makes the folder of a server's program. nil: there is none to be had, and
	// no program is started.
	Desk func(context.Context, Spec) (session.Desk, error)
	Tree session.Desk // the session's own, for a Spec with Tree: it may be read
	// Dial takes the place of starting and dialling, for tests; nil does both.
	Dial func(context.Context, Spec) (sdk.Transport, error)
}

// Set is the servers of one session. It is safe for concurrent use.
type Set struct {
	cancel  context.CancelFunc
	servers []*server
}

// Open starts the servers, at once, and lists their tools. It returns when each is
// ready or lost. They end with ctx, and with Close.
func Open(ctx context.Context, o Options) *Set {
	ctx, cancel := context.WithCancel(ctx)
	s := &Set{cancel: cancel}
	var all sync.WaitGroup
	for _, spec := range o.Specs {
		one := &server{spec: spec.withDefaults(), o: o}
		s.servers = append(s.servers, one)
		all.Go(func() { one.openAndList(ctx) })
	}
	all.Wait()
	return s
}

// Tools are the tools of all servers, by name.
func (s *Set) Tools() []session.Tool {
	var out []session.Tool
	for _, one := range s.servers {
		out = append(out, one.tools...)
	}
	slices.SortFunc(out, func(a, b session.Tool) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Use is what became of one server.
type Use struct {
	Name   string   `json:"name"`
	Says   string   `json:"says,omitempty"` // what it calls itself
	Tools  []string `json:"tools"`          // odd's names of what it gives to the session
	Hash   string   `json:"list_sha256,omitempty"`
	Calls  int      `json:"calls"`
	Failed int      `json:"failed"`
	Code   string   `json:"code,omitempty"` // why it is lost, "" where it is not
	Detail string   `json:"detail,omitempty"`
	Held   string   `json:"held,omitempty"`  // what holds its program, as package cage says it
	Notes  []string `json:"notes,omitempty"` // tools that were left out, a list that changed, what was asked of odd
}

// Uses tells of each server, in the order of the specs.
func (s *Set) Uses() []Use {
	var out []Use
	for _, one := range s.servers {
		out = append(out, one.reportUse())
	}
	return out
}

// Lost is the error of servers that are required and lost, nil where there is none.
func (s *Set) Lost() error {
	var lost []string
	for _, one := range s.servers {
		if u := one.reportUse(); one.spec.Required && u.Code != "" {
			lost = append(lost, fmt.Sprintf("%s: %s [%s]", u.Name, u.Detail, u.Code))
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return errors.New("a required MCP server is lost: " + strings.Join(lost, "; "))
}

// Missing says for a brief which servers the session has to do without, "" for none.
func (s *Set) Missing() string {
	var b strings.Builder
	for _, one := range s.servers {
		if u := one.reportUse(); u.Code != "" {
			fmt.Fprintf(&b, "- %s: its tools, %s…, are not there [%s]\n", u.Name, toolPrefix(u.Name), u.Code)
		}
	}
	return b.String()
}

// Close ends the servers and waits until their programs are gone.
func (s *Set) Close() {
	var all sync.WaitGroup
	for _, one := range s.servers {
		all.Go(one.closeServer)
	}
	all.Wait()
	s.cancel()
}

// Code is a word under which a server is lost, or a call of one of its tools comes
// to nothing.
type Code struct {
	Code, Means string
	Lost        bool // of a server; else of a call
}

// Codes are all of them.
func Codes() []Code {
	lost := func(code, means string) Code { return Code{code, means, true} }
	call := func(code, means string) Code { return Code{code, means, false} }
	return []Code{
		lost("sandbox-unavailable", "the server cannot run in the sandbox that [sandbox] asks for"),
		lost("start-failed", "the server could not be started"),
		lost("start-timeout", "the server was not ready in time"),
		lost("no-token", "the environment variable that holds the server's token is not set"),
		lost("handshake", "the server does not answer, or does not speak MCP"),
		lost("bad-list", "the server's list of tools cannot be read, or is too long"),
		lost("changed-list", "the server's list of tools is not the one that odd.toml pins"),
		lost("garbage", "the server prints too much that is not MCP"),
		lost("too-large", "a message of the server is too large"),
		lost("flood", "the server sends far more than it was asked for"),
		lost("crashed", "the server ended or closed the connection"),
		lost("hung", "the server left too many calls in a row unanswered"),
		call("arguments_too_large", "the arguments of the call are too large"),
		call("secret_in_arguments", "the arguments of the call look like they hold a password, a key or a token"),
		call("server_lost", "the server was lost before or during the call"),
		call("server_error", "the server refused the call"),
		call("tool_error", "the tool reported an error"),
	}
}
