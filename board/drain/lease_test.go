package drain

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
)

// leaseLedger is a bundle with the runs' ledger files.
func leaseLedger(t *testing.T, rs ...event.Record) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	seq := map[string]int{}
	for _, r := range rs {
		seq[r.Run]++
		r.Seq = seq[r.Run]
		name := event.Path(r.Run, r.TS)
		if out[name] == nil {
			out[name] = &fstest.MapFile{}
		}
		b, err := event.Append(out[name].Data, r)
		if err != nil {
			t.Fatal(err)
		}
		out[name].Data = b
	}
	return out
}

// What a lease has used is what was claimed under it since it was last
// activated or renewed: another lease's claims, sessions without a task and what
// was before do not count, and what nobody closed counts in full.
func TestWhatALeaseHasUsed(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	claim := func(run, task, lease string, after time.Duration, held int64) event.Record {
		return event.Record{TS: at.Add(after), Run: run, Kind: event.Claim, Task: task, Reserved: held, Data: eventtest.Data(event.Claim, map[string]any{"lease": lease})}
	}
	outcome := func(run, task string, after time.Duration, cost int64) event.Record {
		return event.Record{TS: at.Add(after), Run: run, Kind: event.Outcome, Task: task, Cost: cost}
	}
	bundle := leaseLedger(t,
		claim("run-0", "old", "L-0001", -time.Hour, 50), outcome("run-0", "old", -time.Hour, 5), // before the renewal
		claim("run-1", "a", "L-0001", time.Minute, 100), outcome("run-1", "a", 2*time.Minute, 7),
		claim("run-1", "b", "L-0002", 3*time.Minute, 100), outcome("run-1", "b", 4*time.Minute, 9), // another lease's
		claim("run-2", "run-2", "L-0001", 5*time.Minute, 30), outcome("run-2", "run-2", 6*time.Minute, 3), // no task asked
		claim("run-3", "c", "L-0001", 7*time.Minute, 100), // still runs
		claim("run-4", "d", "L-0001", 8*time.Minute, 100), // died
		event.Record{TS: at.Add(time.Hour), Run: "run-5", Kind: event.Abandoned, Task: "d", DeadRun: "run-4", Cost: 100},
	)
	s := SlowLoop{File: gate.File{Lease: gate.Lease{ID: "L-0001"}}}
	s.Facts.Chain.Rows = []gate.Row{
		{TS: at.Add(-2 * time.Hour), Gate: gate.Commitment, Act: "activate", Lease: "L-0001"},
		{TS: at, Gate: gate.EvaluationGate, Act: "renew", Lease: "L-0001"},
		{TS: at.Add(150 * time.Second), Gate: gate.Emergency, Act: "suspend", Lease: "L-0001"},
	}
	last := func(name string) (time.Time, bool) { // as a drain knows it, which reads no file that ended before
		sum, err := event.SumFile(bundle[name].Data)
		return sum.Last, err == nil
	}
	for _, last := range []lastOf{nil, last} {
		s.Facts.UsedTasks, s.Facts.Spent, s.Drained = 0, 0, 0
		if err := s.count(bundle, last); err != nil {
			t.Fatal(err)
		}
		if s.Facts.UsedTasks != 3 || s.Facts.Spent != 7+3+100+100 || s.Drained != 3 {
			t.Errorf("used %d tasks, %d micro-USD; %d since the emergency, want 3, 210, 3", s.Facts.UsedTasks, s.Facts.Spent, s.Drained)
		}
	}
	bundle["ledger/2026-03/run-9.jsonl"] = &fstest.MapFile{Data: []byte(`{"v":1`)}
	ends := map[string]time.Time{"ledger/2026-03/run-9.jsonl": at.Add(-time.Second)}
	known := func(name string) (time.Time, bool) { end, ok := ends[name]; return end, ok }
	if err := s.count(bundle, known); err != nil {
		t.Errorf("a file that ended before the lease began to count was read: %v", err)
	}
	ends["ledger/2026-03/run-9.jsonl"] = at
	if err := s.count(bundle, known); err == nil {
		t.Error("a file that ended when the lease began to count was not read")
	}
	if err := s.count(bundle, nil); err == nil || !strings.Contains(err.Error(), "ledger/2026-03/run-9.jsonl: line 1: torn") {
		t.Errorf("a torn ledger: %v; what was used cannot be known", err)
	}
}

// A governing file that is a link leads where nobody has committed anything.
func TestGovernanceIsNoLink(t *testing.T) {
	t.Parallel()
	for _, name := range []string{gate.LeasePath, gate.GatesPath, gate.DecisionsPath} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "knowledge", "governance"), 0o755); err != nil {
			t.Fatal(err)
		}
		bundle, err := fs.Sub(os.DirFS(root), "knowledge")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := LookSlow(bundle, nil, true, time.Time{}); err != nil {
			t.Errorf("without any: %v", err)
		}
		link := filepath.Join(root, "knowledge", filepath.FromSlash(name))
		if err := errors.Join(os.WriteFile(filepath.Join(root, "other"), nil, 0o600), os.Symlink("../../other", link)); err != nil {
			t.Fatal(err)
		}
		if _, err := LookSlow(bundle, nil, true, time.Time{}); err == nil || err.Error() != name+": is a symbolic link, not a file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
