package stream

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read reads the source to its end, or to that of ctx. A source that blocks is
// not interrupted by ctx: whoever owns it closes it. The error is also what Next
// returns once all was delivered.
func (s *Stream) Read(ctx context.Context, source io.Reader) error {
	err := s.readLines(ctx, bufio.NewReaderSize(source, 64<<10))
	s.endStream(err)
	return err
}

func (s *Stream) readLines(ctx context.Context, in *bufio.Reader) error {
	for n := int64(1); ; n++ {
		line, long, err := readLine(in)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 || long {
			if err := s.takeLine(ctx, n, line, long); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// readLine reads a line without its end. Of one longer than MaxLine the rest is
// read past.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		room := MaxLine - len(line)
		line = append(line, part[:min(len(part), room)]...)
		long = long || len(part) > room+1 // with its end
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), long, err
		}
	}
}

// takeLine counts one line, and takes in the event it holds.
func (s *Stream) takeLine(ctx context.Context, n int64, line []byte, long bool) error {
	var e Event
	var why string
	if !long {
		e, why = parseEvent(line)
	} else {
		why = fmt.Sprintf("a line of more than %d bytes", MaxLine)
	}
	s.mu.Lock()
	s.count.Read++
	if why != "" {
		if s.count.Malformed++; len(s.bad) < maxNamed {
			s.bad = append(s.bad, fmt.Sprintf("line %d: %s", n, why))
		}
	}
	s.mu.Unlock()
	if why != "" {
		return nil
	}
	e.Line = n
	return s.putEvent(ctx, e)
}

// parseEvent reads one line that is not blank, or says why it is none.
func parseEvent(line []byte) (e Event, why string) {
	var head struct {
		Channel any `json:"channel"`
		Type    any `json:"type"`
		Kind    any `json:"kind"`
		Level   any `json:"level"`
	}
	switch text := bytes.TrimSpace(line); {
	case !utf8.Valid(text):
		return e, "not UTF-8"
	case text[0] != '{':
		return e, "not a JSON object"
	default:
		if err := json.Unmarshal(text, &head); err != nil {
			return e, "not JSON: " + err.Error()
		}
		e.Text = bytes.ToValidUTF8(text[:min(len(text), MaxEvent)], nil)
		e.Cut = len(text) - len(e.Text)
	}
	if head.Channel != nil {
		if e.Channel = printableName(head.Channel); e.Channel == "" {
			return e, "channel is not a word of at most 64 bytes"
		}
	}
	for _, v := range []any{head.Type, head.Kind, head.Level} {
		if e.Type == "" {
			e.Type = printableName(v)
		}
	}
	return e, ""
}

// printableName is v as a short name that can be printed in a cell, "" where it is none.
func printableName(v any) string {
	s, ok := v.(string)
	if s = strings.TrimSpace(s); !ok || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// Events is a batch, what a session is given at once: events of one channel, in order.
type Events struct {
	Channel string
	List    []Event // may be empty where all of it was missed
	Missed  *Missed // nil: nothing was summarised since the channel's last batch
}

// Missed sums up events that were given up.
type Missed struct {
	Count       int64
	First, Last int64            // lines of the stream
	Types       map[string]int64 // by type, "" for none; at most maxTypes, the rest under "other types"
}

func (m *Missed) addEvent(e Event) {
	name := e.Type
	if _, ok := m.Types[name]; !ok && len(m.Types) >= maxTypes {
		name = "other types"
	}
	m.Types[name]++
	m.Count++
	m.Last = e.Line
}

// String says what was missed in a line, the most frequent type first.
func (m *Missed) String() string {
	names := slices.SortedFunc(maps.Keys(m.Types), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Types[b], m.Types[a]), cmp.Compare(a, b))
	})
	var by []string
	for _, n := range names {
		by = append(by, fmt.Sprintf("%d %s", m.Types[n], cmp.Or(n, "without a type")))
	}
	return fmt.Sprintf("%d events were passed over, lines %d to %d: %s", m.Count, m.First, m.Last, strings.Join(by, ", "))
}

// Lines are the first and the last line of the batch's events, 0 where it has none.
func (b Events) Lines() (first, last int64) {
	if len(b.List) == 0 {
		return 0, 0
	}
	return b.List[0].Line, b.List[len(b.List)-1].Line
}

// String is the batch as a session reads it: what was missed, then its events,
// one a line.
func (b Events) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "channel %s\n", b.Channel)
	if b.Missed != nil {
		fmt.Fprintf(&out, "%s\n", b.Missed)
	}
	for _, e := range b.List {
		fmt.Fprintf(&out, "%d\t%s", e.Line, e.Text)
		if e.Cut > 0 {
			fmt.Fprintf(&out, "[cut here: %d bytes more]", e.Cut)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// Next waits for a batch. The error is io.EOF when the source has ended and all
// was delivered, the source's own, or the context's.
func (s *Stream) Next(ctx context.Context) (Events, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Events{}, err
		}
		b, ok, err := s.takeBatch()
		if ok || err != nil {
			return b, err
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
}

func (s *Stream) takeBatch() (b Events, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.held) == 0 && s.ended:
		for _, name := range slices.Sorted(maps.Keys(s.missed)) {
			return s.addMissed(Events{Channel: name}), true, nil
		}
		return Events{}, false, cmp.Or(s.err, io.EOF)
	case len(s.held) == 0, !s.ended && !s.due && len(s.held) < Batch && !s.isFull():
		return Events{}, false, nil
	}
	b.Channel = s.held[0].Channel
	var left []Event
	size := 0
	for i, e := range s.held {
		if e.Channel != b.Channel {
			left = append(left, e)
			continue
		}
		if len(b.List) == Batch || len(b.List) > 0 && size+len(e.Text) > maxBatch {
			left = append(left, s.held[i:]...)
			break
		}
		b.List = append(b.List, e)
		size += len(e.Text)
	}
	s.held, s.bytes, s.due = left, s.bytes-size, false
	s.count.Delivered += int64(len(b.List))
	if len(left) > 0 {
		s.startTimer()
	}
	signalOnce(s.room)
	return s.addMissed(b), true, nil
}

func (s *Stream) addMissed(b Events) Events {
	b.Missed = s.missed[b.Channel]
	delete(s.missed, b.Channel)
	return b
}
