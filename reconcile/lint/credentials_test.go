package lint

import (
	"strings"
	"testing"
)

func TestFindSecrets(t *testing.T) {
	t.Parallel()
	key := "AK" + "IAIOSFODNN7EXAMPLE"
	other := "AK" + "IAIOSFODNN7EXAMPLF"
	old := []byte("a\nid = " + key + "\n")
	for _, c := range []struct {
		name  string
		files []File
		want  string
		line  int
	}{
		{"new", []File{{Path: "a.go", After: []byte("x\ny\nid = " + key)}}, "secret_introduced", 3},
		{"there before", []File{{Path: "a.go", Before: old, After: append([]byte("more\n"), old...)}}, "", 0},
		{"moved", []File{{Path: "a.go", Before: old}, {Path: "b.go", After: old}}, "", 0},
		{"changed for another", []File{{Path: "a.go", Before: old, After: []byte("id = " + other)}}, "secret_introduced", 1},
		{"a password in a test", []File{{Path: "x/a_test.go", After: []byte(`password = "p4ssw0rd-9!"`)}}, "secret_in_test", 1},
		{"a password in the code", []File{{Path: "x/a.go", After: []byte(`password = "p4ssw0rd-9!"`)}}, "secret_introduced", 1},
		{"an issued key in a test", []File{{Path: "x/a_test.go", After: []byte("id = " + key)}}, "secret_introduced", 1},
		{"taken out", []File{{Path: "a.go", Before: old, After: []byte("a\n")}}, "", 0},
	} {
		got := FindSecrets(c.files)
		if codes(got) != c.want || c.line > 0 && got[0].Line != c.line {
			t.Errorf("%s: %v, want %q in line %d", c.name, got, c.want, c.line)
		}
		for _, f := range got {
			if strings.Contains(f.Error(), "IOSFODNN") {
				t.Errorf("%s: the finding shows the credential: %v", c.name, f)
			}
		}
	}
}
