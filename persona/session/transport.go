package session

import (
	"regexp"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// ClassOfStatus is the class of a failure that a model's API told by an HTTP status of
// 300 or more, whoever asked it: odd itself or a program that odd runs. said is what
// came with it. 529 is how Anthropic's API says that it is overloaded.
//
//	429                                   rate_limited
//	413, a 4xx about the context's size   context_overflow
//	408, 504                              timeout
//	409, 425                              transient_transport
//	other 5xx, 529                        server_error
//	3xx, other 4xx                        permanent
func ClassOfStatus(status int, said string) Class {
	switch {
	case status == 429:
		return RateLimited
	case status == 413, status >= 400 && status < 500 && Overflows(said):
		return ContextOverflow
	case status == 408, status == 504:
		return TimedOut
	case status == 409, status == 425:
		return TransientTransport
	case status >= 500:
		return ServerError
	}
	return Permanent
}

// Overflows reports words by which servers and programs say that a conversation no
// longer fits its model.
func Overflows(said string) bool { return overflow().MatchString(said) }

var overflow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)context[ _-]?(?:length|window|size|limit)|prompt is too long|input is too long|too many (?:input |prompt )?tokens|maximum (?:context|prompt|input|model) |exceeds? the (?:available|maximum) context`)
})

// maxShown is how much of what a program or a server says is shown, in characters.
const maxShown = 400

// Shown is a text of a program or a server as a failure may tell it: on one line, cut
// to 400 characters, with every character in sight, and without what looks like a
// credential.
func Shown(s string) string {
	s = okf.Visible(strings.Join(strings.Fields(strings.ToValidUTF8(string(secrets.Redact([]byte(s))), "?")), " "))
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + " …"
	}
	return s
}
