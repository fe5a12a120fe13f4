package persona

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// preface says, under the heading of a section, what it is and is not.
var preface = map[Section]string{
	Guardrails: "Advisory: guidance for the work. The rules that bind are enforced elsewhere.",
	Systems:    "Informational: what the work touches. Nothing here grants a tool or an access.",
}

// Markdown is the document. Each atom is a pointer: title, id, path, blob,
// confidence, tier and the last edge that reached it. With inline the bodies
// follow, taken from g, each in a fence longer than any in it, so that no body
// can end its own. Characters a reader cannot see are left out.
func (p Persona) Markdown(g *okf.Graph, inline bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Persona: %s\n\n", okf.OneLine(p.Role.Title))
	fmt.Fprintf(&b, "Compiled from %s", codeSpan(p.pathPrefix()+p.Role.Path))
	if p.Commit != "" {
		fmt.Fprintf(&b, " at commit %s", codeSpan(p.Commit))
	}
	fmt.Fprintf(&b, ": %d reached, %d resolved, %d retired, %d unresolved, %d unloadable.\n",
		p.Reached, p.Resolved, p.Retired, p.Unresolved, p.Unloadable)
	fmt.Fprintf(&b, "\n## %s\n\n", Mandate)
	if p.Retirement != "" {
		fmt.Fprintf(&b, "This role is out of force: %s.\n\n", okf.OneLine(p.Retirement))
	}
	p.writeItem(&b, p.Role)
	bodies := p.bodiesOf(g, inline)
	p.writeBody(&b, p.Role, bodies)
	for _, s := range allSections() {
		p.writeSection(&b, s, bodies)
	}
	fmt.Fprint(&b, "\n## Gaps\n\n")
	for _, gap := range p.Gaps {
		fmt.Fprintf(&b, "- %s\n", okf.OneLine(p.pathPrefix()+gap))
	}
	if len(p.Gaps) == 0 {
		b.WriteString("None.\n")
	}
	return b.Bytes()
}

func (p Persona) writeSection(b *bytes.Buffer, s Section, bodies map[string][]byte) {
	items := p.itemsIn(s)
	if len(items) == 0 && s == Other {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", s)
	if preface[s] != "" {
		fmt.Fprintf(b, "%s\n\n", preface[s])
	}
	for _, it := range items {
		p.writeItem(b, it)
	}
	if len(items) == 0 {
		b.WriteString("None.\n")
	}
	for _, it := range items {
		p.writeBody(b, it, bodies)
	}
}

func (p Persona) itemsIn(s Section) []Item {
	var out []Item
	for _, it := range p.Items {
		if it.Section == s {
			out = append(out, it)
		}
	}
	return out
}

func (p Persona) writeItem(b *bytes.Buffer, it Item) {
	fmt.Fprintf(b, "- **%s**: %s, %s, blob %s, %s, %s", okf.OneLine(it.Title), codeSpan(it.ID), codeSpan(p.pathPrefix()+it.Path), codeSpan(it.Blob), it.Confidence, it.Tier)
	if it.Draft {
		b.WriteString(", draft")
	}
	if len(it.Via) > 0 {
		fmt.Fprintf(b, ", via %s", it.formatRoute())
	}
	b.WriteString("\n")
	if it.Description != "" {
		fmt.Fprintf(b, "  %s\n", okf.OneLine(it.Description))
	}
}

// formatRoute prints the edge path: "publish-article owner editor; publish-article uses cms".
func (it Item) formatRoute() string {
	hops := make([]string, len(it.Via))
	for i, h := range it.Via {
		hops[i] = codeSpan(fmt.Sprintf("%s %s %s", h.From, h.Kind, h.To))
	}
	return strings.Join(hops, ", ")
}

// bodiesOf takes the bodies of the persona's atoms from g, by path. An atom that
// g has in another version lends no text.
func (p Persona) bodiesOf(g *okf.Graph, inline bool) map[string][]byte {
	if !inline || g == nil {
		return nil
	}
	out := map[string][]byte{}
	for _, it := range append([]Item{p.Role}, p.Items...) {
		if a, err := g.Find(it.ID); err == nil && a.Path == it.Path && a.Blob == it.Blob {
			out[it.Path] = a.Body()
		}
	}
	return out
}

func (p Persona) writeBody(b *bytes.Buffer, it Item, bodies map[string][]byte) {
	body := strings.Trim(okf.Visible(string(bodies[it.Path])), "\n")
	if strings.TrimSpace(body) == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestTicks(body)+1))
	fmt.Fprintf(b, "\n%smarkdown %s\n%s\n%s\n", fence, strings.ReplaceAll(okf.OneLine(p.pathPrefix()+it.Path), "`", "'"), body, fence)
}

// pathPrefix is what stands before a path of the bundle.
func (p Persona) pathPrefix() string {
	if p.Root == "" || p.Root == "." {
		return ""
	}
	return p.Root + "/"
}

// codeSpan is s as a code span that s cannot leave.
func codeSpan(s string) string {
	s = okf.OneLine(s)
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := strings.Repeat("`", longestTicks(s)+1)
	return ticks + " " + s + " " + ticks
}

func longestTicks(s string) int {
	best, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		best = max(best, run)
	}
	return best
}

// manifest is the stored shape of JSON. Names never change.
type manifest struct {
	Version    int            `json:"v"`
	Role       manifestItem   `json:"role"`
	Commit     string         `json:"commit,omitempty"`
	Retirement string         `json:"retirement,omitempty"`
	Counts     map[string]int `json:"counts"`
	Items      []manifestItem `json:"items"`
	Gaps       []string       `json:"gaps"`
}

type manifestItem struct {
	Section     Section   `json:"section"`
	ID          string    `json:"id"`
	Path        string    `json:"path"`
	Blob        string    `json:"blob"`
	Type        string    `json:"type"`
	Title       string    `json:"title"`
	Description string    `json:"description,omitempty"`
	Confidence  string    `json:"confidence"`
	Tier        string    `json:"tier"`
	Draft       bool      `json:"draft,omitempty"`
	Owned       bool      `json:"owned,omitempty"`
	Via         []okf.Hop `json:"via,omitempty"`
}

func manifestOf(it Item) manifestItem {
	return manifestItem{it.Section, it.ID, it.Path, it.Blob, it.Type, it.Title, it.Description, it.Confidence, it.Tier, it.Draft, it.Owned, it.Via}
}

// JSON is the manifest: what the persona was compiled from, indented by two,
// with a final newline. No body is in it.
func (p Persona) JSON() ([]byte, error) {
	m := manifest{
		Version: 1, Role: manifestOf(p.Role), Commit: p.Commit, Retirement: p.Retirement,
		Counts: map[string]int{
			"reached": p.Reached, "resolved": p.Resolved, "retired": p.Retired,
			"unresolved": p.Unresolved, "unloadable": p.Unloadable,
		},
		Items: []manifestItem{}, Gaps: append([]string{}, p.Gaps...),
	}
	for _, it := range p.Items {
		m.Items = append(m.Items, manifestOf(it))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("persona %s: %w", p.Role.ID, err)
	}
	return b.Bytes(), nil
}

// Digest is the SHA-256 of the manifest in lower-case hex, for traces. It does
// not depend on Commit, so that a commit elsewhere does not change it.
func (p Persona) Digest() string {
	p.Commit = ""
	b, err := p.JSON()
	if err != nil {
		panic("unreachable: a manifest is strings, numbers and lists: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
