// Package budget decides whether a drain may spend: two envelopes and a sum.
//
// The inner envelope is the month's plan, the outer one the hard stop. A run
// reserves the most it could cost before it starts, so the question is always
// about spent plus want:
//
//	monthly 20.00, hard stop 25.00, alert at 80 %
//	spent + want   0.00 … 15.99   16.00 … 25.00   25.01 …
//	level          OK             Alert           Stop
//
// Without a hard stop of its own the month is the hard stop.
//
// Teams are apportioned parts of the month: what one has is nobody else's, and
// whoever has none shares what is apportioned to nobody:
//
//	monthly 20.00, teams docs 5.00 and news 3.00
//	docs 5.00   news 3.00   everybody else 12.00 together
//
// Money is integer
// micro-USD throughout; no amount is ever a float, because a sum of a month's
// floats is not the sum of its receipts. Whatever cannot be decided (a negative
// amount, an overflow) is Stop.
//
// Invariant 5: Decide never answers OK or Alert for a spent + want past the
// hard stop, and more spending never lowers the level. And while the teams come
// to no more than the month, what one of them has not spent it can still reserve,
// whatever the others did.
package budget

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Envelope is the tenant's monthly budget. A zero Monthly means no money may be spent at all; zero HardStop means Monthly.
type Envelope struct {
	Monthly, HardStop MicroUSD
	AlertPct          int                 // of Monthly (and of a team's amount), 0: no alert below Monthly
	Teams             map[string]MicroUSD // per month, by the id of a capability atom
}

// Level is the answer. The levels are ordered: the larger, the worse.
type Level uint8

// The levels. Stop means: spend nothing. The tenant's means besides: write pause.toml.
const (
	OK Level = iota + 1
	Alert
	Stop
)

// String is the level as ledgers and people read it.
func (l Level) String() string {
	switch l {
	case OK:
		return "ok"
	case Alert:
		return "alert"
	}
	return "stop"
}

// Decide says whether want more may be reserved on top of spent (a month's
// spending and every open reservation). A want of 0, which is work that costs
// nothing, is Stop only when spent itself is past the hard stop; Alert is told
// for it too.
func Decide(e Envelope, spent, want MicroUSD) Level {
	hard := e.Stop()
	sum, ok := addChecked(spent, want)
	switch {
	case !ok || sum > hard || want > 0 && e.Monthly <= 0:
		return Stop
	case sum > e.Monthly || e.Monthly > 0 && reachesPercent(sum, e.Monthly, e.AlertPct):
		return Alert
	}
	return OK
}

// Stop is what may be spent and reserved in a month at most.
func (e Envelope) Stop() MicroUSD {
	if e.HardStop > 0 {
		return e.HardStop
	}
	return e.Monthly
}

// Share names the part of the month that team spends from: its own where it has
// one, else "", which is what is apportioned to nobody.
func (e Envelope) Share(team string) string {
	if _, own := e.Teams[team]; own {
		return team
	}
	return ""
}

// Part is how much a share has. ok is false where nothing is apportioned: then
// the month is everybody's and "" has no limit of its own. Teams that come to
// more than the month leave nothing.
func (e Envelope) Part(share string) (limit MicroUSD, ok bool) {
	if limit, ok = e.Teams[share]; ok || len(e.Teams) == 0 {
		return limit, ok
	}
	var all MicroUSD
	for _, m := range e.Teams {
		if all, ok = addChecked(all, m); !ok {
			return 0, true
		}
	}
	return max(e.Monthly-all, 0), true
}

// DecideShare asks the same of a share: spent is what everybody of that share
// spent this month and holds reserved. Without teams it is OK, for the tenant's
// envelope holds it. Callers take the worse of Decide and DecideShare.
func DecideShare(e Envelope, share string, spent, want MicroUSD) Level {
	limit, ok := e.Part(share)
	if !ok {
		return OK
	}
	return Decide(Envelope{Monthly: limit, AlertPct: e.AlertPct}, spent, want)
}

// addChecked returns the sum of two amounts; a negative one or an overflow is not ok.
func addChecked(a, b MicroUSD) (MicroUSD, bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}

// reachesPercent reports sum ≥ pct per cent of limit, in 128 bits so that no amount
// overflows. All three are at least 0 and pct 0 reaches nothing.
func reachesPercent(sum, limit MicroUSD, pct int) bool {
	if pct <= 0 {
		return false
	}
	hi, lo := bits.Mul64(uint64(sum), 100)
	limHi, limLo := bits.Mul64(uint64(limit), uint64(pct))
	return hi > limHi || hi == limHi && lo >= limLo
}

// MicroUSD is money: millionths of a US dollar.
type MicroUSD int64

const perDollar = 1_000_000

// Parse reads a decimal dollar amount ("0.25", "1", "0.4") exactly: digits, at
// most one point with digits on both sides, at most six decimals that are not
// zero. A sign, an exponent, a currency mark or a thousands separator is an
// error, because each of them is read differently somewhere.
func Parse(s string) (MicroUSD, error) {
	whole, frac, point := strings.Cut(s, ".")
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, fmt.Errorf("%q is negative; write an amount of at least 0", s)
	case !isDigits(whole) || point && !isDigits(frac):
		return 0, fmt.Errorf("%q is not an amount of dollars; write it like \"0.25\"", s)
	}
	frac = strings.TrimRight(frac, "0")
	if len(frac) > 6 {
		return 0, fmt.Errorf("%q is finer than a millionth of a dollar; round it to six decimals", s)
	}
	dollars, err := strconv.ParseInt(whole, 10, 64)
	if errors.Is(err, strconv.ErrRange) || dollars > math.MaxInt64/perDollar {
		return 0, fmt.Errorf("%q is more money than odd can count", s)
	}
	micros, _ := strconv.ParseInt(frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	if sum, ok := addChecked(MicroUSD(dollars*perDollar), MicroUSD(micros)); ok {
		return sum, nil
	}
	return 0, fmt.Errorf("%q is more money than odd can count", s)
}

// String prints dollars with as many decimals as needed, at least two.
// Parse(m.String()) is m for every m of at least 0.
func (m MicroUSD) String() string {
	sign, u := "", uint64(m)
	if m < 0 {
		sign, u = "-", -u
	}
	frac := strings.TrimRight(fmt.Sprintf("%06d", u%perDollar), "0")
	for len(frac) < 2 {
		frac += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, u/perDollar, frac)
}

func isDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
