package cmd

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"} }

// printJSON prints v indented by two, HTML left alone, with a final newline.
func printJSON(env Env, v any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// cell returns s on one line of a terminal: a tab or line break becomes a space, and
// what nobody can see, or what has the shape of a credential, is left out, because
// titles and reasons come from files and agents, and a terminal obeys escapes.
func cell(s string) string {
	if layout.IsPlain(s) {
		return secrets.RedactText(s)
	}
	if strings.ContainsAny(s, "\t\n\r") {
		s = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
	}
	return secrets.RedactText(okf.Visible(s))
}

// titleCell returns a title as a list shows it, for printRows and its kind, which make a cell
// of it; --json and the file have all of it.
func titleCell(s string) string {
	if len(s) <= titleWidth {
		return s
	}
	return layout.Clip(cell(s), titleWidth)
}

const titleWidth = 100 // columns

// printRows prints rows of cells: aligned for a person, and the last broken between words
// where it has room; tab-separated for a pipe.
func printRows(env Env, rows [][]string) error { return printEach(env, slices.Values(rows)) }

// showList prints a list as JSON, or a row of each; it tells a person what there is none of
// where it is empty.
func showList[T any](env Env, asJSON bool, list []T, nothing string, row func(T) []string) error {
	if len(list) == 0 && nothing != "" {
		talk(env, "%s", nothing)
	}
	rows := make([][]string, len(list))
	for i, of := range list {
		rows[i] = row(of)
	}
	return show(env, asJSON, orEmpty(list), rows...)
}

func show(env Env, asJSON bool, value any, rows ...[]string) error {
	if asJSON {
		return printJSON(env, value)
	}
	return printRows(env, rows)
}

// showRefused prints as show does, then returns refused: why what was shown is refused, nil for none.
func showRefused(env Env, asJSON bool, value any, rows [][]string, refused error) error {
	err := show(env, asJSON, value, rows...)
	if err == nil && refused != nil && asJSON {
		return shown(refused)
	}
	return cmp.Or(err, refused)
}

// fieldRows returns rows of a name and a value each, of the pairs whose value is not empty.
func fieldRows(pairs ...string) (rows [][]string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			rows = append(rows, pairs[i:i+2])
		}
	}
	return rows
}

// card is a page of facts, a line each: a name, and what it is. What is empty is left out.
type card struct {
	strings.Builder
	wide int // of the names
}

func (b *card) line(key, format string, args ...any) {
	if s := cell(fmt.Sprintf(format, args...)); s != "" {
		fmt.Fprintf(b, "%-*s%s\n", b.wide, key, s)
	}
}

// list adds at most so many of a list, and how many more there are; the name is on the first.
func (b *card) list(key string, all []string, most int, more string) {
	for i, s := range all[:min(most, len(all))] {
		b.line([]string{key, ""}[min(i, 1)], "%s", s)
	}
	if n := len(all) - most; n > 0 {
		b.line("", "… and %d more%s", n, more)
	}
}

func showPage(env Env, asJSON bool, value any, page string) error {
	if asJSON {
		return printJSON(env, value)
	}
	return printPage(env, page)
}

// showText prints value as JSON, or a text that goes to a pipe as it is.
func showText(env Env, asJSON bool, value any, text string) error {
	if asJSON {
		return printJSON(env, value)
	}
	_, err := io.WriteString(env.Stdout, text)
	return err
}

// printPage prints a page, broken between words where a terminal is too narrow for it.
func printPage(env Env, page string) error {
	_, err := io.WriteString(foldedOutput(env), page)
	return err
}

func statusOf(bad int) string {
	if bad > 0 {
		return "FINDINGS"
	}
	return "OK"
}

func orFault(err error, bad bool) error {
	if err == nil && bad {
		return exitCode(exitFault)
	}
	return err
}

// printEach is printRows for rows that are made one after the other; a row is not
// looked at again once the next is asked for.
func printEach(env Env, rows iter.Seq[[]string]) error {
	out := bufio.NewWriterSize(env.Stdout, 1<<16)
	if env.Terminal {
		return errors.Join(alignRows(env, rows).Print(out), out.Flush())
	}
	var line []byte
	var above, shown []string // the row before, and what its cells became: neighbours have much in common
	for r := range rows {
		line = line[:0]
		for i, c := range r {
			if i == len(above) {
				above, shown = append(above, c), append(shown, cell(c))
			} else if above[i] != c {
				above[i], shown[i] = c, cell(c)
			}
			if i > 0 {
				line = append(line, '\t')
			}
			line = append(line, shown[i]...)
		}
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// alignRows returns rows as a terminal of env takes them.
func alignRows(env Env, rows iter.Seq[[]string]) *layout.Table {
	t := &layout.Table{Width: env.terminalWidth()}
	for r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = cell(c)
		}
		t.Add(cells)
	}
	return t
}

// printMany is printEach for a long list, of which row appends one to cells: each
// processor has its share of it, unless the whole is aligned.
func printMany[T any](env Env, list []T, row func(cells []string, of T) []string) error {
	rowsOf := func(list []T) iter.Seq[[]string] {
		return func(yield func([]string) bool) {
			var cells []string
			for _, of := range list {
				if cells = row(cells[:0], of); !yield(cells) {
					return
				}
			}
		}
	}
	if env.Terminal {
		return printEach(env, rowsOf(list))
	}
	return inShares(env, list, func(out *bytes.Buffer, share []T) error {
		out.Grow(96 * len(share)) // about as long as a line is
		part := env
		part.Stdout = out
		return printEach(part, rowsOf(share))
	})
}

// printManyJSON is printJSON for a long list, of which value is one: each processor
// has its share of it.
func printManyJSON[T, V any](env Env, list []T, value func(T) V) error {
	if len(list) == 0 {
		return printJSON(env, []V{})
	}
	if _, err := io.WriteString(env.Stdout, "["); err != nil {
		return err
	}
	err := inShares(env, list, func(out *bytes.Buffer, share []T) error {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		enc.SetIndent("  ", "  ")
		for i := range share {
			if &share[i] != &list[0] {
				out.WriteByte(',')
			}
			out.WriteString("\n  ")
			if err := enc.Encode(value(share[i])); err != nil {
				return err
			}
			out.Truncate(out.Len() - len("\n"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, "\n]\n")
	return err
}

// inShares prints what text makes of runs of a list, side by side, in their order.
func inShares[T any](env Env, list []T, text func(out *bytes.Buffer, share []T) error) error {
	n := runtime.GOMAXPROCS(0)
	out, errs := make([]bytes.Buffer, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = text(&out[i], list[i*len(list)/n:(i+1)*len(list)/n]) })
	}
	wg.Wait()
	for i := range out {
		if errs[i] != nil {
			return errs[i]
		}
		if _, err := out[i].WriteTo(env.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// talk writes one line of talk to stderr, without hidden characters and without
// what has the shape of a credential. A terminal gets it broken between words.
func talk(env Env, format string, args ...any) {
	text := secrets.RedactText(okf.Visible(fmt.Sprintf(talker+format, args...)))
	if env.Live {
		lines := strings.Split(strings.Repeat(" ", len(talker))+text[len(talker):], "\n")
		for i, line := range lines {
			lines[i] = layout.Fold(line, env.terminalWidth())
		}
		text = talker + strings.Join(lines, "\n")[len(talker):]
	}
	fmt.Fprintln(env.Stderr, text)
}

// talker is who talks.
const talker = "odd: "

// diffText returns a diff as stdout takes it: as it is in a pipe, where it is data. On a
// terminal it has git's colours, and every character of it that nobody can see, or that
// the terminal would obey, stands as a name: an agent wrote it.
func diffText(env Env, diff string) string {
	if !env.Terminal {
		return diff
	}
	diff = nameHidden(diff)
	if !env.hasColor() {
		return diff
	}
	var b strings.Builder
	head, hunk := false, false
	for line := range strings.Lines(diff) {
		text := strings.TrimSuffix(line, "\n")
		code := ""
		switch {
		case strings.HasPrefix(text, "@@ "):
			head, hunk = false, true
			lines, rest, _ := strings.Cut(text[3:], " @@")
			b.WriteString("\x1b[36m@@ " + lines + " @@\x1b[m" + rest + "\n")
			continue
		case head, strings.HasPrefix(text, "diff "):
			head, hunk, code = true, false, "1"
		case !hunk: // beside a diff
		case strings.HasPrefix(text, "+"):
			code = "32"
		case strings.HasPrefix(text, "-"):
			code = "31"
		}
		if code == "" || text == "" {
			b.WriteString(line)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + text + "\x1b[m\n")
	}
	return b.String()
}

// nameHidden returns s with a name for every hidden character: ^[ for escape, <U+202E> for an override.
func nameHidden(s string) string {
	s = okf.Legible(s)
	if okf.Visible(s) == s {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case okf.Visible(string(r)) != "":
			b.WriteRune(r)
		case r < ' ':
			b.WriteString("^" + string('@'+r))
		default:
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// folder is a terminal that pages are written to: a line that is longer than it is
// wide is broken between words, and goes on below where its text began.
type folder struct {
	to    io.Writer
	width int
	rest  []byte // of a line that has not ended
}

// foldedOutput returns where a page goes: to a terminal folded, to a pipe as it is.
func foldedOutput(env Env) io.Writer {
	if !env.Terminal {
		return env.Stdout
	}
	return &folder{to: env.Stdout, width: env.terminalWidth()}
}

// foldedLines returns a text as the terminal takes it, where its width is known.
func (e Env) foldedLines(text string) string {
	if e.Width == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = layout.Fold(line, e.Width)
	}
	return strings.Join(lines, "\n")
}

// foldedProse is foldedLines for markdown, which leaves the lines of code, tables and diffs whole.
func (e Env) foldedProse(text string) string {
	lines, code, hunk := strings.SplitAfter(text, "\n"), false, false
	for i, line := range lines {
		begins := strings.TrimLeft(line, " 0123456789>")
		fence := strings.HasPrefix(begins, "```") || strings.HasPrefix(begins, "~~~")
		code = code != fence
		hunk = strings.HasPrefix(line, "@@ ") || hunk && strings.ContainsAny(line[:min(1, len(line))], " +-\\")
		if !code && !fence && !hunk && !strings.HasPrefix(begins, "|") {
			blanks := line[len(strings.TrimRight(line, " \n")):]
			lines[i] = e.foldedLines(strings.TrimRight(line, " \n")) + blanks
		}
	}
	return strings.Join(lines, "")
}

func (f *folder) Write(b []byte) (int, error) {
	f.rest = append(f.rest, b...)
	end := bytes.LastIndexByte(f.rest, '\n') + 1
	var out strings.Builder
	for line := range strings.Lines(string(f.rest[:end])) {
		out.WriteString(layout.Fold(strings.TrimSuffix(line, "\n"), f.width) + "\n")
	}
	f.rest = f.rest[end:]
	_, err := io.WriteString(f.to, out.String())
	return len(b), err
}

// printText prints text that may go over lines: as it is into a pipe, without
// hidden characters on a terminal.
func printText(env Env, s string) error {
	if env.Terminal {
		s = env.foldedProse(okf.Visible(s))
	}
	_, err := io.WriteString(env.Stdout, s)
	return err
}
