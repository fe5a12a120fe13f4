package cmd

import (
	"context"

	"github.com/odd-cli/odd/okf/canon"
)

func runCheckCanon(ctx context.Context, env Env, o checkOptions) error {
	l, b, err := o.src.readCanon(ctx, env)
	if err != nil {
		return err
	}
	r := l.Check()
	if o.strict {
		r = r.Strict()
	}
	if o.format == asJSON {
		r.Findings = orEmpty(r.Findings)
		err = printJSON(env, r)
	} else {
		err = printFound(env, o.format, canon.Rules(), b.locateCanon(env, r.Findings))
		talk(env, "%s, %s of canon, %s, %s", count(r.Scanned, "file"), count(r.Documents, "document"), count(r.Errors, "error"), count(r.Warnings, "warning"))
		n := r.References
		talk(env, "references: %d found, %d dead, %d of another authority, %d patterns, %d phrases, %d allowed", n.Found, n.Dead, n.External, n.Placeholder, n.Prose, n.Allowed)
	}
	return orFault(err, r.Status != "OK")
}

func (b bundle) locateCanon(env Env, found []canon.Finding) []located {
	var out []located
	tracked := b.tracked(env)
	for _, f := range found {
		at := f.Location
		out = append(out, located{rule: f.RuleID, severity: f.Severity, file: tracked(at.Path), line: at.Line, place: b.place(env, at.Path, at.Line), text: f.Message})
	}
	return out
}
