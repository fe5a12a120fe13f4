package exec

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
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

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	keep := min(len(p), c.max-c.b.Len())
	c.b.Write(p[:keep])
	if keep < len(p) && c.lost == 0 && c.full != nil {
		c.full()
	}
	c.lost += len(p) - keep
	return len(p), nil
}

// text is what was kept, with a last line about what was not.
func (c *capped) text() []byte {
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
	return "; stderr: " + head(b.String(), maxLine)
}

// head is the first n bytes of a text at most, in whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
