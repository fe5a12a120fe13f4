package lint

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/reconcile/policy"
)

// fuzzPaths are where a fuzzed file may be: one for each way a file is read.
var fuzzPaths = []string{"a.go", "a_test.go", "a.py", "test_a.py", "a.js", "a.test.ts", "a.sh", "Makefile", "a.md", "a.yaml", "a.toml", "a.json", "go.mod", "go.sum",
	"package.json", "requirements.txt", "a.txtar", "a.rb", "a.c", "testdata/a.golden", "a.s", "A_linux_test.go", ".git/config", "../x"}

func seed(f *testing.F) {
	all, err := attackRows()
	if err != nil {
		f.Fatal(err)
	}
	for i, r := range all {
		files, _ := r.change()
		for _, file := range files { // at another path than its own, where TestAttacks has it
			if len(file.After) < 4<<10 {
				f.Add(uint8(i), file.Before, file.After)
			}
		}
	}
}

// FuzzJudge holds what is true of every verdict: no rule fails, the same input
// gives the same, each finding is whole and of a rule, and what was there before
// is not the change's doing.
func FuzzJudge(f *testing.F) {
	seed(f)
	rules := map[string]policy.Severity{}
	for _, r := range Rules() {
		rules[r.Code] = r.Severity
	}
	f.Fuzz(func(t *testing.T, at uint8, before, after []byte) {
		p := fuzzPaths[int(at)%len(fuzzPaths)]
		files := []File{{Path: p, Before: before, After: after}, {Path: "b/other.go", Before: after, After: before}}
		v := Judge(files, Options{Beside: []File{{Path: "c.go", Before: before}}, Targets: []string{p}})
		for _, fd := range v.Findings {
			if fd.Code == "guard_fault" || rules[fd.Code] != fd.Severity || fd.Text == "" || fd.Fix == "" || fd.How == "" || fd.Line < 0 {
				t.Fatalf("%+v", fd)
			}
		}
		slices.Reverse(files)
		if again := Judge(files, Options{Beside: []File{{Path: "c.go", Before: before}}, Targets: []string{p}}); !reflect.DeepEqual(v, again) {
			t.Fatalf("%v\n%v", v.Findings, again.Findings)
		}
		for _, half := range []File{{Path: p, Before: before}, {Path: p, After: after}} {
			v := Judge([]File{half}, Options{Then: map[string]string{p: "a"}, Now: map[string]string{"b": string(after)}})
			if i := slices.IndexFunc(v.Findings, func(f policy.Finding) bool { return f.Code == "guard_fault" }); i >= 0 {
				t.Fatal(v.Findings[i])
			}
		}
		if bytes.HasPrefix([]byte(p), []byte(".")) || before == nil {
			return
		}
		same := Judge([]File{{Path: p, Before: before, After: bytes.Clone(before)}}, Options{})
		if i := slices.IndexFunc(same.Findings, func(f policy.Finding) bool {
			return f.Severity == policy.Hard && !strings.HasPrefix(f.Code, "dependency_")
		}); i >= 0 && len(before) > 0 {
			t.Fatalf("nothing has changed, and yet %+v", same.Findings[i])
		}
	})
}

// bulk is an honest change of so many bytes, half of it Go and half text.
func bulk(size int) []File {
	var code, was, text strings.Builder
	code.WriteString("package a\n\n")
	was.WriteString("package a\n\n")
	for i := 0; code.Len() < size/2; i++ {
		fmt.Fprintf(&was, "// f%d counts.\nfunc f%d(n int) (int, error) {\n\tif n < %d {\n\t\treturn 0, errLow\n\t}\n\treturn n + %d, nil\n}\n\n", i, i, i, i)
		fmt.Fprintf(&code, "// f%d counts.\nfunc f%d(n int) (int, error) {\n\tif n < %d {\n\t\treturn 0, errLow\n\t}\n\treturn n - %d, nil\n}\n\n", i, i, i, i)
	}
	for i := 0; text.Len() < size/2; i++ {
		fmt.Fprintf(&text, "Line %d says what a line says, with a word or two: key = value.\n", i)
	}
	return []File{{Path: "a.go", Before: []byte(was.String()), After: []byte(code.String())}, {Path: "a.txt", Before: []byte{}, After: []byte(text.String())}}
}

// BenchmarkJudge shows that the time grows with the size and no faster.
func BenchmarkJudge(b *testing.B) {
	for _, size := range []int{125 << 10, 250 << 10, 500 << 10, 1 << 20} {
		files := bulk(size)
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if v := Judge(files, Options{Limits: Limits{FileBytes: 4 << 20, TotalBytes: 4 << 20}}); v.Hard > 0 {
					b.Fatal(v.Findings)
				}
			}
		})
	}
}
