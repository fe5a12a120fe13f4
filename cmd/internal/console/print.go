package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// PrintJSON prints v indented by two, HTML left alone, with a final newline.
func PrintJSON(env Env, v any) error {
	enc := json.NewEncoder(env.Stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintRows prints rows of cells. On a terminal they are aligned, and the last cell is broken
// between words to fit. In a pipe they are separated by tabs.
func PrintRows(env Env, rows [][]string) error { return printEach(env, slices.Values(rows)) }

// ShowList prints a list as JSON, or a row for each member. For an empty list it also writes the
// message nothing, such as "no task is open", to stderr; "" is no message.
func ShowList[T any](env Env, asJSON bool, list []T, nothing string, row func(T) []string) error {
	if len(list) == 0 && nothing != "" {
		Talk(env, "%s", nothing)
	}
	rows := make([][]string, len(list))
	for i, of := range list {
		rows[i] = row(of)
	}
	return Show(env, asJSON, OrEmpty(list), rows...)
}

// Show prints value as JSON, or else rows as PrintRows does.
func Show(env Env, asJSON bool, value any, rows ...[]string) error {
	if asJSON {
		return PrintJSON(env, value)
	}
	return PrintRows(env, rows)
}

// FieldRows returns rows of a name and a value each, of the pairs whose value is not empty.
func FieldRows(pairs ...string) (rows [][]string) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			rows = append(rows, pairs[i:i+2])
		}
	}
	return rows
}

// ShowPage prints value as JSON, or else a page as PrintPage does.
func ShowPage(env Env, asJSON bool, value any, page string) error {
	if asJSON {
		return PrintJSON(env, value)
	}
	return PrintPage(env, page)
}

// ShowText prints value as JSON, or a text that goes to a pipe as it is.
func ShowText(env Env, asJSON bool, value any, text string) error {
	if asJSON {
		return PrintJSON(env, value)
	}
	_, err := io.WriteString(env.Stdout, text)
	return err
}

// PrintPage prints a page, broken between words where a terminal is too narrow for it.
func PrintPage(env Env, page string) error {
	_, err := io.WriteString(FoldedOutput(env), page)
	return err
}

// printEach is PrintRows for rows that are made one after the other; a row is not
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
				above, shown = append(above, c), append(shown, Cell(c))
			} else if above[i] != c {
				above[i], shown[i] = c, Cell(c)
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
	t := &layout.Table{Width: env.TerminalWidth()}
	for r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = Cell(c)
		}
		t.Add(cells)
	}
	return t
}

// PrintMany is PrintRows for a long list. row appends the cells of one member to cells; it runs
// on all processors at once, unless the rows are aligned.
func PrintMany[T any](env Env, list []T, row func(cells []string, of T) []string) error {
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

// PrintManyJSON is PrintJSON for a long list of what value returns for each member; it runs on
// all processors at once.
func PrintManyJSON[T, V any](env Env, list []T, value func(T) V) error {
	if len(list) == 0 {
		return PrintJSON(env, []V{})
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

// Talk writes a message to stderr behind "odd: ", without control characters and credentials. On
// a terminal it is broken between words.
func Talk(env Env, format string, args ...any) {
	text := secrets.RedactText(okf.Visible(fmt.Sprintf(talker+format, args...)))
	if env.Live {
		lines := strings.Split(strings.Repeat(" ", len(talker))+text[len(talker):], "\n")
		for i, line := range lines {
			lines[i] = layout.Fold(line, env.TerminalWidth())
		}
		text = talker + strings.Join(lines, "\n")[len(talker):]
	}
	fmt.Fprintln(env.Stderr, text)
}

// talker is who talks.
const talker = "odd: "

// PrintText prints text of several lines: as it is in a pipe, and on a terminal without control
// characters.
func PrintText(env Env, s string) error {
	if env.Terminal {
		s = env.FoldedProse(okf.Visible(s))
	}
	_, err := io.WriteString(env.Stdout, s)
	return err
}

// JSONLine returns v as JSON on one line.
func JSONLine(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("unreachable: " + err.Error()) // texts and integers
	}
	return strings.TrimSuffix(b.String(), "\n")
}
