package handoff

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Meta is what a handoff says about itself, besides its deliverable.
type Meta struct {
	Slug, Title      string        // "" for either takes one from the transition and the artifact
	From, To         contract.Mode // a transition
	Artifact         string        // used where the deliverable names none
	Persona, Run, By string        // By is generated.by
	At               string        // RFC 3339, UTC
	Journal          string        // the journal file that tells of the transition, below the bundle root
	Derives          []string
	Tainted          string
	Inferred         bool     // confidence inferred although a person made it, as of a merge of machines' handoffs
	Disagreements    []string // of a merge
	Said             []Said   // of a merge: who said what
}

// Said is one item of a merged handoff and the sources that have it.
type Said struct {
	Key  string // "assumptions"
	Text string
	By   []string // ids of sources
	Of   int      // how many sources there are
}

var unslug = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9]+`) })

// Slug returns s as part of a file name: lower-case letters, digits and single hyphens, at
// most 60 bytes.
func Slug(s string) string {
	s = strings.Trim(unslug().ReplaceAllString(strings.ToLower(s), "-"), "-")
	return strings.TrimRight(s[:min(len(s), 60)], "-")
}

// Path returns where Make writes the handoff, below the bundle root: handoffs/RUN-SLUG.md
// for a run's, handoffs/DATE-SLUG.md for a person's.
func (m Meta) Path() string {
	name := Slug(m.Run)
	if name == "" {
		name = Slug(m.At[:min(len(m.At), 10)])
	}
	slug := Slug(m.Slug)
	if slug == "" {
		slug = Slug(string(m.From) + "-to-" + string(m.To))
	}
	return path.Join(Dir, strings.Trim(name+"-"+slug, "-")+".md")
}

// Make returns the path of a handoff below the bundle root, and its bytes. The same
// arguments make the same bytes. The artifact is the one that the deliverable names, or
// else m.Artifact. Everything but a person's own work has confidence inferred. The error is
// for modes and a schema that do not belong together.
func Make(m Meta, d deliver.Deliverable) (name string, text []byte, err error) {
	t, err := m.begin(artifactOf(m, d))
	if err != nil {
		return "", nil, err
	}
	if d.Schema != t.Schema {
		return "", nil, fmt.Errorf("handoff: %s hands over %s, not %s", t, t.Schema, d.Schema)
	}
	a, err := okf.New(m.Path(), append(makeFields(m, d), listFields(d)...), makeBody(m, t, d))
	if err != nil {
		return "", nil, err
	}
	return a.Path, a.Bytes(), nil
}

// begin returns the transition of a handoff about an artifact, and gives it its title.
func (m *Meta) begin(artifact string) (contract.Transition, error) {
	t, ok := Find(m.From, m.To)
	if !ok {
		return t, fmt.Errorf("handoff: %s → %s is no transition; a handoff is one of %s", m.From, m.To, transitionList())
	}
	title := cmp.Or(m.Title, fmt.Sprintf("%s, %s to %s", cmp.Or(artifact, "Handoff"), m.From, m.To))
	m.Title = okf.OneLine(title)
	return t, nil
}

func artifactOf(m Meta, d deliver.Deliverable) string { return cmp.Or(d.Artifact(), m.Artifact) }

// makeFields returns the front matter without the deliverable's own keys.
func makeFields(m Meta, d deliver.Deliverable) []okf.Field {
	fs := []okf.Field{{Key: "type", Value: Type}, {Key: "title", Value: m.Title}}
	if m.Tainted != "" {
		fs = append(fs, okf.Field{Key: "tags", Value: []string{TaintTag}})
	}
	if m.Inferred || m.Run != "" || !strings.HasPrefix(m.By, "human:") {
		fs = append(fs, okf.Field{Key: "confidence", Value: okf.Inferred})
	}
	fs = append(fs, okf.Field{Key: "generated", Value: okf.Stamp{By: m.By, At: m.At}})
	for _, f := range []struct{ key, value string }{
		{"from", string(m.From)}, {"to", string(m.To)}, {"artifact", artifactOf(m, d)}, {"persona", m.Persona},
		{"run", m.Run}, {"journal", m.Journal}, {"override", m.Tainted},
	} {
		if f.value != "" {
			fs = append(fs, okf.Field{Key: f.key, Value: f.value})
		}
	}
	for _, f := range []okf.Field{{Key: "derives_from", Value: m.Derives}, {Key: "disagreements", Value: m.Disagreements}} {
		if len(f.Value.([]string)) > 0 {
			fs = append(fs, f)
		}
	}
	return fs
}

// listFields returns the deliverable's texts and lists of texts as front matter.
func listFields(d deliver.Deliverable) []okf.Field {
	var fs []okf.Field
	for _, key := range deliver.Keys(d.Schema) {
		text, list, there := d.Get(key)
		switch deliver.ShapeOf(d.Schema, key) {
		case deliver.Word:
			if key != "artifact" && text != "" {
				fs = append(fs, okf.Field{Key: key, Value: text})
			}
		case deliver.List:
			if there {
				fs = append(fs, okf.Field{Key: key, Value: list})
			}
		}
	}
	return fs
}

// makeBody returns the part for people and, after it, the objects of the deliverable as one
// json block. No part of it can be read as a list of the minimum content.
func makeBody(m Meta, t contract.Transition, d deliver.Deliverable) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", escapeLine(m.Title))
	fmt.Fprintf(&b, "What %s hands over to %s, to be read alone. ", t.From, t.To)
	objects, has := objectsOf(d)
	if !has {
		b.WriteString("Its lists are in the frontmatter.\n")
	} else {
		b.WriteString("The block at the end is what counts; the list above it says the same for people.\n")
	}
	if len(m.Disagreements) > 0 {
		b.WriteString("\n## Where the sources disagree\n\n")
		for _, s := range m.Disagreements {
			fmt.Fprintf(&b, "- %s\n", escapeLine(s))
		}
	}
	if len(m.Said) > 0 {
		b.WriteString("\n## Who said what\n\n")
		for _, s := range m.Said {
			fmt.Fprintf(&b, "- %s: %s (%d of %d: %s)\n", escapeLine(s.Key), escapeLine(s.Text), len(s.By), s.Of, escapeLine(strings.Join(s.By, ", ")))
		}
	}
	if has {
		head := "Ledger\n"
		switch {
		case d.Findings != nil:
			sum := deliver.Summarize(d.Findings.Findings)
			head = fmt.Sprintf("Findings: %s\n\n%s\n", sum.Verdict, sum)
		case d.Remediation != nil:
			head = "What became of each finding\n"
		}
		fmt.Fprintf(&b, "\n## %s\n%s\n```json\n%s```\n", head, objects.Outline(escapeLine), deliver.Encode(objects))
	}
	return b.String()
}

// objectsOf returns a deliverable with its lists of objects, and whether it has any.
func objectsOf(d deliver.Deliverable) (deliver.Deliverable, bool) {
	if d.Synthesis != nil && d.Synthesis.Entries != nil {
		return deliver.Deliverable{Schema: d.Schema, Synthesis: &deliver.Synthesis{Entries: d.Synthesis.Entries}}, true
	}
	return d, d.Findings != nil || d.Remediation != nil
}

var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "<", "&lt;", "[", `\[`, "*", `\*`, "~", `\~`, "|", `\|`, "&", `\&`, "#", `\#`)

// escapeLine returns s as one line of markdown without any markup.
func escapeLine(s string) string {
	return markup.Replace(okf.OneLine(s))
}

// Template returns a handoff for a person to fill in: a heading for each key of the minimum
// content, and a comment that says what belongs there. A comment is no content, so
// everything is missing until it is written.
func Template(m Meta) (name string, text []byte, err error) {
	t, err := m.begin(m.Artifact)
	if err != nil {
		return "", nil, err
	}
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
	a, err := okf.New(m.Path(), makeFields(m, deliver.Deliverable{Schema: t.Schema}), b.String())
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
