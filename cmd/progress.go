package cmd

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/cmd/internal/layout"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// progress tells what is going on: one line that is rewritten on a terminal,
// plain lines elsewhere.
type progress struct {
	env  Env
	live bool

	mu    sync.Mutex
	wide  int           // columns of the live line as it stands
	text  string        // what goes on
	since time.Time     // when the sessions of the task began; zero before one
	used  session.Usage // by them
	stop  func()        // the clock of the live line; nil where none runs
}

func newProgress(env Env) *progress {
	return &progress{env: env, live: env.Live && env.Getenv("TERM") != "dumb" && !env.inCI()}
}

func (p *progress) setLine(s string) {
	if !p.live {
		talk(p.env, "%s", cell(s))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = s
	p.drawLine()
}

// countTurn counts a turn of a session. From the first one of a task on, the live line has
// the time that the task takes, its turns and its cost.
func (p *progress) countTurn(u session.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || u.Turns == 0 && u.Cost == 0 {
		p.since = p.env.Now()
	}
	p.used = u
	if p.live {
		p.drawLine()
	}
}

// drawLine writes the live line so that it does not wrap, which would leave its head behind,
// and again each second while a session runs. The lock is held.
func (p *progress) drawLine() {
	text := p.text
	if !p.since.IsZero() {
		text = fmt.Sprintf("%s  %s  $%s  %s", p.env.Now().Sub(p.since).Round(time.Second), countNoun(p.used.Turns, "turn"), budget.MicroUSD(p.used.Cost), text)
		if p.stop == nil && p.env.After != nil {
			p.stop = p.env.After(time.Second, func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				if p.stop != nil {
					p.stop = nil
					p.drawLine()
				}
			})
		}
	}
	text = layout.Clip(secrets.RedactText(cell(text)), max(1, p.env.terminalWidth()-1))
	fmt.Fprintf(p.env.Stderr, "\r%s", layout.Pad(text, p.wide))
	p.wide = layout.Width(text)
}

// clearLine clears the live line and stops its clock.
func (p *progress) clearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if p.live && p.wide > 0 {
		fmt.Fprintf(p.env.Stderr, "\r%s\r", strings.Repeat(" ", p.wide))
	}
	p.wide = 0
}
