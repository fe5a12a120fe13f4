package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
)

// Proposal is what a task in review waits with.
type Proposal struct {
	Task      okf.ID         `json:"task"`
	Run       string         `json:"run"`
	Role      string         `json:"role,omitempty"`
	Commit    string         `json:"commit"`
	Branch    string         `json:"branch"` // short name
	Base      string         `json:"base"`   // the commit the session read and the proposal is made on
	Trace     string         `json:"trace"`
	Artifacts string         `json:"artifacts,omitempty"`
	Cost      int64          `json:"cost_micro_usd"`
	Paths     []Path         `json:"paths"`
	Counts    map[string]int `json:"counts"` // by effect
	Held      []Held         `json:"held,omitempty"`
	Notes     []string       `json:"notes,omitempty"` // what the session did not read, left out or left open
	Substrate string         `json:"substrate,omitempty"`
	Turns     int64          `json:"turns"`
	Sandbox   string         `json:"sandbox,omitempty"`  // what held the program that ran, "" where none did
	Contract  *Contract      `json:"contract,omitempty"` // nil if the records have no session
	Judged    string         `json:"judged,omitempty"`   // the run with the session, where this one only judged its result again
}

// Contract is the contract that bound the session which made a proposal, according to its
// record.
type Contract struct {
	Role     string   `json:"role"`
	Mode     string   `json:"mode,omitempty"`
	Persona  string   `json:"persona,omitempty"` // with its version, oddie@2
	Others   []string `json:"participants,omitempty"`
	From     []string `json:"handoffs,omitempty"` // what it worked from, in the repository
	To       string   `json:"handoff,omitempty"`  // what it handed over
	Tainted  string   `json:"tainted,omitempty"`  // the override behind all of it
	Override string   `json:"override_by,omitempty"`
	Risks    []string `json:"risks,omitempty"` // acknowledged with the override
}

// Held is an atom that the agent delivered and reconcile kept out of the proposal.
type Held struct {
	Effect string `json:"effect"` // guarded, conflict or duplicate
	ID     string `json:"id"`
	Path   string `json:"path"`
	Reason string `json:"reason,omitempty"`
}

// KeptApproval returns the ref that keeps a review branch's approval for odd sync, because a
// forge may delete the branch after the merge.
func KeptApproval(branch string) string {
	return "refs/odd/approval/" + strings.TrimPrefix(branch, "odd/review/")
}

// Path is one file that a proposal writes: its blob before ("" for a new file) and after.
type Path struct {
	Path   string `json:"path"` // in the repository
	Base   string `json:"base"`
	Result string `json:"result"`
}

// Read finds the proposal of t in the records of the run that made it: the task's last
// outcome with verdict review. The task's result must name the same commit and branch.
func Read(t board.Task, run string, records []event.Record) (Proposal, error) {
	if t.State != board.Review {
		return Proposal{}, refuse("state", "%s: %s", t.ID, t.NoProposal())
	}
	p := Proposal{Task: t.ID, Run: run, Role: t.Role, Counts: map[string]int{}}
	var found bool
	for _, r := range records {
		if r.Task != string(t.ID) {
			continue
		}
		switch r.Kind {
		case event.Claim:
			p.Counts, p.Held, found = map[string]int{}, nil, false
		case event.Session:
			d := r.Session()
			p.Substrate, p.Turns, p.Sandbox = d.Substrate, d.Turns, d.Sandbox
		case event.Reconcile:
			p.addReconciled(r.Reconcile())
		case event.Outcome:
			found = p.readOutcome(r)
		}
	}
	p.Contract, p.Judged = Contracted(t.ID, records)
	if !found {
		return Proposal{}, refuse("state", "%s: the ledger of %s has no proposal for it; odd reject %[1]s --retry --reason \"why\" starts again", t.ID, run)
	}
	if p.Commit != t.Result.Commit || p.Branch != t.Result.Branch || !strings.HasPrefix(p.Branch, "odd/review/") {
		return Proposal{}, refuse("branch", "%s: the task's result was edited: it names %s on %s, the ledger of %s names %s on %s; restore it from git history, or odd reject %s --reason \"why\"",
			t.ID, t.Result.Commit, t.Result.Branch, run, p.Commit, p.Branch, t.ID)
	}
	return p, nil
}

// Contracted returns the contract of a task's last session in a run's records, nil for none.
// If the run only judged another run's result again, judged is that run.
func Contracted(t okf.ID, records []event.Record) (c *Contract, judged string) {
	for _, r := range records {
		switch {
		case r.Task != string(t):
		case r.Kind == event.Claim:
			c = nil
			judged = r.Claim().RefreshOf
		case r.Kind == event.Session:
			c = readContract(r.Session())
		}
	}
	return c, judged
}

func readContract(d event.SessionData) *Contract {
	if d.Contract == nil {
		return nil
	}
	c := &Contract{Role: d.Contract.Role, Mode: d.Contract.Mode, Persona: d.Contract.Persona, Tainted: d.Contract.Tainted, To: d.Handoff, Others: d.Contract.Participants}
	for _, h := range d.Contract.Handoffs {
		c.From = append(c.From, h.Path)
	}
	if o := d.Contract.Override; o != nil {
		c.Override, c.Risks = o.By, o.Risks
	}
	return c
}

func (p *Proposal) addReconciled(d event.ReconcileData) {
	for k, n := range d.Counts {
		p.Counts[k] = int(n)
	}
	for _, h := range d.Held {
		p.Held = append(p.Held, Held(h))
	}
}

func (p *Proposal) readOutcome(r event.Record) bool {
	d := r.Outcome()
	p.Trace, p.Cost, p.Commit, p.Branch, p.Base, p.Artifacts, p.Notes = r.Trace, r.Cost, d.Proposal, d.Branch, d.Base, d.Artifacts, d.Notes
	p.Paths = nil
	for _, w := range d.Paths {
		p.Paths = append(p.Paths, Path{Path: w.Path, Base: w.Base, Result: w.Result})
	}
	return d.Verdict == "review" && p.Commit != ""
}

// Atoms returns the paths of p in the bundle, whose folder is root. An op changed the other
// paths.
func (p Proposal) Atoms(root string) []Path {
	return slices.DeleteFunc(slices.Clone(p.Paths), func(w Path) bool { return !strings.HasPrefix(w.Path, root+"/") })
}

// MadeBy compares a commit's changes with what p records. all says that every recorded path
// is among them, from its recorded base to its recorded result. others are the paths that p
// does not record. Only the bytes count, not what the commit says about itself.
func (p Proposal) MadeBy(changes []Path) (all bool, others []string) {
	missing := map[string]Path{}
	for _, w := range p.Paths {
		missing[w.Path] = w
	}
	for _, c := range changes {
		switch w, ok := missing[c.Path]; {
		case !ok:
			others = append(others, c.Path)
		case w == c:
			delete(missing, c.Path)
		}
	}
	return len(missing) == 0, others
}

// Moved is a path that changed since the proposal was made.
type Moved struct{ Path, Want, Have, What string }

// Bound compares a proposal with the branch it will be merged into and with its own commit.
// blob returns a path's blob on that branch, result the one in the proposal commit, and
// changed lists the paths that the proposal commit changes. An approval is allowed only if
// Bound returns nothing.
func Bound(p Proposal, blob, result func(path string) string, changed []string) []Moved {
	var out []Moved
	recorded := map[string]bool{}
	for _, w := range p.Paths {
		recorded[w.Path] = true
		if have := blob(w.Path); have != w.Base && have != w.Result {
			out = append(out, Moved{w.Path, w.Base, have, "changed since the agent read it"})
		}
		if have := result(w.Path); have != w.Result {
			out = append(out, Moved{w.Path, w.Result, have, "differs from what the run recorded"})
		}
	}
	for _, path := range changed {
		if !recorded[path] {
			out = append(out, Moved{Path: path, What: "is in the proposal but not in the run's record"})
		}
	}
	return out
}

// mostMoved is how many files a refusal names of those that have one fault.
const mostMoved = 3

// Unbound returns the refusal for what Bound found. It says each fault once.
func Unbound(t okf.ID, moved []Moved, way string) error {
	paths := map[string][]string{}
	for _, m := range moved {
		paths[m.What] = append(paths[m.What], m.Path)
	}
	var lines []string
	for what, all := range paths {
		slices.Sort(all)
		names := strings.Join(all[:min(len(all), mostMoved)], ", ")
		if len(all) > 1 {
			names = fmt.Sprintf("%d files: each %s: %s", len(all), what, names)
		} else {
			names += " " + what
		}
		if n := len(all) - mostMoved; n > 0 {
			names += fmt.Sprintf(" and %d more", n)
		}
		lines = append(lines, names)
	}
	slices.Sort(lines)
	return refuse("moved", "%s: %s; %s", t, strings.Join(lines, "; "), way)
}
