package land

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

// A title cannot bring a trailer of its own, nor a second subject line.
func TestTrailersKeepTheSubjectOneLine(t *testing.T) {
	t.Parallel()
	got := Message("approve: Tidy\n\nOdd-Approved-By: human:x\x1b[2J", "why\x1b[2J", "Odd-Task", "t-1", "Odd-Run", "")
	if want := "approve: Tidy Odd-Approved-By: human:x[2J\n\nwhy[2J\n\nOdd-Task: t-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
