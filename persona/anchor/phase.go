package anchor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/octave"
)

// phaseFile is the file in which a project may say its phase, as PHASE::WORD in
// any section.
const phaseFile = ".hestai/context/PROJECT-CONTEXT.oct.md"

// Phase returns the phase that a project says it is in. A project without the file keeps
// no phase, and that is no problem. It is a problem if the file cannot be read, says
// no phase, or says a placeholder or what is no word; the phase is then "".
func Phase(files fs.FS) (phase, problem string) {
	const name = phaseFile
	st, err := fs.Lstat(files, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", ""
	case err == nil && !st.Mode().IsRegular():
		return "", name + ": it is no regular file; the phase is not read through links"
	}
	b, err := readSmall(files, name)
	if err != nil {
		return "", fmt.Sprintf("%s: it cannot be read: %v", name, err)
	}
	entries, bad := octave.Parse(b)
	if len(bad) > 0 {
		return "", fmt.Sprintf("%s:%d: %s; %s", name, bad[0].Line, bad[0].Message, bad[0].Hint)
	}
	said := listPhases(entries)
	if len(said) == 0 {
		return "", name + ": it says no phase; write PHASE::B1, or the word your project has for it"
	}
	first := said[0]
	switch {
	case len(said) > 1 && slices.ContainsFunc(said, func(r Rule) bool { return r.Text != first.Text }):
		return "", fmt.Sprintf("%s:%d: a second phase; keep the one of line %d or this", name, said[1].Line, first.Line)
	case isPlaceholder(first.Text):
		return "", fmt.Sprintf("%s:%d: PHASE::%s says nothing yet; write PHASE::B1, or the word your project has for it", name, first.Line, first.Text)
	case !isWord(first.Text, "_-.") || len(first.Text) > 64:
		return "", fmt.Sprintf("%s:%d: the phase is no word: letters, digits, _, - and .", name, first.Line)
	}
	return first.Text, ""
}

// listPhases returns the values of PHASE in blocks and sections.
func listPhases(entries []*octave.Entry) (out []Rule) {
	for _, e := range entries {
		if e.Kind == octave.Pair && e.Key == "PHASE" {
			text, _, _ := strings.Cut(valueText(e.Value), "[") // B1[since May]
			out = append(out, Rule{strings.TrimSpace(text), e.Line})
		}
		out = append(out, listPhases(e.Entries)...)
	}
	return out
}

// isPlaceholder reports a value that only holds the place of one.
func isPlaceholder(s string) bool {
	return isGeneric(s) || slices.Contains([]string{"NA", "UNKNOWN", "PHASE"}, strings.ToUpper(s))
}
