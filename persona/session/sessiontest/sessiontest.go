// Package sessiontest is the table of what every substrate keeps, whatever it
// talks to: bounded turns, leave asked before every turn, an end at once when time
// is up or the work is called off, a named failure for what cannot be read, a cost
// that nobody told left unknown, and an outcome that is the declared one.
//
// A substrate passes it with a Maker of its own test:
//
//	func TestSubstrate(t *testing.T) { sessiontest.Table(t, maker) }
package sessiontest

import (
	"testing"

	"github.com/odd-cli/odd/persona/session"
)

// Script is what the agent behind a substrate does in a case. The maker makes an
// agent of its own kind that does it: a recording, a program, a server.
type Script struct {
	Says    string // the last thing it says: a text emission as package session reads it
	Turns   int    // exchanges before and with it, where the substrate has several; 1 is one
	Hangs   bool   // it never answers
	Cost    int64  // micro-USD it tells; negative: it tells none
	Resumes bool   // the request names a thread, and it must be gone on with
}

// Maker makes a substrate whose agent does what the script says. It may skip a case
// that the substrate cannot have.
type Maker func(t *testing.T, s Script) session.Substrate

// Table runs every case.
func Table(t *testing.T, make Maker) {
	t.Helper()
}
