package policy

import (
	"strings"
	"testing"
)

func TestSimpleInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, line, argv, input string }{
		{"no input", "odd anchor ls", "odd anchor ls", ""},
		{"a text", "odd anchor context oa-1 - <<'END'\nBIND:\n  ROLE::x $(rm) `rm` \\\nEND\n", "odd anchor context oa-1 -", "BIND:\n  ROLE::x $(rm) `rm` \\\n"},
		{"the redirection first", "odd <<'E' ls\nx\nE", "odd ls", "x\n"},
	} {
		argv, input, err := ParseSimpleInput(c.line)
		if err != nil || strings.Join(argv, " ") != c.argv || input != c.input {
			t.Errorf("%s: %q %q %v", c.name, argv, input, err)
		}
	}
}

func TestSimpleInputRefuses(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"an open text":            "odd <<END\n$(rm -rf .)\nEND\n",
		"a command behind":        "odd <<'END'\nx\nEND\nrm -rf .\n",
		"a command on the line":   "odd <<'END'; rm -rf .\nx\nEND\n",
		"a pipe":                  "odd <<'END' | sh\nx\nEND\n",
		"in the background":       "odd <<'END' &\nx\nEND\n",
		"two texts":               "odd <<'A' <<'B'\nx\nA\ny\nB\n",
		"a file too":              "odd <<'A' >x\nx\nA\n",
		"a file":                  "odd <x",
		"a here-string":           "odd <<<'x'",
		"tabs taken off":          "odd <<-'A'\n\tx\n\tA\n",
		"another number":          "odd 3<<'A'\nx\nA\n",
		"an end that is no word":  "odd <<'A B'\nx\nA B\n",
		"an end that is expanded": "odd <<\"A\"\nx\nA\n",
		"never ended":             "odd <<'A'\nx\n",
		"an assignment":           "X=1 odd <<'A'\nx\nA\n",
		"a second line":           "odd\nrm",
		"a subshell":              "(odd) <<'A'\nx\nA\n",
		"a loop":                  "while odd; do rm x; done <<'A'\nx\nA\n",
		"a line break in a word":  "odd 'a\nb' <<'A'\nx\nA\n",
		"an expansion":            "odd $HOME <<'A'\nx\nA\n",
	} {
		if argv, input, err := ParseSimpleInput(line); err == nil {
			t.Errorf("%s: %q %q", name, argv, input)
		}
	}
}

func FuzzSimpleInput(f *testing.F) {
	f.Add("odd anchor ls")
	f.Add("odd <<'END'\nx\nEND\n")
	f.Fuzz(func(t *testing.T, line string) {
		argv, input, err := ParseSimpleInput(line)
		if err != nil || input == "" {
			return
		}
		if first, _, _ := strings.Cut(line, "\n"); len(argv) == 0 || !strings.Contains(first, "<<'") {
			t.Errorf("%q: %q with %q", line, argv, input)
		}
	})
}
