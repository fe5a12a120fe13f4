package endpoint

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/loop"
)

// Problem is a failure as an API told it.
type Problem struct {
	Status int    // of HTTP; 0 is that of the last answer's header
	Kind   string // the API's own word, as rate_limit_error
	Text   string // what it said
	Err    error  // what broke, where nothing was said
}

// Fault is a problem as package loop takes it.
func (l *Line) Fault(p Problem) *loop.Fault {
	if p.Status == 0 {
		p.Status = l.last.status
	}
	return &loop.Fault{After: l.last.after, Class: p.classify(), Detail: l.Tell(p.oneLine()), Charged: l.put.Load() && l.last.status < 300}
}

func (p Problem) classify() session.Class {
	if c, known := classOfWord(p.Kind); known && !(c == session.Permanent && session.Overflows(p.Text)) {
		return c
	}
	if p.Status >= 300 {
		return session.ClassOfStatus(p.Status, p.Kind+" "+p.Text)
	}
	return classOfBreak(p.Err, p.Status != 0)
}

// classOfWord reads the words of APIs that say more than a status, or that come where the
// status was good already: in the middle of a streamed answer.
func classOfWord(word string) (session.Class, bool) {
	switch word {
	case "rate_limit_error", "rate_limit_exceeded":
		return session.RateLimited, true
	case "overloaded_error", "api_error", "server_error", "internal_error", "internal_server_error":
		return session.ServerError, true
	case "timeout_error":
		return session.TimedOut, true
	case "request_too_large", "context_length_exceeded", "exceed_context_size_error":
		return session.ContextOverflow, true
	case "insufficient_quota", "billing_error", "authentication_error", "permission_error", "not_found_error", "invalid_request_error", "model_not_found", "invalid_api_key":
		return session.Permanent, true
	}
	return "", false
}

// classOfBreak is the class of a line that broke; answered says that the server had begun
// to answer.
func classOfBreak(err error, answered bool) session.Class {
	var cert *tls.CertificateVerificationError
	var wait net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &wait) && wait.Timeout():
		return session.TimedOut
	case errors.As(err, &cert):
		return session.Permanent
	case errors.Is(err, errTooMuch):
		return session.ServerError
	case answered:
		return session.TransientTransport
	}
	return session.ConnectionError
}

// oneLine is a problem in one line.
func (p Problem) oneLine() string {
	var parts []string
	if p.Status >= 300 {
		parts = append(parts, strings.TrimSpace("HTTP "+strconv.Itoa(p.Status)+" "+http.StatusText(p.Status)))
	}
	if p.Kind != "" {
		parts = append(parts, p.Kind)
	}
	switch {
	case p.Text != "":
		parts = append(parts, p.Text)
	case p.Err != nil:
		parts = append(parts, p.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Tell is a text of a server as it may be shown, by session.Shown and without the key.
func (l *Line) Tell(s string) string {
	if l.o.Secret != "" {
		s = strings.ReplaceAll(s, l.o.Secret, "[redacted:key]")
	}
	return session.Shown(s)
}

// retryAfter is how long a server asks to be left alone: in milliseconds, seconds,
// or until a moment of its own clock.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return durationOf(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(text, 64); err == nil {
		return durationOf(s * float64(time.Second))
	}
	until, err := http.ParseTime(text)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return durationOf(float64(until.Sub(now)))
}

// durationOf is d in nanoseconds, from nothing to a day.
func durationOf(d float64) time.Duration {
	if !(d > 0) {
		return 0
	}
	return time.Duration(min(d, float64(24*time.Hour)))
}
