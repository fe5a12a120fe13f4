package local

import (
	"os"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
)

// Tally returns a counter that this clone keeps under a name. It is not committed or shared, and is 0 if it is
// missing or cannot be read.
func (d *Dir) Tally(name string) int {
	b, err := os.ReadFile(d.OddPath("tally", name))
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// SetTally sets a counter; 0 deletes it.
func (d *Dir) SetTally(name string, n int) error {
	file := d.OddPath("tally", name)
	if n <= 0 {
		return RemoveIfExists(file)
	}
	if err := d.MakeOddDir("tally"); err != nil {
		return err
	}
	return renameio.WriteFile(file, []byte(strconv.Itoa(n)+"\n"), 0o666)
}
