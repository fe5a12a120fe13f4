package exec

import (
	"bytes"
	"fmt"
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
