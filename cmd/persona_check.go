package cmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

func personaCheck(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "check",
		Usage: "check every profile, and that what it names is there",
		Description: "odd agent persona check\n" +
			"odd agent persona check --strict --sarif\n\n" +
			"Exit 1 means an error: a profile that cannot be read, or a document or heading\n" +
			"of this bundle that is not there. A uri of another authority is never dead.\n" +
			"With --strict a warning counts too.",
		Flags: append(formatFlags(),
			&cli.BoolFlag{Name: "strict", Usage: "take warnings for errors"},
			&cli.StringFlag{Name: "at", Usage: "read the bundle as committed in `REV`, not the files"},
			&cli.StringFlag{Name: "bundle", Usage: bundleHelp}),
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			format, err := formatOf(c)
			if err != nil {
				return err
			}
			return runPersonaCheck(c.Context, env, checkOptions{src: sourceFor(c), strict: c.Bool("strict"), format: format})
		},
	})
}

// profilesChecked is what odd agent persona check --json prints.
type profilesChecked struct {
	Status   string        `json:"status"` // OK or FINDINGS, as the exit code has it
	Profiles int           `json:"profiles"`
	Findings []okf.Problem `json:"findings"`
}

func runPersonaCheck(ctx context.Context, env Env, o checkOptions) error {
	b, err := o.src.open(ctx, env)
	if err != nil {
		return err
	}
	roster := contract.LoadRoster(b.graph)
	found := contract.Check(b.graph, roster)
	if o.strict {
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
	if o.format == asJSON {
		err = printJSON(env, r)
	} else {
		err = printFound(env, o.format, profileRules(), b.locate(env, found, true))
		talk(env, "%s, %s, %s", count(r.Profiles, "profile"), count(errors, "error"), count(warnings, "warning"))
	}
	if err == nil && r.Status != "OK" {
		err = exitCode(exitFault)
	}
	return err
}

// profileRules are the rules of a check of profiles.
func profileRules() []ruled {
	var out []ruled
	for _, c := range contract.Codes() {
		out = append(out, ruled{c.Name, c.About, c.Severity})
	}
	return out
}
