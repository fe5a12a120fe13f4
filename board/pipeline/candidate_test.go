package pipeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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

func sumOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
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
	diff := `{"schema_version":"2b.1-diff","candidates":[{"candidate_id":"c","rationale":"why","file_path":"a.txt","source_sha256":"` + sumOf("one\ntwo\nthree\n")[:12] +
		`","unified_diff":"--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}]}`
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
		"a diff": {diff, []Candidate{{ID: "c", Rationale: "why", Source: FromDiff, Files: []Edit{{"a.txt", []byte("one\ntwo\nthree\n"), []byte("one\n2\nthree\n"), modePlain, modePlain}}}}},
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
	diff := func(sum, diff string) string {
		d, _ := json.Marshal(diff)
		return strings.Replace(one(`"file_path":"a.txt","source_sha256":"`+sum+`","unified_diff":`+string(d)), `"2b.1"`, `"2b.1-diff"`, 1)
	}
	good := sumOf("one\ntwo\nthree\n")
	wrote := []string{"a.txt"}
	for _, c := range []struct {
		name, text string
		wrote      []string
		want, at   string
	}{
		{"no JSON", "{", nil, "json", "line 1"},
		{"words", "Here it is: {}", nil, "json", ""},
		{"something behind", "{}\n{}", nil, "json", "line 2"},
		{"Latin-1", "{\"a\":\"\xe9\"}", nil, "json", ""},
		{"a member twice", "{\"a\":1,\n\"a\":2}", nil, "json", "line 2"},
		{"too large", strings.Repeat(" ", maxCandidateBytes+1), nil, "too_large", ""},
		{"a list", "[]", nil, "not_an_object", "line 1"},
		{"a noop with writes", `{"schema_version":"2b.1-noop","reason":"x"}`, wrote, "noop_with_writes", ""},
		{"a noop that is none", `{"schema_version":"2b.1-noop","no_op":false,"candidates":[]}`, nil, "missing_reason wrong_type noop_with_candidates", ""},
		{"no version", `{"candidates":[]}`, nil, "missing_schema_version", "line 1"},
		{"another version", `{"schema_version":"2c.1"}`, nil, "unknown_version", "schema_version"},
		{"a version that is no word", `{"schema_version":2}`, nil, "unknown_version", ""},
		{"other members, before anything below", `{"schema_version":"2b.1","schema":1,"candidates":3}`, nil, "unexpected_key", "schema"},
		{"writes and a text", one(`"file_path":"x","full_content":"y"`), wrote, "two_deliveries", ""},
		{"no candidates", `{"schema_version":"2b.1"}`, nil, "missing_candidates", ""},
		{"an empty list", fmt.Sprintf(full, ""), nil, "no_candidates", ""},
		{"no list", `{"schema_version":"2b.1","candidates":{}}`, nil, "wrong_type", "candidates"},
		{"four", fmt.Sprintf(full, "1,2,3,4"), nil, "too_many_candidates", "candidates"},
		{"no object", fmt.Sprintf(full, "1"), nil, "wrong_type", "candidates[0]"},
		{"nothing said", fmt.Sprintf(full, "{}"), nil, "missing_candidate_id missing_rationale one_or_files missing_file_path missing_full_content", ""},
		{"both shapes", one(`"file_path":"x","full_content":"y","files":[]`), nil, "one_or_files no_files", ""},
		{"a member nobody knows", one(`"file_path":"x","full_content":"y","op":"delete"`), nil, "unexpected_candidate_key", "candidates[0].op"},
		{"and in a file", one(`"files":[{"file_path":"x","full_content":"y","op":"delete"}]`), nil, "unexpected_file_key", "candidates[0].files[0].op"},
		{"a content that is none", one(`"file_path":"x","full_content":null`), nil, "wrong_type", "full_content"},
		{"one id for two", fmt.Sprintf(full, `{"candidate_id":"c","rationale":"w","file_path":"x","full_content":"1"},{"candidate_id":"c","rationale":"w","file_path":"x","full_content":"1"}`), nil, "candidate_twice", "candidates[1]"},
		{"paths, all of them", one(`"files":[{"file_path":"../x","full_content":"y"},{"file_path":"/etc/x","full_content":"y"}]`), nil, "path_escapes path_absolute", ""},
		{"a path twice", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"x","full_content":"z"}]`), nil, "path_clash", "files[1]"},
		{"paths that are one", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"X","full_content":"z"}]`), nil, "path_clash", ""},
		{"a file below a file", one(`"files":[{"file_path":"x","full_content":"y"},{"file_path":"x/y","full_content":"z"}]`), nil, "path_below_file", ""},
		{"no change", one(`"file_path":"a.txt","full_content":"one\ntwo\nthree\n"`), nil, "unchanged", "a.txt"},
		{"a base that is not there", one(`"file_path":"broken","full_content":"x"`), nil, "base_unreadable", ""},
		{"a diff without its source", diff("", "@@ -1 +1 @@\n-one\n+1\n"), nil, "missing_source_sha256", ""},
		{"a short sum", diff(good[:11], "@@ -1 +1 @@\n-one\n+1\n"), nil, "missing_source_sha256", ""},
		{"another source", diff(sumOf("x"), "@@ -1 +1 @@\n-one\n+1\n"), nil, "stale_source", "a.txt"},
		{"a diff that does not fit", diff(good, "@@ -1 +1 @@\n-One\n+1\n"), nil, "context_mismatch", "diff line 2"},
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

// A hunk fits where it says it does, to the byte, or not at all.
func TestApplyDiff(t *testing.T) {
	t.Parallel()
	const old = "one\ntwo\nthree\nfour\n"
	for _, c := range []struct{ name, old, diff, want, code string }{
		{"a change", old, "@@ -2 +2 @@\n-two\n+2\n", "one\n2\nthree\nfour\n", ""},
		{"two hunks", old, "@@ -1 +1,2 @@\n one\n+x\n@@ -4 +5 @@ func\n-four\n+4\n", "one\nx\ntwo\nthree\n4\n", ""},
		{"at the top", old, "@@ -0,0 +1 @@\n+zero\n", "zero\n" + old, ""},
		{"at the end", old, "@@ -4,0 +5 @@\n+five\n", old + "five\n", ""},
		{"only removed", old, "@@ -2,2 +1,0 @@\n-two\n-three\n", "one\nfour\n", ""},
		{"an empty file", "", "@@ -0,0 +1 @@\n+a\n", "a\n", ""},
		{"no end of line", "a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", "b", ""},
		{"an end of line comes", "a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n", ""},
		{"an end of line that is not there", "a", "@@ -1 +1 @@\n-a\n+b\n", "", "context_mismatch"},
		{"a line that lost its end", old, "@@ -2 +2 @@\n-two\n+2\n\\ No newline at end of file\n", "", "diff_hunk"},
		{"carriage returns count", "a\r\n", "@@ -1 +1 @@\n-a\n+b\n", "", "context_mismatch"},
		{"a blank counts", old, "@@ -2 +2 @@\n-two \n+2\n", "", "context_mismatch"},
		{"one line off is not searched for", old, "@@ -3 +3 @@\n-two\n+2\n", "", "context_mismatch"},
		{"behind the end", old, "@@ -9 +9 @@\n-two\n+2\n", "", "context_mismatch"},
		{"hunks out of order", old, "@@ -4 +4 @@\n-four\n+4\n@@ -1 +1 @@\n-one\n+1\n", "", "context_mismatch"},
		{"a wrong new line", old, "@@ -2 +3 @@\n-two\n+2\n", "", "diff_hunk"},
		{"fewer lines than said", old, "@@ -2,2 +2,2 @@\n-two\n+2\n", "", "diff_hunk"},
		{"more lines than said", old, "@@ -2 +2 @@\n-two\n+2\n+3\n", "", "diff_hunk"},
		{"more old lines than said", old, "@@ -2 +2,2 @@\n-two\n-three\n+2\n", "", "diff_hunk"},
		{"an empty line in a hunk", old, "@@ -2,2 +2,2 @@\n-two\n\n+2\n", "", "diff_hunk"},
		{"no hunk", old, "--- a/f\n+++ b/f\n", "", "diff_empty"},
		{"nothing", old, "", "", "diff_header"},
		{"another file", old, "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+1\n", "", "diff_header"},
		{"a second file", old, "@@ -1 +1 @@\n-one\n+1\n--- a/g\n", "", "diff_hunk"},
		{"git's own lines", old, "diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n", "1\ntwo\nthree\nfour\n", ""},
		{"a mode is not its to say", old, "old mode 100644\nnew mode 100755\n@@ -1 +1 @@\n-one\n+1\n", "", "diff_header"},
		{"a file that goes but for a line", old, "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "", "diff_header"},
	} {
		got, f := applyDiff("f", []byte(c.old), c.diff)
		code := ""
		if f != nil {
			code = f.Code
		}
		if code != c.code || f == nil && string(got) != c.want {
			t.Errorf("%s: %q %v, want %q %s", c.name, got, f, c.want, c.code)
		}
	}
	if got, f := applyDiff("f", []byte("a\n"), "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"); got != nil || f != nil {
		t.Errorf("a file that goes: %q %v", got, f)
	}
	if got, f := applyDiff("f", nil, "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n"); string(got) != "a\n" || f != nil {
		t.Errorf("a file that comes: %q %v", got, f)
	}
}

// A diff that is made from two texts makes the one of the other.
func TestApplyDiffIsItsInverse(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"a\n", "b\n", "\n", " c\n", "-d\n", "+e\n", "@@ -1 +1 @@\n"})
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(line, 0, 8).Draw(t, "a"), rapid.SliceOfN(line, 0, 8).Draw(t, "b")
		from, to, ctx := 0, 0, 0
		for ctx < min(len(a), len(b)) && a[ctx] == b[ctx] {
			ctx++
		}
		if len(a) > 0 {
			from = 1
		}
		if len(b) > 0 {
			to = 1
		}
		diff := fmt.Sprintf("@@ -%d,%d +%d,%d @@\n", from, len(a), to, len(b))
		for _, l := range a[:ctx] {
			diff += " " + l
		}
		for _, l := range a[ctx:] {
			diff += "-" + l
		}
		for _, l := range b[ctx:] {
			diff += "+" + l
		}
		got, f := applyDiff("f", []byte(strings.Join(a, "")), diff)
		if f != nil || string(got) != strings.Join(b, "") {
			t.Fatalf("%q %v from\n%s", got, f, diff)
		}
	})
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
	f.Add([]byte(`{"schema_version":"2b.1-diff","candidates":[{"candidate_id":"c","rationale":"w","file_path":"n","unified_diff":"@@ -0,0 +1 @@\n+a"}]}`))
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

func FuzzApplyDiff(f *testing.F) {
	f.Add("one\ntwo\n", "@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
	f.Add("a", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n")
	f.Fuzz(func(t *testing.T, old, diff string) {
		if got, fault := applyDiff("f", []byte(old), diff); fault == nil && string(got) != old && !strings.Contains(diff, "@@ -") {
			t.Fatalf("a change without a hunk: %q", got)
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
	if len(told) > maxFact || !strings.Contains(told, " more") || strings.Contains(told, "aB3aB3") {
		t.Errorf("told as %s", told)
	}
}
