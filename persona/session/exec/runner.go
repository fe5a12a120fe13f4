package exec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Command is one program to be run for what it says: a check of a tree.
type Command struct {
	Argv    []string     // never through a shell
	Tree    string       // absolute: the tree it may work in
	Desk    session.Desk // what else it may write, besides Tree
	Cage    cage.Cage    // how it is held; the zero Cage holds it by its process group only
	Network cage.Network // what it reaches
	Write   []string     // more places it may write: its caches
	Dir     string       // below Tree, with slashes, "" is its top
	Env     []string     // all of its environment, "NAME=value", see [Environment]
	Input   []byte       // what it reads
	Max     int          // bytes of output that are kept, of the beginning and the end; 0 is DefaultOutput
}

// DefaultOutput is how much of a command's output is kept without Max.
const DefaultOutput = 256 << 10

// Result is how a command ended. The zero Result did not end well.
type Result struct {
	Done   bool      // it ended by itself, with Exit
	Exit   int       // 0 is well
	Fault  string    // why it did not: one of the Fault words
	Detail string    // more of it
	Held   cage.Held // what the kernel held of it
	Output []byte    // both streams as they came, without credentials; the middle of much is cut
}

// Why a command did not end by itself.
const (
	FaultTimeout   = "timeout"
	FaultCancelled = "cancelled"
	FaultStart     = "not-started"
	FaultKilled    = "killed"    // by a signal that is not ours
	FaultDisk      = "disk-full" // its desk held more than it may
	FaultUnheld    = "sandbox-unavailable"
)

// Run runs a command until it ends or ctx does; a deadline is its timeout. What holds
// it, and what it leaves behind, is the Cage's to say.
func Run(ctx context.Context, c Command) Result {
	dir := filepath.Join(c.Tree, filepath.FromSlash(c.Dir))
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Tree) || c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return Result{Fault: FaultStart, Detail: fmt.Sprintf("%q in %q of %q; want a program, and a folder of an absolute tree", c.Argv, c.Dir, c.Tree)}
	}
	out := newMiddle(c.Max)
	desk := c.Desk
	desk.Tree = c.Tree
	held, err := c.Cage.Run(ctx, cage.Program{Argv: c.Argv, Dir: dir, Env: c.Env, Stdin: bytes.NewReader(c.Input), Stdout: out, Stderr: out, Desk: desk, Network: c.Network, Write: c.Write})
	r := resultOf(ctx, err)
	r.Held, r.Output = held, out.keptText()
	return r
}

// resultOf says how a program ended.
func resultOf(ctx context.Context, err error) Result {
	var exit *cage.Exit
	var full *cage.Full
	var unheld *cage.Unheld
	why := session.Interruption(ctx)
	switch {
	case why == session.Timeout:
		return Result{Fault: FaultTimeout, Detail: "it was stopped when its time was over"}
	case why != "":
		return Result{Fault: FaultCancelled, Detail: "it was stopped with the run"}
	case errors.As(err, &full):
		return Result{Fault: FaultDisk, Detail: err.Error()}
	case errors.As(err, &unheld):
		return Result{Fault: FaultUnheld, Detail: err.Error()}
	case errors.As(err, &exit) && exit.Signal != "":
		return Result{Fault: FaultKilled, Detail: exit.Error()}
	case errors.As(err, &exit):
		return Result{Done: true, Exit: exit.Code}
	case err == nil:
		return Result{Done: true}
	}
	return Result{Fault: FaultStart, Detail: string(secrets.Redact([]byte(err.Error())))}
}

// Environment is all that a check sees of the environment: PATH, LANG, LC_ALL,
// the names that a person lists, and what odd sets.
//
//   - HOME and TMPDIR are the desk's, and git looks for no repository above its
//     tree. ODD_RUN says that a machine is at work.
//   - go reads the module cache of the user, because a check that compiles the
//     standard library first is none, and keeps what it builds in the desk's cache, as
//     npm, pip, uv and cargo do; it uses the user's where the desk has none. It fetches nothing
//     (GOPROXY=off, GOTOOLCHAIN=local), reads no settings of the user (GOENV=off),
//     and stamps no version (GOFLAGS=-buildvcs=false). A dependency that is not
//     there is a failure of the surroundings: fetch it first, or list GOPROXY.
//
// A name that is listed and set has the user's value, whatever odd would set; the
// desk's and those that lead git elsewhere cannot be listed.
func Environment(environ, names []string, d session.Desk, run string) []string {
	user := asMap(environ)
	set := map[string]string{
		"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOENV": "off", "GOFLAGS": "-buildvcs=false", "GOPATH": goPath(user),
		"GOMODCACHE": moduleCache(user), "GOCACHE": cmp.Or(user["GOCACHE"], path.Join(cacheHome(user), "go-build")),
	}
	for _, name := range append([]string{"PATH", "LANG", "LC_ALL"}, names...) {
		if value, there := user[name]; there && !isPrivate(name) {
			set[name] = value
		}
	}
	for name, dir := range cacheDirs(d) {
		if !slices.Contains(names, name) {
			set[name] = dir
		}
	}
	set["HOME"], set["TMPDIR"], set["GIT_CEILING_DIRECTORIES"], set["ODD_RUN"] = d.Home, d.Temp, path.Dir(d.Tree), run
	var env []string
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// cacheDirs are where tools keep what a later desk uses again, by the name of the
// variable that says so. A hostile check or agent could leave something there for the
// next one, but nothing for the user.
func cacheDirs(d session.Desk) map[string]string {
	all := map[string]string{"GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip", "UV_CACHE_DIR": "uv", "CARGO_HOME": "cargo"}
	for name, dir := range all {
		if all[name] = path.Join(d.Cache, dir); d.Cache == "" {
			delete(all, name)
		}
	}
	return all
}

// Listed is what a command may write besides its desk: the user's own build cache of
// go, where a person lists GOCACHE in names.
func Listed(environ, names []string) []string {
	if dir := asMap(environ)["GOCACHE"]; dir != "" && slices.Contains(names, "GOCACHE") {
		return []string{dir}
	}
	return nil
}

// Modules is where the user's go keeps the modules that it has fetched, as a proxy
// serves them: an agent's go takes them from there before it fetches from their repositories.
// A proxy of the user's is not passed on, because its address may hold a password; list
// GOPROXY in the agent's env to pass it.
func Modules(environ []string) string {
	return path.Join(moduleCache(asMap(environ)), "cache/download")
}

func asMap(environ []string) map[string]string {
	user := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			user[name] = value
		}
	}
	return user
}

func goPath(user map[string]string) string { return cmp.Or(user["GOPATH"], user["HOME"]+"/go") }

func moduleCache(user map[string]string) string {
	return cmp.Or(user["GOMODCACHE"], path.Join(strings.Split(goPath(user), ":")[0], "pkg/mod"))
}

// cacheHome is where the user's caches are.
func cacheHome(user map[string]string) string {
	if runtime.GOOS == "darwin" {
		return user["HOME"] + "/Library/Caches"
	}
	return cmp.Or(user["XDG_CACHE_HOME"], user["HOME"]+"/.cache")
}
