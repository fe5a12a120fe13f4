package board

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

func TestParseReadsEveryKey(t *testing.T) {
	t.Parallel()
	got := task(t, `---
type: task
id: tidy
title: Tidy up
state: in_progress
kind: extract
priority: p0
role: editor
team: desk
dependencies: [open, tasks/count.md]
soft_dependencies: paint
acceptance:
  - nothing is lost
inputs: [docs/, "https://example.org/x"]
paths: ["knowledge/**", "docs/[a-c]*.md"]
commands: [[make, test], [go, vet, ./...]]
budget_usd: 0.1
max_turns: 7
contract_role: Builder
persona: oddie@2
surface: code_output
engagement: agent
voice: neutral
handoff: handoffs/plan.md
artifact: knowledge/terms/x.md
claimed_by: run-1
lease_expires: 2026-07-01T11:00:00+02:00
attempts: 2
blocked_reason: rain
rejected:
  - {by: "human:ann@example.org", at: 2026-06-30T09:00:00Z, reason: "too long: cut"}
result: {run: run-0, branch: odd/review/tidy.1, commit: abc}
generated: {by: human:ann@example.org, at: 2026-06-01T09:00:00Z}
---
`)
	want := Task{
		Row: Row{
			ID: "tidy", Path: "tasks/tidy.md", Title: "Tidy up", State: InProgress, Kind: "extract", Priority: "p0", Role: "editor",
			Dependencies: []okf.ID{"open", "tasks/count.md"},
			ClaimedBy:    "run-1", LeaseExpires: nine, BlockedReason: "rain", Created: "2026-06-01T09:00:00Z",
		},
		Team: "desk", Soft: []okf.ID{"paint"}, Acceptance: []string{"nothing is lost"},
		Inputs: []string{"docs/", "https://example.org/x"}, Paths: []string{"knowledge/**", "docs/[a-c]*.md"},
		Commands: [][]string{{"make", "test"}, {"go", "vet", "./..."}}, Budget: 100_000, MaxTurns: 7,
		ContractRole: contract.Builder, Persona: "oddie@2", Surface: contract.CodeOutput, Engagement: contract.Agent, Voice: contract.VoiceNeutral,
		Handoffs: []string{"handoffs/plan.md"}, Artifact: "knowledge/terms/x.md",
		Attempts: 2,
		Rejected: []Rejection{{By: "human:ann@example.org", At: "2026-06-30T09:00:00Z", Reason: "too long: cut"}},
		Result:   Result{Run: "run-0", Branch: "odd/review/tidy.1", Commit: "abc"},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Task{}, "Atom", "Blob")); d != "" {
		t.Error(d)
	}
	if got.Blob == "" || got.Atom == nil {
		t.Error("no blob or no atom")
	}
	// odd check warns of a key in capitals where it knows the key.
	for _, f := range got.Atom.Fields[1:] {
		a, err := okf.Parse("tasks/tidy.md", []byte("---\ntype: task\n"+strings.ToUpper(f.Key)+": x\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		found := okf.Check(graphOf(t, a), nine)
		if len(found) != 1 || found[0].Hint != fmt.Sprintf("did you mean %q?", f.Key) {
			t.Errorf("%s: %v", f.Key, found)
		}
	}
}

func TestParseDefaults(t *testing.T) {
	t.Parallel()
	got := task(t, "---\ntype: task\n---\n")
	want := Task{Row: Row{ID: "tasks/tidy", Path: "tasks/tidy.md", Title: "tasks/tidy", State: Backlog, Kind: "implement", Priority: "p2"}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Task{}, "Atom", "Blob")); d != "" {
		t.Error(d)
	}
	for _, alias := range []string{"in-progress", "claimed"} {
		if got := task(t, "---\ntype: task\nstate: "+alias+"\n---\n"); got.State != InProgress {
			t.Errorf("%s is read as %s", alias, got.State)
		}
	}
}

func TestParseLocatesWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, code, want string }{
		{"state: inreview", "state", `unknown state "inreview"`},
		{"state: In_Review", "state", `unknown state "In_Review"; did you mean "review"?`},
		{"state: redy", "state", `unknown state "redy"; use one of backlog, ready`},
		{"state: Ready", "state", `unknown state "Ready"; did you mean "ready"?`},
		{"state: todo", "state", `did you mean "backlog"?`},
		{"state: completed", "state", `did you mean "done"?`},
		{"state: rev", "state", `did you mean "review"?`},
		{"state: [ready]", "state", "state must be one value"},
		{"priority: high", "priority", `unknown priority "high"; use p0`},
		{"commands: make test", "commands", "commands must be a list of lists of words; write each command as a list of words"},
		{"commands: [make, test]", "commands", "command make is not a list of words"},
		{"commands: [[]]", "commands", "a command has no program"},
		{"commands: [[make, 1]]", "commands", "1 in a command is not a text; quote it"},
		{"commands: [[make, [x]]]", "commands", "a command has a word that is not a text"},
		{"budget_usd: -1", "budget-usd", `"-1" is negative`},
		{"budget_usd: lots", "budget-usd", `"lots" is not an amount`},
		{"budget_usd: 0.12345678", "budget-usd", "finer than a millionth"},
		{"budget_usd: 1234567890.123456", "budget-usd", "too many digits"},
		{"contract_role: bilder", "contract-role", `contract_role "bilder" is not known; did you mean "builder"?`},
		{"surface: wall", "surface", "want one of real-time-stream"},
		{"engagement: agents", "engagement", `did you mean "agent"?`},
		{"voice: loud", "voice", "want one of persona, neutral, strict"},
		{"persona: [a]", "persona", "persona must be one value"},
		{"handoff: {a: b}", "handoff", "handoff must be a list of texts"},
		{"max_turns: 0", "max-turns", "max_turns 0 is not a whole number of at least 1"},
		{"max_turns: 1.5", "max-turns", "max_turns 1.5 is not a whole number"},
		{"attempts: -1", "attempts", "attempts -1 is not a whole number of at least 0"},
		{"lease_expires: tomorrow", "lease-expires", `lease_expires "tomorrow" is not a time in RFC 3339 form`},
		{"lease_expires: 2026-07-01", "lease-expires", "is not a time in RFC 3339 form"},
		{"inputs: [../secrets]", "inputs", `"../secrets" is not a path inside the repository`},
		{"inputs: [/etc/passwd]", "inputs", "is not a path inside the repository"},
		{"paths: [.git/hooks/x]", "paths", "is not a glob inside the repository"},
		{"paths: ['C:/x']", "paths", "is not a glob inside the repository"},
		{`paths: ["a\tb"]`, "paths", "is not a glob inside the repository"},
		{"paths: [a/../../b]", "paths", "is not a glob inside the repository"},
		{"paths: ['']", "paths", "an item of paths is empty"},
		{"paths: [docs, ' ']", "paths", "an item of paths is empty"},
		{"paths: ' '", "paths", "an item of paths is empty"},
		{"dependencies: ['']", "dependencies", "an item of dependencies is empty"},
		{"paths: ['a/[']", "paths", `"a/[" is not a glob: syntax error`},
		{"acceptance: {a: b}", "acceptance", "acceptance must be a list of texts"},
		{"acceptance: [{a: b}]", "acceptance", "acceptance must be a list of texts"},
		{"dependencies: [[a]]", "dependencies", "dependencies must be a list of texts"},
		{"rejected: no", "rejected", "rejected must be a list"},
		{"rejected: [no]", "rejected", "rejected must be a list"},
		{"result: abc", "result", "result must be {run, branch, commit}"},
		{"role: [a]", "role", "role must be one value"},
	} {
		a, err := okf.Parse("tasks/tidy.md", []byte("---\ntype: task\ntitle: x\n"+c.line+"\n---\n"))
		if err != nil {
			t.Fatal(c.line, err)
		}
		_, err = Parse(&a)
		var p okf.Problem
		if !errors.As(err, &p) {
			t.Errorf("%s: got %v, want an okf.Problem", c.line, err)
			continue
		}
		if !strings.Contains(p.Error(), c.want) || p.Code != "odd-task-"+c.code || p.Line != 4 || p.Severity != okf.Error {
			t.Errorf("%s: got %s %s, want %q on line 4", c.line, p.Code, p.Error(), c.want)
		}
	}
}

func TestParseWantsALeaseWithAClaim(t *testing.T) {
	t.Parallel()
	a, err := okf.Parse("tasks/tidy.md", []byte("---\ntype: task\nstate: in_progress\nclaimed_by: run-1\n---\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(&a); err == nil || !strings.Contains(err.Error(), "claimed_by is set (run-1) but lease_expires is not") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("state: ready\ncommands: [[make]]\nbudget_usd: 0.1")
	f.Add("rejected: {by: a}\nresult: {run: 1}\nlease_expires: 2026-07-01T09:00:00Z")
	f.Fuzz(func(t *testing.T, keys string) {
		a, err := okf.Parse("tasks/x.md", []byte("---\ntype: task\n"+keys+"\n---\n"))
		if err != nil {
			return
		}
		got, err := Parse(&a)
		var p okf.Problem
		switch {
		case err != nil && (!errors.As(err, &p) || p.Line < 1 || p.Message == ""):
			t.Fatalf("not located: %v", err)
		case err == nil && (got.State == "" || got.Priority == "" || got.Budget < 0 || got.Attempts < 0):
			t.Fatalf("read as %+v", got)
		}
	})
}

// An id that defaults to the file's name is printed, typed and committed.
func TestParseWantsAVisibleName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tasks/n\nl.md", "tasks/e\x1b[31m.md", "tasks/r\u202e.md", "tasks/t\t.md"} {
		a, err := okf.Parse(name, []byte("---\ntype: task\nstate: ready\n---\n"))
		if err != nil {
			t.Fatal(err)
		}
		var p okf.Problem
		if _, err := Parse(&a); !errors.As(err, &p) || p.Code != "odd-task-path" {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A task that is read alone is what it is among all, and waits for what it waits
// for there: its names mean the same, by id, path, title of a file or stem.
func TestReadTaskIsOneOfTasks(t *testing.T) {
	t.Parallel()
	task := func(keys string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\ntype: task\nstate: ready\nkind: extract\n" + keys + "---\n")}
	}
	g, _, err := okf.Load(fstest.MapFS{
		"desk.md":          {Data: []byte("---\ntype: capability\nid: the-desk\n---\n")},
		"sea/tern.md":      {Data: []byte("---\ntype: term\n---\n")}, // the stem of a task, too
		"tasks/gull.md":    task("team: desk\ndependencies: [tern, tasks/auk.md]\nsoft_dependencies: [tasks/tern]\n"),
		"tasks/tern.md":    task("dependencies: [gull]\n"),
		"tasks/auk.md":     task("id: razorbill\ndependencies: [puffin, sea/tern, none]\n"),
		"tasks/puffin.md":  task("dependencies: []\n"),
		"tasks/broken.md":  task("priority: high\n"),
		"tasks/waiting.md": task("dependencies: [broken]\n"),
		"elsewhere.md":     task(""),
	})
	if err != nil {
		t.Fatal(err)
	}
	tasks, bad := Tasks(g)
	if len(tasks) != 5 || len(bad) != 1 {
		t.Fatalf("%d tasks, %v", len(tasks), bad)
	}
	for _, want := range tasks {
		got, err := ReadTask(g, want.Atom)
		if d := cmp.Diff(want, got, cmpopts.IgnoreFields(Task{}, "Atom")); d != "" || err != nil || got.Atom != want.Atom {
			t.Errorf("%s: %v %s", want.ID, err, d)
		}
		if all, near := Eligible(&want.Row, IndexOf(RowsOf(tasks)), nine), Eligible(&got.Row, Behind(g, got), nine); all != near {
			t.Errorf("%s waits for %q, among all for %q", want.ID, near, all)
		}
	}
	if _, err := ReadTask(g, g.ByPath("tasks/broken.md")); err != bad[0] {
		t.Errorf("broken: %v, among all %v", err, bad[0])
	}
	if IsTask(g.ByPath("elsewhere.md")) || IsTask(g.ByPath("desk.md")) || !IsTask(g.ByPath("tasks/gull.md")) {
		t.Error("IsTask")
	}
}
