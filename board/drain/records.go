package drain

import (
	"cmp"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// Records reads what the ledgers of a board record of a run, and finds the proposal that a handoff is
// about. The proposal waits on a review branch until a person has approved it, so the files that it cites may be
// only there.
type Records struct {
	Repo  *repo.Repo
	State *state.State // of the board's commit
	Root  string       // of the bundle in it
	Graph *okf.Graph
	Tasks []board.Task // in the order of board.Tasks
}

// Made is a proposal that an earlier session made.
type Made struct {
	Commit repo.OID
	Files  fs.FS                // of the commit
	Paths  []event.ProposedPath // as its outcome records them
}

func recordsOf(r *repo.Repo, s *snapshot) Records {
	return Records{Repo: r, State: s.state, Root: s.cfg.Root, Graph: s.graph, Tasks: s.tasks()}
}

// Proposal is the proposal that the handoff h is about: the one its run made beside
// it, by the run's own ledger, or else that of what h derives from. A validator
// makes none; what it found is about what it was given. It is nil where there is
// none; the error says that it is not in this clone.
func (o Records) Proposal(h handoff.Handoff) (*Made, error) {
	return o.findProposal(h, map[string]bool{})
}

func (o Records) findProposal(h handoff.Handoff, seen map[string]bool) (*Made, error) {
	if seen[h.Path] {
		return nil, nil
	}
	seen[h.Path] = true
	var task string
	for _, r := range o.runRecords(h.Run) {
		switch {
		case r.Session().Handoff == path.Join(o.Root, h.Path):
			task = r.Task
		case r.Kind == event.Outcome && r.Task == task && task != "" && r.Outcome().Proposal != "":
			return o.readMade(o.latestRecord(r))
		}
	}
	for _, name := range h.Derives {
		a, err := o.Graph.Find(name)
		if err != nil {
			continue
		}
		if up, err := handoff.Read(a); err == nil {
			if m, err := o.findProposal(up, seen); m != nil || err != nil {
				return m, err
			}
		}
	}
	return nil, nil
}

func (o Records) readMade(r event.Record) (*Made, error) {
	m := &Made{Commit: repo.OID(r.Outcome().Proposal), Paths: r.Outcome().Paths}
	var err error
	if m.Files, err = o.Repo.Tree(m.Commit); err != nil {
		return nil, fmt.Errorf("the proposal %s on branch %s is not in this clone; run git fetch", m.Commit, r.Outcome().Branch)
	}
	return m, nil
}

// latestRecord returns the outcome of r's task that waits on the board in its place, because
// the same emission was judged again, or r.
func (o Records) latestRecord(r event.Record) event.Record {
	t, _ := board.Find(o.Tasks, okf.ID(r.Task))
	latest := r
	for run, records := range o.eachJudgement(t) {
		for _, again := range records {
			if again.Kind == event.Outcome && again.Outcome().Proposal == t.Result.Commit {
				latest = again
			}
		}
		if run == r.Run {
			return latest
		}
	}
	return r
}

// eachJudgement returns the runs that judged the work of t which waits, and their records of t: the last
// first, and at the end the run whose session did the work.
func (o Records) eachJudgement(t board.Task) iter.Seq2[string, []event.Record] {
	return func(yield func(string, []event.Record) bool) {
		seen := map[string]bool{}
		for run := t.Result.Run; run != "" && !seen[run]; {
			seen[run] = true
			records := slices.DeleteFunc(slices.Clone(o.runRecords(run)), func(r event.Record) bool { return r.Task != string(t.ID) })
			if !yield(run, records) {
				return
			}
			run = ""
			for _, r := range records {
				run = cmp.Or(r.Claim().RefreshOf, run)
			}
		}
	}
}

func (o Records) runRecords(run string) []event.Record {
	f, _ := o.State.RunFile(run)
	return f.Records
}

// isOnlyMode reports that every session of the task so far was in this mode. It reads no more
// of the newest ledgers than hold the task's attempts.
func (o Records) isOnlyMode(t board.Task, mode contract.Mode) bool {
	all, _ := o.State.RunFiles("", func(_ string, tasks []string) bool { return slices.Contains(tasks, string(t.ID)) })
	files := slices.Collect(all)
	slices.SortFunc(files, func(a, b state.RunFile) int { return strings.Compare(path.Base(b.Path), path.Base(a.Path)) })
	attempts := 0
	for _, f := range files {
		if attempts >= t.Attempts {
			break
		}
		for _, r := range f.Records {
			switch {
			case r.Task != string(t.ID):
			case r.Kind == event.Claim:
				attempts++
			case r.Kind == event.Session:
				if c := r.Session().Contract; c == nil || contract.Mode(c.Mode) != mode {
					return false
				}
			}
		}
	}
	return true
}

// Given is what an invocation works on when that is not on the board: a change
// of the repository, judged by the rules it starts from. It takes the place of
// what the board would say. Its claims are encoded as a handoff of the run, so
// that the session has one as every other has.
type Given struct {
	Rules     *okf.Graph // whose profiles are meant
	Claims    handoff.Handoff
	Artifacts []invoke.File
	Canon     []invoke.Ref
	Prompts   map[string][]byte // as invoke.Input has them
	Files     fs.FS             // what the session sees as the repository

	text []byte // of the handoff
}

// encodeGiven makes the handoff of what is given. From here on it goes by the path
// and the blob that the board will have it under.
func (l *runLog) encodeGiven(given *Given, by string) (*Given, error) {
	if given == nil {
		return nil, nil
	}
	g := *given
	c := g.Claims
	m := handoff.Meta{
		Slug: "claims", Title: "Claims of " + c.Artifact, From: c.From, To: c.To, Artifact: c.Artifact, Run: l.id, By: by,
		At: l.started.Format(time.RFC3339), Journal: l.journalPath(),
	}
	h, _, err := newHanded(m, c.Deliverable)
	if err != nil {
		return nil, fmt.Errorf("the claims: %w", err)
	}
	g.Claims, g.text = h.Handoff, h.text
	return &g, nil
}

// addGiven adds the claims of what an invocation is given to p, and returns their path, "" for none.
func (rec recorder) addGiven(p *draft) string {
	g := rec.given
	if g == nil {
		return ""
	}
	file := rec.at.pathOf(g.Claims.Path)
	p.changes[file] = g.text
	title, content := handoff.Entry(g.Claims, file, rec.log.now().UTC().Format(time.RFC3339))
	p.tellJournal("H", title, content)
	return file
}

// Spoke is what a session came to by itself, without a board.
func Spoke(c contract.Contract, res invoke.Result) Spoken {
	e := res.Emission
	s := Spoken{Role: c.Role, Mode: c.Mode, Outcome: string(e.Outcome), Deliverable: e.Deliverable, Said: e.Says, Hints: res.Verdict.Hints}
	switch e.Outcome {
	case session.Completed:
	case session.HandoffInsufficient:
		s.Reason = "handoff_insufficient: the claims are missing: " + strings.Join(e.Missing, ", ")
	default:
		s.Reason = joinDetail(cmp.Or(e.Failure, string(e.Outcome)), e.Detail)
	}
	return s
}

// withArtifact is made with what a validator was given as what its findings are about, however
// it called it: it was shown nothing else.
func (cs contracts) withArtifact(made deliver.Deliverable, c contract.Contract) deliver.Deliverable {
	if made.Findings != nil && c.Artifact != "" && (cs.given != nil || c.Strict) {
		made.Findings.Artifact = c.Artifact
	}
	return made
}
