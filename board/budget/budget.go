// Package budget decides whether a drain may spend: two envelopes and a sum.
package budget

// MicroUSD is money: millionths of a US dollar.
type MicroUSD int64

// Envelope is the tenant's monthly budget. A zero Monthly means no money may be spent at all; zero HardStop means Monthly.
type Envelope struct {
	Monthly, HardStop MicroUSD
	AlertPct          int
	Teams             map[string]MicroUSD // per month
}

// Level is the answer.
type Level uint8

// The levels. Stop means: spend nothing, write pause.toml.
const (
	OK Level = iota + 1
	Alert
	Stop
)

// Decide says whether want more may be reserved on top of spent. A want of 0 is always OK unless spent is past the hard stop.
func Decide(e Envelope, spent, want MicroUSD) Level { return Stop }

// Parse reads a decimal dollar amount ("0.25", 1, 0.4) exactly.
func Parse(s string) (MicroUSD, error) { return 0, nil }

// String prints dollars with as many decimals as needed, at least two.
func (m MicroUSD) String() string { return "" }
