package session

import (
	"bytes"
	"math"
	"regexp"
	"sync"
)

// shape is one form a credential takes. Group 1 of the pattern, where there is
// one, is the credential; the rest of the match stays.
type shape struct {
	kind string
	re   *regexp.Regexp
	ok   func(value []byte) bool // a last look; nil accepts
}

// shapes are the forms Redact knows, the most telling first: what one has
// replaced no other matches. The prefixes are the ones their issuers publish.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		{"private-key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), nil},
		{"aws-key", regexp.MustCompile(`\b((?:AKIA|ASIA)[0-9A-Z]{16})\b`), nil},
		{"github-token", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})`), nil},
		{"anthropic-key", regexp.MustCompile(`\b(sk-ant-[A-Za-z0-9_-]{16,})`), nil},
		{"api-key", regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(sk-[A-Za-z0-9_-]{20,})`), mixed},
		{"slack-token", regexp.MustCompile(`\b(xox[abprs]-[A-Za-z0-9-]{10,})`), nil},
		{"jwt", regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`), nil},
		{"secret", regexp.MustCompile(`(?i)\b[a-z0-9_.-]*(?:secret|passw(?:or)?d|passphrase|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key)[a-z0-9_]*["']?\s*(?::=|=>|[:=])\s*["']?([A-Za-z0-9+/_=.~-]{16,})`), dense},
		{"secret", regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_KEY["']?\s*[:=]\s*["']?([A-Za-z0-9+/_=.~-]{16,})`), denseNotID},
	}
})

// Redact replaces credential shapes by "[redacted:KIND]" before anything is
// written. Its kinds are private-key, aws-key, github-token, anthropic-key,
// api-key, slack-token, jwt and secret (a dense value assigned to a telling
// name). It knows shapes, not secrets: a password that looks like a word stays.
// Redact(Redact(b)) is Redact(b).
func Redact(b []byte) []byte {
	for _, s := range shapes() {
		b = s.redact(b)
	}
	return b
}

func (s shape) redact(b []byte) []byte {
	var out []byte
	last := 0
	for _, m := range s.re.FindAllSubmatchIndex(b, -1) {
		lo, hi := m[0], m[1]
		if len(m) > 2 {
			lo, hi = m[2], m[3]
		}
		if s.ok != nil && !s.ok(b[lo:hi]) {
			continue
		}
		out = append(out, b[last:lo]...)
		out = append(out, "[redacted:"+s.kind+"]"...)
		last = hi
	}
	if last == 0 {
		return b
	}
	return append(out, b[last:]...)
}

// mixed wants a digit and a letter: prose with hyphens has no digit.
func mixed(v []byte) bool {
	return bytes.ContainsAny(v, "0123456789") && bytes.ContainsFunc(v, letter)
}

func letter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// dense wants a value too random to be words: digits among letters and at least
// three bits of Shannon entropy a byte, which a hex digest reaches and a
// placeholder such as xxxx-1111 does not. A path is words.
func dense(v []byte) bool {
	return mixed(v) && entropy(v) >= 3 && bytes.Count(v, []byte("/")) < 2
}

// denseNotID is dense, but lets pass what has the shape of a blob id or a ULID,
// because a name that only ends in KEY often holds one.
func denseNotID(v []byte) bool { return dense(v) && !idShape().Match(v) }

var idShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-7][0-9A-HJKMNP-TV-Z]{25})$`)
})

// entropy is the Shannon entropy of v in bits a byte.
func entropy(v []byte) float64 {
	var n [256]int
	for _, c := range v {
		n[c]++
	}
	h := 0.0
	for _, k := range n {
		if k > 0 {
			p := float64(k) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}
