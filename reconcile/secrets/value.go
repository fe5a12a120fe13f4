package secrets

import (
	"bytes"
	"math"
	"slices"
)

// hasDigitAndLetter wants a digit and a letter: prose with hyphens has no digit.
func hasDigitAndLetter(v []byte) bool {
	return bytes.ContainsAny(v, "0123456789") && bytes.ContainsFunc(v, isLetter)
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// isDense wants a value too random to be words: digits among letters and at least
// three bits of Shannon entropy a byte, which a hex digest reaches and a
// placeholder such as xxxx-1111 does not. A path is words.
func isDense(v []byte) bool {
	least := 3.0
	if len(v) < 16 { // few bytes cannot be as varied
		least = 2.6
	}
	return hasDigitAndLetter(v) && shannonEntropy(v) >= least && bytes.Count(v, []byte("/")) < 2
}

// isRandom wants what no word and no path is: digits among letters of both cases.
func isRandom(v []byte) bool {
	return hasDigitAndLetter(v) && shannonEntropy(v) >= 3.5 && !placeholder().Match(v)
}

// isOpaque wants a value that is no word: a digit, or letters of both cases.
func isOpaque(v []byte) bool {
	cased := bytes.ContainsFunc(v, func(r rune) bool { return r >= 'a' && r <= 'z' }) && bytes.ContainsFunc(v[1:], func(r rune) bool { return r >= 'A' && r <= 'Z' })
	return (hasDigitAndLetter(v) || cased) && shannonEntropy(v) >= 2.5 && !placeholder().Match(v)
}

// quotedSecret takes what stands in quotes behind a telling name, unless it says
// itself that it is a placeholder, or is not random enough for more than one.
func quotedSecret(v []byte) bool {
	return hasDigitAndLetter(v) && shannonEntropy(v) >= 2.5 && !placeholder().Match(v)
}

// ownID are the names that odd gives runs and changes.
var ownID = lazyRegexp(`^(?:op|run)-[0-9A-HJKMNP-TV-Z]{26}$`)

var placeholder = lazyRegexp(`(?i)example|placeholder|changeme|change-me|change_me|dummy|fake|redacted|your[_-]|xxxx|test|sample|env\.|os\.|secrets\.|^/|://`)

// denseNotID is dense, but lets pass what has the shape of a blob id or a ULID,
// because a name that only ends in KEY often holds one.
func denseNotID(v []byte) bool { return isDense(v) && !idShape().Match(v) }

var idShape = lazyRegexp(`^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-7][0-9A-HJKMNP-TV-Z]{25})$`)

func shannonEntropy(v []byte) float64 {
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

// readAssignment reads NAME=value, "name": "value", <name>value</name>, name type = "value"
// and their like, in code, settings and JSON in JSON, from a telling word of the name on.
func readAssignment(b, low []byte, i int) (lo, hi int, ok bool) {
	end := skipWhile(low, i+1, i+longName, nameByte)
	at, typed := valueAt(b, end)
	if at < 0 {
		return 0, 0, false
	}
	lo = openQuote(b, at)
	quoted := lo > at
	if typed && !quoted {
		return 0, 0, false
	}
	hi = skipWhile(b, lo, lo+longValue, plainByte)
	value := b[lo:hi]
	if ownID().Match(value) { // behind the name of a task such as rotate-the-client-secret
		return 0, 0, false
	}
	if low[i] == '_' { // a name that only ends in KEY, in capitals
		return lo, hi, end == i+len("_key") && inCapitals(b[:end]) && len(value) >= 16 && denseNotID(value)
	}
	if len(value) >= 14 && isDense(value) && (len(value) >= 16 || !placeholder().Match(value)) && (quoted || !isCode(value, b[hi:])) {
		return lo, skipWhile(b, hi, len(b), plainByte), true // a longer one is judged by its head and goes whole
	}
	name := bytes.TrimRight(low[:end], "_")
	if !quoted || !slices.ContainsFunc(quotedNames(), func(n string) bool { return bytes.HasSuffix(name, []byte(n)) }) {
		return 0, 0, false
	}
	hi = skipWhile(b, lo, lo+longValue, quotedByte)
	closed := hi < len(b) && (quoteMark(b[hi]) || b[hi] == '\\')
	return lo, hi, closed && hi-lo >= 8 && quotedSecret(b[lo:hi])
}

// valueAt is where the value of a name that ends at end begins, -1 where it is given
// none; typed says that a type stands between them.
func valueAt(b []byte, end int) (at int, typed bool) {
	named := openQuote(b, end)
	at = skipSpace(b, named)
	n := separatorLength(b[at:])
	if n == 0 && named > end && at < len(b) && b[at] == ',' { // the second argument behind a name
		n = 1
	}
	if n == 0 || b[at] == ':' && n == 1 {
		if t := typeOf(b[at+n:]); t > 0 {
			return skipSpace(b, at+n+t), true
		}
	}
	if n == 0 {
		return -1, false
	}
	return skipSpace(b, at+n), false
}

// typeOf is how long a type and the sign of assignment behind it are, 0 for none.
func typeOf(b []byte) int {
	if m := declared().FindSubmatchIndex(b[:min(len(b), 48)]); m != nil {
		return m[3]
	}
	return 0
}

var declared = lazyRegexp(`^([ \t]*[A-Za-z&*\[\]][A-Za-z0-9_.&*'<>\[\] ]{0,32}[ \t]*=[ \t]*)\\{0,3}["'\x60]`)

// isCode reports a value without quotes that is a name of the program or a call of it.
func isCode(v, rest []byte) bool {
	return len(rest) > 0 && (rest[0] == '(' || rest[0] == '[') || codeName().Match(v)
}

// codeName is a name of some words in capitals and small letters, which a secret has at random only.
var codeName = lazyRegexp(`^(?:[A-Za-z]\w*\.)*(?:[a-z]+[0-9]*(?:[A-Z]+[a-z]{2,}[0-9]*|[A-Z]{2,}[0-9]+)+|(?:[A-Z]+[a-z]{2,}[0-9]*){2,})(?:\.\w+)*(?:_\w+)?$`)

// skipWhile returns the place behind the bytes from i to most that are of a kind.
func skipWhile(b []byte, i, most int, of func(byte) bool) int {
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
	if at < len(b) && quoteMark(b[at]) {
		return at + 1
	}
	return i
}

func quoteMark(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// skipSpace returns the place behind the blanks at i, with one line break among them at most.
func skipSpace(b []byte, i int) int {
	lines := 0
	for ; i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n' && lines == 0); i++ {
		if b[i] == '\n' {
			lines++
		}
	}
	return i
}

// separatorLength is how long the sign is that gives a name its value, 0 for none.
func separatorLength(b []byte) int {
	for _, sign := range []string{":::=", "::=", "||=", ":=", "=>", "?=", ".=", "+=", ":", "=", ">"} {
		if bytes.HasPrefix(b, []byte(sign)) {
			return len(sign)
		}
	}
	return 0
}

// kubernetesSecret is the data of a Kubernetes secret, from the line that says its kind: all
// the values of the block.
func kubernetesSecret(b, low []byte, i int) (lo, hi int, ok bool) {
	if !secretKind().Match(low[i:lineEnd(low, i)]) {
		return 0, 0, false
	}
	from, to := 0, len(b)
	if n := bytes.LastIndex(b[:i], []byte("\n---")); n >= 0 {
		from = n
	}
	if n := bytes.Index(b[i:], []byte("\n---")); n >= 0 {
		to = i + n
	}
	m := secretData().FindSubmatchIndex(b[from:to])
	if m == nil {
		return 0, 0, false
	}
	return from + m[2], from + m[3], true
}

var (
	secretKind = lazyRegexp(`^kind:[ \t]*["']?secret["']?[ \t\r]*(?:\n|$)`)
	secretData = lazyRegexp(`(?m)^[ \t]*data:[ \t]*\n(?:[ \t]*#.*\n)*[ \t]+[\w.-]+:[ \t]*(?:[|>]-?[ \t]*\n[ \t]*)?["']?([A-Za-z0-9+/]{8,}={0,2}(?:\n?[ \t]+[\w.-]+:[ \t]*["']?[A-Za-z0-9+/]{4,}={0,2}["']?)*)`)
)
