package stream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// events are n events of a channel as a source has them.
func events(n int, channel string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"channel": %q, "type": "tick", "n": %d}`+"\n", channel, i)
	}
	return b.String()
}

// all reads a source to its end and takes every batch.
func all(t *testing.T, s *Stream) []Events {
	t.Helper()
	var out []Events
	for {
		b, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Policy{"drop-oldest": {DropOldest, Waiting}, "summarise": {Summarise, Waiting}, "queue=7": {Queue, 7}} {
		got, err := ParsePolicy(text)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "queue", "queue=", "queue=0", "queue=100001", "queue=x", "drop", "drop-oldest=3", "summarize"} {
		if got, err := ParsePolicy(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestBatchesByChannel(t *testing.T) {
	t.Parallel()
	s := New(Policy{Queue, 1000}, nil)
	source := events(2, "a") + "\n" + events(1, "b") + "oops\n[1]\n\xff\n{\"channel\": 7}\n" + events(Batch, "a") + `{"level": "warn"}`
	if err := s.Read(t.Context(), strings.NewReader(source)); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all(t, s) {
		first, last := b.Lines()
		got = append(got, fmt.Sprintf("%s %d: %d-%d", b.Channel, len(b.List), first, last))
	}
	if want := "[a 50: 1-56 b 1: 4-4 a 2: 57-58 main 1: 59-59]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if c := s.Counters(); c != (Counters{Read: 58, Malformed: 4, Delivered: 54}) {
		t.Errorf("counted %+v", c)
	}
	if bad := s.Malformed(); len(bad) != 4 || bad[0] != "line 5: not a JSON object" {
		t.Errorf("named %q", bad)
	}
}

// TestPolicies fills a stream that nobody takes from.
func TestPolicies(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{{DropOldest, 3}, {Summarise, 3}} {
		s := New(p, nil)
		if err := s.Read(t.Context(), strings.NewReader(events(4, "a")+events(2, "b")+"{}\n")); err != nil {
			t.Fatal(err)
		}
		got := all(t, s)
		c := s.Counters()
		if c.Read != c.Delivered+c.Dropped+c.Summarised || c.Delivered != 3 {
			t.Errorf("%v: counted %+v", p, c)
		}
		text := ""
		for _, b := range got {
			text += b.String()
		}
		told := strings.Contains(text, "channel a\n4 events were passed over, lines 1 to 4: 4 tick\n")
		if told != (p.Name == Summarise) || (c.Dropped == 4) == told {
			t.Errorf("%v: %+v and\n%s", p, c, text)
		}
	}
}

func TestMissedIsBounded(t *testing.T) {
	t.Parallel()
	m := Missed{First: 1, Types: map[string]int64{}}
	for i := range 100 {
		m.addEvent(Event{Line: int64(i + 1), Type: fmt.Sprintf("t%02d", i)})
	}
	if len(m.Types) > maxTypes+1 || !strings.Contains(m.String(), "88 other types") {
		t.Errorf("%d types: %s", len(m.Types), &m)
	}
}

// TestQueueHoldsTheSource: with queue=N the source is not read on, and nothing is lost.
func TestQueueHoldsTheSource(t *testing.T) {
	t.Parallel()
	s := New(Policy{Queue, 2}, nil)
	r, w := io.Pipe()
	go s.Read(t.Context(), r)
	go func() {
		io.WriteString(w, events(500, "a"))
		w.Close()
	}()
	n := 0
	for _, b := range all(t, s) {
		if len(b.List) > 2 {
			t.Errorf("a batch of %d", len(b.List))
		}
		n += len(b.List)
	}
	if c := s.Counters(); n != 500 || c.Dropped+c.Summarised != 0 {
		t.Errorf("%d events, counted %+v", n, c)
	}
}

// endless is a line that does not end before n bytes.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := min(e.n, len(p))
	for i := range p[:n] {
		p[i] = 'x'
	}
	e.n -= n
	return n, nil
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	s := New(Policy{Queue, 10}, nil)
	source := io.MultiReader(strings.NewReader(`{"a": "`), &endless{10 << 20}, strings.NewReader("\"}\n"+`{"text": "`), &endless{2 * MaxEvent}, strings.NewReader("ü\"}\n"), strings.NewReader(strings.Repeat(" ", MaxLine+9)))
	if err := s.Read(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	got := all(t, s)
	if c := s.Counters(); c.Malformed != 2 || c.Delivered != 1 || !strings.Contains(s.Malformed()[0], "line 1: a line of more than") {
		t.Errorf("counted %+v, %q", c, s.Malformed())
	}
	if e := got[0].List[0]; len(e.Text) != MaxEvent || e.Cut != MaxEvent+14 || !strings.Contains(got[0].String(), "[cut here: 8206 bytes more]") {
		t.Errorf("%d bytes are kept and %d cut", len(e.Text), e.Cut)
	}
}

// TestHeldIsBounded: large events fill the room before they are many.
func TestHeldIsBounded(t *testing.T) {
	t.Parallel()
	s := New(Policy{DropOldest, MaxQueue}, nil)
	line := `{"text": "` + strings.Repeat("x", MaxEvent) + "\"}\n"
	if err := s.Read(t.Context(), strings.NewReader(strings.Repeat(line, MaxHeld/MaxEvent+10))); err != nil {
		t.Fatal(err)
	}
	if c := s.Counters(); s.bytes > MaxHeld || c.Dropped != 10 {
		t.Errorf("%d bytes wait, %+v", s.bytes, c)
	}
}

func TestChannelsAreBounded(t *testing.T) {
	t.Parallel()
	s := New(Policy{Queue, 1000}, nil)
	var b strings.Builder
	for i := range MaxChannels + 5 {
		b.WriteString(events(1, fmt.Sprintf("c%d", i)))
	}
	if err := s.Read(t.Context(), strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	got := all(t, s)
	if last := got[len(got)-1]; len(got) != MaxChannels+1 || last.Channel != "others" || len(last.List) != 5 {
		t.Errorf("%d batches, the last %s of %d", len(got), last.Channel, len(last.List))
	}
}

// TestLinger: a batch of a live source goes out when the clock says so.
func TestLinger(t *testing.T) {
	t.Parallel()
	ring := make(chan func(), 1)
	s := New(Policy{DropOldest, 10}, func(d time.Duration, f func()) func() {
		if d != Linger {
			t.Errorf("waits %s", d)
		}
		ring <- f
		return func() {}
	})
	r, w := io.Pipe()
	defer w.Close()
	go s.Read(t.Context(), r)
	io.WriteString(w, events(2, "a"))
	f := <-ring
	if _, ok, err := s.takeBatch(); ok || err != nil {
		t.Errorf("a batch before its time, %v", err)
	}
	go f()
	if b, err := s.Next(t.Context()); err != nil || len(b.List) == 0 {
		t.Errorf("got %v, %v", b, err)
	}
}

// TestCancelled: a source that says nothing does not hold who waits for it, and
// a full queue does not hold the reader.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := New(Policy{Queue, 1}, nil)
	read := make(chan error, 1)
	go func() { read <- s.Read(ctx, strings.NewReader(events(3, "a"))) }()
	if _, err := s.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-read; !errors.Is(err, context.Canceled) {
		t.Errorf("Read: %v", err)
	}
	if _, err := s.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next: %v", err)
	}
}

func TestSourceFails(t *testing.T) {
	t.Parallel()
	s := New(Policy{Queue, 9}, nil)
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, events(1, "a"))
		w.CloseWithError(errors.New("the line is dead"))
	}()
	_ = s.Read(t.Context(), r)
	if b, err := s.Next(t.Context()); err != nil || len(b.List) != 1 {
		t.Errorf("what was read before is not delivered: %v, %v", b, err)
	}
	if _, err := s.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "the line is dead") {
		t.Errorf("got %v", err)
	}
}

// FuzzRead holds that every line is counted once, whatever it holds.
func FuzzRead(f *testing.F) {
	f.Add("{}\n{\"channel\":\"a\",\"type\":\"b\"}\nx\n", uint8(0))
	f.Add("{\"channel\":\"\\ud800\"}\r\n\r\n[]", uint8(1))
	f.Fuzz(func(t *testing.T, source string, policy uint8) {
		p := []Policy{{DropOldest, 2}, {Summarise, 2}, {Queue, MaxQueue}}[policy%3]
		s := New(p, nil)
		if err := s.Read(t.Context(), strings.NewReader(source)); err != nil {
			t.Fatal(err)
		}
		lines := int64(0)
		for l := range strings.SplitSeq(source, "\n") {
			if strings.TrimSpace(l) != "" {
				lines++
			}
		}
		all(t, s)
		if c := s.Counters(); c.Waiting != 0 || c.Read != c.Malformed+c.Dropped+c.Summarised+c.Delivered || c.Read != lines {
			t.Errorf("counted %+v of %d lines", c, lines)
		}
	})
}
