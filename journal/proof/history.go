package proof

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
)

// folder is the mode of a directory in a tree.
const folder = "40000"

// ground is what is known of a repository, whichever of its commits are judged.
type ground struct {
	ctx      context.Context
	repo     *repo.Repo
	trees    *repo.Reader
	laws     map[repo.OID]*config.Config
	parsed   map[repo.OID]*config.Config // odd.toml by its blob
	unruled  *config.Config              // where no odd.toml ever stood
	machines map[repo.OID]bool
	spend    spending
	ruled    map[repo.OID]bool        // an odd.toml stands there, or stood before it
	walked   int                      // commits before the ranges that were asked for it
	slows    *recall[*slow]           // by the tree of governance/
	buffers  *recall[buffer]          // by the tree of proposals/
	ledgers  *recall[[]ledger.Record] // by ledger file, as it reads
	moves    *recall[[]ledger.Record] // by ledger file: its claims and what closed them
	signers  map[repo.OID][]byte      // by blob: who may sign
	anchors  map[repo.OID]bool        // of commits that ranges stand on: an anchored run is in its ledger
	ops      *recall[[]opLine]        // by ledger file: the records of ops in it
	bundle   bundle                   // that was read last
	verdicts map[repo.OID]verdict     // nil where one range is all that is judged
	judged   int                      // commits, each as often as it was
}

func newGround(ctx context.Context, r *repo.Repo) *ground {
	trees, unruled := r.Reader(), config.Default()
	return &ground{
		ctx: ctx, repo: r, trees: trees, laws: map[repo.OID]*config.Config{}, parsed: map[repo.OID]*config.Config{}, unruled: &unruled,
		machines: map[repo.OID]bool{}, spend: newSpending(r, trees), ruled: map[repo.OID]bool{},
		slows: recalling[*slow](fewTrees), buffers: recalling[buffer](fewTrees), moves: recalling[[]ledger.Record](manyFiles), ledgers: recalling[[]ledger.Record](someLedgers),
		signers: map[repo.OID][]byte{}, anchors: map[repo.OID]bool{}, ops: recalling[[]opLine](manyFiles),
	}
}

// history is the commits of one range and what is known about them.
type history struct {
	*ground
	to       repo.OID
	commits  []repo.Commit       // parents before children
	place    map[repo.OID]int    // of each in commits
	children map[repo.OID][]int  // by their places in commits
	spine    map[repo.OID]bool   // the first-parent line of to
	unnamed  map[repo.OID]bool   // commits of an agent that no odd.toml before them names
	tips     []repo.OID          // the board and the branch reviews merge into, as far as they are known
	moving   map[string]repo.OID // where refs are about to be
	runs     map[string][]told
	wrote    map[string][]repo.OID       // by run: wroteLedger, nil before it is asked
	acts     map[[2]string][]repo.Commit // by run and task, the oldest first
	claimers map[[3]string]repo.Commit   // by commit, run and task: the commit with the claim it goes on from
	indexed  bool                        // older was asked
	seen     map[repo.OID]bool           // by older, and the range
	before   []repo.Commit               // what older gives next, the last first
	edges    []repo.OID                  // what the range stands on
	anchored map[repo.OID]bool           // an anchored run is in its ledger, or in an earlier one's
	answers  []answer                    // of the range, about the commit that is judged
	own      bool                        // its verdict is of this range alone
}

// read walks the range and settles, for every commit, the odd.toml in force
// after it and whose commit it is.
func read(ctx context.Context, r *repo.Repo, s Scope) (*history, error) {
	return newGround(ctx, r).read(s)
}

func (g *ground) read(s Scope) (*history, error) {
	if g.repo.Shallow() {
		return nil, errors.New("this clone is shallow, so history cannot be judged; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	h := &history{
		ground: g, to: s.To, moving: s.Refs, place: map[repo.OID]int{}, children: map[repo.OID][]int{}, spine: map[repo.OID]bool{},
		runs: map[string][]told{}, acts: map[[2]string][]repo.Commit{}, claimers: map[[3]string]repo.Commit{}, anchored: map[repo.OID]bool{},
	}
	for c, err := range g.trees.Log(g.ctx, s.From, s.To) {
		if err != nil {
			return nil, err
		}
		h.commits = append(h.commits, c)
		if (c.OID == h.to || h.spine[c.OID]) && len(c.Parents) > 0 {
			h.spine[c.Parents[0]] = true
		}
	}
	h.spine[h.to] = true
	slices.Reverse(h.commits)
	h.edges = h.outside()
	for n, c := range h.commits {
		h.place[c.OID] = n
		for _, p := range c.Parents {
			h.children[p] = append(h.children[p], n)
		}
	}
	for _, c := range h.commits {
		h.note(c)
		if err := h.settle(c); err != nil {
			return nil, err
		}
	}
	h.unnamed = h.unnamedAgents()
	h.tips = h.branches()
	return h, nil
}

// unnamedAgents are the commits of the range that are a person's by the odd.toml before
// them, and by an address that another odd.toml has for the agent.
func (h *history) unnamedAgents() map[repo.OID]bool {
	laws, out := map[string]*config.Config{}, map[repo.OID]bool{}
	for _, law := range h.laws {
		laws[law.AgentEmail] = law
	}
	for _, c := range h.commits {
		for _, law := range laws {
			if len(laws) > 1 && !h.machines[c.OID] && ofAgent(c, law) {
				out[c.OID] = true
			}
		}
	}
	return out
}

// outside are the parents that the range stands on and does not hold.
func (h *history) outside() []repo.OID {
	var out []repo.OID
	in := map[repo.OID]bool{}
	for _, c := range h.commits {
		in[c.OID] = true
	}
	for _, c := range h.commits {
		for _, p := range c.Parents {
			if !in[p] {
				in[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

// branches are the tips of the board branch and of the target that the last odd.toml
// names; without names the branch that HEAD is on is both.
func (h *history) branches() []repo.OID {
	law := h.laws[h.to]
	if law == nil {
		law = &config.Config{} // of an empty range nothing was read
	}
	board := law.Branch
	if board == "" {
		board, _ = h.repo.Branch()
	}
	return append(h.branch(board, law.Remote), h.branch(law.Target, law.Remote)...)
}

// branch is where a branch is, here and on a remote, as far as that is known. Refs
// that are about to move are taken where they will be.
func (h *history) branch(name, remote string) []repo.OID {
	var out []repo.OID
	for _, prefix := range []string{"refs/heads/", "refs/remotes/" + remote + "/"} {
		if oid, moves := h.moving[prefix+name]; moves {
			out = append(out, oid)
		} else if oid, err := h.repo.Ref(prefix + name); name != "" && err == nil {
			out = append(out, oid)
		}
	}
	return out
}

// waits reports a proposal that is on no line yet. Where no line is known, only
// the end of the range can wait, or what it approves: that is of this range alone.
func (h *history) waits(p repo.OID) (bool, error) {
	last := h.commits[len(h.commits)-1]
	if len(h.tips) == 0 {
		return p == last.OID || string(p) == one(last, "Odd-Proposal"), nil
	}
	for _, tip := range h.tips {
		if in, err := h.ancestor(p, tip); in || err != nil {
			return false, err
		}
	}
	return true, nil
}

// ancestor reports whether a is an ancestor of b, or is b: within the range from what
// was read of it, elsewhere by asking git. What the range stands on holds nothing of it.
func (h *history) ancestor(a, b repo.OID) (bool, error) {
	from, in := h.place[a]
	at, known := h.place[b]
	if !in || !known {
		return h.repo.Ancestor(h.ctx, a, b)
	}
	seen := map[int]bool{}
	for todo := []int{at}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n == from {
			return true, nil
		}
		for _, p := range h.commits[n].Parents {
			if i, ok := h.place[p]; ok && i >= from && !seen[i] {
				seen[i] = true
				todo = append(todo, i)
			}
		}
	}
	return false, nil
}

// settle learns the law after c and whether a machine made c.
func (h *history) settle(c repo.Commit) error {
	if _, settled := h.machines[c.OID]; settled {
		return nil
	}
	if err := h.rule(c); err != nil {
		return err
	}
	laws, err := h.lawsOver(c)
	if err != nil {
		return err
	}
	h.machines[c.OID] = slices.ContainsFunc(laws, func(law *config.Config) bool { return ofAgent(c, law) })
	if len(c.Trailer("Odd-Run")) > 0 && len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) == 0 {
		h.machines[c.OID] = true
	}
	return nil
}

// lawsOver are the laws that say who is the agent of a commit: its parents', or a root
// commit's own, and that of no odd.toml, which it cannot take back. Its own is read in
// any case.
func (h *history) lawsOver(c repo.Commit) ([]*config.Config, error) {
	own, err := h.lawAt(c.OID)
	if err != nil || len(c.Parents) == 0 {
		return []*config.Config{own, h.unruled}, err
	}
	var out []*config.Config
	for _, p := range c.Parents {
		law, err := h.lawAt(p)
		if err != nil {
			return nil, err
		}
		out = append(out, law)
	}
	return out, nil
}

// ofAgent reports a commit that the agent of a law made, or that it committed.
func ofAgent(c repo.Commit, law *config.Config) bool {
	return isAgent(c.Author, law) || isAgent(c.Committer, law)
}

// isAgent reports the agent's address, however it is written.
func isAgent(who repo.Signature, law *config.Config) bool {
	return strings.EqualFold(strings.TrimSpace(who.Email), law.AgentEmail)
}

// rule learns whether an odd.toml stands in c, or stood before it.
func (h *history) rule(c repo.Commit) error {
	_, mode, err := h.trees.Find(c.OID, "odd.toml")
	if err != nil {
		return err
	}
	ruled := strings.HasPrefix(mode, "100")
	for _, p := range c.Parents {
		if _, known := h.ruled[p]; !known {
			if err := h.ruleBefore(p); err != nil {
				return err
			}
		}
		ruled = ruled || h.ruled[p]
	}
	h.ruled[c.OID] = ruled
	return nil
}

// ruleBefore is rule of a commit that the range stands on, and of what it has to ask
// before that. No commit is read twice, however many ways lead to it.
func (h *history) ruleBefore(oid repo.OID) error {
	type visit struct {
		oid  repo.OID
		todo []repo.OID // parents not asked yet
	}
	var way []visit // from oid down to where the walk is
	for at := oid; at != ""; {
		ruled, known := h.ruled[at]
		if !known {
			h.walked++
			c, err := h.repo.Commit(at)
			if err != nil {
				return err
			}
			_, mode, err := h.trees.Find(c.Tree, "odd.toml")
			if err := errors.Join(err, h.ctx.Err()); err != nil {
				return err
			}
			ruled = strings.HasPrefix(mode, "100")
			h.ruled[at] = ruled
			way = append(way, visit{at, c.Parents})
		}
		if ruled { // and so is whatever comes after it
			for _, v := range way {
				h.ruled[v.oid] = true
			}
			return nil
		}
		for at = ""; at == "" && len(way) > 0; {
			last := &way[len(way)-1]
			if len(last.todo) == 0 {
				way = way[:len(way)-1]
				continue
			}
			at, last.todo = last.todo[0], last.todo[1:]
		}
	}
	return nil
}

// lawAfter is the odd.toml in force after a commit, of the range or at its edge.
func (h *history) lawAfter(oid repo.OID) (config.Config, error) {
	law, err := h.lawAt(oid)
	if err != nil {
		return config.Config{}, err
	}
	return *law, nil
}

// lawAt is lawAfter, one for all commits that have it. Where none stands, or it does not
// read, that of the first parent stays in force, be it of the range or not: taking the
// rules away, in a push of its own, must not change who is who.
func (h *history) lawAt(oid repo.OID) (*config.Config, error) {
	law, without := h.unruled, []repo.OID{}
	for at := oid; at != ""; {
		if known, ok := h.laws[at]; ok {
			law = known
			break
		}
		own, err := h.lawOf(at, nil)
		if err != nil {
			return nil, err
		}
		without = append(without, at)
		if own != nil {
			law = own
			break
		}
		c, err := h.repo.Commit(at)
		if err != nil {
			return nil, err
		}
		at = ""
		if len(c.Parents) > 0 {
			at = c.Parents[0]
		}
	}
	for _, at := range without {
		h.laws[at] = law
	}
	return law, nil
}

// lawOf reads odd.toml in a commit; before, where it is missing or does not read.
func (h *history) lawOf(oid repo.OID, before *config.Config) (*config.Config, error) {
	blob, mode, err := h.trees.Find(oid, "odd.toml")
	if err != nil || !strings.HasPrefix(mode, "100") {
		return before, err
	}
	if law, ok := h.parsed[blob]; ok {
		return law, nil
	}
	b, err := h.trees.Blob(blob)
	if err != nil {
		return before, err
	}
	law, err := config.Parse("odd.toml", b)
	if err != nil {
		return before, nil
	}
	h.parsed[blob] = &law
	return &law, nil
}

// one is the value of a trailer that stands exactly once, "" otherwise.
func one(c repo.Commit, name string) string {
	if v := c.Trailer(name); len(v) == 1 {
		return v[0]
	}
	return ""
}

// told is a run's outcome, and whether the range's last commit has it; otherwise
// the board does, where that commit is a review branch or the target.
type told struct {
	*ledger.Record
	own bool
}

// outcomes are what a run's ledger says became of a task: first as the range's
// last commit has it, then as the branches have it.
func (h *history) outcomes(run, task string) ([]told, error) {
	h.ask(ledgersOf(run))
	at, ok := h.runs[run]
	if !ok {
		for i, tip := range h.ends() {
			records, err := h.ledgerAt(tip, run)
			if err != nil {
				return nil, err
			}
			for j := range records {
				if records[j].Kind == ledger.Outcome {
					at = append(at, told{&records[j], i == 0})
				}
			}
		}
		h.runs[run] = at
	}
	var out []told
	for _, t := range at {
		if t.Task == task {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return h.lostOutcome(run, task)
}

// lostOutcome is an outcome that no end tells any more.
func (h *history) lostOutcome(run, task string) ([]told, error) {
	for at := range h.tellers(run) {
		records, err := h.ledgerAt(at, run)
		if err != nil {
			return nil, err
		}
		for i := range records {
			if records[i].Kind == ledger.Outcome && records[i].Task == task {
				return []told{{&records[i], true}}, nil
			}
		}
	}
	return nil, nil
}

// ledgerAt reads a run's ledger in a commit; a torn end leaves the records before it.
func (h *history) ledgerAt(commit repo.OID, run string) ([]ledger.Record, error) {
	blob, err := h.ledgerBlob(commit, run)
	if err != nil || blob == "" {
		return nil, err
	}
	if records, ok := h.ledgers.get(blob); ok {
		return records, nil
	}
	b, err := h.trees.Blob(blob)
	records, _ := h.spend.lines.Read(b) // what is wrong in it is row 14's
	if err == nil {
		h.ledgers.put(blob, records)
	}
	return records, err
}

// ledgerBlob is the file of a run's ledger in a commit, "" where there is none.
func (h *history) ledgerBlob(commit repo.OID, run string) (repo.OID, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	months, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if err != nil || mode != folder || run == "" {
		return "", err
	}
	names, err := h.trees.Names(months, "")
	if err != nil {
		return "", err
	}
	for _, m := range names {
		blob, mode, err := h.trees.Find(months, m+"/"+run+".jsonl")
		if err != nil || strings.HasPrefix(mode, "100") {
			return blob, err
		}
	}
	return "", nil
}

// blobAt is the blob of a regular file in a commit, "" where it has none.
func (h *history) blobAt(commit repo.OID, name string) (string, error) {
	oid, mode, err := h.trees.Find(commit, name)
	if err != nil || !strings.HasPrefix(mode, "100") {
		return "", err
	}
	return string(oid), nil
}

// blobBelow is blobAt of a path below the bundle, where that lies in the commit.
func (h *history) blobBelow(commit repo.OID, rel string) (string, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return "", err
	}
	return h.blobAt(commit, law.Root+"/"+rel)
}
