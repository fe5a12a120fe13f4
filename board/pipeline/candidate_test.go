package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// baseAt is a base of two files.
func baseAt(p string) ([]byte, string, error) {
	switch p {
	case "a.txt":
		return []byte("one\ntwo\nthree\n"), modePlain, nil
	case "run.sh":
		return []byte("true"), modeExec, nil
	case "broken":
		return nil, "", errors.New("no such object")
	}
	return nil, "", nil
}

// codes are the codes of an error's faults, "" for none.
func codes(err error) string {
	var u Unusable
	if !errors.As(err, &u) {
		return fmt.Sprint(err)
	}
	var out []string
	for _, f := range u {
		out = append(out, f.Code)
	}
	return strings.Join(out, " ")
}

const full = `{"schema_version":"2b.1","candidates":[%s]}`

func TestParseCandidate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []Candidate
	}{
		"one file": {fmt.Sprintf(full, `{"candidate_id":"c","rationale":"why","file_path":"a.txt","full_content":"new\n"}`),
			[]Candidate{{ID: "c", Rationale: "why", Source: FromFull, Files: []Edit{{"a.txt", []byte("one\ntwo\nthree\n"), []byte("new\n"), modePlain, modePlain}}}}},
		"several, in any order, modes kept, empty is a content": {fmt.Sprintf(full, `{"candidate_id":"c","rationale":"why","files":[
			{"file_path":"run.sh","full_content":"false","rationale":"x"},{"file_path":"new/b.txt","full_content":""}]}`),
			[]Candidate{{ID: "c", Rationale: "why", Source: FromFull, Files: []Edit{{"new/b.txt", nil, []byte{}, "", modePlain}, {"run.sh", []byte("true"), []byte("false"), modeExec, modeExec}}}}},
		"two candidates": {fmt.Sprintf(full, `{"candidate_id":"1","rationale":"why","file_path":"x","full_content":"1"},{"candidate_id":"2","rationale":"why","file_path":"x","full_content":"2"}`),
			[]Candidate{{ID: "1", Rationale: "why", Source: FromFull, Files: []Edit{{"x", nil, []byte("1"), "", modePlain}}},
				{ID: "2", Rationale: "why", Source: FromFull, Files: []Edit{{"x", nil, []byte("2"), "", modePlain}}}}},
		"a noop": {`{"schema_version":"2b.1-noop","reason":"it is done","no_op":true}`, []Candidate{{Source: FromNoop, Reason: "it is done"}}},
	} {
		got, err := ParseCandidate([]byte(c.text), Given{At: baseAt})
		if d := cmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%s: %v %s", name, err, d)
		}
	}
}

// Every fault, by the check that names it, and where it is said to be.
func TestParseCandidateRefuses(t *testing.T) {
	t.Parallel()
	one := func(members string) string {
		return fmt.Sprintf(full, `{"candidate_id":"c","rationale":"why",`+members+`}`)
	}
	wrote := []string{"a.txt"}
	for _, c := range []struct {
		name, text string
		wrote      []string
		want, at   string
	}{
		{"no JSON", "{", nil, "json", "line 1"},
		{"words", "Here it is: {}", nil, "json", ""},
		{"something behind", "{}\n{}", nil, "json", "line 2"},
		{"Latin-1", "{\"a\":\"\xe9\"}", nil, "json", "UTF-8"},
		{"too large", strings.Repeat(" ", maxDelivery+1), nil, "too_large", ""},
		{"a list", "[]", nil, "json", "line 1"},
		{"a noop with writes", `{"schema_version":"2b.1-noop","reason":"x"}`, wrote, "noop_with_writes", ""},
		{"a noop that is none", `{"schema_version":"2b.1-noop","reason":"x","candidates":[{}]}`, nil, "two_deliveries", ""},
		{"a noop without a reason", `{"schema_version":"2b.1-noop","reason":" "}`, nil, "missing_reason", ""},
		{"no version", `{"candidates":[]}`, nil, "unknown_version", "schema_version"},
		{"another version", `{"schema_version":"2c.1"}`, nil, "unknown_version", "2b.1-noop"},
		{"a version that is no word", `{"schema_version":2}`, nil, "json", "schema_version may not be of the type number"},
		{"writes and a text", one(`"file_path":"x","full_content":"y"`), wrote, "two_deliveries", ""},
		{"no candidates", `{"schema_version":"2b.1"}`, nil, "candidate_count", ""},
		{"no list", `{"schema_version":"2b.1","candidates":{}}`, nil, "json", "candidates"},
		{"four", fmt.Sprintf(full, "{},{},{},{}"), nil, "candidate_count", "candidates"},
		{"nothing said", fmt.Sprintf(full, "{}"), nil, "missing_member", "candidates[0]"},
		{"a content that is none", one(`"file_path":"x","full_content":null`), nil, "missing_member", "x"},
		{"paths, all of them", one(`"files":[{"file_path":"../x","full_content":"y"},{"file_path":"/etc/x","full_content":"y"}]`), nil, "path_escapes path_absolute", "file 2"},
		{"a path twice", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"x","full_content":"z"}]`), nil, "path_clash", ""},
		{"paths that are one", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"X","full_content":"z"}]`), nil, "path_clash", ""},
		{"a file below a file", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"x/y","full_content":"z"}]`), nil, "path_below_file", ""},
		{"no change", one(`"file_path":"a.txt","full_content":"one\ntwo\nthree\n"`), nil, "unchanged", "a.txt"},
		{"a base that is not there", one(`"file_path":"broken","full_content":"x"`), nil, "base_unreadable", ""},
	} {
		_, err := ParseCandidate([]byte(c.text), Given{At: baseAt, Wrote: c.wrote})
		if got := codes(err); strings.Join(dedup(strings.Fields(got)), " ") != c.want {
			t.Errorf("%s: %s, want %s: %v", c.name, got, c.want, err)
		} else if !strings.Contains(err.Error(), c.at) {
			t.Errorf("%s: not at %s: %v", c.name, c.at, err)
		}
	}
}

// dedup drops words that stand before already.
func dedup(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			out = append(out, w)
		}
		seen[w] = true
	}
	return out
}

func TestFromEdits(t *testing.T) {
	t.Parallel()
	c, err := FromEdits([]Edit{{"b", []byte("x"), nil, modePlain, ""}, {"a", []byte{}, []byte{}, modePlain, modeExec}})
	if err != nil || c.Source != FromTree || strings.Join(c.Paths(), " ") != "a b" || len(c.Gate()) != 2 || c.Gate()[1].After != nil {
		t.Error(c, err)
	}
	for want, edits := range map[string][]Edit{
		"no_files":     nil,
		"unchanged":    {{"a", []byte("x"), []byte("x"), modePlain, modePlain}},
		"not_a_file":   {{"a", nil, []byte("x"), "", "120000"}},
		"path_escapes": {{"../a", nil, []byte("x"), "", modePlain}},
	} {
		if _, err := FromEdits(edits); codes(err) != want {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func FuzzParseCandidate(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(full, `{"candidate_id":"c","rationale":"why","files":[{"file_path":"a.txt","full_content":"x"}]}`)))
	f.Add([]byte(`{"schema_version":"2b.1-noop","reason":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		cs, err := ParseCandidate(b, Given{At: baseAt})
		var u Unusable
		if err != nil && (!errors.As(err, &u) || u.Refused() == "" || u[0].Fix == "") {
			t.Fatalf("an error without a code or a way out: %v", err)
		}
		for _, c := range cs {
			if err != nil || !c.Noop() && c.checkFiles() != nil {
				t.Fatalf("%v and %v", c, err)
			}
		}
	})
}

// What is mended is what is judged; a letter of another alphabet is nobody's to guess.
func TestCandidateMend(t *testing.T) {
	t.Parallel()
	quotes, cyrillic := []byte("package a\n\nconst s = \u201cx\u201d // \u201cx\u201d\n"), []byte("package a\n\nconst p\u0430ss = \u201cx\u201d\n")
	was := []Edit{{Path: "a.go", After: quotes, NewMode: modePlain}, {Path: "b.go", After: cyrillic, NewMode: modePlain}}
	c := Candidate{Files: was}.Mend()
	if got := string(c.Files[0].After); got != "package a\n\nconst s = \"x\" // \u201cx\u201d\n" {
		t.Errorf("a.go is %q", got)
	}
	if !bytes.Equal(c.Files[1].After, cyrillic) || !bytes.Equal(was[0].After, quotes) {
		t.Errorf("b.go is %q, and a.go of the candidate before %q", c.Files[1].After, was[0].After)
	}
	if want := `a.go: "\u201c" is "\""; a.go: "\u201d" is "\""`; c.Mended != want {
		t.Errorf("told as %s, want %s", c.Mended, want)
	}
	if again := c.Mend(); again.Mended != c.Mended {
		t.Errorf("mended again: %s", again.Mended)
	}
	same := Candidate{Files: []Edit{{Path: "a.go", Before: c.Files[0].After, OldMode: modePlain, After: quotes, NewMode: modePlain}}}.Mend()
	if same.Mended != "" || !bytes.Equal(same.Files[0].After, quotes) {
		t.Errorf("a change was mended to none: %s", same.Mended)
	}
	var many bytes.Buffer
	many.WriteString("ghp_" + strings.Repeat("aB3", 12) + "\u2011x: 1\n")
	for i := range 30 {
		fmt.Fprintf(&many, "key\u2011%d: 1\n", i)
	}
	told := Candidate{Files: []Edit{{Path: "a.yml", After: many.Bytes(), NewMode: modePlain}}}.Mend().Mended
	if len(told) > maxFact || !strings.HasSuffix(told, "…") || strings.Contains(told, "aB3aB3") {
		t.Errorf("told as %s", told)
	}
}
