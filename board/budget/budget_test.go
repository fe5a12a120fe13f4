package budget

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

const usd = perDollar

func TestDecide(t *testing.T) {
	t.Parallel()
	two := Envelope{Monthly: 20 * usd, HardStop: 25 * usd, AlertPct: 80}
	one := Envelope{Monthly: 20 * usd}
	for _, c := range []struct {
		name        string
		e           Envelope
		spent, want MicroUSD
		level       Level
	}{
		{"nothing spent, little wanted", two, 0, usd, OK},
		{"a micro-dollar below the alert", two, 15 * usd, usd - 1, OK},
		{"exactly the alert", two, 15 * usd, usd, Alert},
		{"over the month, below the stop", two, 20 * usd, 4 * usd, Alert},
		{"exactly the hard stop", two, 24 * usd, usd, Alert},
		{"a micro-dollar over the hard stop", two, 24 * usd, usd + 1, Stop},
		{"free work below the alert", two, 15 * usd, 0, OK},
		{"free work at the alert", two, 16 * usd, 0, Alert},
		{"free work at the hard stop", two, 25 * usd, 0, Alert},
		{"free work past the hard stop", two, 25*usd + 1, 0, Stop},
		{"the month is the stop when there is no other", one, 19 * usd, usd + 1, Stop},
		{"the month exactly, without alert", one, 19 * usd, usd, OK},
		{"no money at all", Envelope{}, 0, 1, Stop},
		{"no money, free work", Envelope{}, 0, 0, OK},
		{"no money, free work, an alert", Envelope{AlertPct: 80}, 0, 0, OK},
		{"a hard stop is no plan", Envelope{HardStop: 5 * usd}, 0, 1, Stop},
		{"nothing planned, something spent, free work", Envelope{HardStop: 5 * usd}, usd, 0, Alert},
		{"negative spending", two, -1, 1, Stop},
		{"negative want", two, 1, -1, Stop},
		{"overflow", two, math.MaxInt64, 1, Stop},
		{"huge amounts do not wrap the alert", Envelope{Monthly: math.MaxInt64, AlertPct: 90}, math.MaxInt64 / 2, 1, OK},
	} {
		if got := Decide(c.e, c.spent, c.want); got != c.level {
			t.Errorf("%s: Decide(%v, %v) = %v, want %v", c.name, c.spent, c.want, got, c.level)
		}
	}
}

func TestDecideShare(t *testing.T) {
	t.Parallel()
	e := Envelope{Monthly: 100 * usd, AlertPct: 50, Teams: map[string]MicroUSD{"docs": 4 * usd, "none": 0}}
	for _, c := range []struct {
		team        string
		spent, want MicroUSD
		level       Level
	}{
		{"docs", 0, usd, OK},
		{"docs", usd, usd, Alert},
		{"docs", 3 * usd, usd + 1, Stop},
		{"none", 0, 1, Stop},
		{"none", 0, 0, OK},
		{"unlisted", 40 * usd, usd, OK},
		{"unlisted", 95 * usd, usd, Alert},
		{"unlisted", 95 * usd, usd + 1, Stop},
		{"", 96 * usd, 1, Stop},
	} {
		if got := DecideShare(e, e.Share(c.team), c.spent, c.want); got != c.level {
			t.Errorf("DecideShare(%q, %v, %v) = %v, want %v", c.team, c.spent, c.want, got, c.level)
		}
	}
	if got := DecideShare(Envelope{Monthly: usd}, "", 99*usd, usd); got != OK {
		t.Errorf("without teams the month is everybody's: %v, want OK", got)
	}
	over := Envelope{Monthly: usd, Teams: map[string]MicroUSD{"a": math.MaxInt64, "b": 1}}
	if got := DecideShare(over, "", 0, 1); got != Stop {
		t.Errorf("teams past the month leave %v to others, want Stop", got)
	}
}

func TestLevelString(t *testing.T) {
	t.Parallel()
	for l, want := range map[Level]string{OK: "ok", Alert: "alert", Stop: "stop"} {
		if got := l.String(); got != want {
			t.Errorf("level %d is %q, want %q", l, got, want)
		}
	}
}

func amount(t *rapid.T, name string) MicroUSD {
	return MicroUSD(rapid.OneOf(rapid.Int64Range(0, 100*usd), rapid.Int64Min(0)).Draw(t, name))
}

// Whatever the envelope, more spending never lowers the level, and nothing past
// the hard stop is anything but Stop.
func TestDecideIsMonotoneAndStops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := Envelope{Monthly: amount(t, "monthly"), HardStop: amount(t, "hard"), AlertPct: rapid.IntRange(0, 100).Draw(t, "pct")}
		spent, want := amount(t, "spent"), amount(t, "want")
		got := Decide(e, spent, want)
		if more, ok := addChecked(spent, amount(t, "more")); ok && Decide(e, more, want) < got {
			t.Fatalf("spent %v → %v: level fell from %v", spent, more, got)
		}
		if more, ok := addChecked(want, amount(t, "more want")); ok && Decide(e, spent, more) < got {
			t.Fatalf("want %v → %v: level fell from %v", want, more, got)
		}
		hard := e.HardStop
		if hard == 0 {
			hard = e.Monthly
		}
		if sum, ok := addChecked(spent, want); (!ok || sum > hard) && got != Stop {
			t.Fatalf("%v + %v is past %v, and Decide says %v", spent, want, hard, got)
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]MicroUSD{
		"0": 0, "1": usd, "0.1": 100_000, "0.25": 250_000, "20.00": 20 * usd, "0.000001": 1, "1.2500000000": 1_250_000,
		"007.5": 7_500_000, "9223372036854.775807": math.MaxInt64, "0.30": 300_000, "19.99": 19_990_000,
	} {
		if got, err := Parse(s); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "$1", "1,50", "1_000", " 1", "1 ", "0.0000001", "NaN", "inf", "0x10",
		"9223372036854.775808", "9223372036855", "99999999999999999999", "１"} {
		if got, err := Parse(s); err == nil {
			t.Errorf("Parse(%q) = %v, want an error", s, got)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	for m, want := range map[MicroUSD]string{
		0: "0.00", 1: "0.000001", 250_000: "0.25", 20 * usd: "20.00", 1_500_000: "1.50", 123_456: "0.123456", -250_000: "-0.25",
		math.MinInt64: "-9223372036854.775808",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d prints %q, want %q", int64(m), got, want)
		}
	}
}

func TestParseReadsWhatStringPrints(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := amount(t, "amount")
		if got, err := Parse(m.String()); err != nil || got != m {
			t.Fatalf("Parse(%q) = %d, %v, want %d", m.String(), got, err, m)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.25", "1", "-1", "9223372036854.775807", "1e3", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Parse(s)
		if err != nil {
			return
		}
		if m < 0 {
			t.Fatalf("Parse(%q) = %d", s, m)
		}
		if again, err := Parse(m.String()); err != nil || again != m {
			t.Fatalf("Parse(%q) = %v, printed and read %v, %v", s, m, again, err)
		}
	})
}
