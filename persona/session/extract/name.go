package extract

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// displayName returns what a reader calls the document: its title, else its file. One with a name
// that many have, as README and Overview, is called as its folder is.
func (d *document) displayName() string {
	for _, name := range []string{d.title, d.stem()} {
		if name != "" && !isGeneric(name) && !(name == d.title && isKnownHeading(name, weighed)) {
			return name
		}
	}
	if folder := path.Base(path.Dir(d.path)); folder != "." && !in(manuals, folder) {
		return folder
	}
	return d.stem()
}

// maxName is the words that the name of a document may have to tell the title of an atom.
const maxName = 6

// shortName is the name of a document: its title where that has at most maxName words, else what its file is
// called, or for a README its folder. A longer one is cut where a phrase ends, if one does within maxName words.
func (d *document) shortName() string {
	name := firstPart(d.displayName())
	if len(strings.Fields(name)) <= maxName {
		return clip(name, 50)
	}
	file := d.stem()
	if isGeneric(file) {
		file = path.Base(path.Dir(d.path))
	}
	if file != "." {
		name = strings.Join(strings.FieldsFunc(file, splitsPath), " ")
		if name == strings.ToUpper(name) {
			name = capitalize(strings.ToLower(name))
		}
	}
	ws := strings.Fields(name)
	for n := maxName; n > 1 && len(ws) > maxName; n-- {
		if in("of and or to in on for with from by & that which", strings.ToLower(ws[n])) || strings.ContainsAny(ws[n-1][len(ws[n-1])-1:], ",;:-") {
			ws = ws[:n]
		}
	}
	return clip(strings.Trim(strings.Join(ws, " "), ",;:-"), 50)
}

// isGeneric reports whether many documents have this name.
func isGeneric(name string) bool {
	return in("readme index overview introduction usage guide home", strings.ToLower(name))
}

// qualifyTitle is the title of a rule or a procedure: its heading's, without symbols, a full stop and a
// number of steps. One with less than two telling words is told by the nearest heading above it that says something,
// else by its document, as is one that speaks of "this".
func (s *section) qualifyTitle(title string) string {
	title = capitalize(strings.TrimFunc(stepCount().ReplaceAllString(title, ""), func(r rune) bool {
		return unicode.Is(unicode.So, r) || unicode.Is(unicode.Mn, r) || strings.ContainsRune(":. ", r)
	}))
	if title == "" {
		return capitalize(firstPart(s.doc.displayName()))
	}
	if isFilename(title) && s.doc.isForAgents() {
		title = "Rules for agents"
	}
	points := slices.ContainsFunc(words(title), func(w string) bool { return in("this these", w) })
	for _, sp := range s.heading.spans {
		if sp.kind == codeSpan && countTelling(sp.text) == 0 { // else it reads as a word of the sentence
			title, points = strings.Replace(title, " "+sp.text+" ", " `"+sp.text+"` ", 1), true
		}
	}
	full := title
	title = abbreviated().ReplaceAllString(title, "")
	d, telling := s.doc, countTelling(title)
	if strings.HasSuffix(title, ")") || sameName(firstPart(d.displayName()), title) {
		return full
	}
	if telling < 2 && !points {
		for p := s.parent; p != nil; p = p.parent {
			name := strings.TrimFunc(bracketed().ReplaceAllString(sectionNumber().ReplaceAllString(p.title, ""), ""), func(r rune) bool { return unicode.Is(unicode.So, r) || r == ' ' })
			if countTelling(name) > 0 && canName(name, p.code) && !isBoilerplate(name) && !sharesWord(title, name) {
				return title + " (" + name + ")"
			}
		}
	}
	apart := path.Dir(d.path) != "." && !sharesWord(title, d.displayName())
	if name := strings.NewReplacer("(", "", ")", "").Replace(d.shortName()); (telling < 2 || points || apart && telling < 4) && !isGeneric(name) && !sameName(name, title) {
		return title + " (" + name + ")"
	}
	return full
}

// abbreviated is what stands in brackets at the end of a title for its words, which the document's name replaces.
var abbreviated = lazy(` \([A-Z]{2,6}\)$`)

// countTelling counts the words of a title that say what it is about: not those that many headings have.
func countTelling(title string) int {
	n := 0
	for _, w := range words(title) {
		if !in("a an the of to in on for with from at by and or your our this these that is are before after about how new using getting things done first here it them should "+
			"changes change instance process workflow build app application code project repository repo branch tests test source started start set up "+
			"environment dependencies development locally local works steps step manual automatic update data frequently asked questions faq "+
			"policy policies guideline guidelines rule rules standards principles best practices considerations requirements responsibility responsibilities general other overview review summary recommended", w) {
			n++
		}
	}
	return n
}

var stepCount = lazy(`(?i) \([0-9]+ steps\)$`)
