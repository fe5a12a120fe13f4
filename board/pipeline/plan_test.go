package pipeline

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// planOf is a plan of steps "path" or "path<dependency,dependency".
func planOf(steps ...string) []byte {
	p := map[string]any{"schema_version": "plan.1", "approach": "a", "complexity": "moderate", "risk_factors": []string{}, "test_strategy": "t", "architectural_notes": "n"}
	list := []any{}
	for _, s := range steps {
		name, after, _ := strings.Cut(s, "<")
		deps := []string{}
		if after != "" {
			deps = strings.Split(after, ",")
		}
		list = append(list, map[string]any{"file_path": name, "change_type": "modify", "description": "d", "dependencies": deps, "estimated_scope": "small"})
	}
	p["ordered_changes"] = list
	b, _ := json.Marshal(p)
	return b
}

func TestParsePlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"in order", planOf("src/a.go", "src/b.go<src/a.go", "src/c.go<src/a.go,src/b.go"), ""},
		{"one file of the task is enough", planOf("docs/x.md", "src/a.go"), ""},
		{"a dependency from nowhere", planOf("src/a.go<src/z.go"), "plan_order"},
		{"a circle", planOf("src/a.go<src/b.go", "src/b.go<src/a.go"), "plan_order"},
		{"of one", planOf("src/a.go<src/a.go"), "plan_order"},
		{"a large circle, and who waits for it", planOf("src/a.go<src/c.go", "src/b.go<src/a.go", "src/c.go<src/b.go", "src/d.go<src/a.go"), "plan_order"},
		{"out of order", planOf("src/b.go<src/a.go", "src/a.go"), "plan_order"},
		{"no file of the task", planOf("docs/x.md"), "plan_no_overlap"},
		{"a file twice", planOf("src/a.go", "src/a.go"), "plan_path_twice"},
		{"a path that leaves", planOf("src/../../a.go", "src/a.go"), "path_escapes"},
		{"all at once", planOf("x<y", "z<x", "q<z", "x"), "plan_order plan_path_twice plan_no_overlap"},
		{"nothing", planOf(), "plan_no_overlap"},
		{"another schema", []byte(`{"schema_version":"plan.2"}`), "unknown_version"},
		{"no schema", []byte(`{}`), "unknown_version"},
	} {
		_, err := ParsePlan(c.b, []string{"src/**"})
		got := ""
		if err != nil {
			got = strings.Join(dedup(strings.Fields(codes(err))), " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q: %v", c.name, got, c.want, err)
		}
	}
}

func TestNeedsPlan(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", ShortAsk+1)
	for _, c := range []struct {
		targets []string
		ask     string
		want    bool
	}{
		{nil, long, false}, {[]string{"a.go"}, long[1:], false}, {[]string{"a.go"}, long, true},
		{[]string{"a.go", "b.go"}, "x", true}, {[]string{"a/*"}, "x", true}, {[]string{"docs/"}, "x", true},
	} {
		if got := NeedsPlan(c.targets, c.ask); got != c.want {
			t.Errorf("%v %q: %v", c.targets, c.ask, got)
		}
	}
}

func FuzzParsePlan(f *testing.F) {
	f.Add(planOf("src/a.go", "src/b.go<src/a.go"))
	f.Add(planOf("src/a.go<src/a.go"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePlan(b, []string{"src/**"})
		var u Unusable
		if err != nil && (!errors.As(err, &u) || u.Refused() == "") {
			t.Fatal(err)
		}
		done := map[string]bool{}
		for _, c := range p.Changes {
			for _, d := range c.After {
				if err == nil && !done[d] {
					t.Fatalf("%s before %s", c.Path, d)
				}
			}
			done[c.Path] = true
		}
	})
}

func TestExpansion(t *testing.T) {
	t.Parallel()
	e, err := ParseExpansion([]byte(`{"schema_version":"expansion.1","additional_files_needed":["board/op.go","./journal/journal.go","lock.go",".env","nowhere.go","has.go"],"reasoning":"to see"}`))
	if err != nil {
		t.Fatal(err)
	}
	given, denied := e.Resolve([]string{".env", "board/op.go", "drain/lock.go", "has.go", "journal/journal.go", "repo/lock.go"}, []string{"has.go"})
	if got := strings.Join(given, " "); got != "board/op.go journal/journal.go" {
		t.Error(got)
	}
	want := "lock.go: there is no such file; name its whole path\n.env: it may contain credentials\nnowhere.go: there is no such file; name its whole path\nhas.go: it was given already"
	if got := strings.Join(denied, "\n"); got != want {
		t.Error(got)
	}
	many := Expansion{Files: []string{"1", "2", "3", "4", "5", "6"}}
	if given, denied := many.Resolve(many.Files, nil); len(given) != expansionFiles || len(denied) != 1 {
		t.Error(given, denied)
	}
	for text, want := range map[string]string{`{"schema_version":"expansion.2"}`: "unknown_version", `{"schema_version":"expansion.1","additional_files_needed":"a"}`: "json"} {
		if _, err := ParseExpansion([]byte(text)); codes(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
