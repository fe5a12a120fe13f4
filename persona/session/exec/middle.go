package exec

import (
	"bytes"
	"fmt"

	"github.com/odd-cli/odd/reconcile/secrets"
)

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

// text is what was kept, without credentials. What is cut is cut at the ends of
// lines, so that no half of a credential is left that nobody knows for one.
func (m *middle) text() []byte {
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
