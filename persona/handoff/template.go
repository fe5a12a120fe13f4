package handoff

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Template returns a handoff for a person to fill in: a heading for each key of the minimum
// content, and a comment that says what belongs there. A comment is no content, so
// everything is missing until it is written.
func Template(m Meta) (name string, text []byte, err error) {
	t, ok := Find(m.From, m.To)
	if !ok {
		return "", nil, fmt.Errorf("handoff: %s → %s is no transition; a handoff is one of %s", m.From, m.To, transitionList())
	}
	d := deliver.Deliverable{Schema: t.Schema}
	if m.Title == "" {
		m.Title = fmt.Sprintf("%s, %s to %s", cmp.Or(m.Artifact, "Handoff"), m.From, m.To)
	}
	m.Title = strings.Join(strings.Fields(okf.Visible(m.Title)), " ")
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", escapeLine(m.Title))
	for _, key := range deliver.Keys(t.Schema) {
		if ask := deliver.Ask(t.Schema, key); ask != "" && key != "artifact" {
			if what, _, ok := strings.Cut(ask, "; [] for"); ok {
				ask = what + "; None. is an answer"
			}
			words := strings.ReplaceAll(key, "_", " ")
			fmt.Fprintf(&b, "\n## %s\n\n<!-- %s -->\n", strings.ToUpper(words[:1])+words[1:], ask+objectExample(t.Schema, key))
		}
	}
	a, err := okf.New(m.Path(), makeFields(m, d), b.String())
	if err != nil {
		return "", nil, err
	}
	return a.Path, a.Bytes(), nil
}

// objectExample shows how to write a list of objects.
func objectExample(schema, key string) string {
	if deliver.ShapeOf(schema, key) != deliver.Objects {
		return ""
	}
	item := map[string]string{
		"findings": `"location": "PATH:LINE", "claim": "…", "evidence": "…", "classification": "blocker, finding or caveat", "disposition": "fix, pivot or accept"`,
		"remedies": `"finding": "F1", "changed": ["PATH"], "why": "…"`,
	}[key]
	return fmt.Sprintf(`; as a fenced json block: {"schema": %q, %q: [{%s}]}`, schema, key, item)
}
