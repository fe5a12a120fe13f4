package drain

import (
	"errors"
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
)

// readPause returns why drains are paused, by the file name. A pause that cannot be read is one.
func readPause(files fs.FS, name string) (why string, paused bool) {
	b, err := fs.ReadFile(files, name)
	return board.PauseReason(b), !errors.Is(err, fs.ErrNotExist)
}

// refuseWhilePaused refuses while pause.toml is on the board branch.
func (s *snapshot) refuseWhilePaused() error {
	why, paused := readPause(s.files, s.file("pause.toml"))
	if !paused {
		return nil
	}
	return refuseBusy("paused", "drains are paused: %s; a person can run odd drain resume", why)
}

func (bw *boardWriter) planPause(why string) (*draft, error) {
	p := bw.newDraft()
	p.changes[bw.at.file("pause.toml")] = board.PauseFile(why, bw.agentSignature().Name, bw.log.now().UTC().Truncate(time.Second))
	p.message = bw.boardMessage("board: pause", why)
	return p, p.record(event.Record{Kind: event.Paused, Data: event.StopData{Reason: why}})
}
