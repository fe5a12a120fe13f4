package cmd

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/reconcile/irongate"
)

// progress tells what is going on: one line that is rewritten on a terminal,
// plain lines elsewhere.
type progress struct {
	env  Env
	live bool
	wide int // columns of the live line as it stands
}

func newProgress(env Env) *progress {
	return &progress{env: env, live: env.Live && env.Getenv("TERM") != "dumb" && !env.inCI()}
}

// liveWidth keeps a live line from wrapping, which would leave its head behind.
const liveWidth = 76

func (p *progress) line(s string) {
	if !p.live {
		talk(p.env, "%s", cell(s))
		return
	}
	s = clipped(irongate.RedactText(cell(s)), max(1, min(liveWidth, p.env.columns()-1)))
	fmt.Fprintf(p.env.Stderr, "\r%s", padded(s, p.wide))
	p.wide = columnsOf(s)
}

// done clears the live line.
func (p *progress) done() {
	if p.live && p.wide > 0 {
		fmt.Fprintf(p.env.Stderr, "\r%s\r", strings.Repeat(" ", p.wide))
	}
	p.wide = 0
}
