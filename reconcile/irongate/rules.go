package irongate

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one thing that is judged, by the code its findings carry.
type Rule struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"`
	Fix      string   `json:"fix,omitempty"` // the way out, where it is one for all its findings
}

// edition counts changes of what a rule finds that its row and its patterns do
// not show.
const edition = 3

// Rules lists every rule by code: those of changes, and those of paths, names
// and commands.
func Rules() []Rule {
	out := slices.Concat(changeRules(), guardRules(), testRules(), inputRules(), commandRules())
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.Code, b.Code) })
	return out
}

// found makes a finding of a rule of this list. A code that is not in it is a
// mistake of the rule, not of the change.
func found(code string, how How, path string, line int, text string) Finding {
	for _, list := range [][]Rule{changeRules(), guardRules(), testRules(), inputRules()} {
		for _, r := range list {
			if r.Code == code {
				return Finding{Code: code, Severity: r.Severity, How: how, Path: path, Line: line, Text: text, Fix: r.Fix}
			}
		}
	}
	panic(fmt.Sprintf("no rule has the code %q", code))
}

func changeRules() []Rule {
	return []Rule{
		{"guard_fault", Hard, "a rule failed while it judged, so nobody has looked", "let a person judge the change, and report the failure"},
		{"file_without_content", Hard, "an entry has no content, neither before nor after", "give the whole content of the file, or leave the entry out"},
		{"file_unchanged", Soft, "a file is written as it was", "leave it out of the change"},
		{"coverage_missing", Hard, "a file that the change was to hold is not in it", "give every target with its path and its whole content"},
		{"coverage_outside", Hard, "a file that nobody asked for is in the change", "leave it out, or have a person add it to the task's paths"},
		{"stale_written", Hard, "a file that the change writes has moved since", "make the change again from the new base"},
		{"stale_read", Soft, "a file that the change was made from has moved since", "judge the change again on the new base"},
		{"parse_failed", Hard, "a file of a known language does not parse", "write the whole file so that it parses"},
		{"parse_failed_before", Soft, "a file did not parse before the change either, and is judged by its text", "repair the file first, in a change of its own"},
		{"placeholder_text", Hard, "words stand where content should", "write out the whole content"},
		{"ellipsis_line", Hard, "a line of dots stands where content should", "write out the whole content"},
		{"truncated_length", Hard, "less than half of the file is left", "give the whole file; to remove much, remove it by name in a change of its own"},
		{"truncated_end", Hard, "the file ends in the middle of something", "give the whole file, to its last line"},
		{"fence_wrapped", Hard, "the file begins with the fence of an answer", "give the content alone, without ``` around it"},
		{"conflict_marker", Hard, "the marks of a merge that was not finished", "resolve the conflict"},
		{"large_deletion", Soft, "the file loses more than a fifth, and twelve lines or more", "say why in the reason of the change"},
		{"self_signed", Hard, "a machine's text says that a person approved or verified", "leave it out; only a person's own act verifies"},
	}
}

func guardRules() []Rule {
	return []Rule{
		{"removed_import_still_referenced", Hard, "an import is gone and its name is still used", "keep the import, or remove the uses"},
		{"symbol_removed_still_used", Hard, "a declaration is gone and its name is still used", "keep it, or change every use"},
		{"function_body_collapsed", Hard, "a function of three statements or more does nothing now", "keep what the function does"},
		{"guard_boolean_inverted", Soft, "a condition is the opposite of what it was", "say why in the reason of the change"},
		{"guard_constant", Hard, "a condition always holds, or never", "write the condition that is meant, or remove the branch"},
		{"return_value_flipped", Soft, "a function returns true where it returned false, or the reverse", "say why in the reason of the change"},
		{"silent_exception_swallow", Soft, "an error is dropped without a word", "return the error, or say why it does not matter and handle it"},
		{"permission_loosened", Hard, "everyone may write a file, or a program lends its owner's rights", "give rights to the owner only"},
		{"hardcoded_url_swap", Soft, "an address gives way to another", "say why in the reason of the change"},
		{"docstring_only_delete", Soft, "a comment that explains is gone, and what it explains is not", "keep the comment"},
		{"shell_exec_introduced", Hard, "a shell is given text to run", "run the program itself, with its arguments as a list"},
		{"process_exec_introduced", Soft, "a program is run that was not run before", "say why in the reason of the change"},
		{"dynamic_code_introduced", Hard, "code is run, loaded or linked that cannot be read here", "call it by its name"},
		{"generate_introduced", Soft, "a command that go generate runs is new", "say why in the reason of the change"},
		{"generate_denied", Hard, "go generate would run a command that no machine may run", "leave it out, or ask a person"},
		{"load_side_effect", Hard, "code acts on the machine by being loaded, before anything calls it", "do it where it is called for"},
		{"lint_silenced", Soft, "a comment tells a checker to look away", "repair what the checker found"},
	}
}

func testRules() []Rule {
	return []Rule{
		{"test_assertion_inverted", Hard, "a test asserts the opposite of what it did", "change the code, not the test; a person who wants that files the task and names the file in its paths"},
		{"test_assertion_weakened", Hard, "something that a test asserted is asserted no more", "keep the assertion; a person who wants that files the task and names the file in its paths"},
		{"test_removed", Hard, "a test is gone", "keep the test; a person who wants that files the task and names the file in its paths"},
		{"test_skipped", Hard, "a test is not run any more", "let the test run; a person who wants that files the task and names the file in its paths"},
		{"test_main_bypass", Hard, "the tests of a package end before they have run", "end with what running the tests returned; a person who wants that files the task and names the file in its paths"},
		{"test_detected", Hard, "code asks whether it is being tested", "behave in a test as anywhere; a person who wants that files the task and names the file in its paths"},
		{"expectation_changed", Soft, "what a test expects is changed by hand", "say why in the reason of the change"},
	}
}

// measures are the thresholds that rules have.
func measures() map[string]int64 {
	l := Limits{}.Filled()
	return map[string]int64{
		"size_files": int64(l.Files), "size_file": int64(l.FileBytes), "size_total": int64(l.TotalBytes), "size_line": int64(l.LineBytes),
		"truncated_from_bytes": truncatedFrom, "truncated_percent": truncatedPercent,
		"deletion_percent": deletionPercent, "deletion_lines": deletionLines, "collapsed_statements": collapsedFrom,
		"path_bytes": maxPath, "name_bytes": maxName, "command_depth": maxNesting, "command_bytes": maxCommand,
	}
}

// described writes down what rules look for, for the hash of the rules.
func described() []string {
	var out []string
	for _, s := range shapes() {
		out = append(out, s.kind+" "+s.rule())
	}
	for _, s := range surfaces {
		out = append(out, s.code+" "+strings.Join(s.globs, " "))
	}
	for _, p := range slices.Concat(textPatterns(), placeholderPatterns(), claimPatterns()) {
		out = append(out, p.code+" "+p.re.String()+" "+strings.Join(p.exts, " "))
	}
	return append(out, gatePackages...)
}
