package exec

import (
	"cmp"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// Environment is all that a check sees of the environment: PATH, LANG, LC_ALL,
// the names that a person lists, and what odd sets.
//
//   - HOME and TMPDIR are the desk's, and git looks for no repository above its
//     tree. ODD_RUN says that a machine is at work.
//   - go reads the module cache and uses the build cache of the user, but for
//     [Cached], because a check that compiles the standard library first is none; it fetches nothing
//     (GOPROXY=off, GOTOOLCHAIN=local), reads no settings of the user (GOENV=off),
//     and stamps no version (GOFLAGS=-buildvcs=false). A dependency that is not
//     there is a failure of the surroundings: fetch it first, or list GOPROXY.
//
// A name that is listed and set has the user's value, whatever odd would set; the
// desk's and those that lead git elsewhere cannot be listed.
func Environment(environ, names []string, d session.Desk, run string) []string {
	user := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			user[name] = value
		}
	}
	cache := cacheHome(user)
	gopath := cmp.Or(user["GOPATH"], user["HOME"]+"/go")
	set := map[string]string{
		"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOENV": "off", "GOFLAGS": "-buildvcs=false", "GOPATH": gopath,
		"GOMODCACHE": cmp.Or(user["GOMODCACHE"], path.Join(strings.Split(gopath, ":")[0], "pkg/mod")),
		"GOCACHE":    cmp.Or(user["GOCACHE"], path.Join(cache, "go-build")),
	}
	for _, name := range append([]string{"PATH", "LANG", "LC_ALL"}, names...) {
		if value, there := user[name]; there && !private(name) {
			set[name] = value
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

// Cached is an environment in which go keeps what it builds in dir, where a later
// check finds it: a hostile check could leave something for the next one, but
// nothing for the user. Where a person lists GOCACHE in names, or dir is "", it is
// the user's own as before. write is that place, all that a check may write
// besides its desk.
func Cached(env, names []string, dir string) (out, write []string) {
	for _, kv := range env {
		if name, value, _ := strings.Cut(kv, "="); name == "GOCACHE" {
			if dir != "" && !slices.Contains(names, name) {
				value, kv = dir, name+"="+dir
			}
			write = append(write, value)
		}
		out = append(out, kv)
	}
	return out, write
}

// cacheHome is where the user's caches are.
func cacheHome(user map[string]string) string {
	if runtime.GOOS == "darwin" {
		return user["HOME"] + "/Library/Caches"
	}
	return cmp.Or(user["XDG_CACHE_HOME"], user["HOME"]+"/.cache")
}
