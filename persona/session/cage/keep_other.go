//go:build !linux

package cage

// keep is only for Linux.
func keep() int { return 2 }

func (c Cage) hasKeeper() bool { return false }

func (q *Process) keep(c Cage, p Program, path string) error { return q.group(c, p, path) }

// attempt is only for Linux: elsewhere a program is held by its group alone.
func attempt([]string) int { return 2 }
