package governance

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"": 0, "3d": 72 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute} {
		if got, err := parseSpan("gate", s); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"d", "soon", "-3d", "0h", "3", "400d", "9999999d", "1d1d"} {
		if got, err := parseSpan("gate", s); err == nil {
			t.Errorf("%s: taken for %v", s, got)
		}
	}
}

func TestHowLong(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		72 * time.Hour: "3d", 50 * time.Hour: "2d 2h", 90 * time.Minute: "1h 30m", time.Second: "1m", 24*time.Hour - time.Second: "23h 59m",
	} {
		if got := HowLong(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
