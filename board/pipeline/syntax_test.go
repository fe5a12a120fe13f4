package pipeline

import (
	"testing"

	"github.com/odd-cli/odd/reconcile/policy"
)

// TestUnreadable: only a parser that read the source, and says where it stopped, speaks
// against it; what a machine says of itself does not.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, output string
		line         int
		bad          bool
	}{
		{"a.py", "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n  File \"<unknown>\", line 7\n    def x(:\n          ^\nSyntaxError: invalid syntax\n", 7, true},
		{"a.py", "  File \"<unknown>\", line 2\nIndentationError: unexpected indent\n", 2, true},
		{"a.js", "[stdin]:3\nlet = (\n^^^\n\nSyntaxError: Unexpected token\n    at checkSyntax\n", 3, true},
		{"a.py", "ValueError: source code string cannot contain null bytes\n", 0, false},
		{"a.py", "pyenv: python3: command not found\n", 0, false},
		{"a.js", "node: bad option: --input-type=module\n", 0, false},
		{"a.js", "", 0, false},
	} {
		f, bad := Unreadable(tt.name, []byte(tt.output))
		if bad != tt.bad || f.Line != tt.line || bad && (f.Code != "parse_failed" || f.Path != tt.name) {
			t.Errorf("%q: %v, %v", tt.output, f, bad)
		}
	}
}

// TestMendable: nothing is sent back that has one fault besides those that leaving
// something out mends.
func TestMendable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		codes []string
		want  int
	}{
		{nil, 0},
		{[]string{"coverage_outside"}, 1},
		{[]string{"coverage_outside", "size_binary"}, 2},
		{[]string{"coverage_outside", "secret_introduced"}, 0},
		{[]string{"protected_git"}, 0},
		{[]string{"test_removed"}, 0},
	} {
		var all []policy.Finding
		for _, c := range tt.codes {
			all = append(all, policy.Finding{Code: c, Severity: policy.Hard})
		}
		if got := Mendable(all); len(got) != tt.want {
			t.Errorf("%v: %v", tt.codes, got)
		}
	}
}
