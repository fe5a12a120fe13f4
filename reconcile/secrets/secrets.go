// Package secrets finds credentials in a text by the shapes that their issuers
// publish and by the names in front of them, and takes them out before anything is
// written or sent. It also finds a credential that is written with escapes,
// colours of a terminal or invisible characters.
package secrets

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// shape is one form a credential takes. The group of the pattern that matched, where
// it has any, is the credential; the rest of the match stays.
type shape struct {
	kind string
	// hints are words in lower case, with | between them, one of which is in every
	// text that the pattern matches: looking for them first is many times faster.
	hints string
	re    *expression
	ok    func(value []byte) bool // a last look; nil accepts
	// at is instead of matching the pattern: where the credential is that a hint at i leads to.
	at func(b, low []byte, i int) (lo, hi int, ok bool)
	// rest is how many bytes every match has from its hint on, the hint's own with
	// them, and that no letter, digit, "-" or "_" is before it, where the hint is so
	// short that many names have it; 0 is not said.
	rest int
}

// ruleText is the shape as the hash of all rules has it.
func (s shape) ruleText() string {
	if s.re == nil {
		return s.hints + " " + s.kind + ".2 " + strings.Join(quotedNames(), "|")
	}
	return s.re.text
}

// expression is compiled when it is first needed: most texts have no hint of a shape.
type expression struct {
	text     string
	compiled func() *regexp.Regexp
}

func newExpression(text string) *expression {
	return &expression{text, lazyRegexp(text)}
}

func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// shapes are the forms of credentials that odd knows, the only list there is,
// the most telling first: what one has taken no other matches. The prefixes are
// the ones their issuers publish.
var shapes = sync.OnceValue(func() []shape {
	return []shape{
		{"private-key", "-----begin", newExpression(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`), nil, nil, 0},
		{"aws-key", "akia|asia|abia|acca", newExpression(`\b((?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b`), nil, nil, 0},
		{"github-token", "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_", newExpression(`\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,})`), nil, nil, 0},
		{"gitlab-token", "glpat-|glptt-|gldt-|glrt-|glcbt-|glft-|glffct-|glimt-|glagent-|gloas-|glsoat-|gr1348941", newExpression(`\b(gl(?:pat|ptt|dt|rt|cbt|ft|ffct|imt|agent|oas|soat)-[A-Za-z0-9_-]{20,}|GR1348941[A-Za-z0-9_-]{20,})`), hasDigitAndLetter, nil, 0},
		{"anthropic-key", "sk-ant-", newExpression(`\b(sk-ant-[A-Za-z0-9_-]{16,})`), nil, nil, 0},
		{"api-key", "sk-", newExpression(`(?:^|[^A-Za-z0-9_-])(sk-[A-Za-z0-9_-]{20,})`), hasDigitAndLetter, nil, len("sk-") + 20},
		{"stripe-key", "k_live_", newExpression(`\b([sr]k_live_[A-Za-z0-9]{16,})`), nil, nil, 0},
		{"slack-token", "xox|xapp-", newExpression(`\b(xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})`), nil, nil, 0},
		{"slack-webhook", "hooks.slack.com", newExpression(`\bhooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9]{43,}|T[A-Za-z0-9]{6,}/[AB][A-Za-z0-9]{6,}/(?:[0-9]{10,}/)?[A-Za-z0-9]{16,})`), nil, nil, 0},
		{"webhook", "api/webhooks/|webhook.office.com", newExpression(`\bdiscord(?:app)?\.com/api/webhooks/([0-9]{16,20}/[A-Za-z0-9_-]{60,})|\bwebhook\.office\.com/webhookb2/([A-Za-z0-9@-]+/IncomingWebhook/[A-Za-z0-9]+/[A-Za-z0-9-]+)`), nil, nil, 0},
		{"webhook-secret", "whsec_", newExpression(`\b(whsec_[A-Za-z0-9+/=]{24,})`), nil, nil, 0},
		{"google-key", "aiza", newExpression(`\b(AIza[A-Za-z0-9_-]{35})`), nil, nil, 0},
		{"google-token", "ya29.|gocspx-", newExpression(`\b(ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})`), nil, nil, 0},
		{"registry-token", "npm_|pypi-|hf_|dckr_pat_|rubygems_|clojars_|pul-", newExpression(`\b(npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{40,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|rubygems_[a-f0-9]{40,}|CLOJARS_[a-zA-Z0-9]{60}|pul-[a-f0-9]{40})\b`), nil, nil, 0},
		{"service-token", prefixHints(), newExpression(prefixPattern()), nil, tokenAt, 20},
		{"service-token", ".atlasv1.", newExpression(`\b([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70})`), hasDigitAndLetter, nil, 0},
		{"azure-secret", "q~", newExpression(`(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)`), hasDigitAndLetter, nil, 0},
		{"bot-token", ":a", newExpression(`\b([0-9]{5,16}:A[A-Za-z0-9_-]{33,})`), nil, nil, 0},
		{"license-key", "contribsys", newExpression(`(?i)contribsys__com\w{0,16}["'\x60]?[^\w\n]{0,12}\b([a-f0-9]{8}:[a-f0-9]{8})\b|\b([a-f0-9]{8}:[a-f0-9]{8})@(?:gems|enterprise)\.contribsys\.com`), nil, nil, 0},
		{"config-password", "add key=", newExpression(`(?i)<add key=\\*"(?:cleartext)?password\\*"\s+value=\\*"([^"$%{}<>][^"{}<>\\]{7,})`), nil, nil, 0},
		{"app-token", "facebook", newExpression(`(?i)facebook[^\n]{0,40}?\b([0-9]{15,16}(?:\||%7C)[0-9a-z_-]{27,40})`), hasDigitAndLetter, nil, 0},
		{"access-id", "sumo", newExpression(`(?i:sumo)[\w.-]{0,24}\\*["']?[\s>]{0,4}[:=,]{0,2}\s{0,4}\\*["'\x60]?(su[A-Za-z0-9]{12})\b`), hasDigitAndLetter, nil, 0},
		{kind: "kubernetes-secret", hints: "kind:", at: kubernetesSecret},
		{"jwt", "eyj", newExpression(`\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,})`), nil, nil, 0},
		{"jwt", "zxlk", newExpression(`\b(ZXlK[A-Za-z0-9+/_-]{60,}={0,2})`), hasDigitAndLetter, nil, 0}, // the same in base64
		{"azure-key", "accountkey|sharedaccesskey", newExpression(`(?i)\b(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})`), nil, nil, 0},
		{"azure-signature", "sig=", newExpression(`(?:[?&;]|\\u0026)sig=([A-Za-z0-9%/+_-]{40,}(?:=|%3D)?)`), hasDigitAndLetter, nil, 0},
		{"aws-secret", "aws", newExpression(`(?i)\baws[a-z0-9_. -]{0,24}(?:secret|private)[a-z0-9_. -]{0,24}\\*["']?\s*(?::=|=>|[:=])\s*\\*["']?([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)`), isRandom, nil, 0},
		{"authorization", "authorization", newExpression(`(?i)\b(?:proxy-)?authorization\\*["']?\s*(?::=|=>|[:=])\s*\\*["']?(?:(?:bearer|basic|token|digest|apikey)\s+)?([A-Za-z0-9+/_=.~-]{12,})`), isOpaque, nil, 0},
		{"bearer-token", "bearer", newExpression(`(?i)\bbearer\s+([A-Za-z0-9+/_=.~-]{20,})`), isRandom, nil, 0},
		{"login-password", "login |curl", newExpression(`(?i)\b(?:login[ \t]+\S+[ \t]+password[ \t]+|curl\b(?:[^\n]|\\\n){0,400}?[ \t](?:-u|--user)[ =]{1,2}[\\"']{0,4}[^\s:\\"'<>$]{0,64}:[\\"']{0,4})([^\s\\"'<>{}$][^\s\\"'<>]{7,})`), isOpaque, nil, 0},
		{"login-password", "curl", newExpression(`(?i)\bcurl\b(?:[^\n]|\\\n){0,200}?[ \t](?:-u|--user)[ =]{1,2}["']([^\s:"'<>{}$]{8,64}):["']`), hasDigitAndLetter, nil, 0},
		{"url-password", "://", newExpression(`\b[a-z][a-z0-9+.-]{1,15}://[^\s/:@"'<>{}$%\[\]]{0,64}:([^\s/:@"'<>{}$%\[\]]{8,128})@`), hasDigitAndLetter, nil, 0},
		{kind: "secret", hints: strings.Join(assignWords(), "|"), at: readAssignment},
	}
})

// Redact replaces credential shapes by "[redacted:KIND]" before anything is
// written or sent. It knows shapes, not secrets: a password that looks like a
// word stays. One that is hidden from the eye or written in escapes is found like
// one that is not. Redact(Redact(b)) is Redact(b). It takes time in proportion to
// the text, and text without a telling word next to none.
func Redact(b []byte) []byte {
	return replaceSecrets(b, findSecrets(b), func([]byte) string { return "" })
}

// replaceSecrets returns b with the name of its kind for each credential, and what more behind it.
func replaceSecrets(b []byte, in []spot, more func(value []byte) string) []byte {
	if len(in) == 0 {
		return b
	}
	var out []byte
	last := 0
	for _, f := range in {
		out = append(out, b[last:f.lo]...)
		out = append(out, Mark+shapes()[f.shape].kind+"]"+more(b[f.lo:f.hi])...)
		last = f.hi
	}
	return append(out, b[last:]...)
}

// RedactLines is Redact of a text of which single lines will be shown: one that
// goes over several lines leaves as many.
func RedactLines(b []byte) []byte {
	return replaceSecrets(b, findSecrets(b), func(value []byte) string { return strings.Repeat("\n", bytes.Count(value, []byte("\n"))) })
}

// RedactText is Redact of a string.
func RedactText(s string) string {
	if !hasHint(s) {
		return s
	}
	return string(Redact([]byte(s)))
}

// hasHint reports whether a hint of any shape stands in s, where and with as much
// behind it as its shape has, or may in another view of it. Most texts that are
// shown, such as the cells of a table, have none, and it copies nothing to say so:
// task-12 holds the hint of an API key and is no more than a name.
func hasHint(s string) bool {
	if len(s) < 2 {
		return false
	}
	if mayHideText(s) {
		return true
	}
	table, before := starts(), lowerByte(s[0])
	for i := range len(s) - 1 {
		next := lowerByte(s[i+1])
		if n := table.of[uint16(before)<<8|uint16(next)]; n > 0 && table.hintAt(n, s, i) {
			return true
		}
		before = next
	}
	return false
}

func (t *startTable) hintAt(list uint8, s string, i int) bool {
	for _, h := range t.lists[list] {
		if len(s)-i < max(len(h.hint), h.rest) || h.rest > 0 && i > 0 && nameByte(lowerByte(s[i-1])) {
			continue
		}
		n := 2
		for n < len(h.hint) && lowerByte(s[i+n]) == h.hint[n] {
			n++
		}
		if n == len(h.hint) {
			return true
		}
	}
	return false
}

// lowerASCII returns b with its ASCII letters in lower case, each byte where it was.
func lowerASCII(b []byte) []byte {
	low := bytes.Clone(b)
	for i, c := range low {
		low[i] = lowerByte(c)
	}
	return low
}

// lowerByte returns an ASCII letter in lower case, and any other byte as it is.
func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// startTable lists the hints, of two bytes and more, by their first two. of says
// which of the lists that is; the first is empty.
type startTable struct {
	of    [1 << 16]uint8
	lists [][]start
}

type start struct {
	shape int
	hint  []byte
	rest  int
}

var starts = sync.OnceValue(func() *startTable {
	t := &startTable{lists: make([][]start, 1)}
	for i, s := range shapes() {
		for h := range strings.SplitSeq(s.hints, "|") {
			n := &t.of[uint16(h[0])<<8|uint16(h[1])]
			if *n == 0 {
				*n = uint8(len(t.lists))
				t.lists = append(t.lists, nil)
			}
			t.lists[*n] = append(t.lists[*n], start{i, []byte(h), s.rest})
		}
	}
	return t
})

// findHints lists by shape where a hint of it stands, in order: one walk for all
// shapes; nil where there is none.
func findHints(low []byte) [][]int {
	var hits [][]int
	table := starts()
	for i := 0; i+1 < len(low); i++ {
		for _, s := range table.lists[table.of[uint16(low[i])<<8|uint16(low[i+1])]] {
			if bytes.HasPrefix(low[i:], s.hint) {
				if hits == nil {
					hits = make([][]int, len(shapes()))
				}
				hits[s.shape] = append(hits[s.shape], i)
			}
		}
	}
	return hits
}

// findMatches returns where credentials of the shape begin and end. low is b folded,
// and hits are where its hints stand.
func (s shape) findMatches(b, low []byte, hits []int) [][2]int {
	var out [][2]int
	if s.at != nil {
		last := 0
		for _, i := range hits {
			if lo, hi, ok := s.at(b, low, i); ok && lo >= last {
				out = append(out, [2]int{lo, hi})
				last = hi
			}
		}
		return out
	}
	for _, w := range s.findWindows(low, hits) {
		for _, m := range s.re.compiled().FindAllSubmatchIndex(b[w[0]:w[1]], -1) {
			lo, hi := m[0], m[1]
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 {
					lo, hi = m[g], m[g+1]
				}
			}
			if lo, hi = lo+w[0], hi+w[0]; !isCrossedOut(b[lo:hi]) && (s.ok == nil || s.ok(b[lo:hi])) {
				out = append(out, [2]int{lo, hi})
			}
		}
	}
	return out
}

// isCrossedOut reports a value that somebody has crossed out, as documents do.
func isCrossedOut(v []byte) bool {
	return bytes.Contains(v, []byte("xxxxxx")) || bytes.Contains(v, []byte("XXXXXX")) || bytes.Contains(v, []byte("******"))
}

// findWindows returns where the shape may be: the lines with a hint and the line behind
// each, because a value may stand below its name. A key's block may be of any length.
func (s shape) findWindows(low []byte, hits []int) [][2]int {
	if s.kind == "private-key" && len(hits) > 0 {
		return [][2]int{{hits[0], len(low)}}
	}
	var out [][2]int
	own := 0 // behind the line of the last hit: a line is looked at once, however many stand in it
	for _, i := range hits {
		if i < own {
			continue
		}
		own = lineEnd(low, i)
		w := [2]int{1 + bytes.LastIndexByte(low[:i], '\n'), lineEnd(low, own)}
		if n := len(out) - 1; n >= 0 && w[0] < out[n][1] {
			out[n][1] = w[1]
			continue
		}
		out = append(out, w)
	}
	return out
}

// lineEnd is behind the line that holds i.
func lineEnd(b []byte, i int) int {
	if n := bytes.IndexByte(b[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(b)
}

// Secret is one credential in a text. ByPlace says that the words around it or its
// wrapping tell what it is; others carry the mark of who issued them.
type Secret struct {
	Kind, Value string
	Line        int // from 1
	ByPlace     bool
}

// Find returns the credentials of a text, in its order.
func Find(b []byte) []Secret {
	var out []Secret
	line, last := 1, 0
	for _, f := range findSecrets(b) {
		line += bytes.Count(b[last:f.lo], []byte("\n"))
		last = f.lo
		kind := shapes()[f.shape].kind
		out = append(out, Secret{kind, string(b[f.lo:f.hi]), line, slices.Contains(placedKinds, kind)})
	}
	return out
}

var placedKinds = []string{"private-key", "jwt", "authorization", "bearer-token", "login-password", "url-password", "config-password", "kubernetes-secret", "secret"}

// Patterns lists what Find looks for, one line a shape, so that a hash of them shows
// that they changed.
func Patterns() []string {
	var out []string
	for _, s := range shapes() {
		out = append(out, s.kind+" "+s.ruleText())
	}
	return out
}

// AddedLines returns the lines of a file that none of its earlier texts has, however they end.
func AddedLines(now []byte, before [][]byte) []byte {
	had := map[string]bool{}
	for _, b := range before {
		for l := range bytes.Lines(b) {
			had[string(bytes.TrimRight(l, "\r\n"))] = true
		}
	}
	var out []byte
	for l := range bytes.Lines(now) {
		if !had[string(bytes.TrimRight(l, "\r\n"))] {
			out = append(out, l...)
		}
	}
	return out
}
