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
	"math"
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

// show prints value as JSON, or rows.
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
		return shownError{refused}
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

// showPage prints value as JSON, or a page.
func showPage(env Env, asJSON bool, value any, page string) error {
	if asJSON {
		return printJSON(env, value)
	}
	return printPage(env, page)
}

// printPage prints a page, broken between words where a terminal is too narrow for it.
func printPage(env Env, page string) error {
	_, err := io.WriteString(foldedOutput(env), page)
	return err
}

// statusOf returns the verdict of a check in JSON, as its exit code has it.
func statusOf(bad int) string {
	if bad > 0 {
		return "FINDINGS"
	}
	return "OK"
}

// orFault returns err, or exit code 1 where bad was found, and told.
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

// printFitted is printRows, but a line that does not fit the terminal loses its
// tail. A pipe has all of it.
func printFitted(env Env, rows [][]string) error {
	if !env.Terminal {
		return printRows(env, rows)
	}
	t := alignRows(env, slices.Values(rows))
	t.Width = math.MaxInt / 8
	for _, row := range t.Rows {
		if _, err := fmt.Fprintln(env.Stdout, layout.Clip(t.Line(row), env.terminalWidth())); err != nil {
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

// oneArg returns the single argument of a verb that takes exactly one, called want in its usage.
func oneArg(c *cli.Context, want string) (string, error) {
	if c.NArg() != 1 || c.Args().First() == "" {
		return "", usage("%s: want one argument, %s; see odd help %s", verbOf(c), want, verbOf(c))
	}
	return c.Args().First(), nil
}

// noArgs refuses arguments of a verb that takes none.
func noArgs(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("%s: unexpected argument %q; see odd help %s", verbOf(c), c.Args().First(), verbOf(c))
	}
	return nil
}
