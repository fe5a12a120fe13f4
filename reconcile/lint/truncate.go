package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/odd-cli/odd/reconcile/policy"
)

// A file of at least truncatedFrom bytes keeps truncatedPercent of them.
const (
	truncatedFrom    = 200
	truncatedPercent = 50
	rewrittenLines   = 20
)

// checkTruncated judges whether a file was given whole: its length, its end, and
// what used to stand there.
func checkTruncated(c *change, d *delta) []policy.Finding {
	if d.After == nil {
		return nil
	}
	var out []policy.Finding
	if len(d.Before) > truncatedFrom && !isLock(d.Path) && !d.isRewritten() && !closedTag().Match(d.After) && (len(d.After)+d.moved.bytes+d.functionBytesLost())*100 < len(d.Before)*truncatedPercent && !d.keepsEnd() {
		out = append(out, d.oneFinding("truncated_length", policy.ByBytes, 0, fmt.Sprintf("looks cut off: it has %d bytes and had %d", len(d.After), len(d.Before)))...)
	}
	if d.test && d.ext != ".go" {
		return out // what its tests assert is judged by itself
	}
	if isLock(d.Path) {
		return out // a line of it says nothing of the next
	}
	for _, cut := range []func(*change, *delta) string{beginningOnly, cutLine, tailGone, checkBraces, openFence} {
		if text := cut(c, d); text != "" {
			return append(out, d.oneFinding("truncated_end", d.how(), len(d.now.lines()), text)...)
		}
	}
	return out
}

// functionBytesLost counts what the functions that a Go file has no more took, each with its
// comment: they are judged by name, see tailGone.
func (d *delta) functionBytesLost() int {
	n, now := 0, map[string]bool{}
	if !d.goTrees() {
		return n
	}
	for _, f := range d.now.listFunctions() {
		now[f.name] = true
	}
	for _, f := range d.was.listFunctions() {
		if from := f.decl.Pos(); !now[f.name] {
			if f.decl.Doc != nil {
				from = f.decl.Doc.Pos()
			}
			n += int(f.decl.End() - from)
		}
	}
	return n
}

// functionNames are the names of the functions that the files of the change have.
func (c *change) functionNames() map[string]bool {
	has := map[string]bool{}
	for _, o := range c.deltas {
		for _, f := range o.now.listFunctions() {
			has[f.decl.Name.Name] = true
		}
	}
	return has
}

// addNames adds the names that stand in a Go file.
func (s side) addNames(to map[string]bool) {
	if s.tree == nil {
		return
	}
	ast.Inspect(s.tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			to[id.Name] = true
		}
		return true
	})
}

// isRewritten reports a file that has as many new lines as a person writes and no cut
// leaves, or is half new and more than one line of it.
func (d *delta) isRewritten() bool {
	n, all := 0, 0
	for l, times := range d.come {
		n += times * btoi(strings.TrimSpace(l) != "")
	}
	for _, l := range d.now.lines() {
		all += btoi(strings.TrimSpace(l) != "")
	}
	return n >= rewrittenLines || n > 1 && 2*n >= all
}

// isLock reports a file that a tool writes by what others ask for, or keeps short itself.
func isLock(p string) bool {
	base := strings.ToLower(path.Base(p))
	return strings.HasSuffix(base, "ignore") || strings.HasSuffix(base, ".lock") || strings.HasSuffix(base, ".sum") || base == "go.mod" || strings.Contains(base, "-lock.") || base == "npm-shrinkwrap.json"
}

// keepsEnd reports a file of which a third of what is gone, at least, stood between lines that
// stay: a cut leaves the beginning, so that this was taken out. A comment that goes shows nothing.
func (d *delta) keepsEnd() bool {
	between, code, behind, begun, bare := 0, 0, 0, 0, d.was.lines()
	if !slices.Contains(proseExts(), d.ext) {
		bare = strings.Split(string(comments().ReplaceAllFunc(d.Before, func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })), "\n")
	}
	for i, l := range d.was.lines() {
		switch text := strings.TrimSpace(l); {
		case len(text) > 1 && d.lost[l] == 0:
			between, code, behind, begun = between+begun*code, 0, 0, 1
		case text != "":
			code, behind = code+btoi(strings.TrimSpace(bare[i]) != ""), behind+1
		}
	}
	return behind <= 2*between
}

// comments find what is a comment from the beginning of a line, in any language.
var comments = lazy(`(?sm)^[ \t]*(?:/\*.*?\*/|<!--.*?-->|""".*?"""|'''.*?'''|(?://|#|\*|--|;|%)[^\n]*)`)

// beginningOnly tells a file that is how it was up to a point, and ends there.
// Data that parses is as long as it may be, unless more than a third is gone that no file which the change
// deletes explains; for Go see tailGone.
func beginningOnly(c *change, d *delta) string {
	now, was := bytes.TrimSpace(d.After), bytes.TrimSpace(d.Before)
	if len(now) == 0 || len(now) >= len(was) || !bytes.HasPrefix(was, now) {
		return ""
	}
	lost, block, tail := bytes.Count(was[len(now):], []byte("\n"))-d.moved.lines, bytes.HasPrefix(was[len(now):], []byte("\n\n")), bytes.TrimLeft(was[len(now):], "\n")
	text := slices.Contains(proseExts(), d.ext) && !strings.EqualFold(path.Base(d.Path), "CMakeLists.txt") || path.Base(d.Path) == "CODEOWNERS"
	last := text && !bytes.Contains(bytes.TrimSpace(was[len(now):]), []byte("\n\n")) // one paragraph, however short the file is
	top := len(tail) > 0 && !unicode.IsSpace(rune(tail[0])) && lost <= 2*deletionLines && 100*lost <= deletionPercent*len(d.was.lines())
	block = block && bytes.HasSuffix(d.After, []byte("\n")) && (top || lost < deletionLines && (last || 2*lost <= len(d.was.lines())))
	ends := slices.ContainsFunc(c.deltas, func(o *delta) bool { // with the folder, or the file, that it is about
		return wholeParse(d.ext) && o.After == nil && (bytes.Contains(was[len(now):], []byte(o.Path)) || o.dir != "." && bytes.Contains(was[len(now):], []byte(o.dir)))
	})
	if lost < 3 || block || ends || d.goTrees() || wholeParse(d.ext) && 3*lost <= len(d.was.lines()) {
		return ""
	}
	return fmt.Sprintf("looks cut off: the last %d lines are missing", lost)
}

// cutLine tells a last line that is the beginning of the one it was.
func cutLine(_ *change, d *delta) string {
	if len(d.Before) == 0 || len(d.After) == 0 || bytes.HasSuffix(d.After, []byte("\n")) || !bytes.HasSuffix(d.Before, []byte("\n")) {
		return ""
	}
	lines := d.now.lines()
	last := lines[len(lines)-1]
	if strings.TrimSpace(last) == "" {
		return ""
	}
	for _, l := range d.was.lines() {
		if strings.HasPrefix(l, last) && l != last {
			return "looks cut off: it ends in the middle of a line"
		}
	}
	return ""
}

// tailGone tells a Go file whose last functions, two or more, are gone. Nothing is cut off
// where they went to another file or to a type with another name, where other code used all of
// them and none does any more, or where new functions of half their statements at least stand
// at the end of the file, or in new files of its folder if nothing uses the old ones.
func tailGone(c *change, d *delta) string {
	if d.test {
		return "" // what its tests assert is judged by itself
	}
	has, was, now := c.functionNames(), d.was.listFunctions(), d.now.listFunctions()
	var gone []function
	lost, old := 0, map[string]bool{}
	for _, f := range slices.Backward(was) {
		if has[f.decl.Name.Name] {
			break
		}
		gone, lost = append([]function{f}, gone...), lost+f.size()
	}
	if len(gone) < 2 || len(gone) == len(was) && len(now) > 0 {
		return ""
	}
	for _, f := range was {
		old[f.decl.Name.Name] = true
	}
	for _, f := range slices.Backward(now) {
		if old[f.decl.Name.Name] {
			break
		}
		lost -= 2 * f.work()
	}
	used, still, beside := map[string]bool{}, map[string]bool{}, 0
	for _, o := range slices.Concat(c.deltas, c.beside) {
		o.now.addNames(still)
		if o != d && !o.test {
			o.was.addNames(used)
		}
		if o.dir == d.dir && !o.was.here && !o.test {
			for _, f := range o.now.listFunctions() {
				beside += f.work()
			}
		}
	}
	unused := !slices.ContainsFunc(gone, func(f function) bool { return still[f.decl.Name.Name] })
	dropped := unused && !slices.ContainsFunc(gone, func(f function) bool { return !used[f.decl.Name.Name] })
	if lost <= 0 || dropped || unused && lost <= 2*beside {
		return ""
	}
	var names []string
	for _, f := range gone[:min(len(gone), 5)] {
		names = append(names, f.name)
	}
	if len(gone) > 5 {
		names = append(names, fmt.Sprintf("%d more", len(gone)-5))
	}
	return "looks cut off: its last functions are missing: " + strings.Join(names, ", ")
}

// checkBraces tells a file of a language with braces that opens more than it
// closes, and did not before.
func checkBraces(_ *change, d *delta) string {
	if !slices.Contains(scriptExts(), d.ext) && !slices.Contains(otherExts(), d.ext) && d.ext != ".css" && d.ext != ".scss" && d.ext != ".proto" {
		return ""
	}
	now := countOpen(d.After)
	if now <= 0 || d.Before != nil && countOpen(d.Before) != 0 || isBundle(d.After) || ended().Match(d.After) && countOpen(inertText().ReplaceAll(d.After, []byte("$1"))) <= 0 {
		return "" // brackets stand in strings too
	}
	return fmt.Sprintf("looks cut off: %d brackets are not closed", now)
}

// inertText finds texts in quotes, templates, regular expressions of JavaScript with what stands before them, and
// what stands behind a backslash.
var inertText = lazy("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`|" +
	`((?:[(,=:\[!&|?{};]|=>|\breturn)\s*|\n\s*)/(?:[^/*\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])*/|\\.`)

// isBundle reports a file that a tool wrote in lines too long to read, and ended with a note of where its source is.
func isBundle(src []byte) bool {
	_, long := longLine(File{After: src}, Limits{}.Filled().LineBytes)
	return long && sourceNote().Match(src)
}

var sourceNote = lazy(`\n//# sourceMappingURL=\S+\s*\z`)

// ended finds the end of a file that closes what stands at the left.
var ended = lazy(`(?m)^(?:\S.*)?[;})\]]\s*\z`)

// closedTag finds the end of a page, which is written last.
var closedTag = lazy(`</[\w:-]+>\s*\z`)

func countOpen(src []byte) int {
	n := 0
	for _, c := range src {
		switch c {
		case '{', '(', '[':
			n++
		case '}', ')', ']':
			n--
		}
	}
	return n
}

// openFence tells Markdown whose last fence is never closed.
func openFence(_ *change, d *delta) string {
	if d.ext != ".md" && d.ext != ".markdown" {
		return ""
	}
	odd := func(s side) bool {
		n := 0
		for _, l := range s.lines() {
			n += btoi(strings.HasPrefix(strings.TrimSpace(l), "```"))
		}
		return n%2 == 1
	}
	if odd(d.now) && !odd(d.was) {
		return "looks cut off: a code block (```) is not closed"
	}
	return ""
}
