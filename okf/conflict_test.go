package okf

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

func TestConflict(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"":                  0,
		"a\n=======\n":      0,
		"<<<<<<< one-sided": 0,
		"a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\n":                                               2,
		"a\n<<<<<<< HEAD\nb\n||||||| x\n=======\n>>>>>>> side":                                         2,
		"text <<<<<<< HEAD\n=======\n>>>>>>> side\n":                                                   0,
		"```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n```\n":                                              0, // documentation
		"   ~~~~ text\n```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n~~~~\n":                               0,
		"```\nx\n```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n":                                           4, // behind it
		"```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n":                                                   2, // never closed
		"```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n``` not\n~~~\n":                                     2,
		"    ```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n    ```\n":                                      2, // no fence, so far in
		"<<<<<<< HEAD\n```\na\n```\n=======\n```\nb\n```\n>>>>>>> side\n":                              1, // each side has code
		"```\n<<<<<<< HEAD\n=======\n>>>>>>> side\n```\n\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> side\n": 7,
		"<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> side\r\n":                                        1,
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
	var p Problem
	if !errors.As(err, &p) || p.Code != codeFrontmatter || !strings.HasPrefix(err.Error(), "a.md:3: two versions that git could not merge; ") {
		t.Errorf("Parse says %v", err)
	}
	if _, err = Parse("a.md", []byte("<<<<<<< HEAD\n---\ntype: task\n---\n=======\n---\ntype: term\n---\n>>>>>>> side\n")); err == nil || !strings.HasPrefix(err.Error(), "a.md:1: two versions that git could not merge; ") {
		t.Errorf("Parse of marks before the block says %v", err)
	}
}

// What git left in a file that is an atom all the same is told by every load, also
// by one that does not read the file again.
func TestConflictIsLoaded(t *testing.T) {
	t.Parallel()
	f := fstest.MapFS{"a.md": {Data: []byte("---\ntype: x\n---\nHead\n<<<<<<< main\none\n=======\ntwo\n>>>>>>> theirs\n"), ModTime: noon().Add(-time.Hour)}}
	g, cold, cache, err := LoadCached(f, nil, noon())
	if err != nil || len(g.Atoms()) != 1 || len(cold) != 1 || cold[0].Code != codeConflict || cold[0].Line != 5 || cold[0].Path != "a.md" {
		t.Fatalf("%v, %v", cold, err)
	}
	g, warm, _, err := LoadCached(f, cache, noon())
	if err != nil || len(warm) != 1 || warm[0].Line != 5 || len(Check(g, noon())) != 0 {
		t.Errorf("%v, %v", warm, err)
	}
}

// However many fences and marks begin and never end, the file is read a few times.
func TestConflictIsLinear(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"<<<<<<< \n" + strings.Repeat("```a\n", 200_000), strings.Repeat("<<<<<<< \n", 200_000), strings.Repeat("~~~a\n```b\n", 100_000) + "<<<<<<< \n"} {
		if p := Conflict([]byte(text)); p != nil {
			t.Errorf("%.20q: %v", text, p)
		}
	}
}
