package gate

import "time"

// Signs are what decay looks at; all of them are counted from the ledger, the
// board and the bundle by the caller.
type Signs struct {
	Now           time.Time
	File          File
	Verdict       Verdict
	SinceProgress int            // tasks drained since one last reached review or done
	Stale         []string       // ids of atoms past their stale_after
	Rejected      map[string]int // task → how often
	Blocked       map[string]int // task → how often
	Failures      int            // drained tasks in a row that ended blocked
	Refused       int            // drains in a row that were refused
	Due           []string       // decisions whose revisit trigger has come, as text
}

// Decay proposes, deterministically, and changes nothing. The proposals have a
// key each, so that the same sign proposes once while it is open.
func Decay(s Signs) []Proposal { return nil }
