package proof

import (
	"context"
	"errors"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// folder is the mode of a directory in a tree.
const folder = "40000"

// repoFacts is what is known of a repository, whichever of its commits are judged.
type repoFacts struct {
	ctx      context.Context
	repo     *repo.Repo
	trees    *repo.Reader
	laws     map[repo.OID]*config.Config
	parsed   map[repo.OID]*config.Config // odd.toml by its blob
	unruled  *config.Config              // where no odd.toml ever stood
	machines map[repo.OID]bool
	lines    *event.Reader
	states   *cache[*state.State]   // by the tree of ledger/
	state    *state.State           // that was asked for last
	ruled    map[repo.OID]bool      // an odd.toml stands there, or stood before it
	walked   int                    // commits before the ranges that were asked for it
	slows    *cache[*governance]    // by the tree of governance/
	buffers  *cache[gate.Buffer]    // by the tree of proposals/
	ledgers  *cache[[]event.Record] // by ledger file, as it reads
	signers  map[repo.OID][]byte    // by blob: who may sign
	anchors  map[repo.OID]bool      // of commits that ranges stand on: an anchored run is in its ledger
	bundle   bundle                 // that was read last
	grew     versionCache           // likewise
	verdicts map[repo.OID]verdict   // nil where one range is all that is judged
	judged   int                    // commits, each as often as it was
}

func newGround(ctx context.Context, r *repo.Repo) *repoFacts {
	trees, unruled := r.Reader(), config.Default()
	return &repoFacts{
		ctx: ctx, repo: r, trees: trees, laws: map[repo.OID]*config.Config{}, parsed: map[repo.OID]*config.Config{}, unruled: &unruled,
		machines: map[repo.OID]bool{}, lines: &event.Reader{}, states: newCache[*state.State](fewStates), ruled: map[repo.OID]bool{},
		slows: newCache[*governance](fewTrees), buffers: newCache[gate.Buffer](fewTrees), ledgers: newCache[[]event.Record](someLedgers),
		signers: map[repo.OID][]byte{}, anchors: map[repo.OID]bool{},
	}
}

// history is the commits of one range and what is known about them.
type history struct {
	*repoFacts
	from, to repo.OID
	commits  []repo.Commit           // parents before children
	place    map[repo.OID]int        // of each in commits
	children map[repo.OID][]int      // by their places in commits
	spine    map[repo.OID]bool       // the first-parent line of to
	crossed  map[repo.OID][]repo.OID // see crossings
	unnamed  map[repo.OID]bool       // commits of an agent that no odd.toml before them names
	tips     []repo.OID              // the board and the branch reviews merge into, as far as they are known
	moving   map[string]repo.OID     // where refs are about to be
	runs     map[string][]outcome
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

// readHistory walks the range and settles, for every commit, the odd.toml in force
// after it and whose commit it is.
func readHistory(ctx context.Context, r *repo.Repo, s Scope) (*history, error) {
	return newGround(ctx, r).readHistory(s)
}

func (g *repoFacts) readHistory(s Scope) (*history, error) {
	if g.repo.Shallow() {
		return nil, errors.New("this clone is shallow, so history cannot be judged; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	h := &history{
		repoFacts: g, from: s.From, to: s.To, moving: s.Refs, place: map[repo.OID]int{}, children: map[repo.OID][]int{}, spine: map[repo.OID]bool{},
		runs: map[string][]outcome{}, acts: map[[2]string][]repo.Commit{}, claimers: map[[3]string]repo.Commit{}, anchored: map[repo.OID]bool{},
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
	h.edges = h.findEdges()
	for n, c := range h.commits {
		h.place[c.OID] = n
		for _, p := range c.Parents {
			h.children[p] = append(h.children[p], n)
		}
	}
	for _, c := range h.commits {
		h.indexCommit(c)
		if err := h.learnMaker(c); err != nil {
			return nil, err
		}
	}
	h.unnamed = h.findUnnamedAgents()
	h.tips = h.boardAndTargetTips()
	var err error
	h.crossed, err = h.findCrossings()
	return h, err
}

// findEdges are the parents that the range stands on and does not hold.
func (h *history) findEdges() []repo.OID {
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

// singleTrailer is the value of a trailer that stands exactly once, "" otherwise.
func singleTrailer(c repo.Commit, name string) string {
	if v := c.Trailer(name); len(v) == 1 {
		return v[0]
	}
	return ""
}

// readCommit is a commit of the range, or of what lies before it.
func (h *history) readCommit(oid repo.OID) (repo.Commit, error) {
	if n, in := h.place[oid]; in {
		return h.commits[n], nil
	}
	return h.repo.Commit(oid)
}
