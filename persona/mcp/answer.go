package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// The caps of one answer. A body and a document have a cap of their own.
const (
	maxText = 8 << 10  // bytes of any other text
	maxList = 200      // members of any list
	maxBody = 48 << 10 // bytes of a body or a document on one page
)

// formatAnswer returns what a tool says: the document, and the same as text for clients
// that know no structured content. An error is an answer too, so that the model
// can read it and do better.
func formatAnswer(t spec, out any, err error) (*sdk.CallToolResult, error) {
	if err != nil {
		text := t.name + ": " + strings.TrimPrefix(showError(err), t.name+": ")
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	doc, err := formatDocument(out, !t.governing)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(doc)}}, StructuredContent: json.RawMessage(doc)}, nil
}

// formatDocument returns a value as JSON, every string of it cleaned, with what was marked
// and cut.
func formatDocument(v any, mark bool) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	w := washing{mark: mark, marked: map[string]bool{}, cut: map[string]bool{}}
	tree = w.cleanValue("", tree)
	if top, ok := tree.(map[string]any); ok {
		w.addNames(top, "marked", w.marked)
		w.addNames(top, "cut", w.cut)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(tree)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// washing goes through a document.
type washing struct {
	mark        bool
	marked, cut map[string]bool
}

func (w washing) addNames(top map[string]any, name string, set map[string]bool) {
	if len(set) > 0 {
		top[name] = slices.Sorted(maps.Keys(set))
	}
}

// cleanValue is v, the member key of its object, as it may be told.
func (w washing) cleanValue(key string, v any) any {
	switch v := v.(type) {
	case string:
		return w.cleanField(key, v)
	case []any:
		if len(v) > maxList {
			w.cut[key] = true
			v = v[:maxList]
		}
		for i := range v {
			v[i] = w.cleanValue(key, v[i])
		}
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, m := range v {
			name, hits := cleanText(clip(k), false)
			w.noteHits(hits)
			out[name] = w.cleanValue(k, m)
		}
		return out
	}
	return v
}

// cleanField cleans one string. A name is not marked in its letters, because it must
// lead back to what it names.
func (w washing) cleanField(key, s string) string {
	if w.mark {
		s = namedSecret(key, s) // not where odd's own token stands, which is to be sent back
	}
	s, hits := cleanText(s, w.mark && !isName(key))
	w.noteHits(hits)
	if limit := map[bool]int{true: 2 * maxBody, false: maxText}[isText(key)]; len(s) > limit {
		w.cut[key] = true
		s = strings.ToValidUTF8(s[:limit], "") + " …"
	}
	return s
}

func (w washing) noteHits(hits []string) {
	for _, h := range hits {
		w.marked[h] = true
	}
}

// isName reports a member that holds a name by which a thing is found.
func isName(key string) bool {
	return slices.Contains(strings.Fields("id path blob uri from to near far target resource next cursor token commit digest task kind type"), key)
}

// isText reports a member that holds one page of a longer text.
func isText(key string) bool { return slices.Contains([]string{"body", "markdown"}, key) }

// namedSecret redacts a credential that only the name beside it betrays.
func namedSecret(key, value string) string {
	if len(value) > 256 {
		return value // no credential of a form that needs its name
	}
	before := key + `: "` + value + `"`
	rest, ok := strings.CutPrefix(string(secrets.Redact([]byte(before))), key+`: "`)
	if !ok {
		return value
	}
	return strings.TrimSuffix(rest, `"`)
}

// cleanText returns s as it may be shown to a model: what nobody can see is left out,
// credentials are redacted, and with mark what reads like an instruction is
// marked. hits are the kinds of that, marked or not.
func cleanText(s string, mark bool) (string, []string) {
	b := secrets.Redact([]byte(okf.Visible(s)))
	marked, hits := lint.MarkInstructions(b)
	if mark {
		return string(marked), hits
	}
	return string(b), hits
}
