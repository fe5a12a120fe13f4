package exec

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Within is the path of a file below a tree that an agent wants to write, relative and
// with slashes. from is the folder a relative name starts in, absolute. A *policy.Refusal
// says why it is none: it lies outside or behind a symbolic link, or is there and no plain
// file. The file need not be there.
func Within(tree, from, name string) (string, error) {
	rel, ok := pathBelow(tree, from, name)
	if !ok {
		return "", outsideError("%q is no path of a file below the tree", name)
	}
	root, err := os.OpenRoot(tree)
	if err != nil {
		return "", err
	}
	defer root.Close()
	parts := strings.Split(rel, "/")
	for i := range parts {
		at := filepath.Join(parts[:i+1]...)
		st, err := root.Lstat(at)
		switch last := i == len(parts)-1; {
		case errors.Is(err, fs.ErrNotExist):
			return rel, nil
		case err != nil:
			return "", outsideError("%q: %v", name, err)
		case last && !st.Mode().IsRegular(), !last && !st.IsDir():
			return "", outsideError("%q: %s is a link, or no plain file in plain folders", name, filepath.ToSlash(at))
		}
	}
	return rel, nil
}

func outsideError(format string, args ...any) error {
	return policy.Refuse("path_outside_repo", format, args...)
}

// FollowLinks returns where a path ends, itself where that cannot be told.
func FollowLinks(at string) string {
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	return at
}

// pathBelow takes a name by its letters: the tree by either of its own names, if there
// is a symbolic link on the way to it.
func pathBelow(tree, from, name string) (rel string, ok bool) {
	if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || strings.HasPrefix(name, "~") {
		return "", false
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(from, name)
	}
	real, err := filepath.EvalSymlinks(tree)
	if err != nil {
		return "", false
	}
	for _, top := range []string{tree, real} {
		if rel, err := filepath.Rel(top, name); err == nil && rel != "." && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}
