package anchor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// sections returns what the payload that a pending session owes must have.
func (h Handshake) sections() []string {
	switch {
	case h.Mode == Express:
		return []string{"COMMIT"}
	case h.Stage == AtIdentity:
		return []string{"BIND"}
	}
	return []string{"TENSIONS", "COMMIT"}
}

// retryKey names the stage whose failures are counted.
func (h Handshake) retryKey() string {
	if h.Stage == AtIdentity && h.Mode != Express {
		return "context"
	}
	return "proof"
}

// guide helps an agent with the payload that its session owes, and mentions nothing that a
// later stage will ask. Without problems it says how the stage is passed, and the template
// has every section. With problems it says what is wrong, and the template has only the
// sections that failed.
func (h Handshake) guide(c Constitution, ps []Problem) (guidance, template string) {
	parts := h.sections()
	if len(ps) == 0 {
		say := "Send " + strings.Join(parts, " and ") + " as one payload: the template, each <place> filled in by you."
		for _, name := range parts {
			say += "\n- " + strings.Join(h.describeSection(name, c), "\n- ")
		}
		return say, h.writeTemplate(parts, c)
	}
	failed := slices.DeleteFunc(slices.Clone(parts), func(name string) bool { return !concernsSection(ps, name) })
	if len(failed) == 0 {
		failed = parts // the payload as a whole
	}
	return h.describeProblems(parts, failed, ps), h.writeTemplate(failed, c)
}

func concernsSection(ps []Problem, section string) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool {
		return p.At == section || strings.HasPrefix(p.At, section+".") || strings.HasPrefix(p.At, section+"[")
	})
}

// describeSection says what a section must contain.
func (h Handshake) describeSection(section string, c Constitution) []string {
	switch section {
	case "BIND":
		says, archetypes := "says which; read it", "are names that your constitution declares."
		if c.Cognition == "" {
			says = "leaves it to you"
		}
		if len(c.Archetypes) == 0 {
			archetypes = "may be left out: your constitution declares none."
		}
		return []string{
			"ROLE is " + h.Role + ".",
			"COGNITION is one of " + strings.Join(cognitionNames(), ", ") + ": your constitution " + says + ".",
			"ARCHETYPES " + archetypes,
			"AUTHORITY is " + authorityForm + ".",
		}
	case "TENSIONS":
		out := []string{
			fmt.Sprintf("TENSIONS: at least %d, one a line: %s.", h.Strictness.Least(), tensionFormFor(h.Strictness)),
			"A constraint is a rule of yours, CTX a file of the work tree it meets, the state what is so there now, the trigger what you will do about it.",
		}
		if h.Strictness == Deep {
			out = append(out, "Each cites lines of its own, as :10-20.")
		}
		return out
	}
	return []string{
		"ARTIFACT is the path of the file that the session will have made or changed.",
		"GATE is the command that judges it, beginning with one of: " + strings.Join(c.gateCommands(), ", ") + ".",
	}
}

// gateCommands returns how a command may begin that COMMIT names as its gate.
func (c Constitution) gateCommands() []string {
	if len(c.GateCommand) > 0 {
		return c.GateCommand
	}
	return policy.TestCommands()
}

// describeProblems lists each problem with its place, what was found and what was
// expected.
func (h Handshake) describeProblems(parts, failed []string, ps []Problem) string {
	var b strings.Builder
	things := "one thing is"
	if len(ps) > 1 {
		things = fmt.Sprintf("%d things are", len(ps))
	}
	attempt := h.Retries[h.retryKey()]
	fmt.Fprintf(&b, "%s was not accepted: %s wrong (attempt %d of %d).\n", strings.Join(parts, " and "), things, attempt, maxTries)
	for i, p := range ps {
		fmt.Fprintf(&b, "%d. %s\n", i+1, p)
	}
	switch {
	case attempt >= maxTries:
		b.WriteString("There is no further attempt in this session: ask a person, or begin a new session.")
	case len(failed) < len(parts):
		fmt.Fprintf(&b, "Mend that, and send the whole payload again, with the template in the place of your %s.", strings.Join(failed, " and "))
	default:
		b.WriteString("Mend that, and send the payload again; the template has its form.")
	}
	return b.String()
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
func (h Handshake) writeTemplate(parts []string, c Constitution) string {
	var out []string
	for _, name := range parts {
		switch name {
		case "BIND":
			b := Bind{Role: h.Role, Cognition: "<your cognition>", Authority: Authority{Scope: "<what you answer for>"}}
			if len(c.Archetypes) > 0 {
				b.Archetypes = []string{"<your archetypes>"}
			}
			out = append(out, b.formatOctave())
		case "TENSIONS":
			t := Tension{Constraint: "<a rule of yours>", Path: "<path of a file>", State: "<what is so there>", Trigger: "<what you will do>"}
			if h.Strictness == Deep {
				t.Start, t.End = 10, 20
			}
			out = append(out, tensionsOctave(Anchor{Tensions: slices.Repeat([]Tension{t}, h.Strictness.Least())}))
		case "COMMIT":
			out = append(out, Commit{"<path of the file you will make or change>", "<command that judges it>"}.formatOctave())
		}
	}
	return formatIdentity(out...)
}
