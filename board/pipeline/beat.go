package pipeline

import (
	"bytes"
	"encoding/json"
	"time"
)

// Beat is what a process says of the op it is at work on, so that others see it
// before the records are committed. Nothing decides by it.
type Beat struct {
	Run   string    `json:"run"` // that is at work
	Op    string    `json:"op"`
	Task  string    `json:"task"`            // that asked for it
	Phase Phase     `json:"phase"`           // or its ending
	Began time.Time `json:"began"`           // the op
	At    time.Time `json:"at"`              // of its last record
	Until time.Time `json:"until,omitzero"`  // the deadline, zero after an ending: a beat past it is of nobody
	Tries int       `json:"tries"`           // of the phase
	Spent int64     `json:"spent_micro_usd"` // in all
	Doing string    `json:"doing,omitempty"` // within the phase, a few words of people's own; "" for nothing in particular
}

// Alive reports that somebody is at work on the op at now.
func (b Beat) Alive(now time.Time) bool {
	return now.Before(b.Until) && b.Phase != Waiting && !b.Phase.Ends()
}

// Live is the file that shows a run at work on an op: a Beat as a line of JSON.
func (o Op) Live(doing string) []byte {
	if o.Ended() {
		doing = ""
	}
	return jsonLine(Beat{Run: o.last.By, Op: o.ID, Task: o.Task, Phase: o.Phase, Began: o.Began, At: o.At, Until: o.Until, Tries: o.Tries, Spent: o.Spent, Doing: doing})
}

// Beats reads the beats of a Live file. What does not read is passed over: the file is
// another process's, and may be gone tomorrow.
func Beats(b []byte) []Beat {
	var out []Beat
	for line := range bytes.Lines(b) {
		var beat Beat
		if json.Unmarshal(line, &beat) == nil && beat.Run != "" && beat.Op != "" {
			out = append(out, beat)
		}
	}
	return out
}
