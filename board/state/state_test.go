package state

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

var dawn = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// tree is a bundle's files, whose objects have ids as git's do.
type tree map[string][]byte

func (t tree) fs() fstest.MapFS {
	out := fstest.MapFS{".": &fstest.MapFile{Mode: fs.ModeDir | 0o755, Sys: t.id()}}
	for name, b := range t {
		out[name] = &fstest.MapFile{Data: b, Mode: 0o644, Sys: repo.OID(okf.BlobID(b))}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			out[dir] = &fstest.MapFile{Mode: fs.ModeDir | 0o755, Sys: t.below(dir).id()}
		}
	}
	return out
}

// below is a folder of the tree.
func (t tree) below(dir string) tree {
	out := tree{}
	for name, b := range t {
		if name, in := strings.CutPrefix(name, dir+"/"); in {
			out[name] = b
		}
	}
	return out
}

// id is the id of the tree.
func (t tree) id() repo.OID {
	sum := sha1.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(sum, "%s %s\n", name, okf.BlobID(t[name]))
	}
	return repo.OID(hex.EncodeToString(sum.Sum(nil)))
}

// put appends a record to its run's file, which began at dawn or in the month given.
func (t tree) put(r event.Record) error {
	name := event.Path(r.Run, dawn)
	if strings.HasPrefix(r.Run, "run-april") {
		name = event.Path(r.Run, dawn.AddDate(0, 1, 0))
	}
	r.Seq = 1 + bytes.Count(t[name], []byte("\n"))
	b, err := event.Append(t[name], r)
	if err == nil {
		t[name] = b
	}
	return err
}

// answers are all that a State says.
type answers struct {
	Spend         event.Spend
	Ops, Open     []*Op
	Ended         int
	Ends, Late    []End
	Tries, Trials any
	Permits       []Permit
	Used          Used
	Swept         []bool
	Waits         string
	Atoms         string
	Tasks, Rows   []string
	Errors        []string
}

func ask(s *State) (a answers) {
	say := func(err error) {
		if err != nil {
			a.Errors = append(a.Errors, err.Error())
		}
	}
	var err error
	a.Spend, err = s.Spend()
	say(err)
	a.Open, a.Ended, err = s.OpenOps()
	say(err)
	a.Ops, err = s.Ops()
	say(err)
	a.Ends, err = s.Ends(dawn.Add(-time.Hour))
	say(err)
	a.Late, err = s.Ends(dawn.AddDate(0, 2, 0))
	say(err)
	a.Tries, err = s.Tries(dawn)
	say(err)
	a.Trials, err = s.Trials(dawn, time.Hour)
	say(err)
	a.Permits, err = s.Permits()
	say(err)
	a.Used, err = s.Used("L-1", dawn.Add(2*time.Minute), dawn.Add(5*time.Minute))
	say(err)
	for i := range 3 {
		swept, err := s.Swept(fmt.Sprintf("run-%d-0", i), dawn)
		say(err)
		a.Swept = append(a.Swept, swept)
	}
	for _, o := range a.Open {
		story, ok, err := s.Waiting(o.Task, o.Proposal)
		say(err)
		if ok {
			a.Waits += story.Op().ID + " "
		}
	}
	g, ps, err := s.Atoms()
	say(err)
	a.Atoms = describe(g, ps)
	tasks, unread, err := s.Tasks()
	say(err)
	for _, t := range tasks {
		a.Tasks = append(a.Tasks, fmt.Sprint(t.Row, t.Blob, t.Team, t.Soft, t.Rejected))
		a.Rows = append(a.Rows, fmt.Sprint(t.Row))
	}
	a.Tasks = append(a.Tasks, fmt.Sprint(unread))
	g, _, err = s.TaskAtoms()
	say(err)
	rows, _ := board.Rows(g)
	for i, r := range rows {
		if i >= len(a.Rows) || fmt.Sprint(*r) != a.Rows[i] {
			a.Errors = append(a.Errors, fmt.Sprintf("of the tasks alone %v", *r))
		}
	}
	return a
}

// askFiles asks for ledger files by month and task.
func askFiles(s *State) (out []string) {
	for _, month := range []string{"", "2026-03", "2026-04"} {
		for _, task := range []string{"a", "b", "none"} {
			files, err := s.RunFiles(month, func(_ string, tasks []string) bool { return slices.Contains(tasks, task) })
			out = append(out, fmt.Sprint(month, task, err))
			for f := range files {
				out = append(out, fmt.Sprint(f.Path, len(f.Records), f.Err))
			}
		}
	}
	return out
}

// describe writes a graph and its problems in words.
func describe(g *okf.Graph, ps []okf.Problem) string {
	var b bytes.Buffer
	for _, a := range g.Atoms() {
		fmt.Fprintf(&b, "%s %s %s %q %v\n", a.ID, a.Path, a.Blob, a.Bytes(), g.Out(a.ID))
	}
	fmt.Fprintln(&b, ps)
	return b.String()
}

// history is a board whose tips are trees, and the State of each, carried on.
type history struct {
	tips   []tree
	states []*State
	ops    map[string]pipeline.Op
	now    time.Time
}

// step changes one tip.
func (h *history) step(t *rapid.T) {
	h.now = h.now.Add(time.Minute)
	i := rapid.IntRange(0, len(h.tips)-1).Draw(t, "tip")
	next := maps.Clone(h.tips[i])
	run := fmt.Sprintf("run-%s%d-%d", rapid.SampledFrom([]string{"", "april"}).Draw(t, "month"), i, rapid.IntRange(0, 2).Draw(t, "run"))
	task := rapid.SampledFrom([]string{"a", "b", run}).Draw(t, "task")
	r := event.Record{TS: h.now, Run: run, Task: task}
	switch rapid.SampledFrom([]string{"claim", "claim", "outcome", "outcome", "session", "anchor", "abandoned", "op", "op", "op", "atom", "atom", "atom", "fork", "merge", "merge", "remove", "tear", "strange"}).Draw(t, "what") {
	case "claim":
		r.Kind, r.Reserved, r.Team = event.Claim, 100, rapid.SampledFrom([]string{"", "docs"}).Draw(t, "team")
		r.Data = event.ClaimData{Lease: rapid.SampledFrom([]string{"", "L-1"}).Draw(t, "lease")}
	case "outcome":
		r.Kind, r.Cost, r.Data = event.Outcome, 7, event.OutcomeData{Verdict: "review", Alert: rapid.SampledFrom([][]string{nil, {"tenant"}}).Draw(t, "alert")}
	case "session":
		r.Kind, r.Cost, r.Data = event.Session, 7, event.SessionData{Substrate: "replay", Outcome: "completed"}
	case "anchor":
		r.Kind, r.Data = event.Anchor, event.AnchorData{Token: "T" + run}
	case "abandoned":
		r.Kind, r.Cost, r.DeadRun = event.Abandoned, 100, fmt.Sprintf("run-%d-0", rapid.IntRange(0, 2).Draw(t, "dead"))
	case "op":
		r = h.op(t, run)
	case "atom":
		h.atom(t, next)
	case "fork":
		h.tips, h.states = append(h.tips, next), append(h.states, h.states[i])
		return
	case "merge":
		for name, b := range h.tips[rapid.IntRange(0, len(h.tips)-1).Draw(t, "other")] {
			if len(b) > len(next[name]) {
				next[name] = b
			}
		}
	case "remove":
		delete(next, event.Path(run, dawn))
	case "tear":
		if rapid.IntRange(0, 3).Draw(t, "tear") == 0 {
			name := event.Path(run, dawn)
			next[name] = next[name][:len(next[name])/2]
		}
	case "strange": // a copy of another run's file
		next["ledger/2026-03/copy.jsonl"] = next[event.Path(run, dawn)]
	}
	if r.Kind != "" && next.put(r) != nil {
		return
	}
	h.tips[i], h.states[i] = next, h.states[i].Next(next.fs())
}

// atom writes, moves or removes a task or what a task names.
func (h *history) atom(t *rapid.T, next tree) {
	name := rapid.SampledFrom([]string{"tasks/a.md", "tasks/b.md", "tasks/deep/b.md", "teams/docs.md", "terms/a.md"}).Draw(t, "file")
	text := rapid.SampledFrom([]string{
		"", "---\ntype: task\nstate: ready\ndependencies: [b]\nteam: docs\n---\n", "---\ntype: task\nid: b\n---\n[a](a.md)\n",
		"---\ntype: task\nstate: nonsense\n---\n", "---\ntype: capability\n---\n", "---\ntype: term\nid: a\n---\n", "no atom",
	}).Draw(t, "text")
	if next[name] = []byte(text); text == "" {
		delete(next, name)
	}
}

// op is the next record of an op, which any run may write.
func (h *history) op(t *rapid.T, run string) event.Record {
	id := rapid.SampledFrom([]string{"op-01KJPWD6M0E8497ANGJ5R0NA01", "op-01KJPWD6M0E8497ANGJ5R0NA02"}).Draw(t, "op")
	o, began := h.ops[id]
	var err error
	if !began {
		o, err = pipeline.Begin(id, "a", run, h.now, pipeline.Limits{}, map[string]string{pipeline.FactFiles: "1", pipeline.FactTouched: `["a.go"]`})
	} else {
		o, err = pipeline.End(o, run, h.now, rapid.SampledFrom([]pipeline.Reason{pipeline.Abandoned, pipeline.CancelledByPerson}).Draw(t, "reason"), "no")
	}
	if err != nil {
		return event.Record{}
	}
	h.ops[id] = o
	return o.Record()
}

// What a State says is a function of its tree: carried on from a parent over any history,
// or read from what an earlier process kept, it is what reading the whole tree gives.
func TestAStateIsAFunctionOfItsTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cache, seen := cacheMap{}, trees{}
		h := &history{tips: []tree{{}}, states: []*State{Of(tree{}.fs(), seen)}, ops: map[string]pipeline.Op{}, now: dawn}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			h.step(t)
			for i, tip := range h.tips {
				tasks := tip.below("tasks")
				seen[tip.id()], seen[tasks.id()] = tip, tasks
				want := ask(Of(tip.fs(), nil))
				if rapid.Bool().Draw(t, "asked") { // a State that nobody asked anything is carried on all the same
					if diff := cmp.Diff(want, ask(h.states[i]), cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("carried on, -want +got:\n%s", diff)
					}
					if diff := cmp.Diff(askFiles(Of(tip.fs(), nil)), askFiles(h.states[i])); diff != "" {
						t.Fatalf("files, carried on, -want +got:\n%s", diff)
					}
				}
				kept := Of(tip.fs(), cache)
				if diff := cmp.Diff(want, ask(kept), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("from the cache, -want +got:\n%s", diff)
				}
				kept.Keep()
			}
		}
	})
}

// A sweep takes no team from a claim of another file, carried on or not.
func TestASweepIsOfItsOwnTeam(t *testing.T) {
	t.Parallel()
	all := tree{}
	put := func(r event.Record) {
		t.Helper()
		if err := all.put(r); err != nil {
			t.Fatal(err)
		}
	}
	put(event.Record{TS: dawn, Run: "run-1", Kind: event.Claim, Task: "a", Team: "docs", Reserved: 5})
	put(event.Record{TS: dawn, Run: "run-2", Kind: event.Claim, Task: "b", Reserved: 5})
	before := Of(all.fs(), nil)
	ask(before)
	put(event.Record{TS: dawn.Add(time.Hour), Run: "run-2", Kind: event.Abandoned, Task: "a", DeadRun: "run-1", Cost: 5})
	got, want := ask(before.Next(all.fs())), ask(Of(all.fs(), nil))
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || len(got.Spend.Open) != 1 || len(got.Spend.Team) != 0 {
		t.Errorf("%+v, -want +got:\n%s", got.Spend, diff)
	}
}

// trees is a Cache that keeps nothing, and knows the trees that it was given.
type trees map[repo.OID]tree

func (trees) Cached(string) []byte        { return nil }
func (trees) CachedNames(string) []string { return nil }
func (trees) Keep(string, []byte) error   { return errors.New("keeps nothing") }
func (m trees) Diff(_ context.Context, a, b repo.OID) (out []repo.Change, err error) {
	from, known := m[a]
	if to := m[b]; known && to != nil {
		for name := range from {
			if !bytes.Equal(from[name], to[name]) {
				out = append(out, repo.Change{Path: name})
			}
		}
		for name := range to {
			if from[name] == nil {
				out = append(out, repo.Change{Path: name})
			}
		}
		return out, nil
	}
	return nil, errors.New("not a tree that is known")
}

// cacheMap is a Cache.
type cacheMap map[string][]byte

func (m cacheMap) Cached(name string) []byte   { return m[name] }
func (m cacheMap) CachedNames(string) []string { return nil }
func (m cacheMap) Diff(context.Context, repo.OID, repo.OID) ([]repo.Change, error) {
	return nil, errors.New("has no trees")
}
func (m cacheMap) Keep(name string, b []byte) error {
	m[name] = b
	return nil
}

// counted counts the files that are read.
type counted struct {
	fstest.MapFS
	read *int
}

func (c counted) ReadFile(name string) ([]byte, error) {
	*c.read++
	return c.MapFS.ReadFile(name)
}

// A process reads no file again that an earlier one has read, and of a run that went on
// its one file.
func TestReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	all, cache := tree{}, cacheMap{}
	for i := range 40 {
		r := event.Record{TS: dawn, Run: fmt.Sprintf("run-%d", i), Kind: event.Claim, Task: "a", Reserved: 5}
		if err := all.put(r); err != nil {
			t.Fatal(err)
		}
	}
	reads := func(want int, s func(fs.FS) *State) {
		t.Helper()
		n := 0
		got := ask(s(counted{all.fs(), &n}))
		if len(got.Spend.Open) != 40 || len(got.Errors) > 0 {
			t.Fatalf("%d open claims, %v", len(got.Spend.Open), got.Errors)
		}
		if n != want {
			t.Errorf("%d files were read, want %d", n, want)
		}
	}
	kept := func(f fs.FS) *State { return Of(f, cache) }
	reads(40, kept)
	reads(0, kept)
	first := Of(all.fs(), cache)
	if err := all.put(event.Record{TS: dawn, Run: "run-7", Kind: event.Session, Task: "a"}); err != nil {
		t.Fatal(err)
	}
	reads(1, kept)
	ask(first)
	reads(1, first.Next)
	for name, text := range map[string]string{
		"of another format": "x",
		"torn":              string(cache[cacheName][:200]),
		"changed":           strings.Replace(string(cache[cacheName]), `"reserved"`, `"Reserved"`, 1) + "x",
		"other details":     strings.Replace(string(cache[cacheName]), `"claims":[`, `"claims": [`, 1),
	} {
		if cache[cacheName] = []byte(text); name == "changed" {
			continue // by nothing
		}
		n := 0
		if got := ask(Of(counted{all.fs(), &n}, cache)); n != 40 || len(got.Spend.Open) != 40 {
			t.Errorf("%s: %d files were read", name, n)
		}
	}
}

// A cache that another program wrote, with checksums that hold, is none.
func TestForgedCache(t *testing.T) {
	t.Parallel()
	all, cache := tree{}, cacheMap{}
	for i := range 40 {
		if err := all.put(event.Record{TS: dawn, Run: fmt.Sprintf("run-%d", i), Kind: event.Claim, Task: "a", Reserved: 5, Data: event.ClaimData{Lease: "L"}}); err != nil {
			t.Fatal(err)
		}
	}
	ask(Of(all.fs(), cache))
	_, head, _ := bytes.Cut(cache[cacheName], []byte("\n"))
	head, _, _ = bytes.Cut(head, []byte("\n"))
	for _, text := range []string{"", "3", "{}", `{"files":[]}`, `{"files":{"run-1.jsonl":{"claims":3}}}`, "}{"} {
		var heads []kept
		if err := json.Unmarshal(head, &heads); err != nil || len(heads) != 1 {
			t.Fatal(err, heads)
		}
		heads[0].Sum, heads[0].Size = checksum([]byte(text)), len(text)
		b, err := json.Marshal(heads)
		if err != nil {
			t.Fatal(err)
		}
		forged := cacheMap{cacheName: []byte(checksum(b) + "\n" + string(b) + "\n" + text)}
		if diff := cmp.Diff(ask(Of(all.fs(), nil)), ask(Of(all.fs(), forged))); diff != "" {
			t.Errorf("with %q: %s", text, diff)
		}
		grown := maps.Clone(all)
		if err := grown.put(event.Record{TS: dawn, Run: "run-7", Kind: event.Session, Task: "a"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ask(Of(grown.fs(), nil)), ask(Of(grown.fs(), forged))); diff != "" {
			t.Errorf("grown, with %q: %s", text, diff)
		}
	}
}

// A damaged file is an error of what it would say, which names its place; what else it
// tells of ops is told.
func TestDamage(t *testing.T) {
	t.Parallel()
	all := tree{}
	o, err := pipeline.Begin("op-1", "a", "run-1", dawn, pipeline.Limits{}, nil)
	if err == nil {
		err = all.put(o.Record())
	}
	if err != nil {
		t.Fatal(err)
	}
	name := event.Path("run-1", dawn)
	all[name] = append(all[name], "{}"...)
	s := Of(all.fs(), nil)
	want := "ledger/2026-03/run-1.jsonl: line 2: torn"
	for what, err := range map[string]error{
		"spend": second(s.Spend()), "ends": second(s.Ends(dawn)), "tries": second(s.Tries(dawn)), "permits": second(s.Permits()), "used": second(s.Used("L", dawn, dawn)), "swept": second(s.Swept("run-1", dawn)),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	if ends, err := s.Ends(dawn.AddDate(0, 3, 0)); err != nil || len(ends) > 0 {
		t.Errorf("of months that it cannot tell of: %v, %v", ends, err)
	}
	stories, err := s.Stories(func(o *Op) bool { return o.Task == "a" })
	if err != nil || len(stories) != 1 || stories[0].Op().ID != "op-1" {
		t.Errorf("%v, %v", stories, err)
	}
}

func second[T any](_ T, err error) error { return err }

// Of the ledger's files those are read whose month and tasks are asked for, and what may be
// about any: a damaged file, and one of several runs.
func TestRunFiles(t *testing.T) {
	t.Parallel()
	all := tree{}
	for run, task := range map[string]string{"run-1": "a", "run-2": "b", "run-april": "a"} {
		if err := all.put(event.Record{TS: dawn, Run: run, Kind: event.Claim, Task: task, Reserved: 5}); err != nil {
			t.Fatal(err)
		}
	}
	all["ledger/2026-05/run-3.jsonl"] = []byte("{}")
	files := all.fs()
	files["ledger/2026-05/run-4.jsonl"] = &fstest.MapFile{Mode: fs.ModeIrregular}
	for _, c := range []struct{ month, task, want string }{
		{"", "a", "2026-03/run-1 2026-04/run-april 2026-05/run-3! 2026-05/run-4!"},
		{"2026-03", "b", "2026-03/run-2"},
		{"2026-04", "a", "2026-03/run-1 2026-04/run-april"},
		{"2026-06", "c", "2026-05/run-3! 2026-05/run-4!"},
		{"2026-02", "a", ""},
	} {
		n := 0
		s := Of(counted{files, &n}, nil)
		if _, err := s.Ops(); err != nil {
			t.Fatal(err)
		}
		n = 0
		all, err := s.RunFiles(c.month, func(_ string, tasks []string) bool { return slices.Contains(tasks, c.task) })
		var got []string
		for f := range all {
			name := strings.TrimSuffix(strings.TrimPrefix(f.Path, "ledger/"), ".jsonl")
			if f.Err != nil {
				name += "!"
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want || err != nil || n > len(got) {
			t.Errorf("%s of %q: %v, %v, %d files read; want %s", c.task, c.month, got, err, n, c.want)
		}
		if _, err := s.Receipts(c.month, ""); (err != nil) != strings.Contains(c.want, "!") {
			t.Errorf("receipts of %q: %v", c.month, err)
		}
	}
	s := Of(files, nil)
	if err := all.put(event.Record{TS: dawn, Run: "run-1", Kind: event.Session, Task: "a"}); err != nil {
		t.Fatal(err)
	}
	for i, s := range []*State{s, s, s.Next(all.fs())} {
		if f, ok := s.RunFile("run-1"); !ok || f.Err != nil || len(f.Records) != 1+i/2 {
			t.Errorf("%d: %+v, %v", i, f, ok)
		}
	}
	if _, ok := Of(files, nil).RunFile("run-5"); ok {
		t.Error("a run that there is not")
	}
}

// A link in the place of a ledger file is never followed, and is damage.
func TestALinkIsDamage(t *testing.T) {
	t.Parallel()
	all := tree{}
	if err := all.put(event.Record{TS: dawn, Run: "run-1", Kind: event.Claim, Task: "a", Reserved: 5}); err != nil {
		t.Fatal(err)
	}
	whole := Of(all.fs(), nil)
	ask(whole)
	linked := all.fs()
	linked[event.Path("run-1", dawn)].Mode, linked["ledger/2026-03"].Sys = fs.ModeIrregular, repo.OID("another tree")
	for what, s := range map[string]*State{"read": Of(linked, nil), "carried on": whole.Next(linked)} {
		_, err := s.Spend()
		var damaged *Damaged
		if !errors.As(err, &damaged) || damaged.Path != event.Path("run-1", dawn) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := s.OpenOps(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A run is swept by another run's word that it died, in a month that may tell of it.
func TestSwept(t *testing.T) {
	t.Parallel()
	all := tree{}
	for _, r := range []event.Record{
		{TS: dawn, Run: "run-1", Kind: event.Claim, Task: "a", Reserved: 5},
		{TS: dawn.Add(time.Hour), Run: "run-2", Kind: event.Abandoned, Task: "a", DeadRun: "run-1", Cost: 5},
	} {
		if err := all.put(r); err != nil {
			t.Fatal(err)
		}
	}
	s := Of(all.fs(), nil)
	for _, c := range []struct {
		run  string
		from time.Time
		want bool
	}{{"run-1", dawn, true}, {"run-1", time.Time{}, true}, {"run-2", dawn, false}, {"run-1", dawn.AddDate(0, 3, 0), false}} {
		if got, err := s.Swept(c.run, c.from); got != c.want || err != nil {
			t.Errorf("%s since %s: %v, %v", c.run, c.from, got, err)
		}
	}
}

// What a lease has used is what was claimed under it since it was last activated or
// renewed: another lease's claims, sessions without a task and what was before do not
// count, and what nobody closed counts in full.
func TestUsed(t *testing.T) {
	t.Parallel()
	all := tree{}
	put := func(run, task string, after time.Duration, kind event.Kind, money int64, lease string) {
		t.Helper()
		r := event.Record{TS: dawn.Add(after), Run: run, Kind: kind, Task: task}
		switch kind {
		case event.Claim:
			r.Reserved, r.Data = money, eventtest.Data(kind, map[string]any{"lease": lease})
		case event.Abandoned:
			r.Cost, r.DeadRun = money, lease
		default:
			r.Cost = money
		}
		if err := all.put(r); err != nil {
			t.Fatal(err)
		}
	}
	put("run-0", "old", -time.Hour, event.Claim, 50, "L-1") // before the renewal
	put("run-0", "old", -time.Hour, event.Outcome, 5, "")
	put("run-1", "a", time.Minute, event.Claim, 100, "L-1")
	put("run-1", "a", 2*time.Minute, event.Outcome, 7, "")
	put("run-1", "b", 3*time.Minute, event.Claim, 100, "L-2") // another lease's
	put("run-1", "b", 4*time.Minute, event.Outcome, 9, "")
	put("run-2", "run-2", 5*time.Minute, event.Claim, 30, "L-1") // no task asked
	put("run-2", "run-2", 6*time.Minute, event.Outcome, 3, "")
	put("run-3", "c", 7*time.Minute, event.Claim, 100, "L-1") // still runs
	put("run-4", "d", 8*time.Minute, event.Claim, 100, "L-1") // died
	put("run-5", "d", time.Hour, event.Abandoned, 80, "run-4")
	for name, c := range map[string]struct {
		lease            string
		began, emergency time.Time
		want             Used
	}{
		"under it":        {"L-1", dawn, dawn.Add(150 * time.Second), Used{3, 7 + 3 + 100 + 80, 3}},
		"without a lease": {"", time.Time{}, dawn.Add(150 * time.Second), Used{0, 0, 3}},
		"of nothing":      {"", time.Time{}, time.Time{}, Used{}},
	} {
		if got, err := Of(all.fs(), nil).Used(c.lease, c.began, c.emergency); got != c.want || err != nil {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, c.want)
		}
	}
}
