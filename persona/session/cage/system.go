package cage

import (
	"os"
	"path/filepath"
	"sync"
)

// systemPlaces are the folders that programs of any kind need to read: the
// system's own, none of which holds what is a user's. That /etc has some files
// for root only is the system's to keep, and odd's where it runs as root.
func systemPlaces() []string {
	return append(settings(), "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap",
		"/proc", "/sys", "/run/current-system", "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf",
		"/var/lib/alternatives", "/dev/random", "/dev/urandom")
}

// settings are /etc, or as much of it as every user may read.
func settings() []string {
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
	if err != nil || !permits(dir, 0o005) {
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
		case permits(at, 0o004):
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

// permits reports that every user has these rights to a file.
func permits(at string, rights os.FileMode) bool {
	is, err := os.Lstat(at)
	return err == nil && is.Mode().Perm()&rights == rights
}
