package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
)

// droppedKeys are the keys that an agent may not set. Cap drops them, and writes generated,
// confidence and status itself. Only people set a uri, because references to canon use it.
var droppedKeys = []string{"verified", "generated", "timestamp", "confidence", "status", "uri", "replace_edges"}

// droppedTaskKeys are the keys of a task that only a person or a drain writes.
var droppedTaskKeys = []string{
	"state", "commands", "budget_usd", "claimed_by", "lease_expires", "attempts", "idempotency_key",
	"result", "rejected", "blocked_reason", "approved_by",
}

// Cap limits an atom to what an agent may say. Confidence is at most o.Cap, verified is
// dropped, and generated is set. The status becomes draft; Merge ignores it for an atom
// that exists. Control and zero-width characters are dropped. A task goes to backlog,
// without commands, budget and history.
//
// Cap runs before Merge because Merge trusts the confidence. Capping twice is the same as
// capping once. The error is an okf.Problem with the atom's own path.
func Cap(a okf.Atom, o Options) (okf.Atom, error) {
	if o.Person {
		return a, nil
	}
	if n := len(a.Bytes()); n > o.byteLimit() {
		return okf.Atom{}, newProblem(a.Path, "odd-size", "%s has %d bytes, and at most %d are allowed; split it", a.ID, n, o.byteLimit())
	}
	word := okf.Visible(a.Text("confidence"))
	claimed, ok := okf.ParseConfidence(word)
	if !ok {
		return okf.Atom{}, newProblem(a.Path, "odd-confidence", "%s: unknown confidence %q; use inferred or asserted", a.ID, word)
	}
	fields, err := agentFields(a)
	if err != nil {
		return okf.Atom{}, err
	}
	if isType(a.Type, "task") {
		fields = append(fields, okf.Field{Key: "state", Value: "backlog"})
	}
	fields = append(fields,
		okf.Field{Key: "status", Value: "draft"},
		okf.Field{Key: "confidence", Value: o.capConfidence(claimed).String()},
		okf.Field{Key: "generated", Value: map[string]any{"by": o.By, "at": o.Now.UTC().Format(time.RFC3339)}},
	)
	capped, err := okf.New(a.Path, fields, okf.Visible(string(a.Body())))
	if err != nil {
		return okf.Atom{}, newProblem(a.Path, "odd-unprintable", "%s: %v", a.ID, err)
	}
	return capped, nil
}

// capConfidence returns the confidence that an agent's claim counts for: never above the
// cap, and never verified.
func (o Options) capConfidence(c okf.Confidence) okf.Confidence {
	limit := min(max(o.Cap, okf.Inferred), okf.Asserted)
	return min(max(c, okf.Inferred), limit)
}

// agentFields returns the fields of a that an agent may set, without hidden characters.
func agentFields(a okf.Atom) ([]okf.Field, error) {
	var out []okf.Field
	seen := map[string]bool{}
	for _, f := range a.Fields {
		key := strings.TrimSpace(okf.Visible(f.Key))
		if key == "" || seen[key] || key == "<<" || strings.ContainsAny(key, "\n\t") {
			return nil, newProblem(a.Path, "odd-key", "%s: the key %q is empty, repeated or not a plain word without its invisible characters; rename it", a.ID, f.Key)
		}
		seen[key] = true
		if slices.Contains(droppedKeys, key) || isType(a.Type, "task") && slices.Contains(droppedTaskKeys, key) {
			continue
		}
		v, err := cleanValue(f.Value)
		if err != nil {
			return nil, newProblem(a.Path, "odd-key", "%s: %s: %v", a.ID, key, err)
		}
		if key == "tags" {
			v = slices.DeleteFunc(asList(v), isApproval)
		}
		out = append(out, okf.Field{Key: key, Value: v})
	}
	return out, nil
}

// isApproval reports a tag that records a person's approval of a task.
func isApproval(tag any) bool {
	s, _ := tag.(string)
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(s, "approved-by:") || strings.HasPrefix(s, "approved-on:")
}

// asList returns v as a list: a bare value is a list of one.
func asList(v any) []any {
	switch v := v.(type) {
	case nil:
		return []any{}
	case []any:
		return slices.Clone(v)
	}
	return []any{v}
}

// cleanValue returns v without hidden characters in keys and text.
func cleanValue(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return okf.Visible(v), nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = cleanValue(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			p, err := cleanValue(e)
			if err != nil {
				return nil, err
			}
			clean := okf.Visible(k)
			if _, doubled := out[clean]; doubled {
				return nil, fmt.Errorf("the key %q is repeated, without its invisible characters; rename one", clean)
			}
			out[clean] = p
		}
		return out, nil
	}
	return v, nil
}

// isType compares types without case, spaces and hidden characters.
func isType(t string, names ...string) bool {
	t = strings.ToLower(strings.TrimSpace(okf.Visible(t)))
	return slices.Contains(names, t)
}
