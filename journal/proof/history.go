package proof

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
)

// folder is the mode of a directory in a tree.
const folder = "40000"

// history is the commits of one range and what is known about them.
type history struct {
	ctx      context.Context
	repo     *repo.Repo
	trees    *repo.Reader
	to       repo.OID
	commits  []repo.Commit    // parents before children
	place    map[repo.OID]int // of each in commits
	laws     map[repo.OID]*config.Config
	parsed   map[repo.OID]*config.Config // odd.toml by its blob
	unruled  *config.Config              // where no odd.toml ever stood
	machines map[repo.OID]bool
	children map[repo.OID][]int // by their places in commits
	spine    map[repo.OID]bool  // the first-parent line of to
	tips     []repo.OID         // the board and the branch reviews merge into, as far as they are known
	runs     map[string][]told
	acts     map[[2]string][]repo.Commit // by run and task, the oldest first
	claimers map[[2]string]repo.Commit   // by run and task: the commit that claimed it
	indexed  bool                        // older was asked
	seen     map[repo.OID]bool           // by older, and the range
	before   []repo.Commit               // what older gives next, the last first
	spend    spending
	ruled    map[repo.OID]bool        // an odd.toml stands there, or stood before it
	slows    *recall[*slow]           // by the tree of governance/
	buffers  *recall[buffer]          // by the tree of proposals/
	ledgers  *recall[[]ledger.Record] // by ledger file, as it reads
	moves    *recall[[]ledger.Record] // by ledger file: its claims and what closed them
	signers  map[repo.OID][]byte      // by blob: who may sign
	anchored map[repo.OID]bool        // an anchored run is in its ledger, or in an earlier one's
	edges    []repo.OID               // what the range stands on
	ops      *recall[[]opLine]        // by ledger file: the records of ops in it
	bundle   bundle                   // that was read last
}

// read walks the range and settles, for every commit, the odd.toml in force
// after it and whose commit it is.
func read(ctx context.Context, r *repo.Repo, s Scope) (*history, error) {
	from, to := s.From, s.To
	if r.Shallow() {
		return nil, errors.New("this clone is shallow, so history cannot be judged; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	trees, unruled := r.Reader(), config.Default()
	h := &history{
		ctx: ctx, repo: r, trees: trees, to: to, place: map[repo.OID]int{}, laws: map[repo.OID]*config.Config{}, parsed: map[repo.OID]*config.Config{}, unruled: &unruled,
		machines: map[repo.OID]bool{}, children: map[repo.OID][]int{}, spine: map[repo.OID]bool{},
		runs: map[string][]told{}, acts: map[[2]string][]repo.Commit{}, spend: newSpending(r, trees),
		ruled: map[repo.OID]bool{}, slows: recalling[*slow](fewTrees), buffers: recalling[buffer](fewTrees), moves: recalling[[]ledger.Record](manyFiles), ledgers: recalling[[]ledger.Record](someLedgers), signers: map[repo.OID][]byte{},
		anchored: map[repo.OID]bool{}, ops: recalling[[]opLine](manyFiles), claimers: map[[2]string]repo.Commit{},
	}
	for c, err := range r.Log(ctx, from, to) {
		if err != nil {
			return nil, err
		}
		h.commits = append(h.commits, c)
		trees.Learn(c)
		if (c.OID == to || h.spine[c.OID]) && len(c.Parents) > 0 {
			h.spine[c.Parents[0]] = true
		}
	}
	h.spine[to] = true
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
	h.tips = h.branches(s.Refs)
	return h, nil
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
// names; without names the branch that HEAD is on is both. Refs that are about to
// move are taken where they will be.
func (h *history) branches(moving map[string]repo.OID) []repo.OID {
	law := h.laws[h.to]
	if law == nil {
		law = &config.Config{} // of an empty range nothing was read
	}
	board := law.Branch
	if board == "" {
		board, _ = h.repo.Branch()
	}
	var out []repo.OID
	for _, name := range []string{board, law.Target} {
		for _, prefix := range []string{"refs/heads/", "refs/remotes/" + law.Remote + "/"} {
			if oid, moves := moving[prefix+name]; moves {
				out = append(out, oid)
			} else if oid, err := h.repo.Ref(prefix + name); name != "" && err == nil {
				out = append(out, oid)
			}
		}
	}
	return out
}

// waits reports a proposal that is on no line yet. Where no line is known, only
// the end of the range can wait, or what it approves.
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
	var before []*config.Config
	for _, p := range c.Parents {
		law, err := h.lawAt(p)
		if err != nil {
			return err
		}
		before = append(before, law)
	}
	fallback := h.unruled
	if len(before) > 0 {
		fallback = before[0]
	}
	own, err := h.lawOf(c.OID, fallback)
	if err != nil {
		return err
	}
	h.laws[c.OID] = own
	if err := h.rule(c); err != nil {
		return err
	}
	if len(before) == 0 {
		before = append(before, own)
	}
	for _, law := range before {
		if isAgent(c.Author, law) || isAgent(c.Committer, law) {
			h.machines[c.OID] = true
		}
	}
	if len(c.Trailer("Odd-Run")) > 0 && len(c.Trailer("Odd-Approved-By"))+len(c.Trailer("Odd-Rejected-By")) == 0 {
		h.machines[c.OID] = true
	}
	return nil
}

// isAgent reports the agent's address, however it is written.
func isAgent(who repo.Signature, law *config.Config) bool {
	return strings.EqualFold(strings.TrimSpace(who.Email), law.AgentEmail)
}

// rule learns whether an odd.toml stands in c, or stood before it.
func (h *history) rule(c repo.Commit) error {
	for _, oid := range append(slices.Clone(c.Parents), c.OID) {
		if _, known := h.ruled[oid]; !known {
			_, mode, err := h.trees.Find(oid, "odd.toml")
			if err != nil {
				return err
			}
			h.ruled[oid] = strings.HasPrefix(mode, "100")
		}
		h.ruled[c.OID] = h.ruled[c.OID] || h.ruled[oid]
	}
	return nil
}

// lawAfter is the odd.toml in force after a commit, of the range or at its edge.
func (h *history) lawAfter(oid repo.OID) (config.Config, error) {
	law, err := h.lawAt(oid)
	return *law, err
}

// lawAt is lawAfter, one for all commits that have it.
func (h *history) lawAt(oid repo.OID) (*config.Config, error) {
	if law, ok := h.laws[oid]; ok {
		return law, nil
	}
	law, err := h.lawOf(oid, h.unruled)
	if err == nil {
		h.laws[oid] = law
	}
	return law, err
}

// lawOf reads odd.toml in a commit. Where it is missing or does not read, the
// law before it stays in force: taking the rules away must not change who is who.
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
	at, ok := h.runs[run]
	if !ok {
		for i, tip := range append([]repo.OID{h.to}, h.tips...) {
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
	return out, nil
}

// ledgerAt reads a run's ledger in a commit; a torn end leaves the records before it.
func (h *history) ledgerAt(commit repo.OID, run string) ([]ledger.Record, error) {
	law, err := h.lawAfter(commit)
	if err != nil {
		return nil, err
	}
	months, mode, err := h.trees.Find(commit, law.Root+"/ledger")
	if err != nil || mode != folder || run == "" {
		return nil, err
	}
	files, err := h.repo.Tree(months)
	if err != nil {
		return nil, err
	}
	names, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	for _, m := range names {
		blob, mode, err := h.trees.Find(months, m.Name()+"/"+run+".jsonl")
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(mode, "100") {
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
	}
	return nil, nil
}

// blobAt is the blob of a path in a commit, "" where it has none.
func (h *history) blobAt(commit repo.OID, name string) (string, error) {
	oid, mode, err := h.trees.Find(commit, name)
	if err != nil || mode == folder {
		return "", err
	}
	return string(oid), nil
}
