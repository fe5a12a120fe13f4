package drain

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/journal/repo/scratch"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/toolbox"
	"github.com/odd-cli/odd/reconcile"
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
	if got, want := describeRefusals(no), "no role; name one [a]; no file [b]"; got != want {
		t.Errorf("%q, want %q", got, want)
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
		for _, o := range Overlaps(t.Context(), w.repo, s.tip, s.cfg, s.tasks()) {
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

// A session that a limit or a fault ended has a code, and the task says what to do about it; one
// that gave up itself has none.
func TestExplainCut(t *testing.T) {
	t.Parallel()
	const retry, then = "; run odd task ready a to try again", ", then odd task ready a to try again"
	for _, c := range []struct {
		failure, detail string
		raw             string
		late            bool // the claim is over
		cheap           bool // the lease had less than the task may cost
		code            pipeline.Reason
		task, session   string // what a task's work, and an invocation's, is told
	}{
		{failure: "stuck", detail: "no maps"},
		{failure: session.Timeout, code: pipeline.SessionTimeout, task: "the session had 20m0s; raise [session] timeout in odd.toml" + then, session: "the session had 20m0s; raise [session] timeout in odd.toml"},
		{failure: session.Timeout, late: true, code: pipeline.LeaseExpired, task: "the claim on the task ended at 2026-03-02T10:00:00Z; raise [drain] lease in odd.toml" + then, session: "the claim on the task ended at 2026-03-02T10:00:00Z; raise [drain] lease in odd.toml"},
		{failure: session.TurnRefused, late: true, code: pipeline.LeaseExpired, task: "the claim on the task ended at 2026-03-02T10:00:00Z; raise [drain] lease in odd.toml" + then, session: "the claim on the task ended at 2026-03-02T10:00:00Z; raise [drain] lease in odd.toml"},
		{failure: session.TurnRefused, detail: "x"},
		{failure: session.OverBudget, detail: "$1 is used", code: pipeline.CostCapExceeded, task: "$1 is used; run odd task edit a --budget-usd USD for more, then odd task ready a", session: "$1 is used; raise [session] max_usd in odd.toml"},
		{failure: session.OverBudget, detail: "$1 is used", cheap: true, code: pipeline.CostCapExceeded, task: "$1 is used; the lease has no more money, odd gate evaluation --renew starts its counts anew", session: "$1 is used; the lease has no more money, odd gate evaluation --renew starts its counts anew"},
		{failure: session.TurnLimit, detail: "all are used", code: pipeline.TurnLimit, task: "all are used; run odd task edit a --max-turns N for more, then odd task ready a", session: "all are used; raise [session] max_turns in odd.toml"},
		{failure: toolbox.Degenerate, detail: "again and again", code: pipeline.DegenerateLoop, task: "again and again" + retry, session: "again and again"},
		{failure: session.Silent, code: pipeline.NoOutcome, task: "the agent ended without the block odd.finish.1" + retry, session: "the agent ended without the block odd.finish.1"},
		{failure: session.Silent, detail: "d", raw: "x", code: pipeline.NoOutcome, task: "d; odd review a --emission shows what it printed" + retry, session: "d"},
		{failure: session.Transport, detail: "HTTP 500", code: pipeline.TransportFailed, task: "the agent or its model could not be reached, or broke off: HTTP 500" + retry, session: "the agent or its model could not be reached, or broke off: HTTP 500"},
	} {
		p := newPaper(t, "", "a state: ready")
		now := begin
		if c.late {
			now = begin.Add(time.Hour)
		}
		d := p.run(runA, now)
		a := attempt{d: d, c: &claim{task: p.task(d, "a"), until: begin.Add(time.Hour), reserved: 100_000}}
		if c.cheap {
			a.c.reserved--
		}
		for _, want := range []string{c.task, c.session} {
			if code, text := a.explainCut(session.Emission{Failure: c.failure, Detail: c.detail, Raw: []byte(c.raw)}); code != c.code || text != want {
				t.Errorf("%s: %q, %q; want %q", c.failure, code, text, want)
			}
			a.c.task.Path = "" // an invocation
		}
	}
}

// A candidate adds no file below another, nor under a name that differs from another's in case only.
func TestFindMisplaced(t *testing.T) {
	t.Parallel()
	made := func(name string) pipeline.Edit { return pipeline.Edit{Path: name, After: []byte("x")} }
	for name, want := range map[string]string{
		"docs/c.md": "", "new/docs/a.md": "", "docs/sub/c.md": "", "docs/a.md/c.md": `is below "docs/a.md", which is a file`,
		"Docs/c.md": `differs from "docs" only in upper and lower case`, "docs/A.md": `differs from "docs/a.md" only in upper and lower case`, "docs/SUB/x.md": `differs from "docs/sub" only in upper and lower case`,
	} {
		no := findTakenPaths([]string{"docs/a.md", "docs/sub/b.md"}, []pipeline.Edit{made(name), {Path: "Docs/b.md", Before: []byte("b")}, {Path: "Docs/z.md", Before: []byte("b"), After: []byte("c")}})
		if len(no) != map[bool]int{true: 1}[want != ""] || len(no) == 1 && (no[0].Code != "path_taken" || no[0].At != name || no[0].Text != want) {
			t.Errorf("%s: %+v; want %q", name, no, want)
		}
	}
}

// Of several errors a fault is told alone, refusals together and a drain that is busy last.
func TestJoinErrors(t *testing.T) {
	t.Parallel()
	busy, fault := refuseBusy("paused", "tea"), errors.New("the disk")
	one, two := refuse("a", "no role"), refuse("b", "no file")
	for want, list := range map[string][]error{
		"": {nil, nil}, "a: no role": {nil, one}, "a: no role; no file": {busy, one, two}, "b: no file; no role": {two, one}, "paused: tea": {nil, busy, refuseBusy("locked", "x")},
		"the disk: the disk": {busy, one, fault, two},
	} {
		got := joinErrors(list...)
		if text := code(got) + ": " + fmt.Sprint(got); (got == nil) != (want == "") || got != nil && text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

// The message of a proposal says of each file what becomes of it.
func TestSummarizeFiles(t *testing.T) {
	t.Parallel()
	files := summarizeFiles([]pipeline.Edit{{Path: "a", After: []byte("x")}, {Path: "b", Before: []byte("x")}, {Path: "c", Before: []byte("x"), After: []byte("y")}})
	if want := "created   a\ndeleted   b\nchanged   c\n"; files != want {
		t.Errorf("%q, want %q", files, want)
	}
}

// The journal's entry of a result says all that came of the task, and nothing that did not.
func TestResultContent(t *testing.T) {
	t.Parallel()
	c := &claim{task: board.Task{Row: board.Row{Role: "shore-lead"}, Attempts: 2}}
	for _, at := range []struct {
		out  Outcome
		want string
	}{
		{Outcome{}, "attempt 2 as shore-lead"},
		{Outcome{Files: 1, Branch: "odd/review/a.2"}, "attempt 2 as shore-lead; 1 file changed; waits on odd/review/a.2"},
		{Outcome{Effects: map[reconcile.Effect]int{reconcile.Guarded: 1, reconcile.Added: 2}, Files: 3, Landed: "main"},
			"attempt 2 as shore-lead; 2 added; 1 guarded; 3 files changed; landed on main by itself, and waits for its approval"},
		{Outcome{Reason: "it failed"}, "attempt 2 as shore-lead; it failed"},
	} {
		if got := resultContent(c, at.out); got != at.want {
			t.Errorf("%q, want %q", got, at.want)
		}
	}
}

// A file that is empty is there, one that is not there has no mode, and a folder is no file.
func TestFileAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	w.commit(repo.Changes{"docs/a.md": {}, "docs/b.md": []byte("b")}, "the docs")
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"docs/a.md": "true 100644 <nil>", "docs/b.md": "true 100644 <nil>", "docs/c.md": "false  <nil>", "docs": "false  is not a file (mode 40000)"} {
		b, mode, err := bench.FileAt(w.repo, tip, name)
		if got := fmt.Sprintln(b != nil, mode, err); strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What a session left in its scratch clone and is dropped is told, with the reason; a tidy clone is not.
func TestLeftIsTold(t *testing.T) {
	t.Parallel()
	files := scratch.Edits{Files: []repo.FileEdit{{Path: "a"}, {Path: "b"}}}
	for _, c := range []struct {
		left  left
		told  string
		codes string
	}{
		{left{}, "", ""},
		{left{edits: files}, "t: dropped 2 files that the agent changed in its scratch clone, because the task has no paths; odd task edit --path GLOB allows file changes", ""},
		{left{refused: scratch.Unfits{{Code: "x", Text: "is a link"}, {Code: "x", Text: "is another"}}}, "t: the agent's changes in its scratch clone are dropped: ", "x"},
		{left{fault: "no room"}, "t: the agent's scratch clone could not be read, so its changes are dropped: no room", "unreadable"},
	} {
		told := ""
		c.left.report(func(s string) { told = s }, "t")
		if !strings.HasPrefix(told, c.told) || (told == "") != (c.told == "") || strings.Join(c.left.listCodes(), " ") != c.codes {
			t.Errorf("%+v: told %q, codes %q", c.left, told, c.left.listCodes())
		}
		if r := c.left.scratchRecord(); (r == nil) != (c.told == "") {
			t.Errorf("%+v: recorded as %+v", c.left, r)
		}
	}
}
