package verify

import (
	"context"
	"errors"
	"slices"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// repoFacts caches what does not depend on the range that is judged.
type repoFacts struct {
	ctx      context.Context
	repo     *repo.Repo
	laws     map[repo.OID]*config.Config
	parsed   map[repo.OID]*config.Config // odd.toml by its blob
	unruled  *config.Config              // the default, where no commit has an odd.toml
	machines map[repo.OID]bool
	lines    *event.Reader
	states   *cache[*state.State]      // by the tree of ledger/
	state    *state.State              // read last
	ruled    map[repo.OID]bool         // the commit or one before it has an odd.toml
	walked   int                       // how many commits before the ranges were read for that
	slows    *cache[*rules.Governance] // by the tree of governance/
	buffers  *cache[gate.Buffer]       // by the tree of proposals/
	ledgers  *cache[[]event.Record]    // by ledger blob
	diffs    *cache[[]repo.Change]     // by both sides
	atoms    *cache[*okf.Atom]         // by blob and path
	charters *cache[constitution]      // by what it depends on
	anchors  map[repo.OID]bool         // by edge of a range: a ledger there has an anchored run
	listed   listedTree                // read last
	bundle   bundle                    // read last
	personas personas                  // compiled last
	grew     versionCache              // read last
	verdicts map[repo.OID]verdict      // nil if only one range is judged
	judged   int                       // how often a commit was judged
}

func newGround(ctx context.Context, r *repo.Repo) *repoFacts {
	unruled, none := config.Default(), state.Of(nil, nil)
	return &repoFacts{
		ctx: ctx, repo: r, laws: map[repo.OID]*config.Config{}, parsed: map[repo.OID]*config.Config{}, unruled: &unruled,
		machines: map[repo.OID]bool{}, lines: none.Reader(), state: none, states: newCache[*state.State](fewStates), ruled: map[repo.OID]bool{},
		slows: newCache[*rules.Governance](fewTrees), buffers: newCache[gate.Buffer](fewTrees), ledgers: newCache[[]event.Record](someLedgers),
		diffs: newCache[[]repo.Change](fewTrees), atoms: newCache[*okf.Atom](fewTrees), charters: newCache[constitution](fewTrees),
		anchors: map[repo.OID]bool{},
	}
}

// history is the commits of one range and what is known about them.
type history struct {
	*repoFacts
	from, to repo.OID
	commits  []repo.Commit               // parents before children
	place    map[repo.OID]int            // index in commits
	children map[repo.OID][]int          // indexes in commits
	spine    map[repo.OID]bool           // the first-parent line of to
	crossed  map[repo.OID][]repo.OID     // see crossesSigning
	sensed   map[repo.OID][]repo.OID     // see crossesSense
	unnamed  map[repo.OID]bool           // see findUnnamedAgents
	tips     []repo.OID                  // see boardAndTargetTips
	moving   map[string]repo.OID         // where refs are about to be
	refs     map[string]repo.OID         // where others are, as far as asked
	wrote    map[string][]repo.OID       // see findLedgerWrites; nil before its first call
	acts     map[[2]string][]repo.Commit // by run and task, the oldest first
	claimers map[[3]string]repo.Commit   // by commit, run and task: the commit of the claim behind it
	indexed  bool                        // nextOlder was called
	seen     map[repo.OID]bool           // by nextOlder, or in the range
	before   []repo.Commit               // the queue of nextOlder, newest last
	edges    []repo.OID                  // parents outside the range
	anchored map[repo.OID]bool           // the commit or one before it records an anchored run
	answers  []answer                    // that the verdict on the current commit depends on
	own      bool                        // the verdict on the current commit holds for this range alone
}

// readHistory reads the range. For every commit it learns the odd.toml in force after it and whether a machine made it.
func (g *repoFacts) readHistory(s Scope) (*history, error) {
	if g.repo.Shallow() {
		return nil, errors.New("this clone is shallow, so history cannot be judged; run git fetch --unshallow (in CI: checkout with fetch-depth: 0)")
	}
	h := &history{
		repoFacts: g, from: s.From, to: s.To, moving: s.Refs, place: map[repo.OID]int{}, children: map[repo.OID][]int{}, spine: map[repo.OID]bool{},
		acts: map[[2]string][]repo.Commit{}, claimers: map[[3]string]repo.Commit{}, anchored: map[repo.OID]bool{}, refs: map[string]repo.OID{},
	}
	return h, tryReading(func() { h.readRange(s) })
}

func (h *history) readRange(s Scope) {
	for c, err := range h.repo.Log(h.ctx, s.From, s.To) {
		must(err)
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
		if err := tryReading(func() { h.learnMaker(c) }); s.made == nil || s.made[c.OID] {
			must(err)
		}
	}
	h.unnamed = h.findUnnamedAgents()
	h.tips = h.boardAndTargetTips()
	h.crossed, h.sensed = h.findCrossings(h.crossesSigning), h.findCrossings(h.crossesSense)
}

// findEdges returns the parents of the range's commits that are outside the range.
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
