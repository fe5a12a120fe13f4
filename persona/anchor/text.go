package anchor

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

// Text is an anchor as its agent sees it: the identity block of OCTAVE, which a
// strict reader takes without a remark and writes again byte for byte. Control
// and hidden characters of file and branch names are left out; anchor.json has
// them.
func Text(a Anchor) []byte {
	parts := []*octave.Entry{bindEntry(a.Bind), a.Arm.entry()}
	if len(a.Tensions) > 0 {
		parts = append(parts, tensionsEntry(a))
	}
	return octave.Emit(octave.Identity(append(parts, commitEntry(a.Commit))...))
}

// visible is text that may stand in a quoted value.
func visible(s string) string {
	return strings.ReplaceAll(okf.Visible(s), "\r", "")
}

func bindEntry(b Bind) *octave.Entry {
	names := make([]string, len(b.Archetypes))
	for i, n := range b.Archetypes {
		names[i] = visible(n)
	}
	return octave.Bind{Role: visible(b.Role), Cognition: visible(b.Cognition), Archetypes: names, Authority: visible(b.Authority.String())}.Entry()
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
	return octave.Arm{
		Phase: visible(a.Phase), Branch: visible(branch), Files: len(a.Files), TopFiles: top,
		Focus: visible(a.Focus), ContextHash: visible(a.Hash),
	}.Entry()
}

// tensionsEntry says so where the tensions are the server's.
func tensionsEntry(a Anchor) *octave.Entry {
	texts := make([]string, len(a.Tensions))
	for i, t := range a.Tensions {
		texts[i] = visible(t.String())
	}
	e := octave.Tensions(texts...)
	if a.GeneratedBy == "server" {
		e.Entries = append(e.Entries, octave.Keyed("GENERATED_BY", "server"))
	}
	return e
}

func commitEntry(c Commit) *octave.Entry {
	return octave.Commit{Artifact: visible(c.Artifact), Gate: visible(c.Gate)}.Entry()
}

// ArmText is the ARM as the agent is shown it before it proves that it read it.
func ArmText(a Arm) []byte { return octave.Emit(octave.Identity(a.entry())) }
