package object

import (
	"testing"
	"time"

	"github.com/odd-cli/odd/journal/repo/repotest"
)

func FuzzCommit(f *testing.F) {
	f.Add([]byte("tree x\nparent y\nauthor A <a@b> 1 +0100\ncommitter A <a@b> 1 -0000\ngpgsig -----\n more\n\nm\n\nOdd-Run: r\n"))
	f.Add([]byte("author >< 99999999999999999999 +99999\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCommit("id", b)
		if err == nil {
			c.Trailer("Odd-Run")
			_ = c.Author.String()
		}
	})
}

func TestCommitRoundTrip(t *testing.T) {
	t.Parallel()
	who := Signature{"Zoë", "z@example.org", time.Unix(1_700_000_000, 0).In(time.FixedZone("", -5400))}
	c, err := parseCommit("id", printCommit("t", []OID{"a", "b"}, who.String(), who.String(), "subject\n\nbody\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	repotest.Eq(t, "author", c.Author.String(), who.String())
	repotest.Eq(t, "zone", c.Author.When.Format("-0700"), "-0130")
	repotest.Eq(t, "parents", c.Parents, []OID{"a", "b"})
	repotest.Eq(t, "message", c.Message, "subject\n\nbody\n")
}

func TestTrailer(t *testing.T) {
	t.Parallel()
	for msg, want := range map[string][]string{
		"Odd-Run: no":                                    nil,
		"s\n\nOdd-Run: a\nOther: x\nodd-run: b":          {"a", "b"},
		"s\n\nOdd-Run: quoted in the body\n\nOther: x":   nil,
		"s\n\nbody\n\nOdd-Run:   spaces and: colons  \n": {"spaces and: colons"},
	} {
		repotest.Eq(t, msg, Commit{Message: msg}.Trailer("Odd-Run"), want)
	}
}

// What git never writes is read as git reads it, or a commit would be another's here.
func TestDoubledHeaders(t *testing.T) {
	c, err := parseCommit("x", []byte("tree a\nparent b\nauthor A <a@x> 1 +0000\nparent c\nauthor B <b@x> 2 +0000\ncommitter C <c@x> 3 +0000\ncommitter D <d@x> 4 +0000\ntree e\n\nm\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Tree != "a" || len(c.Parents) != 1 || c.Author.Email != "a@x" || c.Committer.Email != "c@x" {
		t.Errorf("%+v", c)
	}
}
