package board

import (
	"bytes"
	"fmt"
	"time"

	"github.com/BurntSushi/toml"
)

// Pause is the content of pause.toml. While that file is on the board branch, no drain runs.
// Drain or a person adds it, only a person removes it.
type Pause struct {
	Reason string    `toml:"reason"`
	By     string    `toml:"by"`
	At     time.Time `toml:"at"`
}

// PauseFile returns the content of pause.toml.
func PauseFile(reason, by string, at time.Time) []byte {
	var b bytes.Buffer
	b.WriteString("# Drains are paused. To let them run again: odd drain resume\n")
	if err := toml.NewEncoder(&b).Encode(Pause{reason, by, at.UTC()}); err != nil {
		panic("unreachable: " + err.Error())
	}
	return b.Bytes()
}

// PauseReason returns why the board is paused. An unreadable file also pauses, and the
// reason says so.
func PauseReason(b []byte) string {
	var p Pause
	if err := toml.Unmarshal(b, &p); err != nil {
		return "pause.toml cannot be read, which counts as a pause"
	}
	if p.Reason == "" {
		return "no reason given"
	}
	if p.By == "" {
		return p.Reason
	}
	return fmt.Sprintf("%s (by %s)", p.Reason, p.By)
}
