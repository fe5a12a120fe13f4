// Package reconcile merges incoming atoms into prior ones by id and confidence.
// It writes nothing: it returns what would change.
//
// An emission is a list of atoms. If one of them is malformed, nothing of the emission
// lands. Otherwise each atom gets the first effect that applies:
//
//	the prior of that id has another type                conflict
//	merging it would change nothing that lasts           unchanged
//	an agent's, and its type or place is a person's      guarded
//	an agent's, and the prior is human-reviewed          guarded
//	base is not the prior's blob, or there is none       conflict
//	the prior is deprecated or superseded                guarded
//	its confidence is below the prior's                  guarded
//	a person declined it, and its sources say the same   declined
//	otherwise, with a prior                              updated
//	no prior, and another atom is the same thing         duplicate
//	no prior                                             added
//
// Two atoms are the same thing if they have the same type and the same title or id.
// Titles are compared after NFC, case folding and joining white space, ids without
// folders and without a leading "type-".
//
// Changes to generated, timestamp, verified and usage_window do not last, and neither
// do those to blob, last_modified, usage_count and usage_window of a source. So the
// time alone makes no diff.
//
// An update is a minimal edit of the prior's file. The keys of the incoming atom
// replace the prior's, and other keys stay. Typed edges and sources are merged.
// Confidence never falls. The body is replaced only if its text differs.
//
// A new atom lands at TYPES/ID.md, where TYPES is the plural of its type, whatever
// path it came with. Typed edges are repeated as links, for readers that know only
// markdown links. They are list items under a last heading "# Related":
//
//	# Related
//
//	* [CMS](../systems/cms.md)
//
// An edge gets no item if the body links its target already, or if the target does not
// exist. The section belongs to odd as long as it is the last one and holds only such
// items; comparisons of bodies ignore it.
//
// Cap and Merge limit what an agent may do (invariants 1, 2 and 16). It never sets
// verified, a uri, approval tags or a lifecycle, and never exceeds the session's cap.
// It never writes canon, profiles, handoffs or anything else that governs, never moves
// a task, and never changes an atom that a person verified.
package reconcile

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/okf"
)

// Incoming is one emitted atom. Base is the blob id of the version that it changes; "" for
// a new atom.
type Incoming struct {
	Atom         okf.Atom
	Base         string
	ReplaceEdges bool   // only for a person: the edge keys that are present replace the prior's
	At           string // where it came from ("emission:12"), for errors
}

// Effect is the result of merging one atom.
type Effect string

// The effects. Only the bytes of Added and Updated are written.
const (
	Added     Effect = "added"
	Updated   Effect = "updated"
	Unchanged Effect = "unchanged"
	Guarded   Effect = "guarded"
	Duplicate Effect = "duplicate"
	Conflict  Effect = "conflict"
	Declined  Effect = "declined"
)

// Effects lists the effects in the order summaries print them.
func Effects() []Effect {
	return []Effect{Added, Updated, Unchanged, Guarded, Duplicate, Conflict, Declined}
}

// Lands reports whether the bytes of the item are to be written.
func (e Effect) Lands() bool { return e == Added || e == Updated }

// Item is the result for one atom.
type Item struct {
	Effect Effect `json:"effect"`
	ID     okf.ID `json:"id"`
	Path   string `json:"path"`             // below the bundle root
	Prior  string `json:"prior,omitempty"`  // blob id
	Reason string `json:"reason,omitempty"` // for guarded, duplicate, conflict, declined
	Other  okf.ID `json:"other,omitempty"`  // the atom it duplicates
	Bytes  []byte `json:"-"`                // what to write, or what a guarded, duplicate or conflicting item wanted to write
}

// Options are the limits of the session.
type Options struct {
	Cap      okf.Confidence // the highest confidence of an agent; Unset means Inferred, and Verified means Asserted
	By       string         // generated.by forced on agent atoms, "odd/0.1.0" or the model's producer/version
	Now      time.Time
	MaxAtoms int // 0: no limit
	MaxBytes int // per atom, 0: 256 KiB
	// Declined returns who declined an atom with this id and these okf.Grounds, and why;
	// "" if nobody did. nil means that nobody declined anything.
	Declined func(id okf.ID, grounds string) string
	// Drifted returns the sources of an atom that changed since they were cited. An update
	// drops those that are gone. An agent may deprecate an atom only if all its sources are
	// gone. nil means that none changed.
	Drifted func(prior *okf.Atom) []okf.Drift
	Person  bool // a hand-run reconcile: no cap, may replace edges, may touch canon, needs no base
}

// maxBytes is the default limit of one emitted atom: far more than a person writes, and far
// less than would fill a repository.
const maxBytes = 256 << 10

func (o Options) byteLimit() int { return cmp.Or(max(o.MaxBytes, 0), maxBytes) }

// Malformed is the error for an emission that cannot be merged.
type Malformed struct{ Problems []okf.Problem }

// Error returns one line a problem.
func (m *Malformed) Error() string {
	lines := make([]string, len(m.Problems))
	for i, p := range m.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Refused returns the reason code.
func (m *Malformed) Refused() string { return "malformed" }

// Merge decides every incoming atom against g and returns the items in order of id. It caps
// an agent's atoms first, so that no caller can forget it. The error is a *Malformed that
// lists every bad atom with its place; then nothing of the emission may land.
func Merge(g *okf.Graph, in []Incoming, o Options) ([]Item, error) {
	cands, bad := admit(g, in, o)
	if len(bad) > 0 {
		return nil, &Malformed{Problems: bad}
	}
	m := newMerger(g, o, cands)
	for _, c := range cands {
		if c.prior == nil {
			m.placeNew(c)
		}
	}
	if err := m.decideAll(cands); err != nil {
		return nil, err
	}
	slices.SortStableFunc(m.items, compareItems)
	return m.items, nil
}

// compareItems orders items by id, then path.
func compareItems(a, b Item) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), strings.Compare(a.Path, b.Path))
}

// newProblem returns the problem of a malformed atom at its place in the emission. at is
// "NAME:LINE" or a name.
func newProblem(at, code, format string, args ...any) okf.Problem {
	path, line := at, 1
	if i := strings.LastIndexByte(at, ':'); i >= 0 {
		var n int
		if _, err := fmt.Sscanf(at[i+1:], "%d", &n); err == nil && n > 0 {
			path, line = at[:i], n
		}
	}
	return okf.Problem{Code: code, Severity: okf.Error, Path: path, Line: line, Message: fmt.Sprintf(format, args...)}
}

// Diff returns the unified diff between the file of g at the item's path and the bytes that
// the item writes, or would have written. It is empty for an item without bytes.
func Diff(g *okf.Graph, it Item) []byte {
	if it.Bytes == nil {
		return nil
	}
	var old []byte
	name := "/dev/null"
	if a := g.ByPath(it.Path); a != nil {
		old, name = a.Bytes(), "a/"+it.Path
	}
	return diff.Diff(name, old, "b/"+it.Path, it.Bytes)
}

// eachParallel calls do(0) … do(n-1), on as many goroutines as there are processors.
func eachParallel(n int, do func(i int)) {
	const share = 32 // calls taken at once
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+share-1)/share) {
		wg.Go(func() {
			for from := int(next.Add(share)) - share; from < n; from = int(next.Add(share)) - share {
				for i := from; i < min(from+share, n); i++ {
					do(i)
				}
			}
		})
	}
	wg.Wait()
}
