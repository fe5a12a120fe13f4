package contract

import (
	"strings"
	"testing"
)

func TestNamed(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Surface{"real_time_stream": RealTimeStream, "Real-Time-Stream": RealTimeStream, "realTimeStream": RealTimeStream, " audit ": Audit} {
		if got, err := Named(s, SurfaceNames()); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", s, got, err, want)
		}
	}
	if _, err := Named("zzzzzz", []Surface{Audit}); err == nil || !strings.Contains(err.Error(), "want one of audit") {
		t.Errorf("of one name: %v", err)
	}
	for s, want := range map[string]string{"syn": `did you mean "synthesis-ledger"?`, "auditt": `did you mean "audit"?`, "": "want one of real-time-stream, audit", "zzzzzz": "want one of"} {
		if _, err := Named(s, SurfaceNames()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", s, err, want)
		}
	}
}
