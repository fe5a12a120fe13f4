package reconcile

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// relatedHeading opens the section that mirrors typed edges as links (OKF §6:
// readers that know no extension keys see the graph through links alone).
const relatedHeading = "# Related"

// mirrored is one line of that section: a link to a file, from the bundle's top or from
// the file it stands in.
var mirrored = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\* \[.*\]\((?:[^:<>()\s]+\.md|<[^:<>]+\.md>)\)$`)
})

// cutRelated splits a body before its last section when that is odd's own: the
// heading and nothing but mirrored links. related starts with the blank lines
// before the heading.
func cutRelated(body string) (own, related string) {
	lines := strings.SplitAfter(body, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		l := strings.TrimRight(lines[i], " \t\n")
		if l == relatedHeading {
			own = strings.TrimRight(strings.Join(lines[:i], ""), "\n")
			if own != "" {
				own += "\n"
			}
			return own, body[len(own):]
		}
		if l != "" && !mirrored().MatchString(l) {
			break
		}
	}
	return body, ""
}

// mirror appends a link to body, which stands at path at, for every edge whose
// target is there and not linked yet.
func (m *merger) mirror(at, body string, edges []okf.Edge) string {
	var linked map[string]bool // of what body links to, once an edge asks
	var items strings.Builder
	for _, e := range edges {
		a := m.target(e.Target, at)
		if a == nil {
			continue
		}
		if linked == nil {
			linked = linkedFrom(at, body)
		}
		if linked[a.Path] {
			continue
		}
		linked[a.Path] = true
		items.WriteString(link(at, a))
	}
	if items.Len() == 0 {
		return body
	}
	own, related := cutRelated(body)
	if related != "" {
		return strings.TrimRight(body, "\n") + "\n" + items.String()
	}
	if strings.TrimSpace(own) != "" {
		own = strings.TrimRight(own, "\n") + "\n"
	}
	return own + "\n" + relatedHeading + "\n\n" + items.String()
}

// linkedFrom are the bundle paths that a body links to.
func linkedFrom(at, body string) map[string]bool {
	out := map[string]bool{}
	a, err := okf.Parse(at, []byte("---\ntype: body\n---\n"+body))
	if err != nil {
		return out // not text: nothing in it can be a link
	}
	for _, l := range a.Links() {
		out[strings.TrimSuffix(l.Target, ".md")+".md"] = true
	}
	return out
}

// escaped is the text of a link with what markdown would read in it.
var escaped = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`")

// link is the list item of one atom, in the file at.
func link(at string, a *okf.Atom) string {
	title := strings.Join(strings.Fields(okf.Visible(a.Title)), " ")
	if title == "" {
		title = string(a.ID)
	}
	return fmt.Sprintf("* [%s](%s)\n", escaped.Replace(title), okf.LinkTo(at, a.Path))
}
