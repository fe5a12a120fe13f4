package review

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// Citation is a text that an atom cites, as the session read it.
type Citation struct {
	Resource string   `json:"resource"`
	Heading  string   `json:"heading,omitempty"` // that it stands under, without marks
	From     int      `json:"from,omitempty"`    // its first line; 0 for a source that names no lines
	Lines    []string `json:"lines,omitempty"`
	Missing  string   `json:"missing,omitempty"` // why there are none
}

// Cite reads the texts that the sources of an atom name in files: those of the commit that its
// session worked on.
func Cite(files fs.FS, sources []okf.Source) []Citation {
	var out []Citation
	for _, s := range sources {
		places := okf.ReadPlaces(s.Title)
		b, err := fs.ReadFile(files, s.Resource)
		switch {
		case err != nil:
			out = append(out, Citation{Resource: s.Resource, Missing: "it is no file of the commit that the agent read"})
			continue
		case len(places) == 0:
			out = append(out, Citation{Resource: s.Resource, Missing: "the atom names no lines of it"})
			continue
		}
		all := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		doc, _, _ := okf.ParsePage(s.Resource, b) // of what does not read there is no heading
		for _, p := range places {
			c := Citation{Resource: s.Resource, From: p[0]}
			if p[1] > len(all) {
				c.Missing = fmt.Sprintf("it has %d lines", len(all))
				if len(all) == 1 {
					c.Missing = "it has 1 line"
				}
			} else {
				c.Lines, c.Heading = all[p[0]-1:p[1]], headingAbove(doc, p[0])
			}
			out = append(out, c)
		}
	}
	return out
}

// headingAbove returns the last heading of a document above a line, "" for none.
func headingAbove(doc okf.Atom, line int) (heading string) {
	for _, h := range doc.Headings() {
		if h.Line < line {
			heading = h.Text
		}
	}
	return heading
}

// InAtom is in Repeats what the quoted lines of the atom say.
const InAtom = -1

// Repeats returns for each citation where a reader has its text already: InAtom, or the index of the first citation with
// the same text, which is its own for one that repeats nothing. In the atom is a text that one of its quotes is all of,
// and every text of an atom whose quotes are the citations in their order. How much space is between two words, which
// marker an item of a list has and the atom's references to its sources do not count, nor the bullet of an item that is
// quoted alone.
func Repeats(body []byte, sources []okf.Source, texts []Citation) []int {
	var marks []string
	for _, s := range sources {
		marks = append(marks, "[^"+s.ID+"]")
	}
	var said, cited string
	first, quote := map[string]int{}, ""
	for line := range strings.Lines(string(body) + "\n\n") {
		words, quoted := strings.CutPrefix(line, ">")
		if quoted {
			quote += bareWords(words, marks)
			continue
		}
		first[quote] = InAtom
		said, quote = said+quote, ""
	}
	out := make([]int, len(texts))
	for i, c := range texts {
		words := ""
		for _, line := range c.Lines {
			words += bareWords(line, nil)
		}
		if item, is := strings.CutPrefix(words, "\n"); is && item != "" && first[item] == InAtom && bullet.MatchString(c.Lines[0]) {
			first[words] = InAtom
		}
		if _, known := first[words]; !known || words == "" {
			first[words] = i
		}
		out[i], cited = first[words], cited+words
	}
	if said != "" && said == cited {
		return slices.Repeat([]int{InAtom}, len(texts))
	}
	return out
}

// bareWords returns the words of a line with a blank before each, but for the colon that begins a definition below its
// term, and one sign for every list marker. It leaves out marks that a word ends in.
func bareWords(line string, marks []string) (out string) {
	if marker := listMarker.FindString(line); marker != "" {
		line, out = line[len(marker):], "\n"
	}
	if rest, defines := strings.CutPrefix(line, ": "); defines {
		line, out = rest, ":"
	}
	for word := range strings.FieldsSeq(line) {
		for _, mark := range marks {
			word = strings.TrimSuffix(word, mark)
		}
		if word != "" {
			out += " " + word
		}
	}
	return out
}

// provenance are the lines below sources and generated of front matter that have no room for words.
var provenance = regexp.MustCompile(`^(?:sources:|generated: \{by: \S+, at: \S+\}| +(?:- )?(?:id|resource|blob|text): \S+| +title: lines? [\d, -]+)\n?$`)

// WithoutProvenance returns the file of an atom without what odd wrote of where it is from, which is shown
// beside it: the front matter's sources and generated, and the footnotes of its sources. A line of
// another form than odd's is shown.
func (a Atom) WithoutProvenance() string {
	var out strings.Builder
	front, below, dropped := 0, false, false // below sources or generated
	for line := range strings.Lines(string(a.Bytes())) {
		inside := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---")
		switch {
		case strings.TrimRight(line, "\n") == "---" && front < 2:
			front, dropped = front+1, false
		case front == 1:
			key, _, _ := strings.Cut(line, ":")
			below = inside && below || key == "sources" || key == "generated"
			dropped = below && provenance.MatchString(line)
		case front == 2:
			note := slices.ContainsFunc(a.Sources, func(s okf.Source) bool {
				rest, ours := strings.CutPrefix(line, fmt.Sprintf("[^%s]: [%s, %s](%s", s.ID, s.Resource, s.Title, okf.LinkTo(a.At.Path, s.Resource)))
				return ours && lineAnchor.MatchString(rest)
			})
			dropped = note || dropped && line == "\n" // with the blank line below
		}
		if !dropped {
			out.WriteString(line)
		}
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

var (
	lineAnchor = regexp.MustCompile(`^#L\d+(?:-L\d+)?\)\n?$`)
	bullet     = regexp.MustCompile(`^\s*[-*+]\s`)
	listMarker = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s`)
)
