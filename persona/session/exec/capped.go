package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// capped keeps the first max bytes written to it and counts the rest. It never
// refuses a write, so that the writer meets the limit as a kill and not as a
// broken pipe it may ignore.
type capped struct {
	b    bytes.Buffer
	max  int
	lost int
	full func() // called once, at the first byte too many; may be nil
}

func (c *capped) Write(p []byte) (int, error) {
	keep := min(len(p), c.max-c.b.Len())
	c.b.Write(p[:keep])
	if keep < len(p) && c.lost == 0 && c.full != nil {
		c.full()
	}
	c.lost += len(p) - keep
	return len(p), nil
}

// keptText is what was kept, with a last line about what was not.
func (c *capped) keptText() []byte {
	if c.lost == 0 {
		return c.b.Bytes()
	}
	return fmt.Appendf(bytes.Clone(c.b.Bytes()), "\n[cut: %d more bytes]\n", c.lost)
}

// maxLine is how many bytes of a program's last line are told.
const maxLine = 200

// lastLine is what a failure tells of standard error: "; stderr: " and its last
// line that is not blank, without credentials, with what nobody can see by
// number, and at most maxLine bytes of it; "" where there is none. What was cut
// off has no last line that is known, so the last that was kept is told.
func (c *capped) lastLine() string {
	text := strings.ReplaceAll(string(secrets.Redact(c.b.Bytes())), "\r\n", "\n")
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if line == "" {
		return ""
	}
	var b strings.Builder
	for _, r := range line {
		s := string(r)
		if r == '\t' || okf.Visible(s) != s {
			s = fmt.Sprintf("<U+%04X>", r)
		}
		b.WriteString(s)
	}
	line = b.String()
	return "; stderr: " + strings.ToValidUTF8(line[:min(len(line), maxLine)], "")
}

// middle keeps the beginning and the end of what is written to it.
type middle struct {
	head []byte
	tail []byte // the last bytes, in a ring once it is full
	next int    // where the ring goes on
	half int
	lost int
}

func newMiddle(max int) *middle {
	if max <= 0 {
		max = DefaultOutput
	}
	return &middle{half: (max + 1) / 2}
}

// Write implements io.Writer; it takes everything.
func (m *middle) Write(p []byte) (int, error) {
	n := len(p)
	keep := min(n, m.half-len(m.head))
	m.head = append(m.head, p[:keep]...)
	p = p[keep:]
	if over := len(p) - m.half; over > 0 { // these the rest would push out anyway
		m.lost += over
		p = p[over:]
	}
	for len(p) > 0 {
		k := min(len(p), m.half-len(m.tail))
		if k > 0 {
			m.tail = append(m.tail, p[:k]...)
		} else {
			k = copy(m.tail[m.next:], p)
			m.next, m.lost = (m.next+k)%m.half, m.lost+k
		}
		p = p[k:]
	}
	return n, nil
}

// keptText is what was kept, without credentials. What is cut is cut at the ends of
// lines, so that no half of a credential is left that nobody knows for one.
func (m *middle) keptText() []byte {
	tail := append(bytes.Clone(m.tail[m.next:]), m.tail[:m.next]...)
	if m.lost == 0 {
		return secrets.Redact(append(bytes.Clone(m.head), tail...))
	}
	head := m.head[:bytes.LastIndexByte(m.head, '\n')+1]
	_, whole, _ := bytes.Cut(tail, []byte("\n"))
	lost := m.lost + len(m.head) - len(head) + len(tail) - len(whole)
	out := fmt.Appendf(bytes.Clone(secrets.Redact(head)), "[cut: %d bytes]\n", lost)
	return append(out, secrets.Redact(whole)...)
}

// ClassOf is the class of an agent program's failure by its words alone.
func ClassOf(said string) session.Class {
	if m := regexp.MustCompile(`API Error: (\d{3})\b`).FindStringSubmatch(said); m != nil {
		status, _ := strconv.Atoi(m[1])
		return session.ClassOfStatus(status, said)
	}
	if session.Overflows(said) {
		return session.ContextOverflow
	}
	for _, w := range []struct {
		class session.Class
		words string
	}{
		{session.Permanent, `not logged in|/login|invalid api key|authentication|credit balance|unknown option|no conversation found|issue with the selected model`},
		{session.RateLimited, `rate limit|usage limit|hit your limit|limit reached`},
		{session.ConnectionError, `connection error|unable to connect|ECONNREFUSED|ENOTFOUND|ECONNRESET|fetch failed`},
		{session.TimedOut, `timed out|timeout`},
		{session.ServerError, `overloaded|internal server error`},
	} {
		if regexp.MustCompile(`(?i)` + w.words).MatchString(said) {
			return w.class
		}
	}
	return session.TransientTransport
}

// MicroUSD reads a JSON number of dollars, exactly, and rounds it up to the
// micro-dollar. What is beyond the twelfth decimal comes from adding floating-point
// numbers, and is nobody's price. ok is false for what is no amount that one session can cost.
func MicroUSD(raw json.RawMessage) (n int64, ok bool) {
	var lit json.Number
	if len(raw) == 0 || len(raw) > 64 || raw[0] == '"' || json.Unmarshal(raw, &lit) != nil || lit == "" {
		return 0, false
	}
	switch f, err := strconv.ParseFloat(string(lit), 64); {
	case err != nil || f < 0 || f > 1e6:
		return 0, false
	case f < 1e-30: // nothing, or what no API bills
		return 0, true
	}
	v, good := new(big.Rat).SetString(string(lit))
	if !good {
		return 0, false
	}
	if v, good = new(big.Rat).SetString(v.FloatString(12)); !good {
		return 0, false
	}
	v.Mul(v, big.NewRat(1_000_000, 1))
	q, rest := new(big.Int).QuoRem(v.Num(), v.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q.Int64(), true
}
