package stream

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Read reads the source to its end, or to that of ctx. A source that blocks is
// not interrupted by ctx: whoever owns it closes it. The error is also what Next
// returns once all was delivered.
func (s *Stream) Read(ctx context.Context, source io.Reader) error {
	err := s.read(ctx, bufio.NewReaderSize(source, 64<<10))
	s.end(err)
	return err
}

func (s *Stream) read(ctx context.Context, in *bufio.Reader) error {
	for n := int64(1); ; n++ {
		line, long, err := readLine(in)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 || long {
			if err := s.line(ctx, n, line, long); err != nil {
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

// line counts one line, and takes in the event it holds.
func (s *Stream) line(ctx context.Context, n int64, line []byte, long bool) error {
	var e Event
	var why string
	if !long {
		e, why = event(line)
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
	return s.put(ctx, e)
}

// event reads one line that is not blank, or says why it is none.
func event(line []byte) (e Event, why string) {
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
		e.Text = bytes.Clone(text[:whole(text, MaxEvent)])
		e.Cut = len(text) - len(e.Text)
	}
	if head.Channel != nil {
		if e.Channel = word(head.Channel); e.Channel == "" {
			return e, "channel is not a word of at most 64 bytes"
		}
	}
	for _, v := range []any{head.Type, head.Kind, head.Level} {
		if e.Type == "" {
			e.Type = word(v)
		}
	}
	return e, ""
}

// whole is how many bytes of text are kept of n, no character cut in two.
func whole(text []byte, n int) int {
	if len(text) <= n {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// word is v as a short name that can be printed in a cell, "" where it is none.
func word(v any) string {
	s, ok := v.(string)
	if s = strings.TrimSpace(s); !ok || len(s) > 64 || strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}
