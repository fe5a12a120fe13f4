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
		if value, there := user[name]; there && !private(name) {
			set[name] = value
		}
	}
	for name, dir := range caches(d) {
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

// caches are where tools keep what a later desk uses again, by the name of the
// variable that says so. A hostile check or agent could leave something there for the
// next one, but nothing for the user.
func caches(d session.Desk) map[string]string {
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
