package drain

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

// TestJournalTells: a handoff counts if a journal that may confirm it has an entry of type H
// about it; the journal of another run may not.
func TestJournalTells(t *testing.T) {
	t.Parallel()
	const own, other = "run-01M80AMR7FRN7Z7VVNCM3WZEVG", "run-01m80amrc7wvgrdejx041n3h2w"
	const content = "planning → execution: handoffs/h.md"
	for name, c := range map[string]struct {
		kind, content, file string
		want                bool
	}{
		"a person's journal": {"H", content, "journal/2026-03-02-ann.tsv", true},
		"its run's journal":  {"H", content, "journal/2026-03-02-run-01m80amr7frn7z7vvncm3wzevg.tsv", true},
		"another run's":      {"H", content, "journal/2026-03-02-" + other + ".tsv", false},
		"of another type":    {"D", content, "journal/2026-03-02-ann.tsv", false},
		"of another handoff": {"H", content + "x", "journal/2026-03-02-ann.tsv", false},
		"of a later one":     {"H", "execution → validation: handoffs/h.md", "journal/2026-03-02-ann.tsv", false},
		"no journal":         {"", "", "journal/2026-03-02-ann.tsv", false},
		"not a journal":      {"-", "\xff", "journal/2026-03-02-ann.tsv", false},
	} {
		files := fstest.MapFS{}
		switch c.kind {
		case "":
		case "-":
			files[c.file] = &fstest.MapFile{Data: []byte(c.content)}
		default:
			b, err := journal.Append(nil, journal.Entry{Type: c.kind, Title: "x", Content: c.content})
			if err != nil {
				t.Fatal(err)
			}
			files[c.file] = &fstest.MapFile{Data: b}
		}
		h := handoff.Handoff{Handoff: contract.Handoff{From: contract.Planning, To: contract.Execution, Path: "handoffs/h.md", Journal: c.file}, Run: own}
		if got := JournalTells(files, c.file, h); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestInvokedTask: an invocation is the first attempt at a task of its own, without secrets in
// its title, and may cost what its sessions may.
func TestInvokedTask(t *testing.T) {
	t.Parallel()
	costly := config.Config{Session: config.Session{Substrate: "claude", MaxCost: 300}}
	const secret = "AKIA" + "IOSFODNN7EXAMPLF"
	for _, c := range []struct {
		cfg      config.Config
		sessions int
		budget   budget.MicroUSD
	}{{config.Default(), 2, 0}, {costly, 0, 300}, {costly, 3, 900}} {
		cs := contracts{Options: Options{Host: agent.Host{Run: "run-1"}, Call: contract.Call{WorkRole: "auditor"}}, at: &snapshot{cfg: c.cfg}}
		got := cs.asTask(Invocation{Title: "Look at " + secret, Sessions: c.sessions})
		if got.ID != "run-1" || got.Role != "auditor" || got.Attempts != 1 || got.Budget != c.budget || !isOffBoard(got) || strings.Contains(got.Title, secret) {
			t.Errorf("%d sessions: %+v", c.sessions, got)
		}
	}
}
