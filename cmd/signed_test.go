package cmd

import (
	"testing"
)

func TestAdded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, now, want string }{
		{"a\nb\n", "a\nc\nb\n", "c\n"},
		{"a\nlast", "a\nlast\nmore\n", "more\n"}, // a last line that did not end
		{"a\r\n", "a\n", ""},
		{"", "a\n", "a\n"},
	} {
		if got := string(addedLines([]byte(tt.now), [][]byte{[]byte(tt.before)})); got != tt.want {
			t.Errorf("%q to %q adds %q, want %q", tt.before, tt.now, got, tt.want)
		}
	}
}
