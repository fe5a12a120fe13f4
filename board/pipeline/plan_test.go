package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
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
		{"a dependency from nowhere", planOf("src/a.go<src/z.go"), "plan_dangling"},
		{"a circle", planOf("src/a.go<src/b.go", "src/b.go<src/a.go"), "plan_cycle"},
		{"of one", planOf("src/a.go<src/a.go"), "plan_cycle"},
		{"a large circle, and who waits for it", planOf("src/a.go<src/c.go", "src/b.go<src/a.go", "src/c.go<src/b.go", "src/d.go<src/a.go"), "plan_cycle"},
		{"out of order", planOf("src/b.go<src/a.go", "src/a.go"), "plan_order"},
		{"no file of the task", planOf("docs/x.md"), "plan_no_overlap"},
		{"a file twice", planOf("src/a.go", "src/a.go"), "plan_path_twice"},
		{"a path that leaves", planOf("src/../../a.go", "src/a.go"), "path_escapes"},
		{"all at once", planOf("x<y", "z<x", "q<z", "x"), "plan_path_twice plan_dangling plan_no_overlap"},
		{"nothing", planOf(), "plan_empty"},
		{"another schema", []byte(`{"schema_version":"plan.2"}`), "unknown_version"},
		{"no schema", []byte(`{}`), "missing_schema_version"},
		{"no more than a schema", []byte(`{"schema_version":"plan.1"}`), "missing_approach missing_complexity missing_ordered_changes missing_risk_factors missing_test_strategy missing_architectural_notes"},
		{"another word", []byte(strings.Replace(string(planOf("src/a.go")), "modify", "move", 1)), "wrong_word"},
		{"another member", []byte(strings.Replace(string(planOf("src/a.go")), `"approach"`, `"aproach":1,"approach"`, 1)), "unexpected_key"},
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
	e, err := ParseExpansion([]byte(`{"schema_version":"expansion.1","additional_files_needed":["board/pipeline/op.go","./journal.go","lock.go",".env","nowhere.go"],
		"external_package_docs":["rapid"],"search_queries":["pipeline gate"],"explore_snippets":["LockRemote"],"reasoning":"to see"}`))
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"journal/journal.go", "board/pipeline/op.go", "board/pipeline/gate.go", "repo/lock.go", "drain/lock.go", ".env", "repo/remote_lock.go", "has.go"}
	r := e.Resolve(files, []string{"has.go"})
	got := strings.Join(r.Files, " ")
	if want := "board/pipeline/op.go journal/journal.go board/pipeline/gate.go repo/remote_lock.go repo/lock.go"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	said := fmt.Sprint(r.Not)
	for _, want := range []string{"{lock.go could be drain/lock.go, repo/lock.go}", "{.env it may contain credentials}", "{nowhere.go there is no such file}", "{rapid package documentation"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
	if again := e.Resolve(files, []string{"has.go"}); fmt.Sprint(again) != fmt.Sprint(r) {
		t.Error("the same asking finds something else")
	}
	many := Expansion{Files: []string{"1", "2", "3", "4", "5", "6"}}
	if r := many.Resolve(many.Files, nil); len(r.Files) != ExpansionFiles || len(r.Not) != 1 {
		t.Errorf("%v", r)
	}
}

func TestParseExpansionRefuses(t *testing.T) {
	t.Parallel()
	ask := func(more string) string {
		return `{"schema_version":"expansion.1","additional_files_needed":["a"]` + more + `}`
	}
	for text, want := range map[string]string{
		`{"schema_version":"expansion.2"}`:                                              "unknown_version",
		`{"schema_version":"expansion.1"}`:                                              "missing_additional_files_needed",
		ask(`,"search_queries":["short"]`):                                              "query_short",
		ask(`,"search_queries":["one word","two words","three"]`):                       "too_many_search_queries query_short",
		ask(`,"explore_snippets":["` + strings.Repeat("x", 200) + `"]`):                 "too_long",
		ask(`,"reasoning":"` + strings.Repeat("x", 201) + `"`):                          "too_long",
		ask(`,"visual_analysis":"a picture"`):                                           "unexpected_key",
		ask(`,"external_package_docs":["1","2","3","4","5","6","7","8","9","10","11"]`): "too_many_external_package_docs",
	} {
		if _, err := ParseExpansion([]byte(text)); codes(err) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzParseExpansion(f *testing.F) {
	f.Add([]byte(`{"schema_version":"expansion.1","additional_files_needed":["a"],"search_queries":["words of it"]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := ParseExpansion(b)
		if r := e.Resolve([]string{"a", "words/of/it.go"}, nil); err == nil && len(r.Files) > ExpansionFiles {
			t.Fatal(r)
		}
	})
}
