package pipeline

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/odd-cli/odd/journal/event"
)

// Beat is what a process says of the op it is at work on, so that others see it
// before the records are committed. Nothing decides by it.
type Beat struct {
	Run   string    // that is at work
	Op    string    // its op
	Task  string    // that asked for it
	Phase Phase     // or its ending
	Began time.Time // the op
	At    time.Time // of its last record
	Until time.Time // the deadline that counts, zero after an ending: a beat past it is of nobody
	Tries int       // of the phase
	Spent int64     // micro-USD in all
	Doing string    // within the phase, a few words of people's own; "" for nothing in particular
}

// Alive reports that somebody is at work on the op at now.
func (b Beat) Alive(now time.Time) bool {
	return now.Before(b.Until) && b.Phase != Waiting && !b.Phase.Ends()
}

// beatLine is the stored shape of a Beat.
type beatLine struct {
	At    string `json:"at"`
	Began string `json:"began"`
	Doing string `json:"doing,omitempty"`
	Op    string `json:"op"`
	Phase string `json:"phase"`
	Run   string `json:"run"`
	Spent int64  `json:"spent_micro_usd"`
	Task  string `json:"task"`
	Tries int    `json:"tries"`
	Until string `json:"until,omitempty"`
	V     int    `json:"v"`
}

// Log is an op as lines of JSON for people and programs to follow: its phases,
// see [Passage.Line], then what was thought in them, see [Thought.Line]. tidy
// takes secrets out, nil for none.
func Log(s Story, thoughts []Thought, tidy func(string) string) []byte {
	var b bytes.Buffer
	for _, p := range Passages(s) {
		b.Write(p.Line(tidy))
	}
	for _, t := range thoughts {
		if t.Op == s.Op().ID {
			b.Write(t.Line(tidy))
		}
	}
	return b.Bytes()
}

// Live is the file that shows a run at work: for each op in its records a line as
// a Beat, keys sorted, and then its Log:
//
//	{"at":"…","began":"…","op":"op-01J…","phase":"generate","run":"run-01J…","spent_micro_usd":0,"task":"tidy","tries":1,"until":"…","v":1}
//
// doing is what the one op that has no ending yet is at within its phase, "" for nothing.
func Live(records []event.Record, thoughts []Thought, doing string, tidy func(string) string) []byte {
	var b bytes.Buffer
	stories, _ := ReadOps(records)
	for _, s := range stories {
		o := s.Op()
		l := beatLine{
			At: stamp(o.At), Began: stamp(o.Began), Op: o.ID, Phase: string(o.Phase), Run: o.last.By, Spent: o.Spent, Task: o.Task, Tries: o.Tries, Until: stamp(o.Until), V: 1,
		}
		if !o.Ended() && doing != "" {
			if l.Doing = doing; tidy != nil {
				l.Doing = tidy(doing)
			}
		}
		line, err := json.Marshal(l)
		if err != nil {
			panic("unreachable: " + err.Error()) // texts and integers
		}
		b.Write(append(line, '\n'))
		b.Write(Log(s, thoughts, tidy))
	}
	return b.Bytes()
}

// Beats reads the beats of a Live file. Lines of another kind, and what does not
// read, are passed over: the file is another process's, and may be gone tomorrow.
func Beats(b []byte) []Beat {
	var out []Beat
	for line := range bytes.Lines(b) {
		var l beatLine
		if json.Unmarshal(line, &l) != nil || l.V != 1 || l.Run == "" || l.Op == "" {
			continue
		}
		beat := Beat{Run: l.Run, Op: l.Op, Task: l.Task, Phase: Phase(l.Phase), Tries: l.Tries, Spent: l.Spent, Doing: l.Doing}
		beat.At, _ = time.Parse(layout, l.At)
		beat.Began, _ = time.Parse(layout, l.Began)
		beat.Until, _ = time.Parse(layout, l.Until)
		out = append(out, beat)
	}
	return out
}
