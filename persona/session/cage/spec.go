package cage

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// spec is what odd tells a keeper: one line of JSON on its descriptor 3. When
// that is closed the keeper ends everything.
type spec struct {
	Path      string    `json:"path"`
	Argv      []string  `json:"argv"`
	Dir       string    `json:"dir"`
	Env       []string  `json:"env"`
	Enforce   Enforce   `json:"enforce"`
	Network   Network   `json:"network"`
	Own       bool      `json:"own,omitempty"`     // OwnSockets
	Any       bool      `json:"any,omitempty"`     // AnySockets
	Joined    string    `json:"joined,omitempty"`  // why the keeper is not in a network of its own, though Network wants it
	Without   []Feature `json:"without,omitempty"` // features not to be used
	Limits    Limits    `json:"limits"`
	Group     cgroup    `json:"group"`               // of root's program
	Ungrouped string    `json:"ungrouped,omitempty"` // why there is no Group
	Read      []string  `json:"read"`
	Write     []string  `json:"write"`
	Devices   []string  `json:"devices"`
}

// report is what a keeper tells odd, a line of JSON each on its descriptor 4:
// first whether the program began, then how it ended.
type report struct {
	Held    Held     `json:"held"`
	Pid     int      `json:"pid,omitempty"`
	Fault   string   `json:"fault,omitempty"`   // it did not begin
	Missing []string `json:"missing,omitempty"` // it did not begin, because this is not held
	Ended   bool     `json:"ended,omitempty"`
	Code    int      `json:"code"`
	Signal  string   `json:"signal,omitempty"`
	Why     string   `json:"why,omitempty"`  // it was ended for this
	Left    int      `json:"left,omitempty"` // processes it left behind, which were ended
}

// nullDevices can be written by anybody, and keep nothing.
func nullDevices() []string { return []string{"/dev/null", "/dev/zero", "/dev/full"} }

// besideBin are the folders next to a folder of programs in which those keep what
// they need. Not "share" and "etc": there users keep credentials.
func besideBin() []string {
	return []string{"lib", "lib64", "libexec", "versions", "include", "plugins", "pkg"}
}

// listPlaces returns what a program may read and what it may write: absolute paths,
// without those that do not exist, since they cannot be opened. path is the
// program's executable.
func (c Cage) listPlaces(p Program, path string) (read, write []string) {
	hidden, home := c.hiddenPlaces(), resolveLinks(c.Home)
	for _, w := range slices.Concat([]string{p.Desk.Tree, p.Desk.Home, p.Desk.Temp, p.Desk.Cache}, p.Write) {
		if w = resolveLinks(w); w != "" {
			write = append(write, w)
		}
	}
	for _, w := range c.Write {
		if w = resolveLinks(w); w != "" && !overlapsAny(hidden, w) {
			write = append(write, w)
		}
	}
	read = systemPlaces()
	for _, r := range slices.Concat(p.Desk.Read, c.Read, p.Read) {
		if r = resolveLinks(r); r != "" && !overlapsAny(hidden, r) {
			read = append(read, r)
		}
	}
	programs, target := []string{filepath.Dir(path)}, ""
	if !liesIn(write, path) {
		target = resolveLinks(path)
		programs = append(programs, filepath.Dir(target))
	}
	for _, kv := range p.Env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "PATH":
			programs = append(programs, filepath.SplitList(value)...)
		case "GOROOT", "GOMODCACHE":
			programs = append(programs, value)
		}
	}
	for _, dir := range programs {
		if liesIn(write, dir) {
			continue // open already
		}
		for _, at := range toolchainDirs(dir) {
			if !overlapsAny(hidden, at) && !isWithin(at, home) {
				read = append(read, at)
			}
		}
	}
	// A program beside the user's home, or beside a secret, is opened without its folder.
	if target != "" && !overlapsAny(hidden, target) {
		within := func(dir string) bool { return isWithin(dir, target) }
		if !slices.ContainsFunc(slices.Concat(read, write), within) {
			read = append(read, target)
		}
	}
	slices.Sort(read)
	return slices.Compact(read), write
}

// toolchainDirs lists a folder of programs and what they need beside it, without links; a
// relative one has none.
func toolchainDirs(dir string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	dirs := []string{dir}
	if base := filepath.Base(dir); base == "bin" || base == "sbin" || base == "shims" {
		for _, d := range besideBin() {
			dirs = append(dirs, filepath.Join(filepath.Dir(dir), d))
		}
	}
	var out []string
	for _, at := range dirs {
		if at = resolveLinks(at); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// Opens reports a place by which a program would reach something Hidden.
func (c Cage) Opens(at string) bool {
	return overlapsAny(c.hiddenPlaces(), cmp.Or(resolveLinks(at), filepath.Clean(at)))
}

// hiddenPlaces lists the hidden places without links.
func (c Cage) hiddenPlaces() []string {
	out := make([]string, len(c.Hidden))
	for i, h := range c.Hidden {
		out[i] = cmp.Or(resolveLinks(h), filepath.Clean(h))
	}
	return out
}

// overlapsAny reports a path that is, lies in or holds one of the places.
func overlapsAny(places []string, at string) bool {
	return slices.ContainsFunc(places, func(p string) bool { return isWithin(at, p) || isWithin(p, at) })
}

// liesIn reports a path that lies by its own name in one of the places, which have no links. A program
// that may write there chooses where a link at that path leads.
func liesIn(places []string, at string) bool {
	within := func(dir string) bool { return isWithin(dir, resolveLinks(at)) }
	for ; filepath.IsAbs(at) && at != filepath.Dir(at); at = filepath.Dir(at) {
		if slices.ContainsFunc(places, within) {
			return true
		}
	}
	return false
}

// isWithin reports that at is dir or lies in it; an empty path lies nowhere.
func isWithin(dir, at string) bool {
	if at == "" || dir == "" {
		return false
	}
	rel, err := filepath.Rel(dir, at)
	return err == nil && filepath.IsLocal(rel)
}

// resolveLinks returns an absolute path without symbolic links, "" for one that is not
// absolute or leads nowhere.
func resolveLinks(at string) string {
	if !filepath.IsAbs(at) {
		return ""
	}
	at, err := filepath.EvalSymlinks(at)
	if err != nil {
		return ""
	}
	return at
}

func formatInt[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// systemPlaces are the folders that programs of any kind need to read: the
// system's own, none of which holds what is a user's. That /etc has some files
// for root only is the system's to keep, and odd's where it runs as root.
func systemPlaces() []string {
	return append(etcPlaces(), "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap",
		"/proc", "/sys", "/run/current-system", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
		"/var/lib/alternatives", "/dev/random", "/dev/urandom")
}

// etcPlaces are /etc, or as much of it as every user may read.
func etcPlaces() []string {
	if os.Geteuid() != 0 {
		return []string{"/etc"}
	}
	return append([]string(nil), forAll()...)
}

var forAll = sync.OnceValue(func() []string { return readableByAll("/etc") })

// readableByAll are the fewest places under dir that hold what every user may
// read and nothing else: dir itself, or what of it is so. What a symbolic link leads
// to is not its place.
func readableByAll(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil || !worldHasRights(dir, 0o005) {
		return nil
	}
	var places []string
	whole := true
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		var in []string
		switch {
		case e.Type()&os.ModeSymlink != 0:
			continue
		case e.IsDir():
			in = readableByAll(at)
		case worldHasRights(at, 0o004):
			in = []string{at}
		}
		whole = whole && len(in) == 1 && in[0] == at
		places = append(places, in...)
	}
	if whole {
		return []string{dir}
	}
	return places
}

// worldHasRights reports that every user has these rights to a file.
func worldHasRights(at string, rights os.FileMode) bool {
	is, err := os.Lstat(at)
	return err == nil && is.Mode().Perm()&rights == rights
}
