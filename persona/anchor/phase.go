package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// The files of a project that may say its phase, as PHASE::WORD in any section.
const (
	northStars     = ".hestai/north-star"
	projectContext = ".hestai/context/PROJECT-CONTEXT.oct.md"
)

// Phase is the phase that a project says it is in: of the first .oct.md file of
// .hestai/north-star, by name, that says one, else of PROJECT-CONTEXT. A project
// that has neither keeps no phase, and that is no problem. One that has them has
// a problem where none says a phase, where it is a placeholder or no word, and
// where a file on the way cannot be read; the phase is then "".
func Phase(files fs.FS) (phase, problem string) {
	found, err := phaseFiles(files)
	if err != nil {
		return "", fmt.Sprintf("%s: it cannot be read: %v", northStars, err)
	}
	if len(found) == 0 {
		return "", ""
	}
	for _, name := range found {
		phase, problem = phaseIn(files, name)
		if phase != "" || problem != "" {
			return phase, problem
		}
	}
	return "", fmt.Sprintf("%s: it says no phase; write PHASE::B1, or the word your project has for it", found[len(found)-1])
}

// phaseFiles are those of the files that are there, in the order they are asked.
func phaseFiles(files fs.FS) (out []string, err error) {
	entries, err := fs.ReadDir(files, northStars)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".oct.md") {
			out = append(out, path.Join(northStars, e.Name()))
		}
	}
	if _, err := fs.Lstat(files, projectContext); !errors.Is(err, fs.ErrNotExist) {
		out = append(out, projectContext)
	}
	return out, nil
}

// phaseIn is the phase that one file says; both are "" where it says none.
func phaseIn(files fs.FS, name string) (phase, problem string) {
	st, err := fs.Lstat(files, name)
	if err == nil && !st.Mode().IsRegular() {
		return "", name + ": it is no regular file; the phase is not read through links"
	}
	b, err := readSmall(files, name)
	if err != nil {
		return "", fmt.Sprintf("%s: it cannot be read: %v", name, err)
	}
	doc, notes := octave.Parse(name, b, octave.Lenient)
	if bad := octave.Errors(notes); len(bad) > 0 {
		return "", bad[0].Error()
	}
	said := phases(doc, doc.Entries)
	if len(said) == 0 {
		return "", ""
	}
	first := said[0]
	switch {
	case len(said) > 1 && slices.ContainsFunc(said, func(r Rule) bool { return r.Text != first.Text }):
		return "", fmt.Sprintf("%s:%d: a second phase; keep the one of line %d or this", name, said[1].Line, first.Line)
	case vacant(first.Text):
		return "", fmt.Sprintf("%s:%d: PHASE::%s says nothing yet; write PHASE::B1, or the word your project has for it", name, first.Line, first.Text)
	case !isWord(first.Text, "_-.") || len(first.Text) > 64:
		return "", fmt.Sprintf("%s:%d: the phase is no word: letters, digits, _, - and .", name, first.Line)
	}
	return first.Text, ""
}

// phases are the values of PHASE in blocks and sections.
func phases(doc *octave.Doc, entries []*octave.Entry) (out []Rule) {
	for _, e := range entries {
		if e.Kind == octave.Pair && e.Key == "PHASE" {
			line, _ := doc.Pos(e)
			text, _, _ := strings.Cut(flatValue(e.Value), "[") // B1[since May]
			out = append(out, Rule{strings.TrimSpace(text), line})
		}
		out = append(out, phases(doc, e.Entries)...)
	}
	return out
}

// vacant reports a value that only holds the place of one.
func vacant(s string) bool {
	return generic(s) || slices.Contains([]string{"NA", "UNKNOWN", "PHASE"}, strings.ToUpper(s))
}
