package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

func octaveVerb(env Env) *cli.Command {
	return group("octave", "check, format, read and edit OCTAVE files",
		"odd anchor octave check agents/builder.oct.md\n"+
			"odd anchor octave set anchor.oct COMMIT.GATE 'go test ./...'\n\n"+
			"OCTAVE is a text format of nested KEY::VALUE lines. odd uses it for the rules\n"+
			"of roles (ROLE.oct.md) and for what agents send to odd anchor.",
		verb("check FILE...", "list syntax errors in OCTAVE files",
			"odd anchor octave check agents/builder.oct.md\n"+
				"odd anchor octave check --strict - < anchor.oct\n\n"+
				"The file - is stdin. Exit 1 means an error: a line that leaves the structure\n"+
				"unclear, or with --strict any deviation from the format.",
			do(env, runOctaveCheck), &cli.BoolFlag{Name: "strict", Usage: "treat every deviation as an error"}, jsonFlag()),
		verb("fmt FILE...", "format OCTAVE files",
			"odd anchor octave fmt agents/builder.oct.md\n"+
				"odd anchor octave fmt --write agents/*.oct.md\n\n"+
				"Text in quotes, keys and paths stay as they are. A file whose structure is\n"+
				"unclear is not changed (exit 1).",
			do(env, runOctaveFmt),
			&cli.BoolFlag{Name: "check", Usage: "list the files that would change, and exit 1 if there are any"},
			&cli.BoolFlag{Name: "write", Usage: "write the files instead of printing them"},
			jsonFlag()),
		verb("get FILE PATH", "print the value at a path of an OCTAVE file",
			"odd anchor octave get anchor.oct BIND.ROLE\n"+
				"odd anchor octave get anchor.oct 'BIND.ARCHETYPES[0]'\n\n"+
				"odd prints a text without its quotes, and a list or block as one row an entry.\n"+
				"Quote a key that has other signs: 'UX.\"Self-Guiding\"'. Exit 3: two keys match\n"+
				"the path.",
			do(env, runOctaveGet), jsonFlag()),
		verb("set FILE PATH VALUE", "change one value of an OCTAVE file",
			"odd anchor octave set anchor.oct META.VERSION 5.1\n"+
				"odd anchor octave set anchor.oct 'BIND.ARCHETYPES[0]' ATLAS\n"+
				"odd anchor octave set --raw anchor.oct BIND.ARCHETYPES '[ATLAS,HERMES]'\n\n"+
				"VALUE is plain text; odd adds quotes where they are needed and changes no\n"+
				"other byte. With - as FILE, odd reads stdin and prints the result. Exit 3: two\n"+
				"keys match the path.",
			do(env, runOctaveSet), &cli.BoolFlag{Name: "raw", Usage: "VALUE is OCTAVE: a word, \"text\" or a [list]"}, jsonFlag()))
}

// openOctave reads a document leniently; what leaves its structure in doubt is
// told and is an error.
func openOctave(env Env, name string) (*octave.Doc, error) {
	b, err := readInput(env, name, octave.MaxBytes)
	if err != nil {
		return nil, err
	}
	d, ps := octave.Parse(name, b, octave.Lenient)
	var bad []error
	for _, p := range octave.Errors(ps) {
		bad = append(bad, p)
	}
	return d, errors.Join(bad...)
}

// writeOctave replaces a file whole or not at all; a symlink stays one.
func writeOctave(env Env, name string, b []byte) error {
	file, err := filepath.EvalSymlinks(env.absPath(name))
	if err != nil {
		return err
	}
	return renameio.WriteFile(file, b, 0o644, renameio.WithExistingPermissions())
}

func runOctaveCheck(c *cli.Context, env Env) error {
	mode := octave.Lenient
	if c.Bool("strict") {
		mode = octave.Strict
	}
	files := c.Args().Slice()
	var found []octave.Problem
	for _, name := range files {
		b, err := readInput(env, name, octave.MaxBytes)
		if err != nil {
			return err
		}
		_, ps := octave.Parse(name, b, mode)
		found = append(found, ps...)
	}
	errs := len(octave.Errors(found))
	var err error
	if c.Bool("json") {
		err = printJSON(env, map[string]any{
			"status": statusOf(errs), "files": len(files), "errors": errs, "warnings": len(found) - errs, "findings": orEmpty(found),
		})
	} else {
		list := make([]reportFinding, len(found))
		for i, p := range found {
			list[i] = reportFinding{rule: p.Code, severity: okf.Severity(p.Severity), place: fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col), text: p.Message + "; " + p.Hint}
		}
		err = printLocated(env, list)
		talk(env, "%s, %s, %s", countNoun(len(files), "file"), countNoun(errs, "error"), countNoun(len(found)-errs, "warning"))
	}
	return orFault(err, errs > 0)
}

// formattedFile is a file as odd anchor octave fmt --json prints it.
type formattedFile struct {
	File      string `json:"file"`
	Canonical bool   `json:"canonical"` // it was
	Text      string `json:"text,omitempty"`
}

func runOctaveFmt(c *cli.Context, env Env) error {
	if _, err := oneFlag(c, "check", "write"); err != nil {
		return err
	}
	check, write := c.Bool("check"), c.Bool("write")
	list, bad, rough := []formattedFile{}, []error{}, false
	for _, name := range c.Args().Slice() {
		d, err := openOctave(env, name)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		out := octave.Format(d)
		f := formattedFile{File: name, Canonical: bytes.Equal(out, d.Bytes())}
		rough = rough || !f.Canonical
		switch {
		case write && name != "-" && !f.Canonical:
			bad = append(bad, writeOctave(env, name, out))
		case !check && (!write || name == "-"):
			f.Text = string(out)
		}
		list = append(list, f)
	}
	if err := printFormatted(env, c.Bool("json"), check, list); err != nil {
		return err
	}
	err := errors.Join(bad...)
	if err != nil && c.Bool("json") {
		return shownError{err}
	}
	return orFault(err, check && rough)
}

func printFormatted(env Env, asJSON, check bool, list []formattedFile) error {
	if asJSON {
		return printJSON(env, list)
	}
	for _, f := range list {
		var err error
		switch {
		case !check:
			err = printText(env, f.Text)
		case !f.Canonical:
			err = printRows(env, [][]string{{f.File}})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// octaveJSON is a value, or an entry of one, as odd anchor octave get --json prints it.
type octaveJSON struct {
	Key   string       `json:"key,omitempty"`
	Kind  string       `json:"kind"`
	Text  string       `json:"text"`
	Raw   string       `json:"raw"`
	Items []octaveJSON `json:"items,omitempty"`
}

func valueJSON(key string, v octave.Value) octaveJSON {
	j := octaveJSON{Key: key, Kind: v.Kind.String(), Text: v.Text, Raw: v.Raw}
	for _, e := range v.Items {
		if v, ok := e.Holds(); ok {
			j.Items = append(j.Items, valueJSON(e.Key, v))
		}
	}
	return j
}

func runOctaveGet(c *cli.Context, env Env) error {
	d, err := openOctave(env, c.Args().Get(0))
	if err != nil {
		return err
	}
	v, err := d.Get(c.Args().Get(1))
	if err != nil {
		return err
	}
	switch j := valueJSON("", v); {
	case c.Bool("json"):
		return printJSON(env, j)
	case v.Kind == octave.List || v.Kind == octave.Nested:
		return printRows(env, j.textRows(""))
	default:
		return printText(env, strings.TrimSuffix(v.Text, "\n")+"\n")
	}
}

// textRows returns the texts below a value: a path from there, and the text.
func (j octaveJSON) textRows(above string) (rows [][]string) {
	keyed := above != ""
	for _, i := range j.Items {
		keyed = keyed || i.Key != ""
	}
	for _, i := range j.Items {
		path := strings.TrimPrefix(above+"."+i.Key, ".")
		switch {
		case i.Items != nil:
			rows = append(rows, i.textRows(strings.TrimSuffix(path, "."))...)
		case keyed:
			rows = append(rows, []string{strings.TrimSuffix(path, "."), i.Text})
		default:
			rows = append(rows, []string{i.Text})
		}
	}
	return rows
}

// printText prints text that may go over lines: as it is into a pipe, without
// hidden characters on a terminal.
func printText(env Env, s string) error {
	if env.Terminal {
		s = okf.Visible(s)
	}
	_, err := io.WriteString(env.Stdout, s)
	return err
}

func runOctaveSet(c *cli.Context, env Env) error {
	file, path := c.Args().First(), c.Args().Get(1)
	d, err := openOctave(env, file)
	if err != nil {
		return err
	}
	set := d.Set
	if c.Bool("raw") {
		set = d.SetRaw
	}
	out, err := set(path, c.Args().Get(2))
	if err != nil {
		return err
	}
	answer := map[string]any{"file": file, "path": path, "changed": !bytes.Equal(out, d.Bytes())}
	switch changed := answer["changed"] == true; {
	case file == "-" && !c.Bool("json"):
		return printText(env, string(out))
	case file == "-":
		answer["text"] = string(out)
	case changed:
		if err := writeOctave(env, file, out); err != nil {
			return err
		}
	case !c.Bool("json"):
		talk(env, "%s: %s has that value already", file, path)
	}
	if c.Bool("json") {
		return printJSON(env, answer)
	}
	return nil
}
