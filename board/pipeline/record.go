package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal/ledger"
)

// Record is the ledger line of the op's last transition, of kind op, or op_end
// for its ending. Who keeps the file gives it its seq. Its data:
//
//	op, id            the op, and this record: the op and its number from 1, "op-01J….3"
//	mark, to          enter, intent or applied; the phase or ending
//	at                the moment, to the millisecond; ts is the same, to the second
//	until, op_until   the deadlines of the phase and of the op, and
//	clock             which of them counts
//	set               facts that are new or changed
//	spent_micro_usd   since the record before
//	ref, old, new     of intent and applied
//	reason, note      of an ending its code; words for people
//	prev, hash        the hash of the op before and after
func (o Op) Record() ledger.Record {
	s := o.last
	kind := ledger.Op
	if s.Mark == Enter && s.To.Ends() {
		kind = ledger.OpEnd
	}
	data := s.data()
	maps.Copy(data, map[string]any{"op": o.ID, "id": o.recordID(), "hash": o.Hash})
	if o.Prev != "" {
		data["prev"] = o.Prev
	}
	return ledger.Record{TS: s.At.Truncate(time.Second), Run: s.By, Kind: kind, Task: o.Task, Data: data}
}

func (o Op) recordID() string { return o.ID + "." + strconv.Itoa(o.N) }

// data is a step as a record holds it, without what is empty.
func (s Step) data() map[string]any {
	out := s.Effect.data()
	set := map[string]any{}
	for k, v := range s.Set {
		set[k] = v
	}
	if len(set) > 0 {
		out["set"] = set
	}
	if s.Spent != 0 {
		out["spent_micro_usd"] = s.Spent
	}
	for k, v := range map[string]string{
		"mark": string(s.Mark), "to": string(s.To), "at": stamp(s.At), "until": stamp(s.Clocks.Phase), "op_until": stamp(s.Clocks.Op),
		"clock": s.Clocks.By, "reason": string(s.Reason), "note": s.Note,
	} {
		if v != "" {
			out[k] = v
		}
	}
	return out
}

func (e Effect) data() map[string]any {
	out := map[string]any{}
	for k, v := range map[string]string{"ref": e.Ref, "old": e.Old, "new": e.New} {
		if v != "" {
			out[k] = v
		}
	}
	return out
}

// line is a record read back.
type line struct {
	Step
	op, prev, hash string
	n              int
}

// members reads the members of a record's data and remembers what is wrong.
type members struct {
	data map[string]any
	err  error
}

func (m *members) text(key string) string {
	v, ok := m.data[key]
	delete(m.data, key)
	s, isText := v.(string)
	if ok && (!isText || s == "") && m.err == nil {
		m.err = fmt.Errorf("%s is %v; want a text, or no %s at all", key, v, key)
	}
	return s
}

func (m *members) moment(key string) time.Time {
	s := m.text(key)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(layout, s)
	if (err != nil || stamp(t) != s) && m.err == nil {
		m.err = fmt.Errorf("%s %q; want a moment like %s", key, s, layout)
	}
	return t.UTC()
}

func (m *members) amount(key string) int64 {
	v, ok := m.data[key]
	delete(m.data, key)
	n, isInt := v.(int64)
	if ok && (!isInt || n == 0) && m.err == nil {
		m.err = fmt.Errorf("%s is %v; want micro-USD above zero, or no %s at all", key, v, key)
	}
	return n
}

func (m *members) texts(key string) map[string]string {
	v, ok := m.data[key]
	delete(m.data, key)
	all, isObject := v.(map[string]any)
	if ok && (!isObject || len(all) == 0) && m.err == nil {
		m.err = fmt.Errorf("%s is %v; want an object of texts", key, v)
	}
	out := map[string]string{}
	for k, v := range all {
		s, isText := v.(string)
		if !isText && m.err == nil {
			m.err = fmt.Errorf("%s.%s is %v; want a text", key, k, v)
		}
		out[k] = s
	}
	return out
}

// parse reads one record, strictly: a member this program does not know could
// mean something to another.
func parse(r ledger.Record) (line, error) {
	m := &members{data: maps.Clone(r.Data)}
	l := line{op: m.text("op"), prev: m.text("prev"), hash: m.text("hash"), Step: Step{
		Mark: Mark(m.text("mark")), To: Phase(m.text("to")), By: r.Run, At: m.moment("at"),
		Clocks: Clocks{Phase: m.moment("until"), Op: m.moment("op_until"), By: m.text("clock")},
		Set:    m.texts("set"), Spent: m.amount("spent_micro_usd"),
		Effect: Effect{Ref: m.text("ref"), Old: m.text("old"), New: m.text("new")},
		Reason: Reason(m.text("reason")), Note: m.text("note"),
	}}
	id := m.text("id")
	n, ok := strings.CutPrefix(id, l.op+".")
	var err error
	l.n, err = strconv.Atoi(n)
	switch {
	case m.err != nil:
		return l, m.err
	case l.op == "":
		return l, errors.New("names no op")
	case !ok || err != nil || l.n < 1 || strconv.Itoa(l.n) != n:
		return l, fmt.Errorf("id %q; want %s. and a number from 1", id, l.op)
	case len(m.data) > 0:
		return l, fmt.Errorf("has the member %s, which no record of an op has", slices.Sorted(maps.Keys(m.data))[0])
	}
	return l, l.frame(r)
}

// frame holds the members around the data to what the data says.
func (l line) frame(r ledger.Record) error {
	bare := r
	bare.TS, bare.Run, bare.Seq, bare.Kind, bare.Task, bare.Data = time.Time{}, "", 0, "", "", nil
	switch {
	case (r.Kind == ledger.OpEnd) != (l.Mark == Enter && l.To.Ends()):
		return fmt.Errorf("is of kind %s and says %s %s", r.Kind, l.Mark, l.To)
	case !l.At.Truncate(time.Second).Equal(r.TS):
		return fmt.Errorf("at %s with ts %s", stamp(l.At), r.TS.UTC().Format(time.RFC3339))
	case !reflect.DeepEqual(bare, ledger.Record{}):
		return errors.New("has members of another kind; the money of an op is spent_micro_usd")
	}
	return nil
}

// Told is one transition of a story: the op after it, and the record that tells it.
type Told struct {
	Op     Op
	Record ledger.Record
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

// ReadOps tells every op that the records of any number of ledgers hold, in the
// order in which they first appear, and everything that is wrong with them. Records
// of other kinds are passed over. An op may be told by several runs; the order of
// its records is that of their ids, not of the files. That an op has no ending is
// no problem of the records: Open says so.
func ReadOps(records []ledger.Record) ([]Story, []Problem) {
	var problems []Problem
	var order []string
	lines := map[string][]located{}
	for _, r := range records {
		if r.Kind != ledger.Op && r.Kind != ledger.OpEnd {
			continue
		}
		l, err := parse(r)
		if err != nil {
			problems = append(problems, Problem{r.Run, r.Seq, l.op, err.Error()})
		}
		if l.op == "" || l.n < 1 {
			continue
		}
		if lines[l.op] == nil {
			order = append(order, l.op)
		}
		lines[l.op] = append(lines[l.op], located{l, r, err != nil})
	}
	var stories []Story
	for _, id := range order {
		all := lines[id]
		slices.SortStableFunc(all, func(a, b located) int { return a.n - b.n })
		s, wrong := replay(id, all)
		stories, problems = append(stories, s), append(problems, wrong...)
	}
	return stories, problems
}

type located struct {
	line
	record ledger.Record
	bad    bool
}

// replay makes the op again, transition by transition, and compares.
func replay(id string, all []located) (Story, []Problem) {
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
		if l.prev != o.Hash {
			say("%s: the chain is broken, it follows %s and the record before is %s", l.id(), short(l.prev), short(o.Hash))
			was.Hash, broken = l.prev, true
		}
		for _, err := range was.wrong(l.Step) {
			say("%s: %s", l.id(), strings.TrimPrefix(err.Error(), id+": "))
		}
		o = was.fold(l.Step)
		if l.hash != o.Hash && !broken {
			say("%s: its hash is %s, what it says makes %s", l.id(), short(l.hash), short(o.Hash))
			broken = true
		}
		o.Hash = l.hash
		s.Told = append(s.Told, Told{o, l.record})
		s.Sound = s.Sound && !l.bad
	}
	s.Sound = s.Sound && len(problems) == 0
	return s, problems
}

func (l line) id() string { return l.op + "." + strconv.Itoa(l.n) }

func short(hash string) string {
	if hash == "" {
		return "nothing"
	}
	return hash[:min(10, len(hash))]
}
