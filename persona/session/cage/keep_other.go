//go:build !linux

package cage

// Keep is the hidden verb, which there is only on Linux.
func Keep() int { return 2 }

func (c Cage) kept() bool { return false }

func (q *Process) keep(c Cage, p Program, path string) error { return q.group(c, p, path) }
