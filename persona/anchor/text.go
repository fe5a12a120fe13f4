package anchor

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

// Text is an anchor as its agent sees it: the identity block of OCTAVE, which a
// strict reader takes without a remark and writes again byte for byte. Control
// and hidden characters of file and branch names are left out; anchor.json has
// them.
func Text(a Anchor) []byte {
	return []byte(identityBlock(a.Bind.octave(), a.Arm.octave(), tensionsOctave(a), a.Commit.octave()))
}

// Payload is the payload of an express session.
func (c Commit) Payload() []byte { return []byte(identityBlock(c.octave())) }

// ArmText is the ARM as the agent is shown it before it proves that it read it.
func ArmText(a Arm) []byte { return []byte(identityBlock(a.octave())) }

// identityBlock is an envelope named IDENTITY with sections.
func identityBlock(sections ...string) string {
	return "===IDENTITY===\nMETA:\n  TYPE::IDENTITY\n  VERSION::\"5.0\"\n" + strings.Join(sections, "") + "===END===\n"
}

// section is a block of keys and their values; a value "" is left out.
func section(name string, keyed ...string) string {
	var b strings.Builder
	b.WriteString(name + ":\n")
	for i := 0; i < len(keyed); i += 2 {
		if keyed[i+1] != "" {
			b.WriteString("  " + keyed[i] + "::" + keyed[i+1] + "\n")
		}
	}
	return b.String()
}

// bare is a value without quotes where it is a name, else in quotes.
func bare(s string) string { return octave.Plain(visible(s)) }

// quoted is a value in quotes: a path, a command, a sentence.
func quoted(s string) string { return octave.Quote(visible(s)) }

// visible is text that may stand in a quoted value.
func visible(s string) string { return strings.ReplaceAll(okf.Visible(s), "\r", "") }

// list is a list of values, on one line if there are at most two; "" for none.
func list(values []string) string {
	switch len(values) {
	case 0:
		return ""
	case 1, 2:
		return "[" + strings.Join(values, ",") + "]"
	}
	return "[\n    " + strings.Join(values, ",\n    ") + "\n  ]"
}

func (b Bind) octave() string {
	var names []string
	for _, n := range b.Archetypes {
		names = append(names, bare(n))
	}
	return section("BIND", "ROLE", bare(b.Role), "COGNITION", bare(b.Cognition), "ARCHETYPES", list(names), "AUTHORITY", quoted(b.Authority.String()))
}

// String is RESPONSIBLE[scope], DELEGATED[parent] or DELEGATED[parent::task].
func (a Authority) String() string {
	switch {
	case !a.Delegated:
		return "RESPONSIBLE[" + a.Scope + "]"
	case a.Scope == "":
		return "DELEGATED[" + a.Parent + "]"
	}
	return "DELEGATED[" + a.Parent + "::" + a.Scope + "]"
}

// octave is the ARM with at most three of its files.
func (a Arm) octave() string {
	branch, focus := a.Branch, ""
	if a.Ahead != 0 || a.Behind != 0 {
		branch += fmt.Sprintf("[%d↑%d↓]", a.Ahead, a.Behind)
	}
	if a.Focus != "" {
		focus = bare(a.Focus)
	}
	var top []string
	for _, f := range a.Files[:min(3, len(a.Files))] {
		top = append(top, quoted(f.Path))
	}
	return section("ARM", "PHASE", bare(a.Phase), "BRANCH", quoted(branch), "FILES", strconv.Itoa(len(a.Files)), "TOP_FILES", list(top),
		"FOCUS", focus, "CONTEXT_HASH", quoted(a.Hash))
}

// tensionsOctave says so where the tensions are the server's; "" for none.
func tensionsOctave(a Anchor) string {
	if len(a.Tensions) == 0 {
		return ""
	}
	var keyed []string
	for i, t := range a.Tensions {
		keyed = append(keyed, fmt.Sprintf("L%d", i+1), quoted(t.String()))
	}
	if a.GeneratedBy == "server" {
		keyed = append(keyed, "GENERATED_BY", "server")
	}
	return section("TENSIONS", keyed...)
}

func (c Commit) octave() string {
	return section("COMMIT", "ARTIFACT", quoted(c.Artifact), "GATE", quoted(c.Gate))
}
