package start

import (
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

func TestStatusPageIsPlainText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;pwn\x07\x1b[31m\u202eb\u009b2Jc"
	got := boardStatus{Paused: evil, taskSummary: taskSummary{Review: []string{evil}}}.statusPage()
	if okf.Visible(got) != got || !strings.Contains(got, "[31mb") {
		t.Errorf("%q", got)
	}
}
