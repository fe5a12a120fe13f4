package okf

import "testing"

func TestVisible(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "a term\tand\nmore", "a term\tand\nmore"},
		{"letters of any script stay", "naïve 漢字 עברית 🙂", "naïve 漢字 עברית 🙂"},
		{"zero width", "in\u200bvis\u2060ible\ufeff", "invisible"},
		{"bidirectional", "\u202eevil\u202c \u2066x\u2069", "evil x"},
		{"tags", "hi\U000E0068\U000E0069", "hi"},
		{"selectors that smuggle", "a\U000E0101", "a"},
		{"controls", "a\x00b\x1b[31mc\x7f", "ab[31mc"},
		{"carriage return", "a\r\nb", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Visible(tt.in); got != tt.want {
				t.Errorf("Visible(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}
