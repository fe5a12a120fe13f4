package local

import (
	"os"
	"strings"

	"github.com/google/renameio/v2"
)

// Live returns the state that a running drain of this clone last published with Show, nil for none. A killed run
// leaves its state behind, so readers check the times in it.
func (d *Dir) Live() []byte {
	b, err := os.ReadFile(d.OddPath("live.jsonl"))
	if err != nil {
		return nil
	}
	return b
}

// Show publishes b for Live. It writes $GIT_COMMON_DIR/odd/live.jsonl as a temporary file and renames it. An empty
// b removes the file. Only the holder of the drain lock calls it.
func (d *Dir) Show(b []byte) error {
	if len(b) == 0 {
		return RemoveIfExists(d.OddPath("live.jsonl"))
	}
	if err := d.MakeOddDir(); err != nil {
		return err
	}
	return renameio.WriteFile(d.OddPath("live.jsonl"), b, 0o600)
}

// AskStop asks the run that works on an op in this clone to end it, and says why. The caller holds no lock; a later
// request replaces an earlier one.
func (d *Dir) AskStop(op, why string) error {
	if err := d.MakeOddDir(); err != nil {
		return err
	}
	return renameio.WriteFile(d.OddPath("stop"), []byte(op+"\n"+why), 0o600)
}

// StopAsked returns why the op should end, "" if nobody asked.
func (d *Dir) StopAsked(op string) string {
	b, _ := os.ReadFile(d.OddPath("stop"))
	of, why, _ := strings.Cut(string(b), "\n")
	if of != op {
		return ""
	}
	return why
}
