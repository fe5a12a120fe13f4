package repo

import (
	"encoding/binary"
	"errors"
)

var errDelta = errors.New("malformed delta in a pack")

// deltaSizes reads the head of a delta: how long its base is, and what it makes.
func deltaSizes(d []byte) (base, made int64, rest []byte, err error) {
	b, n := binary.Uvarint(d)
	if n <= 0 {
		return 0, 0, nil, errDelta
	}
	d = d[n:]
	m, n := binary.Uvarint(d)
	if n <= 0 || b >= largeLoose || m >= largeLoose {
		return 0, 0, nil, errDelta
	}
	return int64(b), int64(m), d[n:], nil
}

// applyDelta makes an object of its base and a delta, which copies from the base and
// inserts bytes of its own. The result shares nothing with either.
func applyDelta(base, d []byte) ([]byte, error) {
	was, size, d, err := deltaSizes(d)
	if err != nil || was != int64(len(base)) {
		return nil, errDelta
	}
	out := make([]byte, 0, size)
	for len(d) > 0 {
		op := d[0]
		d = d[1:]
		var part []byte
		switch {
		case op&0x80 != 0:
			var from, n int
			if from, n, d, err = copied(op, d); err != nil || from+n > len(base) {
				return nil, errDelta
			}
			part = base[from : from+n]
		case op == 0 || int(op) > len(d):
			return nil, errDelta
		default:
			part, d = d[:op], d[op:]
		}
		if len(out)+len(part) > cap(out) {
			return nil, errDelta
		}
		out = append(out, part...)
	}
	if int64(len(out)) != size {
		return nil, errDelta
	}
	return out, nil
}

// copied reads where a copy begins and how long it is: the bits of op say which of
// four bytes of the one and three of the other follow.
func copied(op byte, d []byte) (from, n int, rest []byte, err error) {
	for bit := range 7 {
		if op>>bit&1 == 0 {
			continue
		}
		if len(d) == 0 {
			return 0, 0, nil, errDelta
		}
		if bit < 4 {
			from |= int(d[0]) << (8 * bit)
		} else {
			n |= int(d[0]) << (8 * (bit - 4))
		}
		d = d[1:]
	}
	if n == 0 {
		n = 1 << 16
	}
	return from, n, d, nil
}
