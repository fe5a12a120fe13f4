package cmd

import (
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

func personaCheck(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "check",
		Usage: "check every persona, and that the documents it names exist",
		Description: "odd agent persona check\n" +
			"odd agent persona check --strict --sarif\n\n" +
			"Exit 1 means an error: a persona that odd cannot read, or a document or\n" +
			"heading of this bundle that does not exist. Uris of other sources are not\n" +
			"checked.",
		Flags: append(formatFlags(),
			&cli.BoolFlag{Name: "strict", Usage: "treat warnings as errors"},
			atFlag(),
			bundleFlag()),
		Action: do(env, runPersonaCheck),
	})
}

// profilesChecked is what odd agent persona check --json prints.
type profilesChecked struct {
	Status   string        `json:"status"` // OK or FINDINGS, as the exit code has it
	Profiles int           `json:"profiles"`
	Findings []okf.Problem `json:"findings"`
}

func runPersonaCheck(c *cli.Context, env Env) error {
	format, err := formatOf(c)
	if err != nil {
		return err
	}
	b, err := sourceFor(c).open(c.Context, env)
	if err != nil {
		return err
	}
	roster := contract.LoadRoster(b.graph)
	found := append(b.untypedPersonas(), contract.Check(b.graph, roster)...)
	if c.Bool("strict") {
		found = okf.Strict(found)
	}
	r := profilesChecked{"OK", len(roster.Profiles), orEmpty(found)}
	errors, warnings := 0, 0
	for _, p := range found {
		switch p.Severity {
		case okf.Error:
			errors++
			r.Status = "FINDINGS"
		case okf.Warn:
			warnings++
		}
	}
	if format == asJSON {
		err = printJSON(env, r)
	} else {
		err = printFound(env, format, contract.Codes(), b.locate(env, found, true))
		talk(env, "%s, %s, %s", count(r.Profiles, "profile"), count(errors, "error"), count(warnings, "warning"))
	}
	return orFault(err, r.Status != "OK")
}
