package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/repo"
)

// Governance is the parsed folder governance/ of a commit.
type Governance struct {
	state.Governance
	Tree  repo.OID            // of governance/; "" for none
	Files map[string]repo.OID // below the bundle root
}

// firstFault returns the first fault of governance/ as a whole: an unreadable file, or a lease that differs from what
// the chain of gates says.
func (s *Governance) firstFault() (name, why string) {
	for _, name := range SortedKeys(s.Faults) {
		return name, s.Faults[name].Error()
	}
	id, is := s.Chain.Lease()
	last, _ := s.Chain.Last(id)
	switch {
	case !s.HasLease && id == "":
		return "", ""
	case !s.HasLease:
		return gate.GatesPath, fmt.Sprintf("lease.toml is missing, and the gates say that %s is %s", id, is)
	case s.Lease.Lease.ID != id:
		return gate.LeasePath, fmt.Sprintf("the lease is %s, the gates made it %s", s.Lease.Lease.ID, cmp.Or(id, "none"))
	case last.LeaseSum != s.LeaseSum:
		return gate.LeasePath, fmt.Sprintf("is not as %s left it", last.ID)
	case s.Lease.Stance != s.Chain.Stance():
		return gate.LeasePath, fmt.Sprintf("says %s, the gates say %s", s.Lease.Stance, s.Chain.Stance())
	case s.Lease.Lease.State != is:
		return gate.LeasePath, fmt.Sprintf("says %s is %s, the gates say %s", id, s.Lease.Lease.State, is)
	}
	return "", ""
}

// gateFiles are the files of governance/ that are governed even while leases are off.
var gateFiles = []string{gate.LeasePath, gate.GatesPath, gate.DecisionsPath}

// changedGovernance returns the governed files that differ from every parent. While leases are off only gateFiles are
// governed.
func (j *judge) changedGovernance(now *Governance, before []*Governance) []string {
	names := map[string]bool{}
	for _, s := range append([]*Governance{now}, before...) {
		for name := range maps.Keys(s.Files) {
			names[name] = true
		}
	}
	var out []string
	for _, name := range SortedKeys(names) {
		old := func(s *Governance) bool { return s.Files[name] == now.Files[name] }
		if !slices.ContainsFunc(before, old) && (j.Law.Lease == "required" || slices.Contains(gateFiles, name)) {
			out = append(out, name)
		}
	}
	return out
}

var leaseRule = Rule{Row{
	N: 8, Name: "One lease, one stance", Unit: "gates, claims and results",
	Promise:  "Only people write governance/, at gates, and work happens only under a valid lease.",
	Reads:    "governance/**, principles and the lease setting of odd.toml in every commit; gates.jsonl and lease.toml at its parent; Odd-Gate, Odd-Lease and Odd-By; the lease that each claim and result names, and the ledger before it",
	Compares: "These files change only in a person's commit at a gate. The commit adds one row, by its author, to an unbroken chain. The row has the SHA-256 of the lease, and every field, file and task is as the table of that gate allows. Stance and state are those of the chain. A claim names the lease that was valid then, with its use counted from the ledger, and fits its stance, scope and locked tasks. A claim without a task, for a validator or an observer, need not fit, because its session lands only findings. Nothing goes to review under a lease that had ended.",
	Attested: "that the person at the gate read the diff; what a task outside of tasks/ counts for a milestone; that an odd.toml before the range, or the first in it, was a person's decision",
	Remedy:   "put governance/ back as the last gate left it, and make the change with odd gate",
	Broken:   "Work ran without a valid lease, or a governance file changed outside of a gate.",
}, judgeOneLease, true}

func judgeOneLease(j *judge) {
	if len(j.Parents) == 0 {
		j.judgeRoot()
		return
	}
	j.judgeGovernance()
	j.checkSignatures(true)
	j.judgeLeases()
}

// judgeRoot checks a root commit. No gate was passed there, so it may not have a lease or a chain of gates. That
// includes the root of a line that is merged later.
func (j *judge) judgeRoot() {
	now := j.ReadGovernance(j.OID)
	for _, name := range gateFiles {
		if now.Files[name] != "" {
			j.checked++
			j.addFinding(j.Root+name, 1, "the first commit has files in governance/, so nobody can check who passed their gates")
		}
	}
}

func (j *judge) judgeGovernance() {
	now := j.ReadGovernance(j.OID)
	var before []*Governance
	for _, p := range j.Parents {
		s := j.ReadGovernance(p)
		before = append(before, s)
	}
	wrote := j.changedGovernance(now, before)
	said := j.Trailer("Odd-Gate")
	if len(said) > 0 || len(wrote) > 0 {
		j.checked++
	}
	switch {
	case j.Kind != Person:
		for _, name := range wrote {
			j.addFinding(j.Root+name, 1, "a commit by odd or an agent writes governance/; only a person does, with odd gate")
		}
		if len(said) > 0 {
			j.addFinding(j.anyPath(), 1, "a commit by odd or an agent passes the %s gate; only a person does", strings.Join(said, ", "))
		}
	case len(said) > 0:
		j.checkGateCommit(now, before[0])
	default:
		j.checkOutsideGate(wrote)
	}
	if len(j.found) > 0 {
		return
	}
	j.checkGovernanceWhole(now, before)
}

// checkOutsideGate checks a person's commit that passes no gate. It may put back governance/ as the last gate left it.
func (j *judge) checkOutsideGate(wrote []string) {
	back := false
	if len(wrote) > 0 { // restoresGovernance reads back along first parents
		back = j.restoresGovernance()
	}
	for _, name := range wrote {
		if back && slices.Contains(gateFiles, name) {
			continue
		}
		j.addFinding(j.Root+name, 1, "governance/ was changed without a gate: the commit has no trailer Odd-Gate")
	}
	for _, f := range j.Files {
		if f.Principle && j.IsRuled(j.Parents[0]) && (j.Law.Lease == "required" || len(j.ReadGovernance(j.Parents[0]).Chain.Rows) > 0) {
			j.checked++
			j.addFinding(f.Path, 1, "a principle was changed without odd gate evaluation: the commit has no trailer Odd-Gate")
		}
	}
	from, to := j.leaseSwitch()
	if to != "" {
		j.checked++
	}
	if to == "off" { // any person may require leases
		j.addFinding("odd.toml", 1, "[governance] lease was changed from %s to %s without a gate", from, to)
	}
}

// restoresGovernance reports a person's commit after which gateFiles are as the last whole gate left them, or gone if
// there never was one.
func (j *judge) restoresGovernance() bool {
	if j.Kind != Person || len(j.Parents) != 1 {
		return false
	}
	now := j.ReadGovernance(j.OID)
	left := &Governance{}
	for at := j.Parents[0]; at != ""; {
		c := j.ReadCommit(at)
		at = ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
		if len(c.Trailer("Odd-Gate")) == 0 || len(c.Trailer("Odd-Run")) > 0 || at == "" {
			continue
		}
		law := j.LawAt(at)
		s := j.ReadGovernance(c.OID)
		if _, why := s.firstFault(); why == "" && !strings.EqualFold(c.Author.Email, law.AgentEmail) && !strings.EqualFold(c.Committer.Email, law.AgentEmail) {
			left = s
			break
		}
	}
	return !slices.ContainsFunc(gateFiles, func(name string) bool { return left.Files[name] != now.Files[name] })
}

// checkGovernanceWhole reports a fault of governance/ that no parent has.
func (j *judge) checkGovernanceWhole(now *Governance, before []*Governance) {
	differs := false
	for _, s := range before {
		differs = differs || s.Tree != now.Tree
		if _, why := s.firstFault(); why != "" {
			return // reported at its own commit
		}
	}
	if name, why := now.firstFault(); differs && why != "" {
		j.addFinding(j.Root+name, lineNumberIn(why), "%s", why)
	}
}

// lineNumberIn returns the line that an error text names, 1 if it names none.
func lineNumberIn(why string) int {
	n := 1
	if _, after, ok := strings.Cut(why, "line "); ok {
		_, _ = fmt.Sscanf(after, "%d:", &n)
	}
	return n
}

// leaseSwitch returns [governance] lease before and after an act that changes it, "" otherwise. The commit with the
// first odd.toml changes nothing, nor does a merge that takes what git merges.
func (j *judge) leaseSwitch() (from, to string) {
	is := j.LawAt(j.OID).Lease
	if !j.IsRuled(j.Parents[0]) {
		return "", ""
	}
	for _, p := range j.Parents[1:] {
		law := j.LawAt(p)
		if law.Lease == is && is == "required" {
			return "", "" // any person may keep the stricter side
		}
	}
	if is == j.Law.Lease {
		return "", ""
	}
	if len(j.Parents) == 2 {
		if tree, merges := j.MergeTree(j.Parents); merges && j.ReadLaw(tree, j.Law).Lease == is {
			return "", ""
		}
	}
	return j.Law.Lease, is
}
