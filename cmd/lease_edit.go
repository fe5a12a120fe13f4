package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/repo"
)

func leaseEdit(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "edit",
		Usage: "edit the draft in $EDITOR, then draft the lease; only a person can",
		Description: "EDITOR=\"code --wait\" odd gate lease edit \\\n" +
			"  --reason \"the harbour asked for tides first\"\n" +
			"\n" +
			"It ends as odd gate framing --draft FILE does.\n" +
			"\n" +
			personNote,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "set the working phase to `PHASE`: sensemaking or discovery (default: as the draft has it)"},
			reasonFlag(),
			yesFlag(),
			jsonFlag(),
		},
		Action: do(env, runLeaseEdit),
	})
}

// runLeaseEdit opens the draft, or a prefilled one where there is none, in the
// person's editor. What they leave unchanged and was drafted already is not an act.
func runLeaseEdit(c *cli.Context, env Env) error {
	o := gateOptions{yes: c.Bool("yes"), json: c.Bool("json")}
	o.act = gate.Act{Gate: gate.Framing, Kind: "draft", To: gate.Stance(c.String("to")), Reason: oneLine(c.String("reason"))}
	editor := strings.Fields(env.Getenv("EDITOR"))
	if len(editor) == 0 {
		return usage("gate lease edit: $EDITOR is not set; set it, or run odd gate lease draft > lease.toml, edit that file, and odd gate framing --draft lease.toml")
	}
	v, err := openToDecide(c.Context, env, "lease edit")
	if err != nil {
		return err
	}
	s, err := v.slowLoop(c.Context)
	if err != nil {
		return err
	}
	f := v.draft(s)
	before := gate.PrintLease(f)
	after, err := edited(c.Context, env, editor, "lease.toml", before)
	if err != nil {
		return err
	}
	if string(after) == string(before) && string(before) == string(s.LeaseFile) {
		talk(env, "lease edit: the lease is unchanged; nothing was done")
		return nil
	}
	if o.file, err = parseLease("lease.toml", after); err != nil {
		return err
	}
	return runGate(c.Context, env, o)
}

// edited is b as the person's editor leaves it, in a file of that name. The editor is
// words, never a shell's text.
func edited(ctx context.Context, env Env, editor []string, name string, b []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "odd-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name = filepath.Join(dir, name)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		return nil, err
	}
	err = repo.Edit(ctx, append(editor, name), repo.Desk{Dir: env.Dir, Env: env.Environ, In: env.Stdin, Out: env.Stdout, Err: env.Stderr})
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}
