package extract

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// maxPassage bounds the lines of a passage. One that is longer ends at a whole
// block, with an ellipsis, and its atom is left out.
const maxPassage = 120

// passage is what the blocks of s between two lines say, all of it and in their
// order, as lines of markdown: a step keeps the notes, lists and commands below it,
// a command the comments and labels around it.
func (s *section) passage(from, to int) []string {
	var out []string
	for _, b := range outermost(s.blocks) {
		if b.from < from || b.from > to {
			continue
		}
		lines := b.render()
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		if len(out)+len(lines) > maxPassage {
			return append(out, "…")
		}
		out = append(out, lines...)
	}
	return out
}

// render is one block as lines of markdown.
func (b block) render() []string {
	switch b.kind {
	case paragraph, raw:
		if b.run.text == "" {
			return nil
		}
		return []string{escape(b.run.text)}
	case code:
		return fenceCode(b.lang, b.lines)
	case bullets, steps:
		return b.renderItems()
	case table:
		out := []string{row(b.columns), "|" + strings.Repeat(" --- |", len(b.columns))}
		for _, it := range b.items {
			out = append(out, row(texts(it.cells)))
		}
		return out
	}
	var out []string // definitions
	for _, it := range b.items {
		out = append(out, escape(strings.Join(texts(it.cells), ": ")), "")
	}
	return out[:max(0, len(out)-1)]
}

func (b block) renderItems() []string {
	var out []string
	for _, it := range b.items {
		mark := "- "
		if b.kind == steps {
			mark = fmt.Sprintf("%d. ", b.start+it.at)
		}
		indent := strings.Repeat(" ", len(mark))
		out = append(out, strings.TrimRight(mark+escape(it.run.text), " "))
		for i, below := range it.below {
			if below.kind != bullets && below.kind != steps && (it.run.text != "" || i > 0) {
				out = append(out, "")
			}
			for _, l := range below.render() {
				out = append(out, strings.TrimRight(indent+l, " "))
			}
		}
	}
	return out
}

// row is a row of a table.
func row(cells []string) string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.ReplaceAll(escape(c), "|", `\|`)
	}
	return "| " + strings.Join(out, " | ") + " |"
}

func texts(cells []run) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = c.text
	}
	return out
}

// plainLang is a language that cannot end its own fence.
var plainLang = regexp.MustCompile(`^[\w+.#-]*$`)

// fenceCode returns code in a fence that none of its lines can close.
func fenceCode(lang string, lines []string) []string {
	ticks := "```"
	for _, l := range lines {
		for strings.Contains(l, ticks) {
			ticks += "`"
		}
	}
	if !plainLang.MatchString(lang) {
		lang = ""
	}
	out := []string{ticks + lang}
	for _, l := range lines {
		out = append(out, okf.Visible(strings.ToValidUTF8(strings.ReplaceAll(l, "\t", "    "), "")))
	}
	return append(out, ticks)
}
