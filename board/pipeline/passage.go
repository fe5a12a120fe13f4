package pipeline

import "time"

// Passage is the time an op spent in one phase, tried again each time anew.
type Passage struct {
	Phase   Phase
	Started time.Time
	Elapsed time.Duration // 0 while it lasts
	Spent   int64         // micro-USD
	Note    string        // of the record that ended it
	Moved   []Effect
}

// Passages are the phases of a story in their order, the ending left out.
func Passages(s Story) []Passage {
	var out []Passage
	for i, t := range s.Told {
		step := t.Op.last
		if i > 0 {
			p := &out[len(out)-1]
			p.Spent += step.Spent
			if step.Moved != (Effect{}) && step.mark != intent {
				p.Moved = append(p.Moved, step.Moved)
			}
			if step.Note != "" {
				p.Note = step.Note
			}
			if step.entersPhase() {
				p.Elapsed = step.At.Sub(p.Started)
			}
		}
		if step.entersPhase() && !step.To.Ends() || i == 0 {
			out = append(out, Passage{Phase: step.To, Started: step.At})
		}
	}
	return out
}
