package canon

import (
	"strings"
	"testing"
)

// FuzzCheck: any two files are checked, without a crash, and every finding
// names one of them and a line that it has.
func FuzzCheck(f *testing.F) {
	f.Add(whole+"[x](b.md#y) <!-- audit-allow: dead-reference reason=\"r\" --> acme://gone `acme://<x>`\n", whole)
	f.Add("\ufeff---\r\nuri: a://b\r\nsuperseded_by: a.md\r\n---\r\n", "---\nuri: a://b\nsupersedes: [canon/a.md, '..', '#']\n---\n# H\n<!-- ")
	f.Add("---\n", "``` \n`` ` <!--> a://")
	f.Fuzz(func(t *testing.T, a, b string) {
		texts := map[string]string{"canon/a.md": a, "b.md": b}
		r := library(t, files("canon/a.md\n"+a, "b.md\n"+b)).Check()
		for _, fd := range r.Findings {
			text, ok := texts[fd.Location.Path]
			if !ok || fd.Location.Line < 1 || fd.Location.Line > 1+strings.Count(text, "\n") || fd.Message == "" {
				t.Fatalf("%+v", fd)
			}
		}
		if (r.Status == "OK") != (r.Errors == 0) {
			t.Fatalf("%s with %d errors", r.Status, r.Errors)
		}
	})
}

// FuzzResolve: any reference has an outcome, and what is found lies in the folder.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{"acme://a", "acme://../x", "b.md#x", "%2e%2e/a", "/", "#", "acme://canon/a#", "canon"} {
		f.Add(s)
	}
	l, err := Read(files("canon/a.md\n"+whole, "b.md\n---\nuri: acme://b\nsuperseded_by: acme://a\n---\n"), ".", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		tr := l.Resolve(ref)
		switch tr.Outcome {
		case Found:
			if tr.Path == "" || strings.Contains(tr.Path, "..") {
				t.Fatalf("%q: %+v", ref, tr)
			}
		case NotFound, External, Invalid, Circular:
			if tr.Message == "" {
				t.Fatalf("%q: %+v", ref, tr)
			}
		default:
			t.Fatalf("%q: %q", ref, tr.Outcome)
		}
	})
}
