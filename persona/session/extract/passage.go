package extract

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// maxPassage bounds the lines of a passage, and maxCourse those of a procedure whose steps are headings. An atom with
// a longer one is left out.
const (
	maxPassage = 120
	maxCourse  = 160
)

// isTooLong reports whether e quotes more than one atom may.
func (e evidence) isTooLong() bool {
	most := maxPassage
	if slices.ContainsFunc(e.passage, func(b block) bool { return b.kind == caption }) {
		most = maxCourse
	}
	return len(renderAll(e.passage, nil)) > most
}

// passageBetween is what the blocks of s between two lines say, all of it and in their
// order: a step keeps the notes, lists and commands below it, a command the comments
// and labels around it.
func (s *section) passageBetween(from, to int) []block {
	return slices.DeleteFunc(outermostOf(s.blocks), func(b block) bool { return b.from < from || b.from > to || b.isEmpty() })
}

// headingBlock is a heading within a passage.
func (s *section) headingBlock() block {
	return block{kind: caption, from: s.line, to: s.line, run: s.heading}
}

// A linker returns where a link leads from another file, "" where nobody could follow it there.
type linker func(target string) string

// renderAll is a passage as lines of markdown.
func renderAll(bs []block, to linker) []string {
	var out []string
	for i, b := range bs {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, b.renderBlock(to)...)
	}
	return out
}

// isEmpty reports whether a page shows nothing of b.
func (b block) isEmpty() bool { return len(b.renderBlock(nil)) == 0 }

// renderBlock is one block as lines of markdown, those of a quotation with its mark.
func (b block) renderBlock(to linker) []string {
	out := b.renderBare(to)
	for i, l := range out {
		out[i] = strings.TrimRight(strings.Repeat("> ", b.quoted)+l, " ")
	}
	return out
}

func (b block) renderBare(to linker) []string {
	switch b.kind {
	case paragraph, raw, caption:
		if b.kind == caption { // bold as a whole
			b.run.spans = slices.DeleteFunc(slices.Clone(b.run.spans), func(s span) bool { return s.kind == strong })
			b.run.spans = slices.Insert(b.run.spans, 0, span{kind: strong, text: b.run.text})
		}
		text := b.run.renderRun(to)
		if b.run.text == "" {
			return nil
		}
		return []string{text}
	case code:
		out := fenceCode(b.lang, b.lines)
		if b.label != "" {
			out = append([]string{"**" + escapeText(b.label) + ":**", ""}, out...)
		}
		return out
	case bullets, steps:
		return b.renderItems(to)
	case table:
		out := []string{renderRow(b.columns, to), "|" + strings.Repeat(" --- |", len(b.columns))}
		for _, it := range b.items {
			out = append(out, renderRow(it.cells, to))
		}
		return out
	}
	var out []string // definitions
	for _, it := range b.items {
		out = append(out, strings.Join(renderCells(it.cells, to), ": "), "")
	}
	return out[:max(0, len(out)-1)]
}

func (b block) renderItems(to linker) []string {
	var out []string
	for _, it := range b.items {
		mark := "- "
		if b.kind == steps {
			mark = fmt.Sprintf("%d. ", b.start+it.at)
		}
		indent := strings.Repeat(" ", len(mark))
		out = append(out, strings.TrimRight(mark+it.run.renderRun(to), " "))
		for i, below := range it.below {
			if below.kind != bullets && below.kind != steps && (it.run.text != "" || i > 0) {
				out = append(out, "")
			}
			for _, l := range below.renderBlock(to) {
				out = append(out, strings.TrimRight(indent+l, " "))
			}
		}
	}
	return out
}

// renderRow is a row of a table.
func renderRow(cells []run, to linker) string {
	out := renderCells(cells, to)
	for i, c := range out {
		out[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(out, " | ") + " |"
}

func renderCells(cells []run, to linker) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c.renderRun(to)
	}
	return out
}

// renderRun is r with its code and bold words marked and with the links that to knows a target for.
func (r run) renderRun(to linker) string {
	return escapeStart(r.renderMarked(0, len(r.text), r.spans, to))
}

// renderMarked is a part of r; spans are those from there on.
func (r run) renderMarked(from, end int, spans []span, to linker) string {
	var b strings.Builder
	for i, s := range spans {
		if s.kind == emphasis || s.at < from || s.at+len(s.text) > end {
			continue
		}
		mark, target := codeMark(s.text), ""
		if s.kind == link && to != nil {
			target = to(s.to)
		}
		switch {
		case s.kind == strong:
			mark = "**" + r.renderMarked(s.at, s.at+len(s.text), spans[i+1:], to) + "**"
		case s.kind == link && target == "":
			continue
		case s.kind == link && s.to == s.text && strings.Contains(s.to, ":"): // only what has a scheme is a link without brackets
			mark = "<" + s.to + ">"
		case s.kind == link:
			mark = "[" + r.renderMarked(s.at, s.at+len(s.text), spans[i+1:], to) + "](" + target + ")"
		}
		before := escapeText(r.text[from:s.at])
		if s.kind == link && strings.HasSuffix(before, "!") {
			before = before[:len(before)-1] + `\!` // else an image
		}
		b.WriteString(before + mark)
		from = s.at + len(s.text)
	}
	b.WriteString(escapeText(r.text[from:end]))
	return b.String()
}

// codeMark is a code span of a text.
func codeMark(text string) string {
	ticks, pad := "`", ""
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		pad = " "
	}
	return ticks + pad + text + pad + ticks
}

// linkerFrom follows the links of d from another file: to other hosts, and to files that are there.
func (d *document) linkerFrom(from string, files fs.FS) linker {
	return func(target string) string {
		u, err := url.Parse(target)
		switch {
		case err != nil || target == "":
			return ""
		case in("http https mailto", u.Scheme):
			return unspaced.Replace(target)
		case u.Scheme != "" || u.Host != "" || u.RawQuery != "":
			return ""
		}
		to := d.path
		if strings.HasPrefix(u.Path, "/") {
			to = path.Clean(u.Path)[1:]
		} else if u.Path != "" {
			to = path.Join(path.Dir(d.path), u.Path)
		}
		if _, err := fs.Stat(files, to); err != nil || to == "." {
			return ""
		}
		out := okf.LinkTo(from, to)
		if u.Fragment != "" {
			out += "#" + u.EscapedFragment()
		}
		return unspaced.Replace(out)
	}
}

// unspaced writes what would end the target of a link.
var unspaced = strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29", "<", "%3C", ">", "%3E", `\`, "%5C")

// plainLang is a language that cannot end its own fence.
var plainLang = lazy(`^[\w+.#-]*$`)

// fenceCode returns code in a fence that none of its lines can close.
func fenceCode(lang string, lines []string) []string {
	ticks := "```"
	for _, l := range lines {
		for strings.Contains(l, ticks) {
			ticks += "`"
		}
	}
	if !plainLang().MatchString(lang) {
		lang = ""
	}
	out := []string{ticks + lang}
	for _, l := range lines {
		out = append(out, okf.Visible(strings.ToValidUTF8(strings.ReplaceAll(l, "\t", "    "), "")))
	}
	return append(out, ticks)
}
