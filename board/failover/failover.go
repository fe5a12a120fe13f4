// Package failover says which substrate may take the next session, from what the
// ledger's sessions say of those before. There is no state but the ledger: a
// fresh clone knows what every other does, and nothing waits in the background.
//
// A transport that fails is left alone for a while, the longer the oftener it
// fails in a row:
//
//	eta = min(base · 2^(n−1), max)
//
//	class                base   max
//	rate_limited           15   120 s
//	timeout                45   300 s
//	server_error           60   600 s
//	connection_error      120   900 s
//	transient_transport     5    30 s
//	permanent             900   900 s
//	context_overflow        0     0 s   no penalty: another task may fit
//	content                 0     0 s   never the transport's fault
//
// A probe is the next real task after that. The states, of the first substrate
// of a chain:
//
//	PRIMARY_READY     it takes what comes
//	FALLBACK_ACTIVE   it failed; the next of the chain works, it is probed when its time is up
//	PRIMARY_DEGRADED  a probe was good; it works, and one failure sends it back
//	QUEUE_ONLY        nothing of the chain may be tried before some moment: nothing is claimed
//
// From degraded it is ready again after three good sessions over at least 45
// seconds. Every substrate of a chain is held to the same rule.
package failover

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/session"
)

// State is that of a chain.
type State string

// The states.
const (
	Ready    State = "PRIMARY_READY"
	Active   State = "FALLBACK_ACTIVE"
	Degraded State = "PRIMARY_DEGRADED"
	Queue    State = "QUEUE_ONLY"
)

// What makes a degraded substrate ready again.
const (
	probes = 3
	steady = 45 * time.Second
)

// penaltyFor is how long a substrate is left alone after n failures in a row, of
// which the last was of this class; 0 for none.
func penaltyFor(class session.Class, n int) time.Duration {
	base, most := classRow(class)
	d := base * time.Second
	for range max(n, 1) - 1 {
		if d *= 2; d >= most*time.Second {
			break
		}
	}
	return min(d, most*time.Second)
}

// classRow is a class's base and maximum, in seconds.
func classRow(class session.Class) (base, most time.Duration) {
	switch class {
	case session.RateLimited:
		return 15, 120
	case session.TimedOut:
		return 45, 300
	case session.ServerError:
		return 60, 600
	case session.ConnectionError:
		return 120, 900
	case session.TransientTransport:
		return 5, 30
	case session.Permanent:
		return 900, 900
	}
	return 0, 0
}

// Try is what one session says of the transport it went over.
type Try struct {
	Substrate string
	Class     session.Class // of a transport that failed, "" else
	Good      bool          // it answered, whatever it said
	At        time.Time
}

// Judge makes a Try of how a session ended. A limit of odd's own says nothing of
// the transport, for it or against it.
func Judge(substrate, outcome, failure string, class session.Class, at time.Time) Try {
	t := Try{Substrate: substrate, At: at}
	if base, _ := classRow(class); base > 0 && failure == session.Transport {
		t.Class = class
		return t
	}
	own := []string{session.Transport, session.Timeout, session.Cancelled, session.TurnRefused, session.TurnLimit, session.OverBudget, session.DiskFull, session.NoInputs}
	t.Good = outcome != "" && !slices.Contains(own, failure)
	return t
}

// Condition is that of one substrate.
type Condition struct {
	Name     string        `json:"substrate"`
	Failures int           `json:"failures,omitempty"` // in a row; 0: it is ready
	Class    session.Class `json:"class,omitempty"`    // of the last
	Until    time.Time     `json:"until,omitzero"`     // left alone until then
	Good     int           `json:"good,omitempty"`     // sessions since the last failure
	since    time.Time     // of the first of them
}

func (c *Condition) takeTry(t Try) {
	switch {
	case t.Class != "":
		c.Failures++
		c.Class, c.Good, c.Until = t.Class, 0, t.At.Add(penaltyFor(t.Class, c.Failures))
	case !t.Good || c.Failures == 0:
	default:
		if c.Good++; c.Good == 1 {
			c.since = t.At
		}
		if c.Good >= probes && t.At.Sub(c.since) >= steady {
			*c = Condition{Name: c.Name}
		}
	}
}

// isOpen reports that the next task may try it.
func (c Condition) isOpen(now time.Time) bool {
	return c.Failures == 0 || c.Good > 0 || !now.Before(c.Until)
}

// String says in words why it is not simply ready.
func (c Condition) String() string {
	return fmt.Sprintf("%s failed %d times in a row, last %s, and is left alone until %s", c.Name, c.Failures, c.Class, c.Until.UTC().Format(time.RFC3339))
}

// Health is that of a chain of substrates, the first being the primary.
type Health struct {
	State State       `json:"state"`
	Chain []Condition `json:"chain"`
	Use   []string    `json:"use"`           // those that may be tried now, in order; empty where State is Queue
	Next  time.Time   `json:"next,omitzero"` // of Queue: when the first of them is probed
}

// Check is the health of a chain now. Tries of other substrates count for
// nothing. A chain of one has nowhere to fail over to: it is always ready.
func Check(chain []string, tries []Try, now time.Time) Health {
	h := Health{State: Ready}
	for _, name := range chain {
		c := Condition{Name: name}
		for _, t := range tries {
			if t.Substrate == name && !t.At.After(now) && len(chain) > 1 {
				c.takeTry(t)
			}
		}
		h.Chain = append(h.Chain, c)
		if c.isOpen(now) {
			h.Use = append(h.Use, name)
		} else if h.Next.IsZero() || c.Until.Before(h.Next) {
			h.Next = c.Until
		}
	}
	switch first := h.Chain[0]; {
	case len(h.Use) == 0:
		h.State = Queue
		return h
	case first.Failures > 0 && first.Good > 0:
		h.State = Degraded
	case first.Failures > 0:
		h.State = Active
	}
	h.Next = time.Time{}
	return h
}

// Why says in words what the state is for, "" for a chain that is ready.
func (h Health) Why() string {
	first := h.Chain[0]
	switch h.State {
	case Active:
		if h.Use[0] == first.Name {
			return fmt.Sprintf("%s failed %d times in a row, last %s; the next task probes it", first.Name, first.Failures, first.Class)
		}
		return fmt.Sprintf("%s; %s works", first, h.Use[0])
	case Degraded:
		return fmt.Sprintf("%s works again, %d good of %d since its last %s", first.Name, first.Good, probes, first.Class)
	case Queue:
		var all []string
		for _, c := range h.Chain {
			all = append(all, c.String())
		}
		return strings.Join(all, "; ")
	}
	return ""
}
