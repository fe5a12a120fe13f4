package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestSimple(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"odd anchor verify", []string{"odd", "anchor", "verify"}},
		{"  odd\tanchor  ls ", []string{"odd", "anchor", "ls"}},
		{`odd anchor identity 'impl lead' --topic="fix the lock; then rest"`, []string{"odd", "anchor", "identity", "impl lead", "--topic=fix the lock; then rest"}},
		{`odd anchor proof oa-7f \$x a\ b "say \"hi\""`, []string{"odd", "anchor", "proof", "oa-7f", "$x", "a b", `say "hi"`}},
		{`odd '$(rm)' ''`, []string{"odd", "$(rm)", ""}},
		{"odd a~b x=y", []string{"odd", "a~b", "x=y"}},
		{"odd größe", []string{"odd", "größe"}},
	} {
		got, err := ParseSimple(c.line)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Simple(%q) = %q, %v; want %q", c.line, got, err, c.want)
		}
	}
}

func TestSimpleRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ line, say string }{
		{"", "no command"},
		{"# odd", "no command"},
		{"odd x; rm -rf .", "column 8: a second command"},
		{"odd x;", "column 6: ;"},
		{"odd x & rm y", "column 9: a second command"},
		{"odd x &", "column 7: &"},
		{"odd x && rm y", "column 1: &&"},
		{"odd x || rm y", "||"},
		{"odd x | sh", "column 1: |"},
		{"odd x |& sh", "|&"},
		{"odd `rm y`", "column 5: $(…)"},
		{"odd $(rm y)", "column 5: $(…)"},
		{`odd "$(rm y)"`, "column 6: $(…)"},
		{"odd $HOME", "column 5: $NAME"},
		{"odd ${x:-y}", "$NAME"},
		{"odd $((1+1))", "$((…))"},
		{"odd x > y", "column 7: >"},
		{"odd x 2>&1", ">&"},
		{"odd < y", "<"},
		{"odd <<< y", "<<<"},
		{"odd <(rm y)", "<(…)"},
		{"odd x\nrm y", "column 6: a line break"},
		{"odd x\\\ny", "a line break"},
		{"odd 'x\ny'", "a line break"},
		{"odd x\rrm", "a line break"},
		{"PATH=. odd x", "an assignment"},
		{"odd *", "column 5: a pattern"},
		{"odd a[bc]", "column 6: a pattern"},
		{"odd {a,b}", "a brace"},
		{"odd ~/x", "column 5: ~"},
		{"odd --f=~/x", "~"},
		{"odd =ls", "= before a word"},
		{"odd x # y", "column 7: a comment"},
		{"! odd x", "column 1: !"},
		{"odd !!", "which a shell may expand"},
		{`odd "!!"`, "inside quotes"},
		{"(odd x)", "(…)"},
		{"{ odd x; }", "a compound command"},
		{"time odd x", "a compound command"},
		{"if odd; then rm y; fi", "a compound command"},
		{"odd() { rm y; }", "a function"},
		{"export X=y", "a declaration"},
		{"odd $'\\x72m'", "$'…'"},
		{"odd 'a\tb'", "a control character"},
		{"odd 'x", "reached EOF without closing quote"},
		{"odd \u202ex", "U+202E"},
		{"odd \u200bx", "U+200B"},
		{"odd \xff", "not UTF-8"},
		{"odd " + strings.Repeat("x", maxCommand), "more than the"},
	} {
		got, err := ParseSimple(c.line)
		if err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("Simple(%q) = %q, %v; want an error that says %q", c.line, got, err, c.say)
		}
	}
}

// quote writes words so that Simple reads them.
func quote(argv []string) string {
	var out []string
	for _, a := range argv {
		out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
	}
	return strings.Join(out, " ")
}

func FuzzSimple(f *testing.F) {
	for _, s := range []string{"odd anchor verify", `odd 'a b' "c\"d" e\ f`, "odd x; rm", "odd $(x)", `a\'b "\x"`, "a=b c", "x \\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := ParseSimple(line)
		if err != nil {
			return
		}
		again, err := ParseSimple(quote(argv))
		if err != nil || !slices.Equal(argv, again) {
			t.Errorf("Simple(%q) = %q, quoted again %q, %v", line, argv, again, err)
		}
	})
}
