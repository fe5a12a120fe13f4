package irongate

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"sync"
)

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

// random wants what no word and no path is: digits among letters of both cases.
func random(v []byte) bool { return mixed(v) && entropy(v) >= 3.5 && !placeholder().Match(v) }

// opaque wants a value that is no word: a digit, or letters of both cases.
func opaque(v []byte) bool {
	cased := bytes.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' }) && bytes.ContainsFunc(v[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' })
	return (mixed(v) || cased) && entropy(v) >= 2.5 && !placeholder().Match(v)
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

// assignWords are what the name of a secret ends in or holds, in lower case.
func assignWords() []string {
	return []string{"secret", "password", "passwd", "passphrase", "token", "credential", "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey",
		"private_key", "private-key", "privatekey", "auth_key", "auth-key", "authkey", "_key"}
}

// quotedNames end the names of which a quoted value may be short.
func quotedNames() []string {
	return []string{"api_key", "api-key", "apikey", "secret_key", "secret-key", "secretkey", "access_token", "access-token", "accesstoken", "auth_token", "auth-token", "authtoken",
		"private_key", "private-key", "privatekey", "client_secret", "client-secret", "clientsecret", "password", "passwd"}
}

// How far a name goes on behind its telling word, and how much of a value tells what
// it is, in bytes: without an end to them a long line would take the square of its time.
const longName, longValue = 64, 256

// assigned reads NAME=value, "name": "value" and their like, in code, settings
// and JSON in JSON, from a telling word of the name on.
func assigned(b, low []byte, i int) (lo, hi int, ok bool) {
	end := while(low, i+1, i+longName, nameByte)
	at := openQuote(b, end)
	at = space(b, at)
	n := separator(b[at:])
	if n == 0 {
		return 0, 0, false
	}
	at = space(b, at+n)
	lo = openQuote(b, at)
	quoted := lo > at
	hi = while(b, lo, lo+longValue, plainByte)
	value := b[lo:hi]
	if low[i] == '_' { // a name that only ends in KEY, in capitals
		return lo, hi, end == i+len("_key") && inCapitals(b[:end]) && len(value) >= 16 && denseNotID(value)
	}
	if len(value) >= 16 && dense(value) {
		return lo, while(b, hi, len(b), plainByte), true // a longer one is judged by its head and goes whole
	}
	name := bytes.TrimRight(low[:end], "_")
	if !quoted || !slices.ContainsFunc(quotedNames(), func(n string) bool { return bytes.HasSuffix(name, []byte(n)) }) {
		return 0, 0, false
	}
	hi = while(b, lo, lo+longValue, quotedByte)
	closed := hi < len(b) && (b[hi] == '"' || b[hi] == '\'' || b[hi] == '\\')
	return lo, hi, closed && hi-lo >= 8 && quotedSecret(b[lo:hi])
}

// while is behind the bytes from i to most that are of a kind.
func while(b []byte, i, most int, of func(byte) bool) int {
	for i < len(b) && i <= most && of(b[i]) {
		i++
	}
	return i
}

func nameByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
}

// plainByte may be in a value without quotes.
func plainByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || bytes.IndexByte([]byte("+/_=.~-"), c) >= 0
}

// quotedByte may be in a short value between quotes.
func quotedByte(c byte) bool {
	return c > ' ' && c != 0x7f && bytes.IndexByte([]byte("\"'\\<>{}$%[]"), c) < 0
}

// inCapitals reports a name in capitals that ends text, with something before its _KEY.
func inCapitals(text []byte) bool {
	n := len(text)
	for n > 0 && (text[n-1] == '_' || text[n-1] >= '0' && text[n-1] <= '9' || text[n-1] >= 'A' && text[n-1] <= 'Z') {
		n--
	}
	return bytes.HasSuffix(text, []byte("_KEY")) && len(text)-n > len("_KEY")
}

// openQuote is behind one quote at i, escaped or not; i where there is none.
func openQuote(b []byte, i int) int {
	at := i
	for at < len(b) && at < i+4 && b[at] == '\\' {
		at++
	}
	if at < len(b) && (b[at] == '"' || b[at] == '\'') {
		return at + 1
	}
	return i
}

// space is behind the blanks at i, with one line break among them at most.
func space(b []byte, i int) int {
	lines := 0
	for ; i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' && lines == 0); i++ {
		if b[i] == '\n' {
			lines++
		}
	}
	return i
}

// separator is how long the sign is that gives a name its value, 0 for none.
func separator(b []byte) int {
	switch {
	case bytes.HasPrefix(b, []byte(":=")), bytes.HasPrefix(b, []byte("=>")):
		return 2
	case len(b) > 0 && (b[0] == ':' || b[0] == '='):
		return 1
	}
	return 0
}
