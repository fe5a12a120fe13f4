package reconcile

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// relatedHeading opens the section that mirrors typed edges as links (OKF §6:
// readers that know no extension keys see the graph through links alone).
const relatedHeading = "# Related"

// mirrored is one line of that section.
var mirrored = regexp.MustCompile(`^\* \[.*\]\((?:/.*\.md|</.*\.md>)\)$`)

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
		if l != "" && !mirrored.MatchString(l) {
			break
		}
	}
	return body, ""
}

// mirror appends a link for every edge whose target is there and not linked yet.
// prior, when it is not nil, is the atom whose body this is or was: what it links
// to in another spelling counts as linked.
func (m *merger) mirror(body string, edges []okf.Edge, prior *okf.Atom) string {
	linked := map[string]bool{}
	if prior != nil {
		for _, h := range m.g.Out(prior.ID) {
			if a, err := m.g.Find(string(h.To)); h.Kind == okf.Link && err == nil && strings.Contains(body, pathStem(a.Path)) {
				linked[a.Path] = true
			}
		}
	}
	var items strings.Builder
	for _, e := range edges {
		a := m.target(e.Target)
		if a == nil || linked[a.Path] || strings.Contains(body, "](/"+a.Path) || strings.Contains(body, "](</"+a.Path) {
			continue
		}
		linked[a.Path] = true
		items.WriteString(link(a))
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

// pathStem is the last element of a path, as any relative link to it has it.
func pathStem(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// link is the list item of one atom.
func link(a *okf.Atom) string {
	title := strings.Join(strings.Fields(okf.Visible(a.Title)), " ")
	if title == "" {
		title = string(a.ID)
	}
	title = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "`", "\\`").Replace(title)
	target := "/" + a.Path
	if strings.ContainsAny(target, " ()") {
		target = "<" + target + ">"
	}
	return fmt.Sprintf("* [%s](%s)\n", title, target)
}
