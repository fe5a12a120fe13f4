package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/event/eventtest"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// TestMain gives the tests, and every git they start, a home of their own.
func TestMain(m *testing.M) {
	os.Exit(func() int {
		home, err := os.MkdirTemp("", "odd-verify-home")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(home)
		for _, kv := range os.Environ() {
			if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "GIT_") {
				os.Unsetenv(name)
			}
		}
		os.Setenv("HOME", home)
		os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "config"))
		os.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
		os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
		if err := os.Mkdir(empty(), 0o755); err != nil {
			panic(err)
		}
		if _, err := repo.Init(context.Background(), empty(), os.Environ()); err != nil {
			panic(err)
		}
		if err := os.RemoveAll(filepath.Join(empty(), ".git", "hooks")); err != nil {
			panic(err) // samples, of which every copy would take its time
		}
		return m.Run()
	}())
}

// empty is a repository without commits that TestMain makes, to be copied: git init is what would take the time here.
func empty() string { return filepath.Join(os.Getenv("HOME"), "empty") }

const (
	annMail   = "ann@example.org"
	bobMail   = "bob@example.org"
	agentMail = "odd@localhost"
)

// law is a repository whose agent costs money, so that every row has work.
const law = `[budget]
monthly_usd = "1.20"
[budget.teams]
docs = "0.60"
[session]
substrate = "exec"
max_usd = "0.50"
[substrate.exec]
argv = ["agent"]
[persona.floor]
atoms = 0
processes = 0
guides = 0
[governance]
lease = "off"
`

// draft is a commit before it is made: what a tamper may change.
type draft struct {
	who       string // address
	committer string // address, "" for the author's
	parents   []repo.OID
	tree      repo.OID // "" for the first parent's
	ch        repo.Changes
	message   string
	trailers  [][2]string
}

// set replaces or takes away a trailer.
func (d *draft) set(name, value string) {
	for i := range d.trailers {
		if d.trailers[i][0] == name {
			d.trailers[i][1] = value
			return
		}
	}
	d.trailers = append(d.trailers, [2]string{name, value})
}

// story makes a history as odd's verbs do, one commit a method. tamper may change any of its commits before it is made.
type story struct {
	testing.TB
	r      *repo.Repo
	now    time.Time
	n      int
	made   int                             // commits
	base   int                             // runs of the history that this one is a fork of
	tamper map[string]func(*story, *draft) // by step and task, "claim tidy"
	branch string                          // the branch steps land on
	heads  map[string]repo.OID             // the branches, as refs only once they are checked

	proposals map[string]repo.OID              // the last of a task
	announced string                           // the op that the next claims announce, "" for none
	anchored  bool                             // sessions are bound, as they are today
	keeps     bool                             // odd sync keeps an approval as a parent, as today
	bound     func(*run)                       // gives sessions that change files a contract, nil for none
	killed    bool                             // a run that is swept was killed before its claim ended
	override  map[string]any                   // what a person declares for the next claims, nil for nothing
	ops       map[string]pipeline.Op           // that wait, by task
	pipes     func(*story, *run, repo.Changes) // what every run has
}

func begin(t testing.TB, toml string, tamper map[string]func(*story, *draft)) *story {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(empty())); err != nil {
		t.Fatal(err)
	}
	r, err := repo.Open(dir, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	s := &story{TB: t, r: r, now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), tamper: tamper, branch: "main", heads: map[string]repo.OID{}, proposals: map[string]repo.OID{}, ops: map[string]pipeline.Op{}}
	ch := repo.Changes{"odd.toml": []byte(toml), "README.md": []byte("# Ours\n")}
	for name, text := range map[string]string{
		"roles/editor.md":  "---\ntype: role\ntitle: Editor\n---\n",
		"canon/truth.md":   "---\ntype: canon\ntitle: Truth\n---\n",
		"terms/old.md":     "---\ntype: term\ntitle: Old\nconfidence: inferred\n---\n\nAs it was.\n",
		"tasks/earlier.md": "---\ntype: task\nstate: done\n---\n",
	} {
		ch["knowledge/"+name] = []byte(text)
	}
	s.land(s.make("begin", "", draft{who: annMail, ch: ch}))
	return s
}

// make makes a commit of a step and returns its id.
func (s *story) make(step, task string, d draft) repo.OID {
	s.Helper()
	s.now = s.now.Add(time.Minute)
	if f := s.tamper[strings.TrimSpace(step+" "+task)]; f != nil {
		f(s, &d)
	}
	msg := cmp.Or(d.message, step+" "+task) + "\n\n"
	for _, t := range d.trailers {
		if t[1] != "" {
			msg += t[0] + ": " + t[1] + "\n"
		}
	}
	name, _, _ := strings.Cut(d.who, "@")
	who := repo.Signature{Name: name, Email: d.who, When: s.now}
	var oid repo.OID
	var err error
	if d.tree != "" {
		oid, err = s.r.MakeOn(s.Context(), d.parents, d.tree, d.ch, who, msg)
	} else {
		oid, err = s.r.Make(s.Context(), d.parents, d.ch, who, msg)
	}
	if err != nil {
		s.Fatalf("%s %s: %v", step, task, err)
	}
	s.made++
	if d.committer != "" {
		b := strings.Replace(s.git("", "cat-file", "commit", string(oid)), "committer "+name+" <"+d.who+">", "committer "+name+" <"+d.committer+">", 1)
		oid = repo.OID(strings.TrimSpace(s.git(b, "hash-object", "-t", "commit", "-w", "--stdin")))
	}
	return oid
}

// git has git itself make what odd never would, and returns what it says.
func (s *story) git(stdin string, args ...string) string {
	s.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = s.r.Root(), strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("git %s: %v", args, err)
	}
	return string(out)
}

// land moves the branch.
func (s *story) land(oid repo.OID) repo.OID {
	s.heads[s.branch] = oid
	return oid
}

func (s *story) tip() repo.OID { return s.heads[s.branch] }

// file reads a path of the branch, nil where there is none.
func (s *story) file(name string) []byte { return s.at(s.tip(), name) }

func (s *story) at(oid repo.OID, name string) []byte {
	s.Helper()
	files, err := s.r.Tree(oid)
	if err != nil {
		s.Fatal(err)
	}
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return nil
	}
	return b
}

func taskFile(id string) string { return "knowledge/tasks/" + id + ".md" }

func (s *story) task(id string) board.Task {
	s.Helper()
	a, err := okf.Parse("tasks/"+id+".md", s.file(taskFile(id)))
	if err != nil {
		s.Fatal(err)
	}
	t, err := board.Parse(&a)
	if err != nil {
		s.Fatal(err)
	}
	return t
}

// ann commits by hand.
func (s *story) ann(step string, ch repo.Changes) repo.OID {
	s.Helper()
	return s.land(s.make(step, "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: ch}))
}

// add files a task as ready, as a person may in one edit.
func (s *story) add(id, more string) {
	s.Helper()
	s.ann("add "+id, repo.Changes{taskFile(id): []byte("---\ntype: task\nid: " + id + "\ntitle: T " + id + "\nstate: ready\nconfidence: asserted\nrole: editor\n" + more + "---\n\n# T\n")})
}

// run is one run's claim of one task.
type run struct {
	id, task string
	file     string // its ledger
	lease    string // it is claimed under
	base     repo.OID
	proposal repo.OID
	paths    []any
	trace    string
	session  map[string]any                   // what its session's record says besides the substrate
	also     repo.Changes                     // what its result commit holds besides
	silent   bool                             // it has no session
	permit   map[string]any                   // what its anchor record says
	allow    []any                            // what its permit lets it write, nil for the bundle
	tells    []journal.Entry                  // what its journal has besides
	pipes    func(*story, *run, repo.Changes) // records of an op, behind its outcome
	op, tier string                           // of a change of files
	alone    bool                             // it lands with its result
}

func (s *story) newRun(task string) *run {
	s.n++
	id := fmt.Sprintf("run-01KJ0000000000000000%06d", s.n)
	return &run{id: id, task: task, file: "knowledge/" + event.Path(id, s.now), pipes: s.pipes}
}

// record appends to the run's ledger, as a draft or the branch has it.
func (s *story) record(w *run, ch repo.Changes, r event.Record) []byte {
	s.Helper()
	b, ok := ch[w.file]
	if !ok {
		b = s.file(w.file)
	}
	r.Run, r.TS, r.Seq = w.id, s.now, 1+bytes.Count(b, []byte("\n"))
	if r.Task == "" {
		r.Task = w.task
	}
	b, err := event.Append(b, r)
	if err != nil {
		s.Fatal(err)
	}
	ch[w.file] = b
	return b
}

func (s *story) claim(task string) *run {
	s.Helper()
	w, t := s.newRun(task), s.task(task)
	b, err := board.Claim(t, w.id, s.now.Add(30*time.Minute))
	if err != nil {
		s.Fatal(err)
	}
	reserved := int64(500_000)
	if t.Budget > 0 {
		reserved = int64(t.Budget)
	}
	ch, data := repo.Changes{taskFile(task): b}, map[string]any{"attempt": t.Attempts + 1}
	if s.override != nil {
		data["override"] = s.override
		s.journal(w, ch, journal.Entry{Type: "D", Title: "override: " + strings.Join(declaredModes(s.override), ", ") + " collapsed"})
		w.tells = append(w.tells, journal.Entry{Type: "O", Title: "override ended: " + strings.Join(declaredModes(s.override), ", ")})
	}
	if s.announced != "" {
		data["op"] = s.announced
	}
	w.lease = s.currentLease()
	if w.lease != "" {
		data["lease"] = w.lease
	}
	s.record(w, ch, event.Record{Kind: event.Claim, Role: t.Role, Team: t.Team, Reserved: reserved, Data: eventtest.Data(event.Claim, data)})
	w.base = s.land(s.make("claim", task, draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", task}, {"Odd-Lease", w.lease}}}))
	return w
}

// result makes the proposal and lands the result.
func (s *story) result(w *run, cost int64, atoms repo.Changes) {
	s.Helper()
	verdict, reason := board.ToReview, ""
	if atoms == nil {
		verdict, reason = board.ToBlocked, "no owner"
	}
	ch := repo.Changes{}
	w.trace = event.Trace(s.file(w.file))
	if s.anchored {
		s.bindAnchor(w)
	}
	if !w.silent {
		w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Session, Cost: cost, Data: eventtest.Data(event.Session, w.sessionData())}))
	}
	if s.anchored {
		w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Anchor, Role: "editor", Data: eventtest.Data(event.Anchor, w.permit)}))
	}
	data := map[string]any{"verdict": "blocked"}
	if atoms != nil {
		s.propose(w, atoms)
		data = map[string]any{"verdict": "review", "proposal": string(w.proposal), "branch": "odd/review/" + w.task + ".1", "base": string(w.base)}
		if len(w.paths) > 0 {
			data["paths"] = w.paths
		}
		if w.op != "" {
			data["op"] = w.op
		}
	}
	t := s.task(w.task)
	b, err := board.Finish(t, w.id, verdict, board.Result{Run: w.id, Branch: "odd/review/" + w.task + ".1", Commit: string(w.proposal), Reason: reason})
	if err != nil {
		s.Fatal(err)
	}
	ch[taskFile(w.task)] = b
	s.record(w, ch, event.Record{Kind: event.Outcome, Team: t.Team, Cost: cost, Trace: w.trace, Data: eventtest.Data(event.Outcome, data)})
	if w.pipes != nil {
		w.pipes(s, w, ch)
	}
	s.journal(w, ch, append([]journal.Entry{{Type: "O", Title: w.task, Content: "done"}}, w.tells...)...)
	maps.Copy(ch, w.also)
	onto := s.tip()
	if w.alone {
		onto = w.proposal
	}
	s.land(s.make("result", w.task, draft{who: agentMail, parents: []repo.OID{onto}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", w.task}, {"Odd-Trace", w.trace}}}))
}

// sessionData is the data of the run's session record.
func (w *run) sessionData() map[string]any {
	data := map[string]any{"substrate": "exec"}
	maps.Copy(data, w.session)
	return data
}

// journal appends to the run's journal, as the branch has it.
func (s *story) journal(w *run, ch repo.Changes, entries ...journal.Entry) {
	s.Helper()
	name := "knowledge/" + w.journal()
	b, ok := ch[name]
	if !ok {
		b = s.file(name)
	}
	for _, e := range entries {
		var err error
		if b, err = journal.Append(b, e); err != nil {
			s.Fatal(err)
		}
	}
	ch[name] = b
}

// journal is the file below the bundle root.
func (w *run) journal() string { return "journal/2026-03-02-" + strings.ToLower(w.id) + ".tsv" }

// propose commits the atoms on the run's base. What the ledger records is the draft's before a tamper.
func (s *story) propose(w *run, atoms repo.Changes) {
	s.Helper()
	for _, name := range rules.SortedKeys(atoms) {
		base := ""
		if b := s.at(w.base, name); b != nil {
			base = okf.BlobID(b)
		}
		w.paths = append(w.paths, map[string]any{"path": name, "base": base, "result": okf.BlobID(atoms[name])})
	}
	trailers := [][2]string{{"Odd-Run", w.id}, {"Odd-Task", w.task}, {"Odd-Trace", w.trace}}
	if w.op != "" {
		trailers = append(trailers, [2]string{"Odd-Op", w.op}, [2]string{"Odd-Tier", w.tier})
	}
	w.proposal = s.make("proposal", w.task, draft{who: agentMail, parents: []repo.OID{w.base}, ch: atoms, trailers: trailers})
	s.proposals[w.task] = w.proposal
}

type terminal struct {
	io.Reader
	io.Writer
}

func (s *story) human(email string) review.Human {
	s.Helper()
	h, err := review.Confirm(terminal{strings.NewReader("yes\n"), io.Discard}, "act", "yes", review.Person{Name: "P", Email: email}, review.Place{})
	if err != nil {
		s.Fatal(err)
	}
	return h
}

// approve merges the proposal as Ann, with verify marking its atoms too.
func (s *story) approve(w *run, verify bool) repo.OID {
	s.Helper()
	tree, _, err := s.r.MergeTree(s.Context(), s.tip(), w.proposal)
	if err != nil {
		s.Fatal(err)
	}
	atoms := review.Files{}
	for _, p := range w.paths {
		name := p.(map[string]any)["path"].(string)
		if b := s.at(tree, name); b != nil && strings.HasPrefix(name, "knowledge/") {
			atoms[name] = b
		}
	}
	files, err := review.Approve(s.task(w.task), taskFile(w.task), atoms, review.Verify{All: verify}, s.human(annMail), s.now)
	if err != nil {
		s.Fatal(err)
	}
	d := draft{who: annMail, parents: []repo.OID{s.tip(), w.proposal}, tree: tree, ch: repo.Changes(files), trailers: approval(w)}
	if o, ok := s.ops[w.task]; ok {
		d.set("Odd-Op", o.ID)
		d.set("Odd-Tier", o.Fact(pipeline.FactTier))
	}
	s.endOp(w.task, d.ch, pipeline.Merged)
	d.ch["knowledge/index.md"] = fmt.Appendf(nil, "# Index\n\n%s\n", w.task)
	if verify {
		d.set("Odd-Verified", "1 atoms")
	}
	return s.land(s.make("approve", w.task, d))
}

func approval(w *run) [][2]string {
	return [][2]string{{"Odd-Task", w.task}, {"Odd-Run", w.id}, {"Odd-Proposal", string(w.proposal)}, {"Odd-Trace", w.trace}, {"Odd-Approved-By", "human:" + annMail}}
}

func (s *story) reject(w *run) {
	s.Helper()
	b, err := review.Reject(s.task(w.task), "not so", true, s.human(annMail), s.now)
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{taskFile(w.task): b}
	s.endOp(w.task, ch, pipeline.Rejected)
	s.land(s.make("reject", w.task, draft{who: annMail, parents: []repo.OID{s.tip()}, ch: ch,
		trailers: [][2]string{{"Odd-Task", w.task}, {"Odd-Run", w.id}, {"Odd-Rejected-By", "human:" + annMail}}}))
}

func (s *story) ready(task string) {
	s.Helper()
	b, err := review.Ready(s.task(task), s.human(annMail))
	if err != nil {
		s.Fatal(err)
	}
	s.land(s.make("ready", task, draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{taskFile(task): b}, trailers: [][2]string{{"Odd-Task", task}, {"Odd-Ready-By", "human:" + annMail}}}))
}

// sweep takes back what a dead run held.
func (s *story) sweep(dead *run, reserved int64) *run {
	s.Helper()
	s.now = s.now.Add(time.Hour)
	w := s.newRun(dead.task)
	b, _, err := board.Sweep(s.task(dead.task), s.now, 5)
	if err != nil {
		s.Fatal(err)
	}
	ch := repo.Changes{taskFile(dead.task): b}
	r := event.Record{Kind: event.Abandoned, DeadRun: dead.id, Team: s.task(dead.task).Team, Cost: reserved}
	if s.killed {
		s.now, r.Data = s.now.Add(-time.Hour), event.AbandonedData{Killed: true}
	}
	s.record(w, ch, r)
	s.land(s.make("sweep", dead.task, draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}}}))
	return w
}

// pause stops the board as a drain does, and Ann lifts it.
func (s *story) pause() {
	s.Helper()
	w := s.newRun("")
	ch := repo.Changes{"knowledge/pause.toml": board.PauseFile("enough", "odd-agent", s.now)}
	s.record(w, ch, event.Record{Kind: event.Paused, Task: "", Data: eventtest.Data(event.Paused, map[string]any{"reason": "enough"})})
	s.land(s.make("pause", "", draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}}}))
	s.land(s.make("resume", "", draft{who: annMail, parents: []repo.OID{s.tip()}, ch: repo.Changes{"knowledge/pause.toml": nil}, trailers: [][2]string{{"Odd-Resumed-By", "human:" + annMail}}}))
}

// refresh judges a task in review again, without a session.
func (s *story) refresh(old *run, atoms repo.Changes) *run {
	s.Helper()
	w := s.newRun(old.task)
	w.base = s.tip()
	ch := repo.Changes{}
	w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Claim, Role: "editor", Team: s.task(old.task).Team, Data: eventtest.Data(event.Claim, map[string]any{"refresh_of": old.id})}))
	if s.anchored {
		s.bindAnchor(w)
		w.trace = event.Trace(s.record(w, ch, event.Record{Kind: event.Anchor, Role: "editor", Data: eventtest.Data(event.Anchor, w.permit)}))
	}
	s.propose(w, atoms)
	b, err := okf.Edit(s.task(w.task).Atom.Bytes(), okf.Set{Key: "result", Value: map[string]any{"run": w.id, "branch": "odd/review/x.2", "commit": string(w.proposal)}})
	if err != nil {
		s.Fatal(err)
	}
	ch[taskFile(w.task)] = b
	s.record(w, ch, event.Record{Kind: event.Outcome, Team: s.task(old.task).Team, Trace: w.trace, Data: eventtest.Data(event.Outcome, map[string]any{"verdict": "review", "proposal": string(w.proposal), "paths": w.paths})})
	s.land(s.make("result", w.task, draft{who: agentMail, parents: []repo.OID{s.tip()}, ch: ch, trailers: [][2]string{{"Odd-Run", w.id}, {"Odd-Task", w.task}, {"Odd-Trace", w.trace}}}))
	return w
}

// term is an atom as reconcile returns one.
func term(name, more string) (string, []byte) {
	return "knowledge/terms/" + name + ".md", []byte("---\ntype: term\nid: " + name + "\ntitle: The " + name + "\nstatus: draft\nconfidence: inferred\ngenerated: {by: odd/1, at: 2026-03-02T09:00:00Z}\n" + more + "---\n\n# The " + name + "\n")
}

func terms(names ...string) repo.Changes {
	ch := repo.Changes{}
	for _, n := range names {
		p, b := term(n, "")
		ch[p] = b
	}
	return ch
}

// tellAll uses every verb that commits at least once.
func (s *story) tellAll() {
	s.Helper()
	s.add("tidy", "team: docs\n")
	w := s.claim("tidy")
	s.ann("hand edit", repo.Changes{"knowledge/roles/editor.md": []byte("---\ntype: role\ntitle: Editor in chief\nverified: [{by: human:ann, at: 2026-03-02}]\nconfidence: verified\n---\n")})
	atoms := terms("keel")
	atoms["knowledge/terms/old.md"] = []byte("---\ntype: term\ntitle: Old\nconfidence: inferred\n---\n\nAs it is.\n")
	s.result(w, 100_000, atoms)
	s.approve(w, true)

	s.add("sort", "budget_usd: 0.25\n")
	s.result(s.claim("sort"), 0, nil)
	s.ready("sort")
	dead := s.claim("sort")
	s.sweep(dead, 250_000)
	w = s.claim("sort")
	s.result(w, 1, terms("skeg"))
	s.reject(w)
	s.result(s.claim("sort"), 2, terms("skeg"))
	w = s.refresh(w, terms("skeg", "stem"))
	s.approve(w, false)
	s.pause()
}

// check proves the range and fails on a fault.
func (s *story) check(from, to repo.OID) Report {
	s.Helper()
	for name, oid := range s.heads {
		name = "refs/heads/" + name
		old, _ := s.r.Ref(name)
		if err := s.r.Update(s.Context(), repo.RefUpdate{Name: name, Old: old, New: oid}); err != nil {
			s.Fatal(err)
		}
	}
	return s.prove(Scope{From: from, To: to})
}

// prove is CheckScope with each finding on its own, whatever caused it.
func (s *story) prove(scope Scope) Report {
	s.Helper()
	h, err := newGround(context.Background(), s.r).readHistory(scope)
	if err != nil {
		s.Fatal(err)
	}
	r, err := h.judgeCommits(nil)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// listFindings returns a report's findings, one a line, with runs as R1 and object ids as #: "14
// ledger/2026-03/R1.jsonl:2 is append-only, and old lines of it were changed".
func listFindings(r Report) []string {
	runs, oids := regexp.MustCompile(`(?i)run-01kj0+(\d+)`), regexp.MustCompile(`\b[0-9a-f]{10,}\b`)
	out := []string{}
	for _, f := range r.Findings {
		line := fmt.Sprintf("%d %s:%d %s", f.Invariant, strings.TrimPrefix(f.Path, "knowledge/"), f.Line, f.Message)
		out = append(out, oids.ReplaceAllString(runs.ReplaceAllString(line, "R$1"), "#"))
	}
	return out
}

// lawWith returns law with more at its end, checked.
func lawWith(t testing.TB, more string) string {
	t.Helper()
	if _, err := config.Parse("odd.toml", []byte(law+more)); err != nil {
		t.Fatal(err)
	}
	return law + more
}

// declaredModes are those of a declared override.
func declaredModes(o map[string]any) (out []string) {
	for _, m := range o["modes"].([]any) {
		out = append(out, fmt.Sprint(m))
	}
	return out
}
