package overview

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
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
		if _, err := LookSlow(bundle, state.Of(bundle, nil), func() []*board.Row { return nil }, true, time.Time{}); err != nil {
			t.Errorf("without any: %v", err)
		}
		link := filepath.Join(root, "knowledge", filepath.FromSlash(name))
		if err := errors.Join(os.WriteFile(filepath.Join(root, "other"), nil, 0o600), os.Symlink("../../other", link)); err != nil {
			t.Fatal(err)
		}
		if _, err := LookSlow(bundle, state.Of(bundle, nil), func() []*board.Row { return nil }, true, time.Time{}); err == nil || err.Error() != name+": is a symbolic link, not a file" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
