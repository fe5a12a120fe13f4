package pipeline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// ladder is the table of rules, highest tier first; the first that holds says the
// tier. What protects the judge itself stands before everything else and asks
// nobody who wants the change. Nothing changes the table.
var ladder = []rule{
	{"path_unfit", NeverByMachine, "a path cannot be used, or is not a regular file", "name regular files, by paths that are valid on every system", nil},
	{"touches_gate", NeverByMachine, "it changes odd's own rules about changes", "a person makes this change by hand", nil},
	{"touches_governance", NeverByMachine, "it changes odd's settings or records, or something that git, the forge or an agent runs", "a person makes this change by hand", nil},
	{"touches_bundle", NeverByMachine, "it edits files of the bundle directly", "hand over atoms, which odd merges", nil},
	{"touches_credentials", NeverByMachine, "it changes a file that holds credentials", "a person makes this change by hand", nil},
	{"touches_vendored", NeverByMachine, "it edits vendored code in place", "change the version, and let the package manager write the files", nil},
	{"touches_configured", NeverByMachine, "it changes a file that [pipeline] protected names", "a person makes this change by hand, or takes the glob out of odd.toml", nil},
	{"touches_security_surface", NeverByMachine, "it changes a security-sensitive file, and no person's task names it", "a person files the task and names the file in its paths", nil},
	{"machine_touches_core", NeverByMachine, "it changes a file that [pipeline] core names, and no person filed the task", "a person files the task", nil},

	{"security_in_scope", ApprovalRequired, "it changes a security-sensitive file that a person's task names", toPerson, nil},
	{"crosses_repo_boundary", ApprovalRequired, "it changes which commit of another repository is used", toPerson, nil},
	{"rename_operation", ApprovalRequired, "it moves a file", toPerson, nil},
	{"delete_operation", ApprovalRequired, "it deletes a file", toPerson, nil},
	{"dependency_change", ApprovalRequired, "it changes the dependencies", toPerson, nil},
	{"core_path_structural_change", ApprovalRequired, "it adds, moves or removes a file that [pipeline] core names", toPerson, nil},
	{"executable_bit", ApprovalRequired, "it makes a file executable", toPerson, nil},
	{"machine_blast_radius", ApprovalRequired, "more packages and atoms depend on it than [pipeline] machine_blast allows a task that no person filed", toPerson,
		func(a ruleInput) []string {
			return becauseUnless(a.e.Filed == FiledByPerson, describeExcess(a.Blast, a.e.Policy.MachineBlast, "packages and atoms depend on it")...)
		}},
	{"blast_radius_exceeded", ApprovalRequired, "more packages and atoms depend on it than [pipeline] blast allows", toPerson,
		func(a ruleInput) []string {
			return describeExcess(a.Blast, a.e.Policy.Blast, "packages and atoms depend on it")
		}},
	{"too_many_files", ApprovalRequired, "it changes more files than [pipeline] max_files allows", "split it into several changes, or a person approves it",
		func(a ruleInput) []string { return describeExcess(a.countFiles(), a.e.Policy.MaxFiles, "files") }},
	{"low_test_confidence", ApprovalRequired, "the existing tests cover a part of it less than [pipeline] test_confidence_pct asks", "write tests first, in a change of their own, or a person approves it",
		func(a ruleInput) []string {
			return becauseUnless(a.Confidence >= a.e.Policy.Confidence, append([]string{fmt.Sprintf("%d %%, at least %d %%", a.Confidence, a.e.Policy.Confidence)}, a.Untested...)...)
		}},

	{"new_file_created", NotifyApply, "it adds a file", toNotice, nil},
	{"multi_file_change", NotifyApply, "it changes more than one file", toNotice,
		func(a ruleInput) []string { return describeExcess(a.countFiles(), 1, "files") }},
	{"core_path_modification", NotifyApply, "it changes a file that [pipeline] core names", toNotice, nil},

	{"all_checks_passed", SafeAuto, "no rule objects", "a person reviews it",
		func(ruleInput) []string { return []string{""} }},
}

const (
	toPerson = "a person approves it"
	toNotice = "a person sees it before it lands"
)

// raises is the table of what raises a tier behind the ladder; all that hold are
// heard. Nothing changes it.
var raises = []rule{
	{"rule_failed", ApprovalRequired, "a rule could not be evaluated", "correct what the rule could not read, or a person approves it",
		func(a ruleInput) []string {
			return becauseUnless(len(a.graphTrouble) == 0, strings.Join(byGraph, ", ")+": "+strings.Join(a.graphTrouble, "; "))
		}},
	{"agent_instructions", ApprovalRequired, "it changes instructions that every agent at work in this repository follows", "a person reads them as instructions, and approves it", nil},
	{"regression_risk", NotifyApply, "earlier changes of its files failed, or this one is likely to, so its tier is one step higher", "a person looks closer; after a repair the rule forgets within days",
		func(a ruleInput) []string { return a.describePast() }},
	{"similar_to_source", ApprovalRequired, "most of what it adds is elsewhere in the repository already", "use the existing code, or a person approves the copy",
		func(a ruleInput) []string { return findCopies(a.e.Files, a.e.Texts) }},
	{"autonomy_observe", ApprovalRequired, "[pipeline] autonomy is observe, so every change needs a person", "a person approves it, or sets [pipeline] autonomy to act",
		func(a ruleInput) []string { return becauseUnless(!a.e.Policy.Observe, "") }},
	{"opaque_substrate", ApprovalRequired, "odd could not see what the agent read and did", toPerson,
		func(a ruleInput) []string {
			return becauseUnless(a.e.Made.Seen, "a session of "+cmp.Or(a.e.Substrate, "a substrate odd does not see into"))
		}},
	{"exploration_insufficient", ApprovalRequired, "the agent read too little before it made the change", "a person approves it, or odd reject TASK --retry makes it again",
		func(a ruleInput) []string { return becauseUnless(a.e.Made.Unread == "", a.e.Made.Unread) }},
	{"refused_before", ApprovalRequired, "rules refused the agent's first try, and it was asked once more", toPerson,
		func(a ruleInput) []string { return becauseUnless(a.e.Made.Refused == "", a.e.Made.Refused) }},
	{"finding_hard", ApprovalRequired, "a rule about changes has a hard finding", "correct what it found, or a person approves it",
		func(a ruleInput) []string { return listFindings(a.e.Findings, true) }},
	{"finding_soft", NotifyApply, "a rule about changes has a soft finding", toNotice,
		func(a ruleInput) []string { return listFindings(a.e.Findings, false) }},
	{"floor_min_tier", NotifyApply, "[pipeline] min_tier allows no lower tier", "a person sees it, or lowers min_tier in odd.toml",
		func(a ruleInput) []string { return becauseUnless(a.e.Policy.MinTier == "", string(a.e.Policy.MinTier)) }},
	{"floor_quiet_hours", NotifyApply, "the time is in [pipeline] quiet_hours", "wait until they are over, or a person sees it",
		func(a ruleInput) []string {
			q := a.e.Policy.Quiet
			if q == nil || !q.containHour(a.e.Now) {
				return nil
			}
			return []string{fmt.Sprintf("%d-%d", q.From, q.To)}
		}},
}

// becauseUnless is because, or nothing where the condition holds.
func becauseUnless(not bool, because ...string) []string {
	if not {
		return nil
	}
	return because
}

// countFiles is how many files a change writes or deletes: a rename does two.
func (a ruleInput) countFiles() int { return len(a.e.Files) }

// listFindings lists findings of one severity, one that is neither with the hard ones.
func listFindings(all []policy.Finding, hard bool) []string {
	var out []string
	for _, f := range all {
		if (f.Severity != policy.Soft) == hard {
			out = append(out, f.Error())
		}
	}
	return out
}

// When what a change adds is a copy: of at least so many added lines, more than
// this part of all runs of three lines stands in one text of the base already.
const (
	copyLines = 3
	copyPct   = 70
)

// findCopies lists the files of a change whose added lines are mostly a copy. Blank
// lines and comments do not count. A file is not held against itself.
func findCopies(files []Edit, texts [][]byte) []string {
	var known []map[string]bool
	for _, t := range texts {
		known = append(known, lineTriples(codeLines(string(t))))
	}
	var out []string
	for _, f := range files {
		added := lineTriples(addedLines(f))
		if len(added) == 0 {
			continue
		}
		best := 0
		for _, text := range known {
			n := 0
			for r := range added {
				if text[r] {
					n++
				}
			}
			best = max(best, 100*n/len(added))
		}
		if best > copyPct {
			out = append(out, fmt.Sprintf("%s: %d %% of the added text is also in another file", f.Path, best))
		}
	}
	return out
}

// addedLines returns the lines that a file has more often than before.
func addedLines(f Edit) []string {
	had := map[string]int{}
	for _, l := range codeLines(string(f.Before)) {
		had[l]++
	}
	var out []string
	for _, l := range codeLines(string(f.After)) {
		if had[l] > 0 {
			had[l]--
			continue
		}
		out = append(out, l)
	}
	return out
}

func codeLines(s string) []string {
	var out []string
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "//") || strings.HasPrefix(l, "#") || strings.HasPrefix(l, "--") || strings.HasPrefix(l, "/*") || strings.HasPrefix(l, "* ") || l == "*/" {
			continue
		}
		out = append(out, l)
	}
	return out
}

// lineTriples are all runs of three lines.
func lineTriples(lines []string) map[string]bool {
	out := map[string]bool{}
	for i := 0; i+copyLines <= len(lines); i++ {
		out[strings.Join(lines[i:i+copyLines], "\n")] = true
	}
	return out
}
