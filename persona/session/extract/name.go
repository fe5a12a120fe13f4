package extract

import (
	"path"
	"strings"
)

// displayName returns what a reader calls the document: its title, else its file. One with a name
// that many have, as README and Overview, is called as its folder is.
func (d *document) displayName() string {
	for _, name := range []string{d.title, d.stem()} {
		if name != "" && !isGeneric(name) {
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
