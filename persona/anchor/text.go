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
	parts := []*octave.Entry{a.Bind.entry(), a.Arm.entry()}
	if len(a.Tensions) > 0 {
		parts = append(parts, tensionsEntry(a))
	}
	return octave.Emit(octave.Identity(append(parts, a.Commit.entry())...))
}

// Payload is the payload of an express session.
func (c Commit) Payload() []byte { return octave.Emit(octave.Identity(c.entry())) }

// visible is text that may stand in a quoted value.
func visible(s string) string {
	return strings.ReplaceAll(okf.Visible(s), "\r", "")
}

func (b Bind) entry() *octave.Entry {
	names := make([]string, len(b.Archetypes))
	for i, n := range b.Archetypes {
		names[i] = visible(n)
	}
	return bindEntry(b.Role, b.Cognition, names, b.Authority.String())
}

// bindEntry is BIND; archetypes may be none.
func bindEntry(role, cognition string, archetypes []string, authority string) *octave.Entry {
	e := octave.Fields("BIND", octave.Keyed("ROLE", visible(role)), octave.Keyed("COGNITION", visible(cognition)))
	if len(archetypes) > 0 {
		e.Entries = append(e.Entries, octave.Listed("ARCHETYPES", archetypes...))
	}
	e.Entries = append(e.Entries, octave.Literal("AUTHORITY", visible(authority)))
	return e
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

// entry is the ARM with at most three of its files.
func (a Arm) entry() *octave.Entry {
	branch := a.Branch
	if a.Ahead != 0 || a.Behind != 0 {
		branch += fmt.Sprintf("[%d↑%d↓]", a.Ahead, a.Behind)
	}
	var top []string
	for _, f := range a.Files[:min(3, len(a.Files))] {
		top = append(top, visible(f.Path))
	}
	files := &octave.Entry{Kind: octave.Pair, Key: "FILES", Value: octave.Value{Kind: octave.Word, Text: strconv.Itoa(len(a.Files))}}
	e := octave.Fields("ARM", octave.Keyed("PHASE", visible(a.Phase)), octave.Literal("BRANCH", visible(branch)), files)
	if len(top) > 0 {
		e.Entries = append(e.Entries, octave.Literals("TOP_FILES", top...))
	}
	if a.Focus != "" {
		e.Entries = append(e.Entries, octave.Keyed("FOCUS", visible(a.Focus)))
	}
	e.Entries = append(e.Entries, octave.Literal("CONTEXT_HASH", visible(a.Hash)))
	return e
}

// tensionsEntry says so where the tensions are the server's.
func tensionsEntry(a Anchor) *octave.Entry {
	e := octave.Fields("TENSIONS")
	for i, t := range a.Tensions {
		e.Entries = append(e.Entries, octave.Literal(fmt.Sprintf("L%d", i+1), visible(t.String())))
	}
	if a.GeneratedBy == "server" {
		e.Entries = append(e.Entries, octave.Keyed("GENERATED_BY", "server"))
	}
	return e
}

func (c Commit) entry() *octave.Entry {
	return octave.Fields("COMMIT", octave.Literal("ARTIFACT", visible(c.Artifact)), octave.Literal("GATE", visible(c.Gate)))
}

// ArmText is the ARM as the agent is shown it before it proves that it read it.
func ArmText(a Arm) []byte { return octave.Emit(octave.Identity(a.entry())) }
