package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// runSessions runs the sessions of c side by side and returns their works in order.
func (d *drain) runSessions(ctx context.Context, c *claim) []work {
	if c.sessions == 1 {
		return []work{d.runSession(ctx, c, 0)}
	}
	done := make([]work, c.sessions)
	b := &baton{all: make(chan struct{})}
	d.baton = b
	if reply := d.Reply; reply != nil { // a person answers one session at a time
		var answering sync.Mutex
		d.Reply = func(ctx context.Context, turn invoke.Turn) (string, error) {
			answering.Lock()
			defer answering.Unlock()
			return reply(ctx, turn)
		}
		defer func() { d.Reply = reply }()
	}
	var ended sync.WaitGroup
	for n := range done {
		done[n].fault = errors.New("its session ended in midst") // until it returns
		begun := make(chan struct{})
		b.begun = sync.OnceFunc(func() { close(begun) })
		ended.Go(func() {
			b.Lock()
			defer b.Unlock()
			defer b.begun()
			done[n] = d.runSession(ctx, c, n+1)
		})
		<-begun
	}
	close(b.all)
	ended.Wait()
	if i := slices.IndexFunc(done, func(w work) bool { return w.tampered }); i >= 0 {
		why := done[i].reason
		for n, w := range done {
			done[n].lastSession = w.asVoid(why) // nobody can tell which session did it
		}
	}
	return done
}

// verdictOf returns the outcome of all sessions: the first that is not completed, with the
// reasons of each.
func verdictOf(done []work) (verdict, why string) {
	verdict = string(session.Completed)
	var whys []string
	for i, w := range done {
		if w.outcome() == string(session.Completed) {
			continue
		}
		if verdict == string(session.Completed) {
			verdict = w.outcome()
		}
		if len(done) > 1 {
			whys = append(whys, fmt.Sprintf("session %d: %s", i+1, w.reason))
		} else {
			whys = append(whys, w.reason)
		}
	}
	return verdict, strings.Join(whys, "; ")
}

// baton is what one of the sessions that run side by side holds at a time, to do what is
// the drain's own. A session gives it up while its agent works. Sessions begin in order, and
// none takes the baton back before all have begun. A nil baton is that of a single session,
// which shares nothing.
type baton struct {
	sync.Mutex
	begun func()        // tells that the session which holds it has begun
	all   chan struct{} // closed when all have
}

func (b *baton) doWithout(work func()) {
	if b == nil {
		work()
		return
	}
	b.begun()
	b.Unlock()
	defer func() { // also where work panics
		<-b.all
		b.Lock()
	}()
	work()
}

// guardRequest returns q with callbacks that hold the baton, so that sessions call the drain
// one at a time.
func (b *baton) guardRequest(q session.Request) session.Request {
	if b == nil {
		return q
	}
	hold := func(act func()) {
		b.Lock()
		defer b.Unlock()
		act()
	}
	turn, allow, desk, told := q.Turn, q.Allow, q.Desk, q.Progress
	q.Turn = func(u session.Usage) (err error) {
		hold(func() { err = turn(u) })
		return err
	}
	if allow != nil {
		q.Allow = func(a policy.Action) (err error) {
			hold(func() { err = allow(a) })
			return err
		}
	}
	if desk != nil {
		q.Desk = func(ctx context.Context) (at session.Desk, err error) {
			hold(func() { at, err = desk(ctx) })
			return at, err
		}
	}
	q.Progress = func(s string) { hold(func() { told(s) }) }
	return q
}
