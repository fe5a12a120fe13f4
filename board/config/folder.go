package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is the bundle in files, the tree of a commit that odd.toml is of. Its error says how to
// correct the root. errors.Is(err, fs.ErrNotExist) says that the folder is not committed.
func (c Config) Folder(files fs.FS) (fs.FS, error) {
	root, err := fs.Sub(files, c.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notCommitted(c.Root)
	}
	if err != nil {
		return nil, c.notFolder()
	}
	return root, nil
}

// OnDisk is the path of the bundle below top, the top of a work tree. No part of it may
// be a link, because git keeps where a link leads and not what is there.
func (c Config) OnDisk(top string) (string, error) {
	at := top
	for part := range strings.SplitSeq(c.Root, "/") {
		at = filepath.Join(at, part)
		if st, err := os.Lstat(at); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return "", c.notFolder()
		}
	}
	return at, nil
}

// notCommitted is the error of a root that the commit does not have.
type notCommitted string

func (root notCommitted) Error() string {
	return fmt.Sprintf("the folder %s is not committed on the board branch; run odd init if it is missing, then git add %[1]s && git commit -m \"odd: %[1]s\"", string(root))
}

func (notCommitted) Is(err error) bool { return err == fs.ErrNotExist }

func (c Config) notFolder() error {
	return fmt.Errorf("odd.toml: [bundle] root: %s is a link or a file in git, not a folder; set root to the folder itself", c.Root)
}
