// Package cage starts every program that odd runs for a session: agents, the
// checks of a change, servers and tools. It is the only place that does, so what
// it holds is held for all of them.
//
//	p, err := c.Start(ctx, cage.Program{Argv: argv, Dir: desk.Tree, Env: env, Desk: desk, Network: cage.Allow})
//	fmt.Fprintln(p.Stdin, "hello")
//	io.Copy(out, p.Stdout)
//	err = p.Wait()
//
// # What holds everywhere
//
//   - argv is never seen by a shell, and the environment is exactly Env.
//   - A program is the leader of a session and a process group of its own: it has
//     no terminal, so it cannot answer for a person at /dev/tty.
//   - It ends with its context, and its group ends with it.
//
// # What holds on Linux
//
// odd starts itself once more, under a hidden verb, as the keeper of one program.
// The keeper stands between odd and the program, and it is not confined itself:
//
//		odd ── keeper ── program ── …
//		      (reaper)   (Landlock, seccomp, rlimits)
//
//	 1. Nothing is left behind. The keeper is the reaper of all that descends from
//	    it: a child that daemonises, by setsid and a double fork, becomes the
//	    keeper's child. When the program ends, when odd says so or when odd itself
//	    dies, whichever way, the keeper kills every descendant until there is none.
//	 2. Files (Landlock). Below Desk, and in what Write names, everything; elsewhere nothing can be
//	    written but /dev/null and its like. Read are the system's folders, the
//	    folders of PATH with their libraries, what Desk borrows and what Read names. Nothing
//	    else can be opened, by a link that the program made neither: not the user's home, not the repository, not odd's own
//	    files in the git directory.
//	 3. Processes. From Landlock's third year on (ABI 6) no signal reaches a process outside; memory,
//	    environment and open files of other processes are out of reach with any ABI.
//	 4. Network. Under [None] the kernel makes no socket but a unix one (seccomp), and
//	    Landlock refuses TCP besides from ABI 4 on. Under [Loopback] the keeper is
//	    in a network of its own (a user and a network namespace), in which there is
//	    nothing but lo: the program reaches its own servers, and nobody else's, on
//	    this machine neither; the kernel makes it unix and internet sockets and no
//	    others. It has no right over that network, nor any other user's number: in
//	    the namespace its user is the same, and all others are "nobody". Where the
//	    kernel refuses such a namespace the program gets what [None] gives.
//	    Unix sockets that have a path, as the desktop's bus, a docker daemon and an
//	    agent of keys have, would each let a program act outside. From ABI 9 on
//	    Landlock leaves those of the desk only; before, the kernel makes a program
//	    no unix socket but a pair (seccomp), unless OwnSockets or AnySockets say so.
//	    Abstract ones outside are out of reach from ABI 6 on, and from Loopback.
//	    A keyring and io_uring are no program's (seccomp).
//	 5. Limits. rlimits bound each process: the size of a file, processor time, open files,
//	    memory and processes where they are set; no core is written. Root is above the
//	    limit on processes: its program is a control group (pids), with all it starts,
//	    and is ended when it wants more than it may have. The size of
//	    the whole desk is no rlimit: odd adds it up now and then, and ends the
//	    program that is over it. Between two looks a program can write more than that.
//
// # What does not hold
//
//   - A file that is open and has no name any more, and a folder that odd may not
//     read, are not seen when the desk's size is added up: only the limit on a file
//     and on how many are open bound them.
//   - A keeper that is killed from outside, by the user or for want of memory, ends
//     the program's own group only, and not what has daemonised.
//   - What checks share, as their cache of builds, a check of one change can poison
//     for the checks of the next; nothing of the user's builds comes from there. The
//     same holds for the caches that agents share, from which no check reads.
//   - No limit bounds the size of a cache, only that of a file in it.
//   - SysV shared memory of the user's other programs is in reach but under
//     Loopback; with OwnSockets on a kernel before ABI 9, so are unix sockets.
//
// A program can still ask for the attributes of any path (stat), see the list of
// processes, and use up the machine's processors within its limits. On other systems than Linux only the first
// list holds. [Cage.Try] says what this machine really does, by trying it.
package cage

import (
	"io"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/session"
)

// Verb is the hidden verb under which odd is its own keeper: every main that may
// be started with it asks [Main] before anything else.
const Verb = "__keep"

// Main is the hidden verb. ours says that args ask for it, and code is what to
// exit with once it returns; it sees nothing of the environment.
func Main(args []string) (code int, ours bool) {
	if len(args) < 2 || args[1] != Verb {
		return 0, false
	}
	if len(args) > 2 {
		return runAttempts(args[2:]), true
	}
	return runKeeper(), true
}

// Enforce says what is done where the kernel cannot hold what is asked for.
type Enforce string

// The ways. The zero value is BestEffort.
const (
	BestEffort Enforce = "best-effort" // hold what can be held, and record what is not
	Require    Enforce = "require"     // start nothing that is not held; the refusal is an *Unheld
	Off        Enforce = "off"         // no Landlock, seccomp and rlimits; what is left behind still ends
)

// Network says what a program reaches.
type Network string

// The networks. The zero value is None.
const (
	None     Network = "none"
	Loopback Network = "loopback" // of its own: what it serves itself
	Allow    Network = "allow"
)

// Feature is one of those of the kernel by which programs are held.
type Feature string

// The features that a kernel may lack.
const (
	Landlock   Feature = "landlock"
	Seccomp    Feature = "seccomp"
	Namespaces Feature = "namespaces" // of a user, for Loopback
	Cgroups    Feature = "cgroups"    // control groups, which bound root's processes
)

// Cage holds programs. The zero Cage holds them by their process group only, as
// [Off] does on a system that is not Linux. A Cage is a value and is not changed
// by use; programs may be started from it at once.
type Cage struct {
	// Self is the argv by which odd's own executable becomes a keeper:
	// ["odd", Verb]. Without it there is none. A test binary that sets it must
	// answer to it in its TestMain, or it runs its tests again instead.
	Self    []string
	Enforce Enforce
	Limits  Limits
	Read    []string // what every program may read besides, absolute; files or folders
	Write   []string // what every program may write besides, absolute
	// Hidden are secrets: nothing in PATH, Read, Write or a Program's Read opens
	// one, what lies in one, or a folder that holds one.
	Hidden []string
	// Home is the user's own home. A folder that holds it, or is it, is not
	// opened by a PATH that names it.
	Home string
	// Without are features that the kernel is taken not to have, to see what is
	// done there; a tool for tests.
	Without []Feature
	// AnySockets lets programs reach every unix socket that they find by its path:
	// the desktop's bus, a docker daemon, an agent of keys. By any of these a
	// program can have something done outside.
	AnySockets bool
	// Tick calls f every d until stop is called, for the size of the desk; nil: it
	// is measured once, when the program has ended.
	Tick func(d time.Duration, f func()) (stop func())
}

// Limits bound a program. Zero is no limit.
type Limits struct {
	File      int64         // bytes of one file
	Desk      int64         // bytes of the desk's three directories together
	CPU       time.Duration // of one process, in whole seconds
	Memory    int64         // bytes of data of one process (RLIMIT_DATA); with a control group of version 2 of all that the program starts
	Files     int           // open at once, of one process
	Processes int           // of the user as a whole, those outside included; of root, of the program and what it starts
}

// Program is one program to be started.
type Program struct {
	Argv []string // the first is a path, or a name that is looked up on odd's PATH; a path with a slash that is not absolute is taken from Dir
	Dir  string   // where it starts; absolute
	Env  []string // all of its environment, "NAME=value"
	// Stdin is what it reads. nil is an empty input for Run, and a pipe for Start.
	Stdin io.Reader
	// Stdout and Stderr take what it writes. nil drops it; for Start a nil Stdout is a pipe.
	Stdout, Stderr io.Writer
	Desk           session.Desk // where it may write; fields may be empty
	Network        Network
	OwnSockets     bool     // it reaches a unix socket at its desk, though the kernel may not tell that from others, see Held.Unix
	Read           []string // more places, as in Cage
	Write          []string // more places, whatever Hidden says: only odd's own code names them

	path string // the executable, where it is not found by Argv
}

// Held is what the kernel really holds of one program.
type Held struct {
	Landlock int      `json:"landlock"`          // its ABI, 0: no file is protected
	Network  Network  `json:"network"`           // Allow where it is not held
	Sockets  bool     `json:"sockets"`           // the kernel makes only the sockets that Network is of (seccomp)
	Unix     bool     `json:"unix"`              // no unix socket outside the desk is reached by its path
	Signals  bool     `json:"signals"`           // no signal reaches a process outside
	Reaper   bool     `json:"reaper"`            // what daemonises ends too
	Limits   bool     `json:"limits"`            // rlimits are set
	Missing  []string `json:"missing,omitempty"` // what was asked for and is not held
}

// String is Held in a few words, as the ledger keeps it: "landlock:7 net:none
// sockets reaper limits", and "none" where nothing is held.
func (h Held) String() string {
	var words []string
	if h.Landlock > 0 {
		words = append(words, "landlock:"+formatInt(h.Landlock))
	}
	if h.Network == None || h.Network == Loopback {
		words = append(words, "net:"+string(h.Network))
	}
	if h.Unix {
		words = append(words, "sockets")
	}
	if h.Reaper {
		words = append(words, "reaper")
	}
	if h.Limits {
		words = append(words, "limits")
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, " ")
}

// Unheld is the refusal to start a program that cannot be held as Require demands.
type Unheld struct{ Missing []string }

func (u *Unheld) Error() string {
	return "this machine cannot hold a program as [sandbox] asks: " + strings.Join(u.Missing, "; ") +
		`; run it where the kernel can, or set [sandbox] enforce = "best-effort"`
}

// Refused implements cmd's refusals.
func (u *Unheld) Refused() string { return "sandbox-unavailable" }

// NotStarted is the error of a program that did not begin.
type NotStarted struct{ Err error }

func (n *NotStarted) Error() string { return n.Err.Error() }

// Unwrap is the reason.
func (n *NotStarted) Unwrap() error { return n.Err }

// Exit is the error of a program that ended otherwise than well.
type Exit struct {
	Code   int    // the exit code, -1 when a signal ended it
	Signal string // "killed", "" when no signal did
	Why    string // what the keeper ended it for, "" where it did not
}

// Error is as os/exec says it: "exit status 3", "signal: killed", or why odd ended it.
func (e *Exit) Error() string {
	if e.Why != "" {
		return e.Why
	}
	if e.Signal != "" {
		return "signal: " + e.Signal
	}
	return "exit status " + formatInt(e.Code)
}

// Full is the error of a program that was ended because its desk was full.
type Full struct{ Size, Limit int64 }

func (f *Full) Error() string {
	return "the desk holds " + formatInt(f.Size) + " bytes, at most " + formatInt(f.Limit) + "; raise [sandbox] desk_mb or write less"
}
