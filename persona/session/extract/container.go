package extract

import (
	"cmp"
	"strings"
)

// Containers are blocks of text that a generator of sites marks with a kind and a title: as a warning,
// as one of several tabs. Their marks become a label of markdown that says the same.
var (
	// colons is a container of VitePress and Docusaurus (:::tip Title), Pandoc (::: {.tip}) and MyST (:::{tip}).
	colons     = lazy(`^([ \t>]*):::+[ \t]*(.*)$`)
	colonsKind = lazy(`^(?:\{\.?([\w:-]+)[^}]*\}|([A-Za-z][\w-]*))[ \t]*(?:\[(.*)\])?(?:\{[^}"]*\})?[ \t]*(.*?)[ \t]*(?:\{[^}"]*\})?$`)
	// setIn is a container of MkDocs, whose text is set in below it: !!! tip "Title", ??? tip and === "Tab".
	setIn = lazy(`^([ \t]*)(?:(?:!!!|\?\?\?\+?) ([a-z][\w-]*)(?: [a-z][\w-]*)*(?: "(.*)")?|===[!+]* "(.+)")$`)
	// alert is a quotation of GitHub with a kind: > [!TIP].
	alert = lazy(`^([ \t]*(?:> ?)+)\[!(\w+)\][+-]?[ \t]*(.*)$`)
	// mystNote is a note of MyST in a fence. It holds text and no code.
	mystNote = lazy("^([ \t]*)(```+|~~~+)\\{(" + strings.ReplaceAll(rstNotes, " ", "|") + ")\\}[ \t]*(.*)$")
	// tag is a container of MDX: <TabItem label="Tab">, <Tip>.
	tag    = lazy(`^([ \t]*)<(/?)(Tabs|TabItem|TabPanel|Tab|CodeGroup|Steps|Step|Note|Warning|Tip|Info|Caution|Danger|Important|Callout|Admonition|Aside|Alert)\b([^<>]*)>[ \t]*(.*)$`)
	tagEnd = lazy(`[ \t]*</[A-Z]\w*>$`)
	option = lazy(`^[ \t]*:[\w-]+:`)
)

// layouts are the kinds that say how a page lays text out, and nothing of it.
const layouts = "code-group codegroup tabs tab tabitem tabpanel step aside tab-set tab-item tabset panel-tabset raw v-pre steps columns column cols col row grid card cards center left right details admonition alert callout notice glossary"

// labelOf is the label of a container, "" for one that has none.
func labelOf(kind, title string) string {
	if kind = strings.TrimPrefix(strings.ToLower(kind), "callout-"); in(layouts, kind) {
		kind = ""
	} else if kind == "seealso" {
		kind = "see also"
	}
	if kind != "" {
		kind = strings.ToUpper(kind[:1]) + kind[1:]
	}
	label := strings.Trim(kind+": "+strings.Trim(title, "*_ \t"), ": ")
	if label == "" {
		return ""
	}
	if !strings.ContainsAny(label[len(label)-1:], ".!?") {
		label += ":"
	}
	return "**" + label + "**"
}

// labelContainers returns text with labels for the marks of its containers. Every line keeps its place.
func labelContainers(text string) string {
	lines := strings.Split(text, "\n")
	fence := ""
	for i := range lines {
		l := strings.TrimRight(lines[i], " \t\r") // as pullOut may have left it
		if fence != "" {
			if endsFence(l, fence) {
				fence = ""
			}
			continue
		}
		if mark := strings.TrimLeft(l, " \t>"); mark == "" || !strings.ContainsAny(mark[:1], ":!?=[<`~") {
			continue
		}
		if m := mystNote().FindStringSubmatch(l); m != nil {
			if end := fenceEnd(lines, i+1, m[2]); end > 0 {
				lines[i], lines[end] = m[1]+strings.TrimSpace(labelNote(m[3], m[4])), ""
				for k := i + 1; k < end && option().MatchString(lines[k]); k++ {
					lines[k] = ""
				}
				continue
			}
		}
		if m := fenceLine().FindStringSubmatch(l); m != nil {
			fence = m[1]
		} else if m := alert().FindStringSubmatch(l); m != nil {
			lines[i] = m[1] + labelOf(m[2], m[3])
		} else if m := colons().FindStringSubmatch(l); m != nil {
			lines[i] = m[1]
			if k := colonsKind().FindStringSubmatch(m[2]); k != nil && strings.HasPrefix(m[2], "{") && k[4] != "" {
				lines[i] += labelNote(k[1], k[4])
			} else if k != nil {
				lines[i] += labelOf(k[1]+k[2], k[3]+k[4])
			}
		} else if m := tag().FindStringSubmatch(l); m != nil {
			lines[i] = m[1]
			if m[2] == "" {
				lines[i] += strings.TrimSpace(labelTag(m[3], m[4]) + " " + tagEnd().ReplaceAllString(m[5], ""))
			} else {
				lines[i] += m[5]
			}
		} else if m := setIn().FindStringSubmatch(l); m != nil {
			lines[i] = m[1] + labelOf(m[2], m[3]+m[4])
			pullOut(lines[i+1:], len(m[1])+4)
		}
	}
	return strings.Join(lines, "\n")
}

// labelTag is the label of a tag, whose attributes may say its kind and have a title, in their order.
func labelTag(name, attributes string) string {
	title, at := valueOf(attributes, "label title value")
	if strings.EqualFold(title, name) {
		title = ""
	}
	rest, kind := strings.Replace(attributes, title, "", 1), ""
	for _, w := range words(rest) {
		if in(rstNotes+" info", w) && !in(layouts, w) {
			kind = w
		}
	}
	if kind != "" && title != "" && strings.LastIndex(strings.ToLower(rest), kind) >= at {
		return labelOf("", title+": "+kind)
	}
	return labelOf(cmp.Or(kind, name), title)
}

// valueOf is the value of the first of these attributes that a tag has, and where it stands.
func valueOf(attributes, names string) (value string, at int) {
	all := attribute().FindAllStringSubmatchIndex(attributes, -1)
	for name := range strings.FieldsSeq(names) {
		for _, m := range all {
			if attributes[m[2]:m[3]] == name {
				return attributes[m[4]:m[5]], m[4]
			}
		}
	}
	return "", 0
}

var attribute = lazy(`([\w-]+)=["']([^"']*)["']`)

// labelNote is a note of Sphinx, whose text may begin on the line of its mark: behind the name of an
// admonition stands its title.
func labelNote(kind, text string) string {
	if kind == "admonition" {
		return labelOf("", text)
	}
	return strings.TrimSpace(labelOf(kind, "") + " " + text)
}

// pullOut takes four columns off the first lines, those that are set in by so many.
func pullOut(lines []string, by int) {
	for i, l := range lines {
		wide := strings.ReplaceAll(l[:len(l)-len(strings.TrimLeft(l, " \t"))], "\t", "    ")
		switch {
		case strings.TrimSpace(l) == "":
		case len(wide) < by:
			return
		default:
			lines[i] = wide[4:] + strings.TrimLeft(l, " \t")
		}
	}
}

func endsFence(line, fence string) bool {
	m := fenceLine().FindStringSubmatch(line)
	return m != nil && m[1][0] == fence[0] && len(m[1]) >= len(fence)
}

// fenceEnd is the line from at on that ends a fence, 0 for none.
func fenceEnd(lines []string, at int, fence string) int {
	for i := at; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == fence {
			return i
		}
	}
	return 0
}

// codeLabel is the file or the like that stands with the mark of a block of code: [a.yml] or
// title="a.yml" behind its language.
var codeLabel = lazy(`(?:^|[ \t])\[([^\]]+)\]|\b(?:title|filename|file|label|caption)="([^"]+)"`)

func labelOfCode(info string) string {
	if m := codeLabel().FindStringSubmatch(info); m != nil {
		return cmp.Or(m[1], m[2])
	}
	return ""
}
