//go:build bench

package bench

import (
	"fmt"
	"os"
	"syscall"
	"time"
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

// busy is how many processors are at work, over one second in which the bench
// itself does nothing.
func busy() float64 {
	was := spent()
	time.Sleep(time.Second)
	return (spent() - was) / ticks
}

// ticks are how many /proc/stat counts in a second of one processor: USER_HZ,
// which is 100 on every machine Go runs on.
const ticks = 100

// spent is the processor time of all that ran since the machine began, in ticks.
func spent() (n float64) {
	b, _ := os.ReadFile("/proc/stat")
	var user, nice, system int64
	fmt.Sscanf(string(b), "cpu %d %d %d", &user, &nice, &system)
	return float64(user + nice + system)
}
