package console

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

// Progress tells what is going on: one line that is rewritten on a terminal,
// plain lines elsewhere.
type Progress struct {
	env  Env
	Live bool

	mu    sync.Mutex
	wide  int           // columns of the live line as it stands
	text  string        // what goes on
	since time.Time     // when the sessions of the task began; zero before one
	used  session.Usage // by them
	stop  func()        // the clock of the live line; nil where none runs
}

// NewProgress returns a line of progress on env.Stderr, which ClearLine ends.
func NewProgress(env Env) *Progress {
	return &Progress{env: env, Live: env.Live && env.Getenv("TERM") != "dumb" && !env.InCI()}
}

// SetLine says what goes on now.
func (p *Progress) SetLine(s string) {
	if !p.Live {
		Talk(p.env, "%s", Cell(s))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = s
	p.drawLine()
}

// CountTurn counts a turn of a session. From the first one of a task on, the live line has
// the time that the task takes, its turns and its cost.
func (p *Progress) CountTurn(u session.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() || u.Turns == 0 && u.Cost == 0 {
		p.since = p.env.Now()
	}
	p.used = u
	if p.Live {
		p.drawLine()
	}
}

// drawLine writes the live line so that it does not wrap, which would leave its head behind,
// and again each second while a session runs. The lock is held.
func (p *Progress) drawLine() {
	text := p.text
	if !p.since.IsZero() {
		text = fmt.Sprintf("%s  %s  $%s  %s", p.env.Now().Sub(p.since).Round(time.Second), CountNoun(p.used.Turns, "turn"), budget.MicroUSD(p.used.Cost), text)
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
	text = layout.Clip(secrets.RedactText(Cell(text)), max(1, p.env.TerminalWidth()-1))
	fmt.Fprintf(p.env.Stderr, "\r%s", layout.Pad(text, p.wide))
	p.wide = layout.Width(text)
}

// ClearLine clears the live line and stops its clock.
func (p *Progress) ClearLine() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
	if p.Live && p.wide > 0 {
		fmt.Fprintf(p.env.Stderr, "\r%s\r", strings.Repeat(" ", p.wide))
	}
	p.wide = 0
}
