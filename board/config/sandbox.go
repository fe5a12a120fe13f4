package config

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Sandbox is [sandbox]: how programs that sessions and checks run are held. The
// words are those of package cage; a limit of 0 is none.
type Sandbox struct {
	Enforce      string        // require, best-effort (default) or off
	Network      string        // of agents: allow (default), loopback or none
	CheckNetwork string        // of checks and of commands an agent asks odd to run: allow, loopback (default) or none
	UnixSockets  bool          // programs reach any unix socket by its path, default no
	Read         []string      // more that they may read: absolute, or below the user's home with "~/"
	Write        []string      // more that they may write, as Read
	FileMB       int           // one file, default 1024
	DiskMB       int           // what a session or a check leaves on its desk, default 4096
	MemoryMB     int           // one process, and where root's programs have a control group (cgroup v2) all of a program; default 0
	CPU          time.Duration // processor time of one process, default 1h
	OpenFiles    int           // of one process, default 4096
	Processes    int           // of the user as a whole, of root a program with all it starts; default 8192, which stops a program that multiplies
}

func defaultSandbox() Sandbox {
	return Sandbox{Enforce: "best-effort", Network: "allow", CheckNetwork: "loopback", FileMB: 1024, DiskMB: 4096, CPU: time.Hour, OpenFiles: 4096, Processes: 8192}
}

func networks() []string { return []string{"allow", "loopback", "none"} }

// place holds a file or folder of the machine to a form that means one thing.
func place(s string) error {
	rest, home := strings.CutPrefix(s, "~/")
	bad := strings.ContainsFunc(s, control) || slices.Contains(strings.Split(s, "/"), "..")
	if bad || !home && !path.IsAbs(s) || path.Clean("/"+rest) == "/" {
		return fmt.Errorf(`%q: want files or folders of this machine, like "/srv/tools" or "~/.cache/tool", without ".."; "/" and "~/" are too much`, s)
	}
	return nil
}
