package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is the bundle in files, the tree of a commit that odd.toml is of. The error of
// a root that is no folder there says how to correct it; one that is not there is no error
// before it is read.
func (c Config) Folder(files fs.FS) (fs.FS, error) {
	root, err := fs.Sub(files, c.Root)
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

func (c Config) notFolder() error {
	return fmt.Errorf("odd.toml: [bundle] root: %s is a link or a file in git, not a folder; set root to the folder itself", c.Root)
}
