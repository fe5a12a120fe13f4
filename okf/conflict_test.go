package okf

import (
	"strings"
	"testing"
)

func TestConflict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                  0,
		"a\n=======\n":      0,
		"<<<<<<< one-sided": 0,
		"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\n":        2,
		"a\n<<<<<<< HEAD\nb\n||||||| x\n=======\n>>>>>>> side":  2,
		"text <<<<<<< HEAD\n=======\n>>>>>>> side\n":            0,
		"<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> side\r\n": 1,
	} {
		got := 0
		if p := Conflict([]byte(text)); p != nil {
			got = p.Line
		}
		if got != want {
			t.Errorf("Conflict(%q) is at line %d, want %d", text, got, want)
		}
	}
	_, err := Parse("a.md", []byte("---\ntype: task\n<<<<<<< HEAD\nstate: ready\n=======\nstate: done\n>>>>>>> side\n---\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "a.md:3: two versions that git could not merge; ") {
		t.Errorf("Parse says %v", err)
	}
}
