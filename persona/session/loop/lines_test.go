package loop

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	l := lines{tell: func(s string) { got = append(got, s) }}
	for _, piece := range []string{"I re", "ad it.\n\n", " The key is ghp" + "_0123456789", "abcdefghijABCDEFGHIJ", ".\nDone", "", ".", "\n"} {
		l.addPiece(piece)
	}
	l.addPiece(strings.Repeat("x", longest+1))
	l.addPiece("the end")
	l.flushLine()
	l.flushLine()
	want := []string{"I read it.", "The key is [redacted:github-token].", "Done.", strings.Repeat("x", 197), "the end"}
	if len(got) != len(want) || !slices.Equal(got[:3], want[:3]) || !strings.HasPrefix(got[3], want[3]) || got[4] != want[4] {
		t.Errorf("%q", got)
	}
}
