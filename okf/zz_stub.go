package okf

import "io/fs"

// StaleIndex is what the generated index files that are out of date should be.
func StaleIndex(fs.FS, *Graph) map[string][]byte { return nil }
