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
const edition = 4

// Rules lists every rule by code: those of changes, and those of paths, names
// and commands.
func Rules() []Rule {
	out := slices.Concat(changeRules(), guardRules(), testRules(), inputRules(), commandRules())
	slices.SortFunc(out, func(a, b Rule) int { return strings.Compare(a.Code, b.Code) })
	return out
}

// newFinding makes a finding of a rule of this list. A code that is not in it is a
// mistake of the rule, not of the change.
func newFinding(code string, how How, path string, line int, text string) Finding {
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
		{"guard_fault", Hard, "a rule failed while it judged, so the change was not checked", "let a person judge the change, and report the failure"},
		{"file_without_content", Hard, "a file of the change has no content, neither before nor after", "give the whole content of the file, or leave the file out"},
		{"file_unchanged", Soft, "a file of the change is the same as before", "leave it out of the change"},
		{"coverage_missing", Hard, "a file that the change must contain is missing", "give every file with its path and its whole content"},
		{"coverage_outside", Hard, "a file that nobody asked for is in the change", "leave it out, or have a person add it to the task's paths"},
		{"stale_written", Hard, "a file that the change writes was changed by somebody else in the meantime", "make the change again from the current files"},
		{"stale_read", Soft, "a file that the agent read was changed by somebody else in the meantime", "judge the change again with the current files"},
		{"parse_failed", Hard, "a file of a known language does not parse", "write the whole file so that it parses"},
		{"parse_failed_before", Soft, "a file did not parse before the change either, so odd compares its text only", "repair the file first, in a change of its own"},
		{"placeholder_text", Hard, "a placeholder stands where the content should be", "write out the whole content"},
		{"ellipsis_line", Hard, "a line of dots stands where the content should be", "write out the whole content"},
		{"truncated_length", Hard, "more than half of the file is gone", "give the whole file; to remove much, remove it in a change of its own"},
		{"truncated_end", Hard, "the file ends in the middle of something", "give the whole file, to its last line"},
		{"fence_wrapped", Hard, "the file begins with ```, as an answer in Markdown does", "give the content alone, without ``` around it"},
		{"conflict_marker", Hard, "the file has the conflict marks of an unfinished merge", "resolve the conflict"},
		{"odd_mark", Hard, "the change writes a note of odd's own, such as [redacted:KIND], in place of text that odd did not show", "leave the line as it is; edit only the lines around it, or have a person make this change"},
		{"large_deletion", Soft, "the file loses more than a fifth of its lines, and at least twelve", "say why in the reason of the change"},
		{"self_signed", Hard, "an agent's text claims that a person approved or verified it", "leave it out; only a person can verify"},
	}
}

func guardRules() []Rule {
	return []Rule{
		{"removed_import_still_referenced", Hard, "an import is gone and its name is still used", "keep the import, or remove the uses"},
		{"symbol_removed_still_used", Hard, "a declaration is gone and its name is still used", "keep it, or change every use"},
		{"function_body_collapsed", Hard, "a function that had three statements or more now does nothing", "keep what the function does"},
		{"guard_boolean_inverted", Soft, "a condition was turned into its opposite", "say why in the reason of the change"},
		{"guard_constant", Hard, "a condition is always true or always false", "write the condition that is meant, or remove the branch"},
		{"return_value_flipped", Soft, "a function returns true where it returned false, or the other way round", "say why in the reason of the change"},
		{"silent_exception_swallow", Soft, "an error is ignored silently", "return the error, or say why it does not matter and handle it"},
		{"permission_loosened", Hard, "everyone may write a file, or a program runs with its owner's rights", "give rights to the owner only"},
		{"hardcoded_url_swap", Soft, "a URL was replaced by another", "say why in the reason of the change"},
		{"docstring_only_delete", Soft, "a comment was deleted, and the code that it explains was not", "keep the comment"},
		{"shell_exec_introduced", Hard, "new code runs a text in a shell", "run the program itself, with its arguments as a list"},
		{"process_exec_introduced", Soft, "new code runs another program", "say why in the reason of the change"},
		{"dynamic_code_introduced", Hard, "new code runs, loads or links code that odd cannot read", "call it by its name"},
		{"dynamic_code_in_test", Soft, "a test runs, loads or links code that odd cannot read", "say why in the reason of the change"},
		{"generate_introduced", Soft, "a new command for go generate", "say why in the reason of the change"},
		{"generate_denied", Hard, "go generate would run a command that agents may not run", "leave it out, or ask a person"},
		{"load_side_effect", Hard, "code acts when it is loaded, before anything calls it", "do it in a function that is called"},
		{"lint_silenced", Soft, "a comment switches a linter off", "correct what the linter found"},
	}
}

func testRules() []Rule {
	return []Rule{
		{"test_assertion_inverted", Hard, "a test now asserts the opposite", "change the code, not the test; or a person files a task that names the file in its paths"},
		{"test_assertion_weakened", Hard, "an assertion of a test is gone or weaker", "keep the assertion; or a person files a task that names the file in its paths"},
		{"test_removed", Hard, "a test was deleted", "keep the test; or a person files a task that names the file in its paths"},
		{"test_skipped", Hard, "a test is skipped", "let the test run; or a person files a task that names the file in its paths"},
		{"test_rewritten", Soft, "a test was replaced by others, or is skipped under a condition", "say why in the reason of the change"},
		{"test_main_bypass", Hard, "the tests of a package end before they run", "exit with the result of m.Run(); or a person files a task that names the file in its paths"},
		{"test_detected", Hard, "code checks whether it runs in a test", "behave in a test as everywhere else; or a person files a task that names the file in its paths"},
		{"expectation_changed", Soft, "an expected result of a test was changed", "say why in the reason of the change"},
	}
}

// measures are the thresholds that rules have.
func measures() map[string]int64 {
	l := Limits{}.Filled()
	return map[string]int64{
		"size_files": int64(l.Files), "size_file": int64(l.FileBytes), "size_total": int64(l.TotalBytes), "size_line": int64(l.LineBytes),
		"truncated_from_bytes": truncatedFrom, "truncated_percent": truncatedPercent, "rewritten_lines": rewrittenLines,
		"deletion_percent": deletionPercent, "deletion_lines": deletionLines, "collapsed_statements": collapsedFrom,
		"path_bytes": maxPath, "name_bytes": maxName, "command_depth": maxNesting, "command_bytes": maxCommand,
	}
}

// describeRules writes down what rules look for, for the hash of the rules.
func describeRules() []string {
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
