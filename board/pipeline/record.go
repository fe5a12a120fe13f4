package pipeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/reconcile/policy"
)

// version of the records that are written.
const version = 2

// Record is the ledger line of the op's last transition, of kind op, or op_end
// for its ending. Who keeps the file gives it its seq. Its data:
//
//	v                 the version, 2; a record without one is of version 1
//	op, id            the op, and this record: the op and its number from 1, "op-01J….3"
//	to                the phase or ending
//	at                the moment, to the millisecond; ts is the same, to the second
//	until             the deadline of the phase
//	set               facts that are new or changed
//	spent_micro_usd   since the record before
//	ref, old, new     a ref that the phase before moves
//	reason, note      of an ending its code; words for people
func (o Op) Record() event.Record {
	s := o.last
	kind := event.Op
	if s.To.Ends() {
		kind = event.OpEnd
	}
	data := event.OpData{
		V: version, Op: o.ID, ID: o.ID + "." + strconv.Itoa(o.N), To: string(s.To), At: formatTime(s.At), Until: formatTime(s.Until), Set: s.Set, Spent: s.Spent,
		Ref: s.Moved.Ref, Old: s.Moved.Old, New: s.Moved.New, Reason: string(s.Reason), Note: s.Note,
	}
	return event.Record{TS: s.At.Truncate(time.Second), Run: s.By, Kind: kind, Task: o.Task, Data: data}
}

// recordLine is a record read back.
type recordLine struct {
	Step
	op     string
	n      int
	record event.Record
	bad    bool // it does not read well
}

// parseStamp reads a stamp; an empty one is the zero moment.
func parseStamp(key, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(layout, s)
	if err != nil || formatTime(t) != s {
		return time.Time{}, fmt.Errorf("%s %q; want a moment like %s", key, s, layout)
	}
	return t.UTC(), nil
}

func parseRecord(r event.Record) (recordLine, error) {
	d := r.Op()
	l := recordLine{op: d.Op, record: r, Step: Step{
		To: Phase(d.To), By: r.Run, Set: d.Set, Spent: d.Spent, Moved: Effect{Ref: d.Ref, Old: d.Old, New: d.New}, Reason: Reason(d.Reason), Note: d.Note, mark: d.Mark,
	}}
	var bad [2]error
	l.At, bad[0] = parseStamp("at", d.At)
	l.Until, bad[1] = parseStamp("until", d.Until)
	n, ok := strings.CutPrefix(d.ID, l.op+".")
	var err error
	l.n, err = strconv.Atoi(n)
	switch wrong := cmp.Or(bad[:]...); {
	case wrong != nil:
		return l, wrong
	case l.op == "":
		return l, errors.New("names no op")
	case !ok || err != nil || l.n < 1 || strconv.Itoa(l.n) != n:
		return l, fmt.Errorf("id %q; want %s. and a number from 1", d.ID, l.op)
	case d.Spent < 0:
		return l, fmt.Errorf("spent_micro_usd is %d; want micro-USD above zero", d.Spent)
	}
	return l, l.checkFrame()
}

// checkFrame compares the members around the data with the data.
func (l recordLine) checkFrame() error {
	r, d := l.record, l.record.Op()
	bare := r
	bare.TS, bare.Run, bare.Seq, bare.Kind, bare.Task, bare.Data = time.Time{}, "", 0, "", "", nil
	switch {
	case d.V != 0 && d.V != version:
		return fmt.Errorf("is a change's record of version %d; a newer odd wrote it: update odd", d.V)
	case d.V == 0 && !slices.Contains([]string{enter, intent, applied}, l.mark), d.V == version && d.Mark+d.Prev+d.Hash+d.Clock+d.OpUntil != "":
		return fmt.Errorf("mixes versions: it is of version %d and says mark %q", max(d.V, 1), d.Mark)
	case (r.Kind == event.OpEnd) != (l.entersPhase() && l.To.Ends()):
		return fmt.Errorf("is of kind %s and says %s", r.Kind, l.To)
	case !l.At.Truncate(time.Second).Equal(r.TS):
		return fmt.Errorf("at %s with ts %s", formatTime(l.At), r.TS.UTC().Format(time.RFC3339))
	case !reflect.DeepEqual(bare, event.Record{}):
		return errors.New("has members of another kind; the money of an op is spent_micro_usd")
	}
	return nil
}

// Told is one transition of a story: the op after it, and the record that tells it.
type Told struct {
	Op     Op
	Record event.Record
}

// Story is one op as ledgers tell it, from its beginning.
type Story struct {
	Told  []Told
	Sound bool // nothing in it is wrong, so that it may be carried on
}

// Op is the op as the story leaves it.
func (s Story) Op() Op { return s.Told[len(s.Told)-1].Op }

// Open reports that the story has no ending.
func (s Story) Open() bool { return !s.Op().Ended() }

// Problem is what is wrong with one record.
type Problem struct {
	Run  string // with Seq, the record
	Seq  int
	Op   string
	Text string
}

// ReadOps returns every op that the records of any number of ledgers tell of, in the order
// in which they first appear, and everything that is wrong with the records. It skips
// records of other kinds. Several runs may write records of one op; their ids order them,
// not the files. An op without an ending is no problem: Open reports it.
func ReadOps(records []event.Record) ([]Story, []Problem) {
	var problems []Problem
	var order []string
	lines := map[string][]recordLine{}
	for _, r := range records {
		if r.Kind != event.Op && r.Kind != event.OpEnd {
			continue
		}
		l, err := parseRecord(r)
		if err != nil {
			problems = append(problems, Problem{r.Run, r.Seq, l.op, err.Error()})
		}
		if l.bad = err != nil; l.op == "" || l.n < 1 {
			continue
		}
		if lines[l.op] == nil {
			order = append(order, l.op)
		}
		lines[l.op] = append(lines[l.op], l)
	}
	var stories []Story
	for _, id := range order {
		all := lines[id]
		slices.SortStableFunc(all, func(a, b recordLine) int { return a.n - b.n })
		s, wrong := replayOp(id, all)
		stories, problems = append(stories, s), append(problems, wrong...)
	}
	return stories, problems
}

// replayOp makes the op again, transition by transition, and compares it with the records.
func replayOp(id string, all []recordLine) (Story, []Problem) {
	var problems []Problem
	s := Story{Sound: true}
	o := Op{ID: id, Task: all[0].record.Task}
	broken := false
	for _, l := range all {
		say := func(format string, args ...any) {
			problems = append(problems, Problem{l.record.Run, l.record.Seq, id, fmt.Sprintf(format, args...)})
		}
		if l.record.Task != o.Task {
			say("%s of %s: the op is of %s", l.id(), l.record.Task, o.Task)
		}
		was := o
		if l.n != o.N+1 {
			say("%s after %s.%d: a record is missing, or there twice", l.id(), id, o.N)
			was.N, broken = l.n-1, true
		}
		d := l.record.Op()
		if d.V == 0 && d.Prev != o.hash {
			say("%s: the chain is broken, it follows %s and the record before is %s", l.id(), shortHash(d.Prev), shortHash(o.hash))
			broken = true
		}
		for _, err := range was.checkStep(l.Step) {
			say("%s: %s", l.id(), strings.TrimPrefix(err.Error(), id+": "))
		}
		o = was.applyStep(l.Step)
		if d.V == 0 {
			if is := o.hashVersion1(l.record, d.Prev); d.Hash != is && !broken {
				say("%s: its hash is %s, what it says makes %s", l.id(), shortHash(d.Hash), shortHash(is))
				broken = true
			}
			o.hash = d.Hash
		}
		s.Told = append(s.Told, Told{o, l.record})
		s.Sound = s.Sound && !l.bad
	}
	s.Sound = s.Sound && len(problems) == 0
	return s, problems
}

func (l recordLine) id() string { return l.op + "." + strconv.Itoa(l.n) }

func shortHash(hash string) string {
	if hash == "" {
		return "nothing"
	}
	return hash[:min(10, len(hash))]
}

// Dossier is what a run keeps of an op for the person who decides about it,
// beside its records and in the same words: why the change was made as it is,
// what was found, what the checks said. It is data that a session's words are
// part of; no rule reads it.
type Dossier struct {
	Op        string           `json:"op"`
	Rationale string           `json:"rationale,omitempty"` // the session's words
	Source    string           `json:"source,omitempty"`    // one of the From words
	Tier      string           `json:"tier,omitempty"`
	Because   []string         `json:"because,omitempty"` // of the tier, a line each
	Findings  []policy.Finding `json:"findings,omitempty"`
	Checks    []Checked        `json:"checks,omitempty"`
}

// Checked is one check of the candidate, or of the commit that would land.
type Checked struct {
	Phase   Phase  `json:"phase"`
	Says    string `json:"says"` // a line
	Passed  bool   `json:"passed"`
	Sandbox string `json:"sandbox,omitempty"` // what the kernel held of it
	Output  string `json:"output,omitempty"`  // the end of it, capped
}

// tailLines is how much of a failed check's output is shown.
const tailLines = 20

// Failing is the last check that failed, and the last lines of what it printed that
// are not blank. ok is false where none failed.
func (d Dossier) Failing() (c Checked, tail []string, ok bool) {
	for _, c := range slices.Backward(d.Checks) {
		if c.Passed {
			continue
		}
		for line := range strings.Lines(c.Output) {
			if line = strings.TrimSpace(line); line != "" {
				tail = append(tail, line)
			}
		}
		return c, tail[max(len(tail)-tailLines, 0):], true
	}
	return c, nil, false
}

// maxOutput is how much of a check's output a dossier keeps, in bytes.
const maxOutput = 2048

// Checked are the checks of a report as a dossier keeps them.
func (r Report) Checked(in Phase) []Checked {
	var out []Checked
	for _, ran := range r.Ran {
		b := ran.Output
		if ran.Passed() {
			b = nil
		}
		if len(b) > maxOutput {
			b = append([]byte("…"), b[len(b)-maxOutput:]...)
		}
		out = append(out, Checked{Phase: in, Says: ran.String(), Passed: ran.Passed(), Sandbox: ran.Sandbox, Output: string(bytes.ToValidUTF8(b, nil))})
	}
	for _, b := range r.Breaches {
		out = append(out, Checked{Phase: in, Says: b})
	}
	return out
}

// Encode is the dossier as a run keeps it, op.json. It still holds what a session wrote:
// who keeps it takes secrets out.
func (d Dossier) Encode() []byte {
	b, _ := json.MarshalIndent(d, "", "  ") // texts
	return append(b, '\n')
}

// ReadDossier reads the op.json of a run.
func ReadDossier(b []byte) (Dossier, error) {
	var d Dossier
	err := json.Unmarshal(b, &d)
	return d, err
}
