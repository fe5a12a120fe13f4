package reconcile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
)

// relatedHeading opens the section that repeats typed edges as links, for readers that know
// no extension keys (OKF §6).
const relatedHeading = "# Related"

// mirrorForm matches one line of that section: a link to a file, from the top of the bundle
// or relative to the file.
var mirrorForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\* \[.*\]\((?:[^:<>()\s]+\.md|<[^:<>]+\.md>)\)$`)
})

// cutRelated splits a body before its last section if that is odd's own: the heading and
// nothing but links to atoms. related starts with the blank lines before the heading.
func cutRelated(body string) (own, related string) {
	lines := strings.SplitAfter(body, "\n")
	for i, line := range slices.Backward(lines) {
		l := strings.TrimRight(line, " \t\n")
		if l == relatedHeading {
			own = strings.TrimRight(strings.Join(lines[:i], ""), "\n")
			if own != "" {
				own += "\n"
			}
			return own, body[len(own):]
		}
		if l != "" && !mirrorForm().MatchString(l) {
			break
		}
	}
	return body, ""
}

// mirrorEdges appends a link to the body of the file at for every edge whose target exists
// and is not linked yet.
func (m *merger) mirrorEdges(at, body string, edges []okf.Edge) string {
	var linked map[string]bool // what the body links to; read when the first edge needs it
	var items strings.Builder
	for _, e := range edges {
		a := m.findTarget(e.Target, at)
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
		items.WriteString(linkItem(at, a))
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

// linkedFrom returns the bundle paths that a body links to.
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

// linkEscaper escapes markdown in the text of a link.
var linkEscaper = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`")

// linkItem returns the list item for one atom, in the file at.
func linkItem(at string, a *okf.Atom) string {
	title := okf.OneLine(a.Title)
	if title == "" {
		title = string(a.ID)
	}
	return fmt.Sprintf("* [%s](%s)\n", linkEscaper.Replace(title), okf.LinkTo(at, a.Path))
}
