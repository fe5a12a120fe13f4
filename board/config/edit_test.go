package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSetLeaseTouchesOneValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"a value", "[governance]\nlease = \"off\"  # why\nrequire_signed = true\n", "[governance]\nlease = \"required\"  # why\nrequire_signed = true\n"},
		{"single quotes", " [governance] # g\n\tlease='off'\n[drain]\nlease = \"30m\"\n", " [governance] # g\n\tlease=\"required\"\n[drain]\nlease = \"30m\"\n"},
		{"another table's lease", "[drain]\nlease = \"30m\"\n[governance]\nrequire_signed = true\n", "[drain]\nlease = \"30m\"\n[governance]\nlease = \"required\"\nrequire_signed = true\n"},
		{"no such table", "[bundle]\nroot = \"k\"", "[bundle]\nroot = \"k\"\n\n[governance]\nlease = \"required\"\n"},
		{"no newline at the end", "[bundle]\nroot = \"k\"\n[governance]", "[bundle]\nroot = \"k\"\n[governance]\nlease = \"required\"\n"},
	} {
		got, err := SetLease("odd.toml", []byte(c.in), "required")
		if d := cmp.Diff(c.want, string(got)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", c.name, err, d)
		}
	}
	on, err := SetLease("odd.toml", Template(), "required")
	if err != nil {
		t.Fatal(err)
	}
	if off, err := SetLease("odd.toml", on, "off"); err != nil || string(off) != string(Template()) {
		t.Errorf("the template on and off again: %v\n%s", err, cmp.Diff(string(Template()), string(off)))
	}
}

func TestSetLeaseRefusesWhatItCannotKeep(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"governance.lease = \"off\"\n", "governance = {lease = \"off\"}\n", "", "[governance]\nlease = 7\n"} {
		got, err := SetLease("odd.toml", []byte(in), "required")
		if err == nil || !strings.Contains(err.Error(), "odd.toml") {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}
