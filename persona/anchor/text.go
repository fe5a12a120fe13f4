package anchor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

// anchorText returns an anchor as its agent sees it: the identity block of OCTAVE,
// canonical. Control and hidden characters of file and branch names are left out;
// anchor.json has them.
func anchorText(a Anchor) []byte {
	return []byte(formatIdentity(a.Bind.formatOctave(), a.Arm.formatOctave(), tensionsOctave(a), a.Commit.formatOctave()))
}

// Payload returns the payload of an express session.
func (c Commit) Payload() []byte { return []byte(formatIdentity(c.formatOctave())) }

// ArmText returns the ARM as the agent is shown it before it proves that it read it.
func ArmText(a Arm) []byte { return []byte(formatIdentity(a.formatOctave())) }

func formatIdentity(sections ...string) string {
	return "===IDENTITY===\nMETA:\n  TYPE::IDENTITY\n  VERSION::\"5.0\"\n" + strings.Join(sections, "") + "===END===\n"
}

// formatSection returns a block of keys and their values; a value "" is left out.
func formatSection(name string, keyed ...string) string {
	var b strings.Builder
	b.WriteString(name + ":\n")
	for i := 0; i < len(keyed); i += 2 {
		if keyed[i+1] != "" {
			b.WriteString("  " + keyed[i] + "::" + keyed[i+1] + "\n")
		}
	}
	return b.String()
}

// plainValue returns a value without quotes where it is a name, else in quotes.
func plainValue(s string) string { return octave.Plain(visibleText(s)) }

// quotedValue returns a value in quotes: a path, a command, a sentence.
func quotedValue(s string) string { return octave.Quote(visibleText(s)) }

// visibleText returns text without the signs that a quoted value may not have.
func visibleText(s string) string { return strings.ReplaceAll(okf.Visible(s), "\r", "") }

// formatList returns a list of values, on one line if there are at most two; "" for none.
func formatList(values []string) string {
	switch len(values) {
	case 0:
		return ""
	case 1, 2:
		return "[" + strings.Join(values, ",") + "]"
	}
	return "[\n    " + strings.Join(values, ",\n    ") + "\n  ]"
}

func (b Bind) formatOctave() string {
	var names []string
	for _, n := range b.Archetypes {
		names = append(names, plainValue(n))
	}
	return formatSection("BIND", "ROLE", plainValue(b.Role), "COGNITION", plainValue(b.Cognition), "ARCHETYPES", formatList(names), "AUTHORITY", quotedValue(b.Authority.String()))
}

// String returns RESPONSIBLE[scope], DELEGATED[parent] or DELEGATED[parent::task].
func (a Authority) String() string {
	switch {
	case !a.Delegated:
		return "RESPONSIBLE[" + a.Scope + "]"
	case a.Scope == "":
		return "DELEGATED[" + a.Parent + "]"
	}
	return "DELEGATED[" + a.Parent + "::" + a.Scope + "]"
}

// formatOctave returns the ARM with at most three of its files.
func (a Arm) formatOctave() string {
	branch, focus := a.Branch, ""
	if a.Ahead != 0 || a.Behind != 0 {
		branch += fmt.Sprintf("[%d↑%d↓]", a.Ahead, a.Behind)
	}
	if a.Focus != "" {
		focus = plainValue(a.Focus)
	}
	var top []string
	for _, f := range a.Files[:min(3, len(a.Files))] {
		top = append(top, quotedValue(f.Path))
	}
	return formatSection("ARM", "PHASE", plainValue(a.Phase), "BRANCH", quotedValue(branch), "FILES", strconv.Itoa(len(a.Files)), "TOP_FILES", formatList(top),
		"FOCUS", focus, "CONTEXT_HASH", quotedValue(a.Hash))
}

// tensionsOctave is TENSIONS, marked if they are the server's; "" for none.
func tensionsOctave(a Anchor) string {
	if len(a.Tensions) == 0 {
		return ""
	}
	var keyed []string
	for i, t := range a.Tensions {
		keyed = append(keyed, fmt.Sprintf("L%d", i+1), quotedValue(t.String()))
	}
	if a.GeneratedBy == "server" {
		keyed = append(keyed, "GENERATED_BY", "server")
	}
	return formatSection("TENSIONS", keyed...)
}

func (c Commit) formatOctave() string {
	return formatSection("COMMIT", "ARTIFACT", quotedValue(c.Artifact), "GATE", quotedValue(c.Gate))
}
