//go:build !linux

package cage

// runKeeper is only for Linux.
func runKeeper() int { return 2 }

func (c Cage) hasKeeper() bool { return false }

func (q *Process) startKept(c Cage, p Program, path string) error { return q.startGroup(c, p, path) }

// runAttempts is only for Linux: elsewhere a program is held by its group alone.
func runAttempts([]string) int { return 2 }
