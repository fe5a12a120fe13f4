package rules

import (
	"testing"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
)

// A rule holds from its format on, so that a rule of a later one accuses no older history.
func TestARuleHoldsFromItsFormatOn(t *testing.T) {
	t.Parallel()
	for since, want := range []int{1, 1, 0} {
		strict := Rule{Row{N: 99, Since: since}, func(j *judge) { j.addFinding("x", 1, "no") }, true}
		if found, _ := Judge(&Act{Law: &config.Config{Format: 1}}, nil, []Rule{strict}); len(found) != want {
			t.Errorf("since format %d: %d findings, want %d", since, len(found), want)
		}
	}
}

func TestTableSaysWhatEachRowReads(t *testing.T) {
	t.Parallel()
	last := 0
	for _, r := range Table() {
		if r.N <= last || r.Name == "" || r.Promise == "" || r.Broken == "" || r.Reads == "" || r.Compares == "" || r.Attested == "" || r.Remedy == "" || r.Unit == "" || r.Checked != 0 {
			t.Errorf("row %+v is not whole, or not in order", r)
		}
		last = r.N
	}
}

func TestAFindingIsALine(t *testing.T) {
	t.Parallel()
	f := Finding{Invariant: 3, Commit: "1f0c2ab9d4e5", Path: "knowledge/tasks/t.md", Line: 4, Message: "done without an approval", Way: "odd approve it"}
	if got, want := f.String(), "knowledge/tasks/t.md:4: done without an approval; odd approve it [invariant 3, 1f0c2ab9d4]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if f.Way = ""; f.Text() != "done without an approval" {
		t.Errorf("without a way out: %q", f.Text())
	}
}

// What was read too late is no fault where it went nowhere.
func TestDropped(t *testing.T) {
	t.Parallel()
	session := Line{Record: event.Record{Kind: event.Session, Run: "r", Task: "t"}}
	for _, c := range []struct {
		run, task, verdict string
		want               bool
	}{{"r", "t", "blocked", true}, {"r", "t", "lost", true}, {"r", "t", "review", false}, {"r", "u", "blocked", false}, {"s", "t", "lost", false}} {
		j := &judge{Act: &Act{Lines: []Line{session, {Record: event.Record{Kind: event.Outcome, Run: c.run, Task: c.task, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": c.verdict})}}}}}
		if got := j.isDropped(session); got != c.want {
			t.Errorf("beside %+v: %v", c, got)
		}
	}
}

func TestKeepsRows(t *testing.T) {
	t.Parallel()
	theirs := map[string]bool{"a": true, "b": true, "x": true, "y": true}
	for _, c := range []struct {
		old, now string
		want     bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nx\nb\ny\n", true},
		{"a\nb", "a\nb\nc\n", true},
		{"a\nb\n", "b\na\n", false},
		{"a\nb\n", "a\n", false},
		{"a\na\n", "a\nb\n", false},
		{"a\nb\n", "a\nbb\n", false},
		{"a\nb\n", "a\nforged\nb\n", false},
		{"a\nb\n", "a\nb\nadded\n", true},
	} {
		if got := keepsRows([]byte(c.old), []byte(c.now), theirs); got != c.want {
			t.Errorf("keepsRows(%q, %q) is %v, want %v", c.old, c.now, got, c.want)
		}
	}
}
