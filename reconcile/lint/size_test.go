package lint

import (
	"bytes"
	"strings"
	"testing"
)

func TestSize(t *testing.T) {
	t.Parallel()
	l := Limits{Files: 2, FileBytes: 100, TotalBytes: 150, LineBytes: 20}
	text := func(n int) []byte { return bytes.Repeat([]byte("0123456\n"), n/8+1)[:n] }
	for _, c := range []struct {
		name  string
		files []File
		want  string
	}{
		{"at every bound", []File{{Path: "a", After: text(100)}, {Path: "b", After: text(50)}}, ""},
		{"a file more", []File{{Path: "a"}, {Path: "b"}, {Path: "c"}}, "size_files"},
		{"a byte more", []File{{Path: "a", After: text(101)}}, "size_file"},
		{"large before and smaller now", []File{{Path: "a", Before: text(140), After: text(130)}}, ""},
		{"removed", []File{{Path: "a", Before: text(1000)}}, ""},
		{"in sum", []File{{Path: "a", After: text(90)}, {Path: "b", After: text(61)}}, "size_total"},
		{"line at the bound", []File{{Path: "a", After: []byte(strings.Repeat("x", 20) + "\n")}}, ""},
		{"line over it", []File{{Path: "a", After: []byte(strings.Repeat("x", 21))}}, "size_line"},
		{"line that was there", []File{{Path: "a", Before: []byte(strings.Repeat("x", 21)), After: []byte("a\n" + strings.Repeat("x", 21))}}, ""},
		{"nul", []File{{Path: "a", After: []byte("a\x00b")}}, "size_binary"},
		{"not utf-8", []File{{Path: "a", After: []byte("a\xffb")}}, "size_binary"},
		{"escape", []File{{Path: "a", After: []byte("a\x1b[2Kb")}}, "size_binary"},
		{"backspace", []File{{Path: "a", After: []byte("a\bb")}}, "size_binary"},
		{"binary made text", []File{{Path: "a", Before: []byte("\x00"), After: []byte("a")}}, ""},
		{"text made binary", []File{{Path: "a", Before: []byte("a"), After: []byte("\x00")}}, "size_binary"},
		{"binary removed", []File{{Path: "a", Before: []byte("\x00")}}, ""},
		{"bom at the start", []File{{Path: "a", After: []byte("\ufeffa")}}, ""},
		{"bom inside", []File{{Path: "a", After: []byte("a\ufeff")}}, "size_binary"},
		{"text of many lands", []File{{Path: "a", After: []byte("é 日本\t—\r\n")}}, ""},
		{"empty", []File{{Path: "a", After: []byte{}}}, ""},
	} {
		if got := codes(checkSize(c.files, l)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := codes(checkSize([]File{{Path: "a", After: text(512<<10 + 1)}}, Limits{})); got != "size_file" {
		t.Errorf("the default bound of a file: %q", got)
	}
}
