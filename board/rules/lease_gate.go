package rules

import (
	"bytes"
	"cmp"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
)

// checkGateCommit checks a person's commit that passes a gate. It adds one row, its trailers match the row, and it
// writes only what that gate may write.
func (j *judge) checkGateCommit(now, was *Governance) {
	gates := j.Root + gate.GatesPath
	if len(j.Parents) != 1 {
		j.addFinding(gates, 1, "a gate is passed in a merge; it takes a commit of its own")
		return
	}
	if name, why := was.firstFault(); why != "" {
		j.addFinding(gates, 1, "a gate is passed over %s, which is not whole: %s", name, why)
		return
	}
	for _, name := range SortedKeys(now.Faults) {
		why := now.Faults[name].Error()
		j.addFinding(j.Root+name, lineNumberIn(why), "%s", why)
	}
	if len(now.Faults) > 0 || !bytes.HasPrefix(now.Slow.Gates, was.Slow.Gates) {
		return // invariant 14 reports the rewrite
	}
	n := len(now.Chain.Rows) - len(was.Chain.Rows)
	if only := j.changedPaths(); n == 0 && slices.Equal(only, []string{gate.DecisionsPath}) {
		j.judgeDecisions(now, was)
		return
	}
	if n != 1 {
		j.addFinding(gates, len(was.Chain.Rows)+1, "the commit of a gate adds %d rows, want one", n)
		return
	}
	r, _ := now.Chain.End()
	j.checkGateTrailers(r, len(now.Chain.Rows))
	if r.LeaseSum != now.LeaseSum {
		j.addFinding(j.Root+gate.LeasePath, 1, "%s left another lease.toml: its lease_sha256 is not the file's", r.ID)
	}
	for _, why := range gate.Audit(r.Gate, r.Act, was.Lease, now.Lease, j.changedPaths()) {
		j.addFinding(gates, len(now.Chain.Rows), "%s: %s", r.ID, why)
	}
	j.judgeDecisions(now, was)
	j.checkGateFiles(r)
}

// judgeDecisions checks new decisions: each is by the commit's author, at the gate passed last.
func (j *judge) judgeDecisions(now, was *Governance) {
	r, ok := now.Chain.End()
	by := "human:" + j.Author.Email
	for i, d := range now.Decided {
		switch {
		case i < len(was.Decided):
			continue
		case !ok || d.Act != r.ID || d.By != by:
			j.addFinding(j.Root+gate.DecisionsPath, i+1, "%s is decided by %s at %s, in a commit by %s after %s", d.ID, d.By, d.Act, j.Author.Email, cmp.Or(r.ID, "no gate"))
		case !gate.May(r.Gate, r.Act, "decisions"):
			j.addFinding(j.Root+gate.DecisionsPath, i+1, "%s is decided at %s, which decides nothing", d.ID, r.ID)
		case strings.Join(j.Trailer("Odd-Gate"), ", ") != string(r.Gate):
			j.addFinding(j.Root+gate.DecisionsPath, i+1, "%s is decided at the %s gate, the commit says %s", d.ID, r.Gate, strings.Join(j.Trailer("Odd-Gate"), ", "))
		}
	}
}

// checkGateTrailers compares a row with the trailers, author and time of its commit.
func (j *judge) checkGateTrailers(r gate.Row, n int) {
	gates := j.Root + gate.GatesPath
	for _, t := range [][2]string{{"Odd-Gate", string(r.Gate)}, {"Odd-Lease", r.Lease}, {"Odd-By", r.By}} {
		got := j.Trailer(t[0])
		if strings.Join(got, ", ") == t[1] {
			continue
		}
		is := "is missing"
		if len(got) > 0 {
			is = "says " + strings.Join(got, ", ")
		}
		j.addFinding(gates, n, "%s says %s, the commit's %s %s", r.ID, cmp.Or(t[1], "no lease"), t[0], is)
	}
	if by := "human:" + j.Author.Email; r.By != by {
		j.addFinding(gates, n, "%s is by %s, in a commit by %s", r.ID, r.By, j.Author.Email)
	}
	if r.TS.Sub(j.Author.When).Abs() > Skew {
		j.addFinding(gates, n, "%s is dated %s in a commit of %s", r.ID, formatTime(r.TS), formatTime(j.Author.When))
	}
}

// changedPaths returns the paths of the act in the form that gate.Audit takes.
func (j *judge) changedPaths() []string {
	var out []string
	for _, f := range j.Files {
		name := f.Rel
		if name == "" {
			name = "/" + f.Path
		}
		out = append(out, name)
	}
	return out
}

// checkGateFiles checks what a gate's commit writes outside governance/, beyond the matrix of gates.
func (j *judge) checkGateFiles(r gate.Row) {
	for _, f := range j.Files {
		why := ""
		switch {
		case f.Path == "odd.toml":
			why = j.checkLeaseSwitch(r)
		case strings.HasPrefix(f.Rel, "canon/") && path.Ext(f.Rel) == ".md" && !f.Principle:
			why = "changes canon that is no principle"
		case f.Rel == "pause.toml" && f.New == "":
			why = "lifts the pause"
		case strings.HasPrefix(f.Rel, "tasks/"):
			why = j.checkHalted(f)
		}
		if why != "" {
			j.addFinding(f.Path, 1, "%s %s", r.ID, why)
		}
	}
}

// checkLeaseSwitch returns what is wrong with the odd.toml of a gate's commit. Activation may turn leases on and a
// release may turn them off; nothing else may change.
func (j *judge) checkLeaseSwitch(r gate.Row) string {
	want := map[string]string{"activate": "required", "release": "off"}[r.Act]
	if is := j.LawAt(j.OID).Lease; want == "" || is != want {
		return "leaves leases " + is + ", which it may not"
	}
	old, b := j.ReadFile(j.Find(j.Parents[0], "odd.toml")), j.ReadFile(j.Find(j.OID, "odd.toml"))
	switch {
	case old == nil:
		return "brings an odd.toml"
	case b == nil:
		return "takes odd.toml away"
	}
	set, err := config.SetLease("odd.toml", old, want)
	if err == nil && bytes.Equal(set, b) {
		return ""
	}
	was, now := *j.Law, *j.LawAt(j.OID)
	was.Lease = now.Lease
	if err != nil && reflect.DeepEqual(was, now) {
		return "" // a person edited what odd could not
	}
	return "changes more of odd.toml than [governance] lease"
}

// checkHalted returns what is wrong with how an emergency changes a task. It may only block one that is in progress.
func (j *judge) checkHalted(f *File) string {
	old := j.ReadAtom(f.Old, f.OldMode, f.Rel)
	now := j.ReadAtom(f.New, f.NewMode, f.Rel)
	if old == nil || now == nil || taskState(old) != board.InProgress || taskState(now) != board.Blocked {
		return "moves a task otherwise than from in_progress to blocked"
	}
	return findOtherKey(&File{Was: old, Is: now}, slices.Concat(runKeys, syncKeys))
}
