package irongate

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is one form a credential takes. Group 1 of the pattern, where there is
// one, is the credential; the rest of the match stays.
type shape struct {
	kind string
	// hints are words in lower case, one of which is in every text that the
	// pattern matches: looking for them first is many times faster.
	hints string
	re    *regexp.Regexp
	ok    func(value []byte) bool // a last look; nil accepts
}

// shapes are the forms of credentials that odd knows, the only list there is,
// the most telling first: what one has taken no other matches. The prefixes are
// the ones their issuers publish.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		{"private-key", "private", regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), nil},
		{"aws-key", "akia asia", regexp.MustCompile(`\b((?:AKIA|ASIA)[0-9A-Z]{16})\b`), nil},
		{"github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", regexp.MustCompile(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,})`), nil},
		{"gitlab-token", "glpat- glptt- gldt- glrt- glcbt-", regexp.MustCompile(`\b(gl(?:pat|ptt|dt|rt|cbt)-[A-Za-z0-9_-]{20,})`), mixed},
		{"anthropic-key", "sk-ant-", regexp.MustCompile(`\b(sk-ant-[A-Za-z0-9_-]{16,})`), nil},
		{"api-key", "sk-", regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])(sk-[A-Za-z0-9_-]{20,})`), mixed},
		{"stripe-key", "k_live_", regexp.MustCompile(`\b([sr]k_live_[A-Za-z0-9]{16,})`), nil},
		{"slack-token", "xox xapp-", regexp.MustCompile(`\b(xox[abeprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})`), nil},
		{"slack-webhook", "hooks.slack.com", regexp.MustCompile(`\bhooks\.slack\.com/services/(T[A-Za-z0-9]{6,}/B[A-Za-z0-9]{6,}/[A-Za-z0-9]{16,})`), nil},
		{"google-key", "aiza", regexp.MustCompile(`\b(AIza[A-Za-z0-9_-]{35})`), nil},
		{"google-token", "ya29. gocspx-", regexp.MustCompile(`\b(ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`), nil},
		{"registry-token", "npm_ pypi- hf_ dop_v1_", regexp.MustCompile(`\b(npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{30,}|dop_v1_[a-f0-9]{64})`), nil},
		{"jwt", "eyj", regexp.MustCompile(`\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`), nil},
		{"url-password", "://", regexp.MustCompile(`\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@"'<>{}$%\[\]]{1,64}:([^\s/:@"'<>{}$%\[\]]{8,128})@`), mixed},
		{"secret", "secret passw passphrase token credential api access private auth", regexp.MustCompile(`(?i)\b[a-z0-9_.-]*(?:secret|passw(?:or)?d|passphrase|token|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?key)[a-z0-9_]*["']?\s*(?::=|=>|[:=])\s*["']?([A-Za-z0-9+/_=.~-]{16,})`), dense},
		{"secret", "secret passw token api private", regexp.MustCompile(`(?i)\b[a-z0-9_.-]*(?:api[_-]?key|secret[_-]?key|access[_-]?token|auth[_-]?token|private[_-]?key|client[_-]?secret|passw(?:or)?d)["']?\s*(?::=|=>|[:=])\s*["']([^\s"'<>{}$%\[\]]{8,})["']`), quotedSecret},
		{"secret", "_key", regexp.MustCompile(`\b[A-Z][A-Z0-9_]*_KEY["']?\s*[:=]\s*["']?([A-Za-z0-9+/_=.~-]{16,})`), denseNotID},
	}
})

// Redact replaces credential shapes by "[redacted:KIND]" before anything is
// written. It knows shapes, not secrets: a password that looks like a word
// stays. Redact(Redact(b)) is Redact(b).
func Redact(b []byte) []byte {
	for _, s := range shapes() {
		b = s.redact(b)
	}
	return b
}

func (s shape) redact(b []byte) []byte {
	var out []byte
	last := 0
	for _, m := range s.matches(b) {
		out = append(out, b[last:m[0]]...)
		out = append(out, "[redacted:"+s.kind+"]"...)
		last = m[1]
	}
	if last == 0 {
		return b
	}
	return append(out, b[last:]...)
}

// matches returns where credentials of the shape begin and end.
func (s shape) matches(b []byte) [][2]int {
	var out [][2]int
	lower := bytes.ReplaceAll(bytes.ToLower(b), []byte("ſ"), []byte("s")) // which a pattern takes for an s too
	if !slices.ContainsFunc(strings.Fields(s.hints), func(h string) bool { return bytes.Contains(lower, []byte(h)) }) {
		return nil
	}
	for _, m := range s.re.FindAllSubmatchIndex(b, -1) {
		lo, hi := m[0], m[1]
		if len(m) > 2 {
			lo, hi = m[2], m[3]
		}
		if s.ok == nil || s.ok(b[lo:hi]) {
			out = append(out, [2]int{lo, hi})
		}
	}
	return out
}

// secret is one credential in a text.
type secret struct {
	kind, value string
	line        int
}

// secrets finds the credentials of a text, in its order. What one shape has
// taken is blanked for the next.
func secrets(b []byte) []secret {
	var out []secret
	b = slices.Clone(b)
	for _, s := range shapes() {
		for _, m := range s.matches(b) {
			out = append(out, secret{s.kind, string(b[m[0]:m[1]]), 1 + bytes.Count(b[:m[0]], []byte("\n"))})
			for i := m[0]; i < m[1]; i++ {
				if b[i] != '\n' {
					b[i] = ' '
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b secret) int { return a.line - b.line })
	return out
}

// Secrets finds credentials that a change brings in: those in no file of it at
// the base, wherever they have moved. The finding never shows the credential.
func Secrets(files []File) []Finding {
	old := map[string]bool{}
	for _, f := range files {
		for _, s := range secrets(f.Before) {
			old[s.value] = true
		}
	}
	var out []Finding
	for _, f := range files {
		for _, s := range secrets(f.After) {
			if !old[s.value] {
				out = append(out, Finding{Code: "secret_introduced", Severity: Hard, How: ByText, Path: f.Path, Line: s.line,
					Text: fmt.Sprintf("holds what looks like a credential (%s)", s.kind), Fix: "read it from the environment or a secret store, and revoke it if it is real"})
			}
		}
	}
	return out
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

// quotedSecret takes what stands in quotes behind a telling name, unless it says
// itself that it is a placeholder, or is not random enough for more than one.
func quotedSecret(v []byte) bool {
	return mixed(v) && entropy(v) >= 2.5 && !placeholder().Match(v)
}

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)example|placeholder|changeme|change-me|change_me|dummy|fake|redacted|your[_-]|xxxx|test|sample|env\.|os\.|secrets\.|^/|://`)
})

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
