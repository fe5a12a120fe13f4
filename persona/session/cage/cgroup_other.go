//go:build !linux

package cage

// cgroup is only for Linux.
type cgroup struct{}
