package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// bookOf reads files given by name; "~" stands for the bar of a field.
func bookOf(t *testing.T, files ...string) *Book {
	t.Helper()
	f := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		b := tsv(append([]string{head}, strings.Split(files[i+1], "\n")...)...)
		f["journal/"+files[i]+".tsv"] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(string(b), "~", "|"))}
	}
	list, err := Files(f)
	if err != nil {
		t.Fatal(err)
	}
	return Standard().Book(list)
}

func names(list []Noted) (out []string) {
	for _, n := range list {
		out = append(out, fmt.Sprintf("%s %s", n.Name, n.Title))
	}
	return out
}

func TestParseName(t *testing.T) {
	t.Parallel()
	want := Name{"journal/2026-03-02-ann.tsv", 3}
	for _, s := range []string{"journal/2026-03-02-ann.tsv#3", "journal/2026-03-02-ann.tsv:3", "2026-03-02-ann:3", "2026-03-02-ann.tsv#3", "knowledge/journal/2026-03-02-ann.tsv:3", " 2026-03-02-ann#3 "} {
		if got, err := ParseName(s); err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "3", "#3", "ann.tsv", "ann.tsv:x", "ann:12345678901"} {
		if got, err := ParseName(s); err == nil {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestBookLinks(t *testing.T) {
	t.Parallel()
	b := bookOf(t,
		"2026-03-02-ann", "O|Open|open||||Whose is it?|x ~ priority: P2\nE|Encode|||||Kept|y\nT|Tension|||||Two rules|z ~ status: open\nO|Open|open||||Where is it?|x ~ priority: P1",
		"2026-03-03-bo", "D|Decision|||||Ann's|x ~ closes: journal/2026-03-02-ann.tsv#2, 2026-03-02-ann:4\nL|Learning|||||So|x ~ closes: 2026-03-02-ann.tsv:5\nD|Decision|||||No|x ~ closes: 2026-03-02-ann.tsv:3, 2026-03-02-ann.tsv:9, ann",
		"2026-03-04-cy", "T|Tension|||||Settled|x ~ status: resolved:2026-03-03-bo.tsv#2")
	var links []string
	for _, l := range b.Links {
		links = append(links, l.Error())
	}
	want := []string{
		"journal/2026-03-03-bo.tsv:3: closes: journal/2026-03-02-ann.tsv#5 is open, and L closes nothing: an open question becomes a D, an H or an O",
		"journal/2026-03-03-bo.tsv:4: closes: journal/2026-03-02-ann.tsv#3 is E, neither an open question nor a tension",
		"journal/2026-03-03-bo.tsv:4: closes: journal/2026-03-02-ann.tsv#9 is not there",
		`journal/2026-03-03-bo.tsv:4: closes: "ann" names no entry; write FILE:LINE, like journal/2026-03-02-ann.tsv:3`,
	}
	if d := cmp.Diff(want, links); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"journal/2026-03-02-ann.tsv#5 Where is it?"}, names(b.Opens())); d != "" {
		t.Error(d)
	}
	if len(b.Tensions()) != 0 {
		t.Error(names(b.Tensions()))
	}
	for _, at := range []Name{{"journal/2026-03-02-ann.tsv", 2}, {"journal/2026-03-02-ann.tsv", 4}, {"journal/2026-03-04-cy.tsv", 2}} {
		e, ok := b.Find(at)
		if d := cmp.Diff([]Name{{"journal/2026-03-03-bo.tsv", 2}}, e.ClosedBy); !ok || !e.Closed || d != "" {
			t.Errorf("%v: %v %s", at, ok, d)
		}
	}
}

func TestClosing(t *testing.T) {
	t.Parallel()
	b := bookOf(t, "2026-03-02-ann", "O|Open|open||||Whose?|x\nT|Tension|||||Two rules|z\nO|Open|open||||Closed?|x\nD|Decision|||||Yes|x ~ closes: 2026-03-02-ann:4")
	for _, c := range []struct {
		e    Entry
		ref  string
		want string
	}{
		{Entry{Type: "D"}, "2026-03-02-ann:2", "[journal/2026-03-02-ann.tsv#2]"},
		{Entry{Type: "H"}, "2026-03-02-ann:2", "[journal/2026-03-02-ann.tsv#2]"},
		{Entry{Type: "O"}, "2026-03-02-ann:2, 2026-03-02-ann:3", "[journal/2026-03-02-ann.tsv#2 journal/2026-03-02-ann.tsv#3]"},
		{Entry{Type: "O", Facet: "open"}, "2026-03-02-ann:2", "O-open closes nothing"},
		{Entry{Type: "E"}, "2026-03-02-ann:2", "E closes nothing"},
		{Entry{Type: "H"}, "2026-03-02-ann:3", "is a tension, which a D or an O resolves, not H"},
		{Entry{Type: "D"}, "2026-03-02-ann:4", "is closed already, by journal/2026-03-02-ann.tsv#5"},
		{Entry{Type: "D"}, "2026-03-02-ann:5", "is D, neither an open question nor a tension"},
		{Entry{Type: "D"}, "2026-03-02-ann:1", "is not there"},
		{Entry{Type: "D"}, "nowhere", "names no entry"},
	} {
		c.e.More = []Field{{"closes", c.ref}}
		got, err := b.Closing(c.e)
		var refused interface{ Refused() string }
		switch {
		case err == nil && fmt.Sprint(got) != c.want:
			t.Errorf("%s %s: %v, want %s", c.e.ID(), c.ref, got, c.want)
		case err != nil && (!errors.As(err, &refused) || refused.Refused() != "closes" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: %v, want %s", c.e.ID(), c.ref, err, c.want)
		}
	}
}

func TestAnEntryCannotCloseItself(t *testing.T) {
	t.Parallel()
	b := bookOf(t, "2026-03-02-ann", "O|Open|open||||Whose?|x ~ closes: 2026-03-02-ann:2")
	if len(b.Links) != 1 || len(b.Opens()) != 1 {
		t.Error(b.Links, names(b.Opens()))
	}
}

func TestOpensAreSorted(t *testing.T) {
	t.Parallel()
	b := bookOf(t,
		"2026-03-02-a", "O|Open|open||||P10|x ~ priority: P10\nO|Open|open||||none|x\nO|Open|open||||P2|x ~ priority: P2\nO|Open|open||||P1.2|x ~ priority: P1.2",
		"2026-03-03-b", "O|Open|open||||P1.1|x ~ priority: P1.1\nO|Open|open||||P2 too|x ~ priority: P2\nO|Open|open||||P1|x ~ priority: P1")
	var got []string
	for _, e := range b.Opens() {
		got = append(got, e.Title)
	}
	if d := cmp.Diff([]string{"P1", "P1.1", "P1.2", "P2", "P2 too", "P10", "none"}, got); d != "" {
		t.Error(d)
	}
}

func TestPoles(t *testing.T) {
	t.Parallel()
	e := Entry{More: []Field{{"between", "docs/a.md@0123456789ab, journal/2026-03-02-ann.tsv#2, ann@example.org"}}}
	want := []Pole{{"docs/a.md", "0123456789ab"}, {"journal/2026-03-02-ann.tsv#2", ""}, {"ann@example.org", ""}}
	if d := cmp.Diff(want, e.Poles()); d != "" || want[0].String() != "docs/a.md@0123456789ab" || want[1].String() != "journal/2026-03-02-ann.tsv#2" {
		t.Error(d)
	}
}
