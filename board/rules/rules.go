// Package rules has the sixteen invariants of a history, one file each.
//
// A file begins with its Rule: what it promises, what it reads and compares, what git cannot show, and the way out of
// its findings. Below is the check, from top to bottom. Where one file is not enough, others have its name in front:
// gate.go has rule 3, gate_approval.go what an approval must be. act.go and history.go say what a check gets: an Act,
// one commit with all that it introduces, and a History, which answers everything else.
//
// A rule sees commits and nothing else: no plan, no work tree, no state of a running odd. The same rule judges a commit
// that odd is about to show and one that somebody made by hand long ago. Package verify reads the commits, and
// implements History.
//
// Two things are not as a Go reader may expect. A check is a method of a judge and adds its findings there: the helpers
// below it return only why something is wrong, and their caller knows the file and line; so the
// judge has more methods than any other type here. And no check sees an error of reading: a missing or damaged object
// ends the whole check; see Objects.
//
// # Words
//
//	law              the odd.toml that a commit is judged by, which is that of its parent
//	the board's line the commits from the board's branch back along first parents
//	taken            a proposal on which a person's commit is built
//	open end         the last commit of the range, if no branch has it: what comes after it is unknown
//	crossed          lines that a commit is merged with and that have other rules about signatures
//	unnamed          a commit by an agent that only the odd.toml of another line names
package rules

import (
	"cmp"
	"fmt"
	"slices"
)

// Row is what a rule says of itself, and how many things of a range it was checked on.
type Row struct {
	N        int    `json:"invariant"`
	Name     string `json:"name"`
	Promise  string `json:"-"`
	Reads    string `json:"evidence"`
	Compares string `json:"recomputed"` // what is derived from it and compared
	Attested string `json:"attested"`   // what git cannot show
	Remedy   string `json:"fix"`        // out of its findings
	Broken   string `json:"-"`          // what a commit did that has a finding
	Unit     string `json:"unit"`       // what Checked counts
	Since    int    `json:"-"`          // [odd] format from which on it holds; what was made under an older one is not held to it
	Checked  int    `json:"checked"`    // things judged; 0 in Table
}

// Rule is one invariant with the function that judges one commit by it.
type Rule struct {
	Row
	check func(*judge)
	roots bool // it judges commits where a history begins, too
}

// All returns the rules in order. A new one is a new row.
func All() []Rule {
	return []Rule{
		capRule, surfaceRule, gateRule, drainRule, budgetRule, floorRule, edgeRule, leaseRule,
		proposeRule, roleRule, handoffRule, permitRule, ironGateRule, growthRule, endingRule, verifiedRule,
	}
}

// Table returns the rows of All.
func Table() []Row {
	var out []Row
	for _, r := range All() {
		out = append(out, r.Row)
	}
	return out
}

// Rule is the row's name in reports that name rules: "odd-invariant-03".
func (r Row) Rule() string { return RuleOf(r.N) }

// RuleOf returns the name of an invariant's rule.
func RuleOf(invariant int) string { return fmt.Sprintf("odd-invariant-%02d", invariant) }

// judge applies one rule to one commit.
type judge struct {
	History
	*Act
	invariant int
	checked   int
	found     []Finding
	way       string // out of the next finding, in place of its rule's
	cause     string // of the next finding
}

// addFinding records a finding. A line below 1 means the file as a whole.
func (j *judge) addFinding(path string, line int, format string, args ...any) {
	j.found = append(j.found, Finding{Invariant: j.invariant, Commit: j.OID, Path: path, Line: max(line, 1), Message: fmt.Sprintf(format, args...)})
}

// setWay gives the last finding a way out of its own.
func (j *judge) setWay(way string) { j.found[len(j.found)-1].Way = way }

// applyNotes gives the last finding the way out and the cause that were noted for it.
func (j *judge) applyNotes() {
	if len(j.found) > 0 && j.way != "" {
		j.setWay(j.way)
	}
	if len(j.found) > 0 && j.cause != "" {
		j.found[len(j.found)-1].Cause = j.cause
	}
	j.way, j.cause = "", ""
}

// Judge applies rules to a commit. It returns what they find, and how many things each checked.
func Judge(a *Act, h History, rs []Rule) (found []Finding, checked []int) {
	for _, r := range rs {
		j := &judge{History: h, Act: a, invariant: r.N}
		if r.Since <= a.Law.Format && (r.roots || len(a.Parents) > 0) {
			r.check(j)
		}
		checked = append(checked, j.checked)
		for _, f := range j.found {
			if f.Way == "" {
				f.Way = rs[slices.IndexFunc(rs, func(r Rule) bool { return r.N == f.Invariant })].Remedy
			}
			found = append(found, f)
		}
	}
	found = a.foldSquash(found)
	slices.SortStableFunc(found, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Invariant, y.Invariant))
	})
	return found, checked
}
