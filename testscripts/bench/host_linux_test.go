//go:build bench

package bench

import (
	"fmt"
	"os"
	"syscall"
)

// filesystem names the file system that repositories are made on.
func filesystem() string {
	var s syscall.Statfs_t
	if err := syscall.Statfs(work, &s); err != nil {
		return "unknown file system"
	}
	names := map[int64]string{0xef53: "ext4", 0x01021994: "tmpfs", 0x9123683e: "btrfs", 0x58465342: "xfs", 0x794c7630: "overlayfs"}
	if name := names[int64(s.Type)]; name != "" {
		return name
	}
	return fmt.Sprintf("file system %#x", s.Type)
}

// load is the load average of the last minute.
func load() (avg float64) {
	b, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(b), &avg)
	return avg
}
