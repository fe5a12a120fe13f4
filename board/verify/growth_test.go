package verify

import "testing"

func TestKeepsRows(t *testing.T) {
	t.Parallel()
	theirs := map[string]bool{"a": true, "b": true, "x": true, "y": true}
	for _, c := range []struct {
		old, now string
		want     bool
	}{
		{"a\nb\n", "a\nb\n", true},
		{"a\nb\n", "a\nx\nb\ny\n", true},
		{"a\nb", "a\nb\nc\n", true},
		{"a\nb\n", "b\na\n", false},
		{"a\nb\n", "a\n", false},
		{"a\na\n", "a\nb\n", false},
		{"a\nb\n", "a\nbb\n", false},
		{"a\nb\n", "a\nforged\nb\n", false},
		{"a\nb\n", "a\nb\nadded\n", true},
	} {
		if got := keepsRows([]byte(c.old), []byte(c.now), theirs); got != c.want {
			t.Errorf("keepsRows(%q, %q) is %v, want %v", c.old, c.now, got, c.want)
		}
	}
}
