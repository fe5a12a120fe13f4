package okf

import (
	"errors"
	"io/fs"
)

// Load reads every concept file below the root of f (index.md, log.md and
// dot-folders are not concepts). A file that cannot be read as an atom is a
// Problem and the rest still loads; the error is for an f that cannot be walked.
func Load(f fs.FS) (*Graph, []Problem, error) { return nil, nil, errors.New("load: unwritten") }
