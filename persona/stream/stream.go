// Package stream reads a stream of events for a session that watches it.
//
// A stream is JSONL: one object a line. Two of its members are looked at, all
// others are the session's to read:
//
//	{"channel": "deploy", "type": "failed", "job": "shop-eu", "after_s": 31}
//	{"channel": "chat", "type": "message", "text": "who broke it?"}
//
// channel names the conversation the event belongs to (default "main"); a batch
// holds events of one channel, and what a session says of a batch goes to its
// channel. type, or else kind, or else level, is what a summary counts by.
//
// A source is as fast as it likes and a session as slow as its model. What
// becomes of events between them is not left to buffers but said, by a Policy:
//
//	drop-oldest   the newest [Waiting] events wait; older ones are dropped and counted
//	summarise     as drop-oldest, but what is dropped is told to the session by
//	              channel: how many, from which line to which, how many of each type
//	queue=N       N events wait, nothing is lost, and the source is not read on
//	              until there is room: the source itself waits
//
// # Promises
//
//  1. Memory is bounded whatever the source does: a line is kept up to
//     [MaxLine] and skipped beyond, an event's text up to [MaxEvent], the events
//     that wait up to [MaxHeld] bytes, channels up to [MaxChannels].
//  2. Every line is counted once: Read = Malformed + the events, and every event
//     is delivered, dropped, summarised or still waiting.
//  3. Order within a channel is the source's. The channel whose event has waited
//     longest is next.
//  4. No event is interpreted: a malformed line is counted and named, never guessed.
//  5. The end of the source delivers what waits; a cancelled context does not.
//
// An event is data from outside. What the brief of a session shows of it is
// fenced, made visible and free of credentials there, as all data is.
package stream

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The bounds of a stream.
const (
	MaxLine     = 1 << 20  // bytes of a line; a longer one is malformed
	MaxEvent    = 8 << 10  // bytes of an event's text that are kept
	MaxHeld     = 16 << 20 // bytes of all events that wait
	MaxChannels = 64       // further ones share the channel "others"
	MaxQueue    = 100_000  // events, of queue=N
	Waiting     = 1024     // events, of the other policies
	Batch       = 50       // events a batch holds at most
	maxBatch    = 96 << 10 // bytes of them
	maxTypes    = 12       // that a summary tells apart
	maxNamed    = 5        // malformed lines that are named
)

// Linger is how long a batch of a live source waits for more events.
const Linger = 500 * time.Millisecond

// Policy is what becomes of events that a session has no time for.
type Policy struct {
	Name string // one of the names below
	Max  int    // events that wait
}

// The names of the policies.
const (
	DropOldest = "drop-oldest"
	Summarise  = "summarise"
	Queue      = "queue"
)

// ParsePolicy reads "drop-oldest", "summarise" or "queue=N".
func ParsePolicy(s string) (Policy, error) {
	name, number, given := strings.Cut(s, "=")
	switch {
	case name == DropOldest && !given, name == Summarise && !given:
		return Policy{name, Waiting}, nil
	case name == Queue && given:
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > MaxQueue {
			return Policy{}, fmt.Errorf("%q: queue=N wants a number of events from 1 to %d", s, MaxQueue)
		}
		return Policy{name, n}, nil
	}
	return Policy{}, fmt.Errorf("unknown policy %q; want drop-oldest, summarise or queue=N", s)
}

// Event is one event of a stream.
type Event struct {
	Channel string
	Type    string // "" where it has none
	Line    int64  // of the stream, from 1
	Text    []byte // the line as it stands, without its end
	Cut     int    // bytes of it that were not kept
}

// Counters say what became of everything that was read.
type Counters struct {
	Read       int64 `json:"read"` // lines that are not blank
	Malformed  int64 `json:"malformed"`
	Dropped    int64 `json:"dropped"`
	Summarised int64 `json:"summarised"`
	Delivered  int64 `json:"delivered"` // events handed to the session
	Waiting    int64 `json:"waiting"`   // events nobody has taken
}

// Stream holds what was read of one source and not yet delivered. One
// goroutine reads ([Stream.Read]) while another takes batches ([Stream.Next]).
type Stream struct {
	policy Policy
	after  func(time.Duration, func()) (stop func())

	mu       sync.Mutex
	held     []Event
	bytes    int
	missed   map[string]*Missed // by channel, of summarise
	channels map[string]bool
	count    Counters
	bad      []string // the first malformed lines, named
	ended    bool
	err      error
	due      bool // the batch has lingered long enough
	timing   bool
	wake     chan struct{} // a token: there may be a batch
	room     chan struct{} // a token: there may be room
}

// New makes a stream under a policy. After calls later unless stopped, and lets
// a batch of a live source go out before it is full, [Linger] after its first
// event; nil waits for a full batch or the end, which is right for a file.
func New(p Policy, after func(time.Duration, func()) (stop func())) *Stream {
	return &Stream{policy: p, after: after, missed: map[string]*Missed{}, channels: map[string]bool{},
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// Counters are the counts at this moment.
func (s *Stream) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.count
	c.Waiting = int64(len(s.held))
	return c
}

// Malformed names the first malformed lines and what is wrong with each.
func (s *Stream) Malformed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bad...)
}

func signalOnce(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// putEvent takes an event in, as the policy says. Under queue it waits for room; the
// error is the context's.
func (s *Stream) putEvent(ctx context.Context, e Event) error {
	for {
		s.mu.Lock()
		if !s.isFull() || s.policy.Name != Queue {
			break
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.room:
		}
	}
	defer s.mu.Unlock()
	for s.isFull() {
		s.loseOldest()
	}
	e.Channel = s.channelName(e.Channel)
	s.held = append(s.held, e)
	s.bytes += len(e.Text)
	s.startTimer()
	signalOnce(s.wake)
	return nil
}

// isFull reports that one more event is one too many.
func (s *Stream) isFull() bool {
	return len(s.held) >= s.policy.Max || len(s.held) > 0 && s.bytes > MaxHeld-MaxEvent
}

// loseOldest gives up the event that has waited longest.
func (s *Stream) loseOldest() {
	e := s.held[0]
	s.held[0] = Event{}
	s.held = s.held[1:]
	s.bytes -= len(e.Text)
	if s.policy.Name != Summarise {
		s.count.Dropped++
		return
	}
	s.count.Summarised++
	if s.missed[e.Channel] == nil {
		s.missed[e.Channel] = &Missed{First: e.Line, Types: map[string]int64{}}
	}
	s.missed[e.Channel].addEvent(e)
}

// channelName is the name an event's channel goes by.
func (s *Stream) channelName(name string) string {
	if name == "" {
		name = "main"
	}
	if !s.channels[name] {
		if len(s.channels) >= MaxChannels {
			return "others"
		}
		s.channels[name] = true
	}
	return name
}

// startTimer begins the wait of a live source's batch.
func (s *Stream) startTimer() {
	if s.after == nil || s.timing || s.due {
		return
	}
	s.timing = true
	s.after(Linger, func() {
		s.mu.Lock()
		s.timing, s.due = false, true
		s.mu.Unlock()
		signalOnce(s.wake)
	})
}

// endStream says that nothing more comes; err is why, nil at the source's own end.
func (s *Stream) endStream(err error) {
	s.mu.Lock()
	s.ended, s.err = true, err
	s.mu.Unlock()
	signalOnce(s.wake)
}
