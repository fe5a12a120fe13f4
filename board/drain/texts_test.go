package drain

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
)

// A person is shown a session's open notes, not too many and not too long, and how much it left out.
func TestNotesForAPerson(t *testing.T) {
	t.Parallel()
	var many []session.Note
	for i := range mostNotes + 2 {
		many = append(many, session.Note{Facet: "open", Title: fmt.Sprint("n", i)})
	}
	for _, c := range []struct {
		notes []session.Note
		want  string
		left  string
	}{
		{nil, "", ""},
		{[]session.Note{{Title: "closed"}, {Facet: "open", Title: "Who\ncounts?"}}, "Who; counts?", ""},
		{[]session.Note{{Facet: "open", Title: strings.Repeat("ü", noteSize)}}, strings.Repeat("ü", noteSize/2) + "…", ""},
		{[]session.Note{{Facet: "open", Title: strings.Repeat("n", noteSize)}}, strings.Repeat("n", noteSize), ""},
		{many[:mostNotes], "n0|n1|n2|n3|n4|n5", ""},
		{many, "n0|n1|n2|n3|n4|n5|2 more; odd journal list --type O-open shows them", ""},
		{[]session.Note{{Title: session.LeftOut + " 3 terms"}, {Title: session.LeftOut + " 4"}}, "", "\n\n" + session.LeftOut + " 3 terms"},
		{[]session.Note{{Facet: "open", Title: session.LeftOut + " 3 terms"}}, session.LeftOut + " 3 terms", ""},
	} {
		if got := strings.Join(openNotes(c.notes), "|"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := leftOut(c.notes); got != c.left {
			t.Errorf("left out: %q, want %q", got, c.left)
		}
	}
}

// What a session writes into the journal never passes for an entry of odd's own.
func TestQuoteText(t *testing.T) {
	t.Parallel()
	for text, quoted := range map[string]bool{
		"The tide ebbs": false, "planning → execution": true, " Execution→x": true, "override ended: run-1": true, "Override: x": true, "REVERSION: x": true,
		"\u200bINSUFFICIENT: x": true, "insufficient: x": false, "An override ended: x": false, "explorations → x": false,
	} {
		if got := quoteText(text); got != map[bool]string{true: "noted: "}[quoted]+text {
			t.Errorf("%q: %q", text, got)
		}
	}
	says := []deliver.Say{{Kind: "reversion", Text: "back to plans."}, {Kind: "other", Text: "x"}, {Kind: "reversion", Text: "and again"}}
	if got := listReversions(says); got != " Reversion declared: back to plans. Reversion declared: and again." {
		t.Error(got)
	}
	if one, two := hintOf(1), hintOf(2); one != "1 text check warns, and blocks nothing" || two != "2 text checks warn, and block nothing" {
		t.Error(one, two)
	}
}

// Every refusal of a contract is told in one line, each with its way out.
func TestDescribeRefusals(t *testing.T) {
	t.Parallel()
	no := contract.Refusals{{Code: "a", Message: "no role", Way: "name one"}, {Code: "b", Message: "no file"}}
	for err, want := range map[error]string{errors.New("gone"): "gone", fmt.Errorf("it: %w", no): "no role; name one [a]; no file [b]"} {
		if got := describeRefusals(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is made under an override is tagged with it, once, beside the tags it has.
func TestTagOverride(t *testing.T) {
	t.Parallel()
	for tags, want := range map[string]string{"": "override-produced", "tags: [sea, air]\n": "sea air override-produced", "tags: [override-produced, sea]\n": "sea override-produced"} {
		a, err := okf.Parse("terms/tide.md", []byte("---\ntype: term\nid: tide\n"+tags+"---\n\nIt ebbs.\n"))
		if err != nil {
			t.Fatal(err)
		}
		e, err := tagOverride(says(session.Atom{Atom: a}, session.Atom{Atom: a}))
		if err != nil || len(e.Atoms) != 2 {
			t.Fatal(err, e.Atoms)
		}
		for _, got := range e.Atoms {
			if strings.Join(got.Atom.Tags, " ") != want {
				t.Errorf("%q: %q", tags, got.Atom.Tags)
			}
		}
	}
}

// A ready task waits for a person's review of a file that it may change itself, until the
// branch has that file.
func TestOverlaps(t *testing.T) {
	t.Parallel()
	w := waits(t, "")
	task := func(id, state, paths string) []byte {
		return []byte("---\ntype: task\nid: " + id + "\ntitle: " + id + "\nstate: " + state + "\nkind: extract\nrole: shore-lead\npaths: [" + paths + "]\n---\n")
	}
	w.commit(repo.Changes{"knowledge/tasks/b.md": task("b", "ready", "docs/**"), "knowledge/tasks/c.md": task("c", "ready", "src/**"), "knowledge/tasks/d.md": task("d", "backlog", "docs/**")}, "more")
	find := func() string {
		s := w.fresh()
		var got []string
		for _, o := range Overlaps(t.Context(), w.repo, s.tip, s.cfg.Root, s.tasks()) {
			got = append(got, o.Error())
		}
		return strings.Join(got, "\n")
	}
	if got := find(); got != "task b: docs/a.md waits for your review in a; decide that first (odd review a), or run this task all the same: odd drain --task b" {
		t.Error(got)
	}
	w.o.Progress = func(string) {}
	p, err := Explain(t.Context(), w.repo, w.o)
	if err != nil || len(p.Tasks) != 4 {
		t.Fatal(p, err)
	}
	for _, s := range p.Tasks {
		if s.Task == "b" && (s.Run || len(s.Refusals) != 1 || s.Refusals[0].Code != "overlap") || s.Task == "c" && !s.Run {
			t.Errorf("%+v", s)
		}
	}
	w.o.Task = "b"
	if p, err = Explain(t.Context(), w.repo, w.o); err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Tasks {
		if s.Task == "b" && !s.Run {
			t.Errorf("by its name: %+v", s)
		}
	}
	w.commit(repo.Changes{"docs/a.md": []byte("# A\n\none\n\ntwo\n\nfour\n")}, "the same")
	if got := find(); got != "" {
		t.Error(got)
	}
}
