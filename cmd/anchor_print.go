package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
)

// printAnchor prints what a stage answered. A refusal is told on stdout as
// every answer is, for it is what the agent reads next; stderr has its codes.
func printAnchor(env Env, verb string, r anchor.Result, asJSON bool) error {
	if r.Errors == nil {
		r.Errors = []anchor.Problem{}
	}
	var err error
	if asJSON {
		err = printJSON(env, r)
	} else {
		_, err = fmt.Fprint(env.Stdout, okf.Visible(anchorPage(r)))
	}
	if err != nil || r.Success {
		return err
	}
	return anchorRefused(env, verb, r.Errors)
}

// anchorRefused tells the codes of problems on stderr. That a session which is named is
// not there is a fault, as of every name; the rest are refusals.
func anchorRefused(env Env, verb string, ps []anchor.Problem) error {
	codes := codesOf(ps)
	if slices.Equal(codes, []string{string(anchor.TokenUnknown)}) {
		talk(env, "%s: no such session; odd anchor ls lists them [%s]", verb, codes[0])
		return exitCode(exitFault)
	}
	talk(env, "%s: refused [%s]", verb, strings.Join(codes, ", "))
	return exitCode(exitRefused)
}

// codesOf returns the codes of problems, each once.
func codesOf(ps []anchor.Problem) (out []string) {
	seen := map[anchor.Code]bool{}
	for _, p := range ps {
		if !seen[p.Code] {
			out = append(out, string(p.Code))
		}
		seen[p.Code] = true
	}
	return out
}

// anchorPage returns an answer as a page: where the session stands, what was found,
// what to mend, the template, and the next command at the end.
func anchorPage(r anchor.Result) string {
	head := r.Stage
	if r.Token != "" {
		head += " " + r.Token
	}
	if r.Terminal {
		head += " (over)"
	}
	parts := []string{head}
	add := func(s string) {
		if s = strings.TrimRight(s, "\n"); s != "" {
			parts = append(parts, s)
		}
	}
	if r.ConstitutionPath != "" {
		add("Constitution: " + r.ConstitutionPath)
	}
	add(r.ConstitutionExcerpt)
	if r.ServerArm != nil && r.Anchor == "" {
		add(armLines(*r.ServerArm))
	}
	add(problemLines(r.Errors, r.Guidance))
	add(r.Guidance)
	if len(r.Warnings) > 0 {
		add("Warnings:\n" + problemLines(r.Warnings, ""))
	}
	add(r.Template)
	add(r.Anchor)
	if r.Permit != nil {
		add(permitLines(*r.Permit))
	}
	if r.NextStep != "" {
		add("Next: " + r.NextStep)
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// problemLines tells the problems that said does not tell already.
func problemLines(ps []anchor.Problem, said string) string {
	var b strings.Builder
	for _, p := range ps {
		if !strings.Contains(said, p.String()) {
			fmt.Fprintf(&b, "- %s\n", p)
		}
	}
	return b.String()
}

// armLines returns what the server found, a member a line, without an envelope that
// could be taken for a template.
func armLines(a anchor.Arm) string {
	var names []string
	for _, f := range a.Files[:min(10, len(a.Files))] {
		names = append(names, f.XY+" "+f.Path)
	}
	if more := len(a.Files) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	lines := []string{
		"ARM, as the server found it:",
		"  phase " + or(a.Phase, "-"),
		fmt.Sprintf("  branch %s, %d ahead, %d behind", a.Branch, a.Ahead, a.Behind),
		"  head " + a.Head,
		fmt.Sprintf("  focus %s (%s)", a.Focus, a.FocusSource),
		fmt.Sprintf("  %d files changed", len(a.Files)),
	}
	for _, n := range names {
		lines = append(lines, "    "+n)
	}
	return strings.Join(append(lines, "  "+a.Hash), "\n")
}

func permitLines(p anchor.Permit) string {
	allow := "the whole work tree"
	if len(p.Allow) > 0 {
		allow = strings.Join(p.Allow, ", ")
	}
	lines := []string{
		fmt.Sprintf("Permit: %s, %s, until %s", p.Role, p.Tier, p.ExpiresAt.UTC().Format(time.RFC3339)),
		"  may write " + allow,
	}
	if len(p.Deny) > 0 {
		lines = append(lines, "  but not "+strings.Join(p.Deny, ", "))
	}
	return strings.Join(lines, "\n")
}
