package persona

import (
	"fmt"
	"strconv"
	"strings"
)

// Floor is the least a persona must rest on. Zero turns a rule off, except that
// a role out of force and a persona of drafts alone are always below.
type Floor struct {
	MinAtoms         int // resolved atoms, a draft counts half
	MinProcesses     int // processes and workflows the role owns, drafts not counted
	MinGuides        int // guardrails or terms, drafts not counted
	MaxUnresolvedPct int // of all reached: unresolved and unloadable
}

// DefaultFloor is 5 atoms, 1 process, 1 policy or term, 20 % unresolved.
func DefaultFloor() Floor { return Floor{5, 1, 1, 20} }

// Shortfall is one floor rule that p does not meet.
type Shortfall struct{ Rule, Have, Want, Way string }

// String is one line: "2½ of 5 atoms: link more …".
func (s Shortfall) String() string { return s.formatLack() + ": " + s.Way }

// formatLack returns what s lacks, without the way out: "2½ of 5 atoms".
func (s Shortfall) formatLack() string {
	return map[string]string{
		"role": "it is " + s.Have, "atoms": s.Have + " of " + s.Want + " atoms", "processes": s.Have + " of " + s.Want + " process", "guides": s.Have + " of " + s.Want + " policy or term",
		"drafts": "all its atoms are drafts", "unresolved": s.Have + " links lead to no atom, " + s.Want + " allowed",
	}[s.Rule]
}

// Lacks is what all shortfalls lack, and the command that tells what to do about each.
func Lacks(role string, all []Shortfall) string {
	var lacks []string
	for _, s := range all {
		lacks = append(lacks, s.formatLack())
	}
	return fmt.Sprintf("too little is known about the role %s (%s); odd compile-persona %[1]s lists what to change, then commit it", role, strings.Join(lacks, ", "))
}

// Below lists every floor rule p does not meet, in a fixed order. A draft
// counts half towards the atoms and not at all towards processes and guides: a
// template of drafts alone never clears the floor, however many it has.
func (p Persona) Below(f Floor) []Shortfall {
	var out []Shortfall
	short := func(miss bool, s Shortfall) {
		if miss {
			out = append(out, s)
		}
	}
	n := p.countItems()
	short(p.Retirement != "", Shortfall{"role", p.Retirement, "a role in force", "use the role that replaced it"})
	short(n.halves < 2*f.MinAtoms, Shortfall{"atoms", formatHalves(n.halves), strconv.Itoa(f.MinAtoms),
		"link more atoms to the role, or remove status: draft from those you stand by (a draft counts half)"})
	short(n.processes < f.MinProcesses, Shortfall{"processes", strconv.Itoa(n.processes), strconv.Itoa(f.MinProcesses),
		"add owner: " + p.Role.ID + " to a process that is not a draft"})
	short(n.guides < f.MinGuides, Shortfall{"guides", strconv.Itoa(n.guides), strconv.Itoa(f.MinGuides),
		"link a policy to a process with governed_by, or a term with relates_to; drafts do not count"})
	short(len(p.Items) > 0 && n.settled == 0, Shortfall{"drafts", "drafts only", "a settled atom",
		"remove status: draft from those you stand by"})
	missing := p.Unresolved + p.Unloadable
	short(missing*100 > f.MaxUnresolvedPct*p.Reached, Shortfall{"unresolved",
		fmt.Sprintf("%d of %d", missing, p.Reached), fmt.Sprintf("at most %d %%", f.MaxUnresolvedPct),
		"write the missing atoms or remove the links; odd compile-persona " + p.Role.ID + " lists them"})
	return out
}

// tally is what the floor counts.
type tally struct{ halves, settled, processes, guides int }

func (p Persona) countItems() tally {
	var n tally
	for _, it := range p.Items {
		n.halves++
		if it.Draft {
			continue
		}
		n.halves++
		n.settled++
		if it.Owned {
			n.processes++
		}
		if it.Section == Guardrails || it.Section == Terms {
			n.guides++
		}
	}
	return n
}

func formatHalves(n int) string {
	switch {
	case n%2 == 0:
		return strconv.Itoa(n / 2)
	case n == 1:
		return "½"
	}
	return strconv.Itoa(n/2) + "½"
}
