package state

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/odd-cli/odd/board/gate"
)

// Of governance each file that does not read has a fault, and the others are read; a link
// in the place of one is damage that names it.
func TestGovernance(t *testing.T) {
	t.Parallel()
	bundle := fstest.MapFS{}
	g, err := ReadGovernance(bundle)
	if err != nil || g.HasLease || g.Slow.LeaseFile != nil || len(g.Faults) > 0 {
		t.Errorf("of none: %+v, %v", g, err)
	}
	bundle[gate.LeasePath] = &fstest.MapFile{Data: []byte("lease = 1\n")}
	bundle[gate.DecisionsPath] = &fstest.MapFile{Data: []byte("{}\n")}
	g, err = ReadGovernance(bundle)
	if err != nil || !g.HasLease || g.LeaseSum != gate.Sum(bundle[gate.LeasePath].Data) || g.Faults[gate.LeasePath] == nil || g.Faults[gate.DecisionsPath] == nil || g.Faults[gate.GatesPath] != nil {
		t.Errorf("of what does not read: %+v, %v", g, err)
	}
	for _, name := range []string{gate.LeasePath, gate.GatesPath, gate.DecisionsPath} {
		for _, mode := range []fs.FileMode{fs.ModeSymlink, fs.ModeIrregular} { // on disk, and in a commit
			bundle := fstest.MapFS{name: &fstest.MapFile{Data: []byte("other"), Mode: mode}}
			var damaged *Damaged
			if _, err := ReadGovernance(bundle); !errors.As(err, &damaged) || damaged.Path != name {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Proposals are told as far as they read, with the first file that does not.
func TestProposals(t *testing.T) {
	t.Parallel()
	b, _, err := gate.Buffer{}.AppendAll(nil, []gate.Proposal{gate.Proposal{TS: dawn, ID: "P-1", Source: gate.TaskAgent, Severity: gate.Low, Gate: gate.EvaluationGate, Reason: "the tide tables are old", Key: "tides"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	bundle := fstest.MapFS{"proposals/b.jsonl": &fstest.MapFile{Data: b}, "proposals/deeper/c.jsonl": &fstest.MapFile{Data: b}}
	all, err := ReadProposals(bundle)
	if err != nil || len(all.Proposals) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	bundle["proposals/a.jsonl"] = &fstest.MapFile{Data: []byte("{}\n")}
	var damaged *Damaged
	if all, err := ReadProposals(bundle); !errors.As(err, &damaged) || damaged.Path != "proposals/a.jsonl" || len(all.Proposals) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}
