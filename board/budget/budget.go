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
	"math"
	"math/bits"
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
	sum, ok := add(spent, want)
	switch {
	case !ok || sum > hard || want > 0 && e.Monthly <= 0:
		return Stop
	case sum > e.Monthly || e.Monthly > 0 && reaches(sum, e.Monthly, e.AlertPct):
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
		if all, ok = add(all, m); !ok {
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

// add is the sum of two amounts; a negative one or an overflow is not ok.
func add(a, b MicroUSD) (MicroUSD, bool) {
	if a < 0 || b < 0 || a > math.MaxInt64-b {
		return 0, false
	}
	return a + b, true
}

// reaches reports sum ≥ pct per cent of limit, in 128 bits so that no amount
// overflows. All three are at least 0 and pct 0 reaches nothing.
func reaches(sum, limit MicroUSD, pct int) bool {
	if pct <= 0 {
		return false
	}
	hi, lo := bits.Mul64(uint64(sum), 100)
	limHi, limLo := bits.Mul64(uint64(limit), uint64(pct))
	return hi > limHi || hi == limHi && lo >= limLo
}
