package board

import (
	"strings"
	"testing"
	"time"
)

func TestPauseFileReadsBack(t *testing.T) {
	t.Parallel()
	b := PauseFile("the month's \"hard stop\"\nis reached", "odd-agent", time.Unix(0, 0))
	if got, want := PauseReason(b), "the month's \"hard stop\"\nis reached (by odd-agent)"; got != want {
		t.Errorf("PauseReason = %q, want %q", got, want)
	}
}

func TestAPauseThatCannotBeReadStillPauses(t *testing.T) {
	t.Parallel()
	for _, b := range []string{"", "reason = ", "\x00\xff", "reason = \"\""} {
		if got := PauseReason([]byte(b)); strings.TrimSpace(got) == "" {
			t.Errorf("PauseReason(%q) is empty", b)
		}
	}
}
