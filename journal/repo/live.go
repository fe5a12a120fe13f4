package repo

import (
	"os"
	"strings"

	"github.com/google/renameio/v2"
)

// Live is what a run of this clone that is at work shows of itself, nil for
// nothing. It is disposable: a run that was killed leaves it behind, and its reader
// looks at the moments it names.
func (r *Repo) Live() []byte {
	b, err := os.ReadFile(r.oddDir("live.jsonl"))
	if err != nil {
		return nil
	}
	return b
}

// Show keeps b, whole, for Live: $GIT_COMMON_DIR/odd/live.jsonl, written aside and
// renamed. Nothing to show takes the file away. Only who holds the drain lock calls it.
func (r *Repo) Show(b []byte) error {
	if len(b) == 0 {
		return removeIfExists(r.oddDir("live.jsonl"))
	}
	if err := r.makeOddDir(); err != nil {
		return err
	}
	return renameio.WriteFile(r.oddDir("live.jsonl"), b, 0o600)
}

// AskStop asks the run of this clone that is at work on an op to end it, and says why.
// Who asks holds no lock; the next request takes the place of this one.
func (r *Repo) AskStop(op, why string) error {
	if err := r.makeOddDir(); err != nil {
		return err
	}
	return renameio.WriteFile(r.oddDir("stop"), []byte(op+"\n"+why), 0o600)
}

// StopAsked is why the op is to be ended, "" where nobody asked.
func (r *Repo) StopAsked(op string) string {
	b, _ := os.ReadFile(r.oddDir("stop"))
	of, why, _ := strings.Cut(string(b), "\n")
	if of != op {
		return ""
	}
	return why
}
