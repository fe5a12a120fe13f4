package console

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// parentPrograms returns the names of the programs that this process was started from, the nearest
// first, as far as /proc tells.
func parentPrograms() []string {
	var out []string
	for pid := os.Getppid(); pid > 1; {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		stat := string(b)
		from, to := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')') // a name may have spaces and brackets
		if err != nil || from < 0 || to < from {
			break
		}
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // none of another user's is no reason to stop
		out = append(out, programNames(stat[from+1:to], strings.Split(strings.TrimRight(string(args), "\x00"), "\x00"))...)
		rest := strings.Fields(stat[to+1:])
		if len(rest) < 2 {
			break
		}
		if pid, err = strconv.Atoi(rest[1]); err != nil {
			break
		}
	}
	return out
}
