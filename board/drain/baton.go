package drain

import (
	"context"
	"sync"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// baton is what one of the sessions that run side by side holds at a time, to do what is
// the drain's own. It is passed on only while an agent works. They begin in order: none
// takes it back before all have begun. A nil baton is of one session, which shares nothing.
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
	turn, allow, desk, told := q.Turn, q.Allow, q.Desk, q.Progress
	q.Turn = func(u session.Usage) error {
		b.Lock()
		defer b.Unlock()
		return turn(u)
	}
	if allow != nil {
		q.Allow = func(a policy.Action) error {
			b.Lock()
			defer b.Unlock()
			return allow(a)
		}
	}
	if desk != nil {
		q.Desk = func(ctx context.Context) (session.Desk, error) {
			b.Lock()
			defer b.Unlock()
			return desk(ctx)
		}
	}
	q.Progress = func(s string) {
		b.Lock()
		defer b.Unlock()
		told(s)
	}
	return q
}
