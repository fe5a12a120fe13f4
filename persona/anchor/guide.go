package anchor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Given is what Guide may mention. It mentions nothing else, and nothing that a later
// stage will ask.
type Given struct {
	Mode         Mode
	Strictness   Strictness
	Role         string
	Attempt, Of  int // this one, from 1, and how many there are
	Constitution Constitution
}

// Guide helps an agent with the payload of a stage: AtContext is BIND, AtBound
// is TENSIONS and COMMIT (under express COMMIT only). Without problems it says
// how the stage is passed and the template has every section; with problems it
// says what to mend and the template has only the sections that failed. The
// last failure has no next attempt.
func Guide(stage Stage, ps []Problem, g Given) (guidance, template string) {
	parts := sectionsOf(stage, g)
	if len(ps) == 0 {
		return describeStage(parts, g), writeTemplate(parts, g)
	}
	failed := slices.DeleteFunc(slices.Clone(parts), func(name string) bool { return !concernsSection(ps, name) })
	if len(failed) == 0 {
		failed = parts // the payload as a whole
	}
	return describeProblems(parts, failed, ps, g), writeTemplate(failed, g)
}

// sectionsOf returns the sections that the payload of a stage must have.
func sectionsOf(stage Stage, g Given) []string {
	switch {
	case stage == AtContext:
		return []string{"BIND"}
	case stage == AtBound && g.Mode == Express:
		return []string{"COMMIT"}
	case stage == AtBound:
		return []string{"TENSIONS", "COMMIT"}
	}
	return nil
}

func concernsSection(ps []Problem, section string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool {
		return p.At == section || strings.HasPrefix(p.At, section+".") || strings.HasPrefix(p.At, section+"[")
	})
}

// describeStage says what the payload of a stage must contain.
func describeStage(parts []string, g Given) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Send %s as one payload: the template, each <place> filled in by you.", strings.Join(parts, " and "))
	for _, name := range parts {
		for _, line := range describeSection(name, g) {
			b.WriteString("\n- " + line)
		}
	}
	return b.String()
}

// describeSection says what a section must contain.
func describeSection(section string, g Given) []string {
	switch section {
	case "BIND":
		cognition := "COGNITION is one of " + strings.Join(cognitionNames(), ", ") + ": your constitution says which; read it."
		if g.Constitution.Cognition == "" {
			cognition = "COGNITION is one of " + strings.Join(cognitionNames(), ", ") + ": your constitution leaves it to you."
		}
		names := "ARCHETYPES are names that your constitution declares."
		if len(g.Constitution.Archetypes) == 0 {
			names = "ARCHETYPES may be left out: your constitution declares none."
		}
		return []string{
			"ROLE is " + roleName(g.Role) + ".",
			cognition,
			names,
			"AUTHORITY is " + authorityForm + ".",
		}
	case "TENSIONS":
		n := g.Strictness.Least()
		out := []string{
			fmt.Sprintf("TENSIONS: at least %d, one a line: %s.", n, tensionFormFor(g.Strictness)),
			"A constraint is a rule of yours, CTX a file of the work tree it meets, the state what is so there now, the trigger what you will do about it.",
		}
		if g.Strictness == Deep {
			out = append(out, "Each cites lines of its own, as :10-20.")
		}
		return out
	}
	list := g.Constitution.GateCommand
	if len(list) == 0 {
		list = policy.TestCommands()
	}
	return []string{
		"ARTIFACT is the path of the file that the session will have made or changed.",
		"GATE is the command that judges it, beginning with one of: " + strings.Join(list, ", ") + ".",
	}
}

// describeProblems lists each problem with its place, what was found and what was
// expected, and then each remedy once.
func describeProblems(parts, failed []string, ps []Problem, g Given) string {
	var b strings.Builder
	things := "one thing is"
	if len(ps) > 1 {
		things = fmt.Sprintf("%d things are", len(ps))
	}
	fmt.Fprintf(&b, "%s was not accepted: %s wrong%s.\n", strings.Join(parts, " and "), things, formatAttempt(g))
	for i, p := range ps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, p)
	}
	b.WriteString("To mend it:\n")
	for _, fix := range listRemedies(ps) {
		b.WriteString("- " + fix + "\n")
	}
	switch {
	case g.Of > 0 && g.Attempt >= g.Of:
		b.WriteString("There is no further attempt in this session: ask a person, or begin a new session.")
	case len(failed) < len(parts):
		fmt.Fprintf(&b, "Then send the whole payload again, with the template in the place of your %s.", strings.Join(failed, " and "))
	default:
		b.WriteString("Then send the payload again; the template has its form.")
	}
	return b.String()
}

func formatAttempt(g Given) string {
	if g.Of == 0 {
		return ""
	}
	return fmt.Sprintf(" (attempt %d of %d)", g.Attempt, g.Of)
}

// listRemedies returns each remedy once, in the order of the problems.
func listRemedies(ps []Problem) []string {
	var out []string
	for _, p := range ps {
		fix := p.Want
		if fix == "" {
			fix = remedyOf(p.Code)
		}
		at := p.At
		if strings.HasPrefix(at, "TENSIONS") {
			at = "TENSIONS" // many may fail for one reason
		}
		fix = at + ": " + fix
		if !slices.Contains(out, fix) {
			out = append(out, fix)
		}
	}
	return out
}

// String returns the problem on one line: where, what, what was found, what was
// expected, and its code.
func (p Problem) String() string {
	s := p.At
	if p.Line > 0 {
		s += fmt.Sprintf(", line %d", p.Line)
	}
	s += ": " + p.Text
	if p.Found != "" {
		s += fmt.Sprintf("; found %q", p.Found)
	}
	if p.Want != "" {
		s += "; expected " + p.Want
	}
	return s + " [" + string(p.Code) + "]"
}

// writeTemplate returns a payload with places to fill in, which as it stands is refused.
func writeTemplate(parts []string, g Given) string {
	var out []string
	for _, name := range parts {
		switch name {
		case "BIND":
			b := Bind{Role: roleName(g.Role), Cognition: "<your cognition>", Authority: Authority{Scope: "<what you answer for>"}}
			if len(g.Constitution.Archetypes) > 0 {
				b.Archetypes = []string{"<your archetypes>"}
			}
			out = append(out, b.formatOctave())
		case "TENSIONS":
			t := Tension{Constraint: "<a rule of yours>", Path: "<path of a file>", State: "<what is so there>", Trigger: "<what you will do>"}
			if g.Strictness == Deep {
				t.Start, t.End = 10, 20
			}
			out = append(out, tensionsOctave(Anchor{Tensions: slices.Repeat([]Tension{t}, g.Strictness.Least())}))
		case "COMMIT":
			out = append(out, Commit{"<path of the file you will make or change>", "<command that judges it>"}.formatOctave())
		}
	}
	if out == nil {
		return ""
	}
	return formatIdentity(out...)
}
