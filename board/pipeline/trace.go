package pipeline

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Passage is the time an op spent in one phase, tried again each time anew.
type Passage struct {
	Phase   Phase
	Started time.Time
	Elapsed time.Duration // 0 while it lasts
	Spent   int64         // micro-USD
	Note    string        // of the record that ended it
	Again   bool          // the phase before was the same
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
			out = append(out, Passage{Phase: step.To, Started: step.At, Again: i > 0 && t.Op.From == step.To})
		}
	}
	return out
}

// Node is one thing in the tree of what led to what.
type Node struct {
	Kind    string        `json:"kind"` // signal, task, claim, op, phase, commit
	Name    string        `json:"name"`
	At      string        `json:"at,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
	Spent   int64         `json:"spent_micro_usd,omitempty"`
	Note    string        `json:"note,omitempty"`
	Below   []Node        `json:"below,omitempty"`
}

// Trace is the tree from the signal that asked for an op to the commits it made:
// signal, task, claim, op, its phases, what each moved.
func Trace(s Story) []Node {
	o := s.Op()
	op := Node{Kind: "op", Name: o.ID, At: formatTime(o.Began), Spent: o.Spent, Note: "in " + string(o.Phase)}
	if o.Ended() {
		op.Elapsed, op.Note = o.At.Sub(o.Began), fmt.Sprintf("%s: %s", o.Phase, o.Reason)
	}
	for _, p := range Passages(s) {
		in := Node{Kind: "phase", Name: string(p.Phase), At: formatTime(p.Started), Elapsed: p.Elapsed, Spent: p.Spent, Note: p.Note}
		if p.Again {
			in.Name += " again"
		}
		for _, e := range p.Moved {
			in.Below = append(in.Below, Node{Kind: "commit", Name: e.New, Note: e.Ref})
		}
		op.Below = append(op.Below, in)
	}
	claim := Node{Kind: "claim", Name: o.Run, Below: []Node{op}}
	task := Node{Kind: "task", Name: o.Task, Below: []Node{claim}}
	return []Node{{Kind: "signal", Name: cmp.Or(o.Fact(FactSignal), "the board"), Below: []Node{task}}}
}

// Render draws the tree, a line a node; usd prints micro-USD as dollars. What
// would move a terminal's cursor is shown by its name.
func Render(roots []Node, usd func(int64) string) string {
	var b strings.Builder
	for _, n := range roots {
		n.drawNode(&b, "", "", usd)
	}
	return b.String()
}

func (n Node) drawNode(b *strings.Builder, first, rest string, usd func(int64) string) {
	words := n.Kind + " " + n.Name
	if n.Kind == "phase" {
		words = n.Name
	}
	if n.Elapsed > 0 {
		words += "  " + n.Elapsed.Round(time.Millisecond).String()
	}
	if n.Spent > 0 {
		words += "  $" + usd(n.Spent)
	}
	if n.Note != "" {
		words += "  " + n.Note
	}
	fmt.Fprintf(b, "%s%s\n", first, okf.Visible(strings.NewReplacer("\n", " ", "\t", " ").Replace(words)))
	for i, below := range n.Below {
		if i == len(n.Below)-1 {
			below.drawNode(b, rest+"└─ ", rest+"   ", usd)
			continue
		}
		below.drawNode(b, rest+"├─ ", rest+"│  ", usd)
	}
}
