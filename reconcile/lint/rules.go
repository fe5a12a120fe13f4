package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// edition counts changes of what a rule finds that its row and its patterns do
// not show.
const edition = 29

// Rules lists every rule by code: those of changes, and those of paths, names
// and commands.
func Rules() []policy.Rule {
	out := policy.Rules()
	for _, r := range ownRules {
		out = append(out, policy.Rule(r))
	}
	slices.SortFunc(out, func(a, b policy.Rule) int { return strings.Compare(a.Code, b.Code) })
	return out
}

// newFinding makes a finding of a rule of this list. A code that is not in it is a
// mistake of the rule, not of the change.
func newFinding(code string, how policy.How, path string, line int, text string) policy.Finding {
	if i := slices.IndexFunc(ownRules, func(r rule) bool { return r.Code == code }); i >= 0 {
		r := ownRules[i]
		return policy.Finding{Code: code, Severity: r.Severity, How: how, Path: path, Line: line, Text: text, Fix: r.Fix}
	}
	panic(fmt.Sprintf("no rule has the code %q", code))
}

type rule policy.Rule

// ownRules are the rules of this package: of the content of a change, of what its code
// does, of its tests, and of names, sizes, dependencies and credentials.
var ownRules = []rule{
	{"guard_fault", policy.Hard, "a rule failed while it judged, so the change was not checked", "let a person judge the change, and report the failure"},
	{"file_without_content", policy.Hard, "a file of the change has no content, neither before nor after", "give the whole content of the file, or leave the file out"},
	{"file_unchanged", policy.Soft, "a file of the change is the same as before", "leave it out of the change"},
	{"coverage_missing", policy.Hard, "a file that the change must contain is missing", "give every file with its path and its whole content"},
	{"coverage_outside", policy.Hard, "a file that nobody asked for is in the change", "leave it out, or have a person add it to the task's paths"},
	{"stale_written", policy.Hard, "a file that the change writes was changed by somebody else in the meantime", "make the change again from the current files"},
	{"stale_read", policy.Soft, "a file that the agent read was changed by somebody else in the meantime", "judge the change again with the current files"},
	{"parse_failed", policy.Hard, "a file of a known language does not parse", "write the whole file so that it parses"},
	{"parse_failed_before", policy.Soft, "a file did not parse before the change either, so odd compares its text only", "repair the file first, in a change of its own"},
	{"placeholder_text", policy.Hard, "a placeholder stands where the content should be", "write out the whole content"},
	{"ellipsis_line", policy.Hard, "a line of dots stands where the content should be", "write out the whole content"},
	{"truncated_length", policy.Hard, "more than half of the file is gone", "give the whole file; to remove much, remove it in a change of its own"},
	{"truncated_end", policy.Hard, "the file ends in the middle of something", "give the whole file, to its last line"},
	{"fence_wrapped", policy.Hard, "the file begins with ```, as an answer in Markdown does", "give the content alone, without ``` around it"},
	{"conflict_marker", policy.Hard, "the file has the conflict marks of an unfinished merge", "resolve the conflict"},
	{"odd_mark", policy.Hard, "the change writes a note of odd's own, such as [redacted:KIND], in place of text that odd did not show", "leave the line as it is; edit only the lines around it, or have a person make this change"},
	{"large_deletion", policy.Soft, "the file loses more than a fifth of its lines, and at least twelve", "say why in the reason of the change"},
	{"self_signed", policy.Hard, "an agent's text claims that a person approved or verified it", "leave it out; only a person can verify"},

	{"removed_import_still_referenced", policy.Hard, "an import is gone and its name is still used", "keep the import, or remove the uses"},
	{"symbol_removed_still_used", policy.Hard, "a declaration is gone and its name is still used", "keep it, or change every use"},
	{"function_body_collapsed", policy.Hard, "a function that had three statements or more now does nothing", "keep what the function does"},
	{"guard_boolean_inverted", policy.Soft, "a condition was turned into its opposite", "say why in the reason of the change"},
	{"guard_constant", policy.Hard, "a condition is always true or always false", "write the condition that is meant, or remove the branch"},
	{"silent_exception_swallow", policy.Soft, "an error is ignored silently", "return the error, or say why it does not matter and handle it"},
	{"permission_loosened", policy.Hard, "everyone may write a file, or a program runs with its owner's rights", "give rights to the owner only"},
	{"permission_loosened_in_test", policy.Soft, "a test gives everyone the right to write a file, or runs a program with its owner's rights", "give rights to the owner only, or say why in the reason of the change"},
	{"shell_exec_introduced", policy.Hard, "new code runs a text in a shell", "run the program itself, with its arguments as a list"},
	{"process_exec_introduced", policy.Soft, "new code runs another program", "say why in the reason of the change"},
	{"dynamic_code_introduced", policy.Hard, "new code runs, loads or links code that odd cannot read", "call it by its name"},
	{"dynamic_code_in_test", policy.Soft, "a test runs, loads or links code that odd cannot read", "say why in the reason of the change"},
	{"unsafe_introduced", policy.Soft, "new code that the compiler does not check", "say why in the reason of the change"},
	{"generate_introduced", policy.Soft, "a new command for go generate", "say why in the reason of the change"},
	{"generate_denied", policy.Hard, "go generate would run a command that agents may not run", "leave it out, or ask a person"},
	{"load_side_effect", policy.Hard, "code acts when it is loaded, before anything calls it", "do it in a function that is called"},
	{"lint_silenced", policy.Soft, "a comment switches a linter off", "correct what the linter found"},

	{"test_assertion_inverted", policy.Hard, "a test now asserts the opposite", "change the code, not the test; or a person files a task that names the file in its paths"},
	{"test_assertion_weakened", policy.Hard, "an assertion of a test is gone or weaker", "keep the assertion; or a person files a task that names the file in its paths"},
	{"test_removed", policy.Hard, "a test was deleted", "keep the test; or a person files a task that names the file in its paths"},
	{"test_skipped", policy.Hard, "a test is skipped", "let the test run; or a person files a task that names the file in its paths"},
	{"test_rewritten", policy.Soft, "a test was replaced by others, or is skipped under a condition", "say why in the reason of the change"},
	{"test_main_bypass", policy.Hard, "the tests of a package end before they run", "exit with the result of m.Run(); or a person files a task that names the file in its paths"},
	{"test_detected", policy.Hard, "code checks whether it runs in a test", "behave in a test as everywhere else; or a person files a task that names the file in its paths"},
	{"expectation_changed", policy.Soft, "an expected result of a test was changed and the code was not, or a test now asserts the opposite", "say why in the reason of the change"},

	{"name_not_utf8", policy.Hard, "a name is not UTF-8", "write it in UTF-8"},
	{"name_control", policy.Hard, "a name holds a control character", "leave it out"},
	{"name_invisible", policy.Hard, "a name holds an invisible character", "leave it out"},
	{"name_confusable", policy.Hard, "a name looks like another one", "write the name in one alphabet"},
	{"name_compatibility", policy.Hard, "a name uses Unicode variants of plain letters", "write it in the plain form"},
	{"name_punctuation", policy.Hard, "a name holds a sign that only looks like an ASCII one", "write the sign of ASCII"},
	{"text_direction", policy.Hard, "code holds a character that changes the direction of text", "write the character as an escape"},
	{"text_hidden", policy.Hard, "a file holds invisible text", "leave them out"},
	{"size_files", policy.Hard, "the change has more files than a person can review", "split it into several changes"},
	{"size_file", policy.Hard, "a file is larger than a person can review", "split it, or keep data out of the repository"},
	{"size_total", policy.Hard, "the change is larger than a person can review", "split it into several changes"},
	{"size_line", policy.Soft, "a line is too long to review", "break the line, so that a reviewer sees all of it"},
	{"size_binary", policy.Hard, "a file is binary", "write text, or ask a person to add the file"},
	{"dependency_unparsed", policy.Hard, "a dependency file does not parse", "write a valid file"},
	{"dependency_lookalike", policy.Hard, "a new package has a name close to another one's", "check the name in its registry, and let a person decide"},
	{"dependency_major", policy.Soft, "a module changes to another major version", "check the name in its registry, and let a person decide"},
	{"dependency_downgraded", policy.Soft, "a package goes back to an older version", "keep the version, or let a person decide"},
	{"dependency_replace", policy.Hard, "a package is replaced by other code", "let a person decide where the code comes from"},
	{"dependency_source", policy.Hard, "a package comes from elsewhere than its registry", "name a package and its version of the registry"},
	{"dependency_script", policy.Hard, "a package manager would run a script by itself", "rename it, so that npm runs it only on request"},
	{"dependency_tool", policy.Hard, "the change chooses a tool that the go command runs", "let a person decide"},
	{"dependency_sum", policy.Hard, "the checksum of a version changed", "restore the old line; if go rejects it, the module was replaced at its source, so ask a person"},
	{"secret_introduced", policy.Hard, "the change adds a password, a key or a token", "read it from the environment or a secret store, and revoke it if it is real; if it is none, a person makes this change and commits it with git"},
	{"secret_in_test", policy.Soft, "a test holds something that looks like a password, a key or a token", "make sure that it is made up"},
}

// listMeasures are the thresholds that rules have.
func listMeasures() map[string]int64 {
	l := Limits{}.Filled()
	return map[string]int64{
		"size_files": int64(l.Files), "size_file": int64(l.FileBytes), "size_total": int64(l.TotalBytes), "size_line": int64(l.LineBytes),
		"truncated_from_bytes": truncatedFrom, "truncated_percent": truncatedPercent, "rewritten_lines": rewrittenLines,
		"deletion_percent": deletionPercent, "deletion_lines": deletionLines, "collapsed_statements": collapsedFrom,
	}
}

// describeRules writes down what rules look for, for the hash of the rules.
func describeRules() []string {
	out := append(secrets.Patterns(), policy.Details()...)
	for _, p := range slices.Concat(textPatterns(), placeholderPatterns(), claimPatterns()) {
		out = append(out, p.code+" "+p.re.String()+" "+strings.Join(p.exts, " "))
	}
	return out
}
