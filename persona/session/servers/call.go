package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// MaxArguments bounds the arguments of one call, in bytes: enough to ask something,
// too little to carry a repository away.
const MaxArguments = 64 << 10

// mostBlocks bounds the parts of one answer.
const mostBlocks = 256

func (s *server) callTool(ctx context.Context, tool string, check checker, given json.RawMessage) (string, error) {
	if err := s.whyLost(); err != nil {
		return "", err
	}
	args, err := checkArguments(given, check)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.calls++
	cs := s.client
	s.mu.Unlock()
	in, cancel := context.WithTimeout(ctx, s.spec.Timeout)
	defer cancel()
	res, err := callTool(in, cs, &sdk.CallToolParams{Name: tool, Arguments: args})
	text, err := s.readAnswer(ctx, in, res, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.failed++
	}
	return text, err
}

// callTool returns CallTool, which returns when ctx ends whatever the server does.
func callTool(ctx context.Context, cs *sdk.ClientSession, p *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	if cs == nil {
		return nil, sdk.ErrConnectionClosed
	}
	type answer struct {
		res *sdk.CallToolResult
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := cs.CallTool(ctx, p)
		done <- answer{res, err}
	}()
	select {
	case a := <-done:
		return a.res, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *server) readAnswer(ctx, in context.Context, res *sdk.CallToolResult, err error) (string, error) {
	var wire *jsonrpc.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil && in.Err() != nil:
		return "", s.countSilence()
	case errors.As(err, &wire):
		s.resetSilence()
		return "", &fault{"server_error", "the server refused the call: " + s.cleanText(wire.Message, 4000)}
	case err != nil:
		return "", s.loseServer(err)
	}
	s.resetSilence()
	text := s.contentText(res)
	if res.IsError {
		return "", &fault{"tool_error", text}
	}
	return text, nil
}

func (s *server) resetSilence() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hung = 0
}

// countSilence counts a call that was not answered in time, and returns its error. The last of several loses the server.
func (s *server) countSilence() error {
	s.mu.Lock()
	s.hung++
	over := s.hung >= mostHung
	s.mu.Unlock()
	if over {
		s.keepLoss("hung", fmt.Sprintf("%d calls in a row were not answered within %s", mostHung, s.spec.Timeout))
		s.closeServer()
	}
	return fmt.Errorf("the server %s did not answer within %s: %w", s.spec.Name, s.spec.Timeout, context.DeadlineExceeded)
}

// loseServer loses a server whose line broke.
func (s *server) loseServer(err error) error {
	s.loseFor(s.nameBreak(err, "crashed"), "crashed")
	s.closeServer()
	return s.whyLost()
}

// checkArguments returns what is sent: held to the schema, and without credentials.
func checkArguments(given json.RawMessage, check checker) (map[string]any, error) {
	given = bytes.TrimSpace(given)
	if len(given) == 0 {
		given = json.RawMessage("{}")
	}
	args := map[string]any{}
	switch {
	case len(given) > MaxArguments:
		return nil, policy.Refuse("arguments_too_large", "the arguments are %d bytes, at most %d may be sent to a server", len(given), MaxArguments)
	case json.Unmarshal(given, &args) != nil:
		return nil, policy.Refuse("bad_arguments", "the arguments are no JSON object")
	}
	if holdsCredential(args) {
		return nil, policy.Refuse("secret_in_arguments", "the arguments hold what looks like a credential, which is sent to no server")
	}
	if err := check.Validate(args); err != nil {
		return nil, &policy.Refusal{Code: "bad_arguments", Why: "the arguments are not the tool's: " + okf.Clip(err.Error(), 1000)}
	}
	return args, nil
}

// holdsCredential reports arguments that hold a credential, in one text or across a name
// and its value.
func holdsCredential(args map[string]any) bool {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	return e.Encode(args) != nil || secrets.RedactText(b.String()) != b.String() || holdsSecret(args)
}

// holdsSecret looks at each text by itself, as it is and not as JSON writes it.
func holdsSecret(v any) bool {
	switch v := v.(type) {
	case string:
		return secrets.RedactText(v) != v
	case []any:
		return slices.ContainsFunc(v, holdsSecret)
	case map[string]any:
		for name, one := range v {
			if holdsSecret(name) || holdsSecret(one) {
				return true
			}
		}
	}
	return false
}

// contentText is an answer as text. What is no text is told of and left out.
func (s *server) contentText(res *sdk.CallToolResult) string {
	var out []string
	spoken := false
	for i, c := range res.Content {
		if i == mostBlocks {
			out = append(out, fmt.Sprintf("[%d more parts are left out]", len(res.Content)-i))
			break
		}
		if t, ok := c.(*sdk.TextContent); ok && strings.TrimSpace(t.Text) != "" {
			spoken = true
		}
		out = append(out, partText(c))
	}
	if b, err := json.Marshal(res.StructuredContent); err == nil && res.StructuredContent != nil && !spoken {
		out = append(out, string(b))
	}
	return s.cleanText(strings.Join(out, "\n"), s.spec.MaxBytes)
}

func partText(c sdk.Content) string {
	switch c := c.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return fmt.Sprintf("[an image (%s, %d bytes) is left out]", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return fmt.Sprintf("[a sound (%s, %d bytes) is left out]", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[a link: %s %s]", c.URI, c.Name)
	case *sdk.EmbeddedResource:
		switch r := c.Resource; {
		case r == nil:
			return "[an empty resource]"
		case len(r.Blob) > 0:
			return fmt.Sprintf("[the resource %s (%s, %d bytes) is left out]", r.URI, r.MIMEType, len(r.Blob))
		default:
			return fmt.Sprintf("[the resource %s]\n%s", r.URI, r.Text)
		}
	}
	return "[a part of a kind that odd does not know is left out]"
}
