// Package reconcile merges incoming atoms into prior ones by id and confidence.
// It is pure: it returns what would change, and somebody else writes it.
//
// One emission is a list of atoms. Either all of it is well formed and every
// atom has a fate, or nothing of it lands. The fate of an atom, first match wins:
//
//	the prior of that id has another type                conflict
//	merging it would change nothing that lasts           unchanged
//	an agent's, and its type or place is a person's      guarded
//	an agent's, and the prior is human-reviewed          guarded
//	base is not the prior's blob, or there is none       conflict
//	the prior is deprecated or superseded                guarded
//	its rank is below the prior's                        guarded
//	a person declined it, and its sources say the same   declined
//	otherwise, with a prior                              updated
//	no prior, and another atom is the same thing         duplicate
//	no prior                                             added
//
// Two atoms are the same thing when their type is one and either their titles
// are one after NFC, case folding and white space, or their ids are one after
// folders and a leading "type-" are taken off.
//
// What lasts is everything but generated, timestamp, verified, usage_window and,
// within a source, last_modified, usage_count and usage_window: a clock alone
// makes no diff.
//
// An update is a minimal edit of the prior's file. Keys the incoming atom has
// replace, keys it lacks stay, typed edges and sources are united, confidence
// never falls, and the body is replaced only where it says something else.
//
// A new atom lands at TYPES/ID.md, TYPES being the plural of its type, whatever
// path it came with. Typed edges are mirrored, for readers that know markdown
// links only, under a last heading "# Related", as one list item an edge:
//
//	# Related
//
//	* [CMS](../systems/cms.md)
//
// An edge whose target is linked from the body already, or is not there, gets
// no item. The section belongs to odd as long as it is the last one and holds
// such items only; it is left out when bodies are compared.
//
// What an agent may not do, by Cap and by Merge (invariants 1, 2 and 16):
// it never says verified, never rises above the session's cap, never sets uri,
// approval tags or a lifecycle, never writes canon, profiles, handoffs or what
// governs, never moves a task, and never changes a byte a person has verified.
package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
)

// Incoming is one emitted atom. Base is the blob id of the atom it was made against, "" for a new one.
type Incoming struct {
	Atom         okf.Atom
	Base         string
	ReplaceEdges bool   // a person's only: edge keys that are present replace
	At           string // where it came from ("emission:12"), for errors
}

// Effect is what reconcile did with one atom.
type Effect string

// The effects. Only Added and Updated carry bytes to write.
const (
	Added     Effect = "added"
	Updated   Effect = "updated"
	Unchanged Effect = "unchanged"
	Guarded   Effect = "guarded"
	Duplicate Effect = "duplicate"
	Conflict  Effect = "conflict"
	Declined  Effect = "declined"
	Orphaned  Effect = "orphaned"
)

// Effects lists the effects in the order summaries print them.
func Effects() []Effect {
	return []Effect{Added, Updated, Unchanged, Guarded, Duplicate, Conflict, Declined, Orphaned}
}

// Lands reports whether the item's bytes are to be written.
func (e Effect) Lands() bool { return e == Added || e == Updated }

// Item is the fate of one atom.
type Item struct {
	Effect Effect `json:"effect"`
	ID     okf.ID `json:"id"`
	Path   string `json:"path"`             // below the bundle root
	Prior  string `json:"prior,omitempty"`  // blob id
	Reason string `json:"reason,omitempty"` // for guarded, duplicate, conflict, declined
	Other  okf.ID `json:"other,omitempty"`  // the atom it duplicates
	Bytes  []byte `json:"-"`                // what to write, or what a guarded, duplicate or conflicting item wanted to write
}

// Options are the session's terms.
type Options struct {
	Cap      okf.Confidence // highest rung an agent may emit; Unset means Inferred, and Verified means Asserted
	By       string         // generated.by forced on agent atoms, "odd/0.1.0" or the model's producer/version
	Now      time.Time
	MaxAtoms int  // 0: no limit
	MaxBytes int  // per atom, 0: 256 KiB
	FullScan bool // report atoms on disk that were not emitted as orphaned
	// Declined says who declined an atom of that id with that okf.Grounds and why, "" for
	// nobody. nil is nobody at all.
	Declined func(id okf.ID, grounds string) string
	// Drifted says which sources of an atom are not as they were read. An update drops
	// those that are gone, and only an atom of which all are gone may be deprecated by an
	// agent. nil is none.
	Drifted func(prior *okf.Atom) []okf.Drift
	Person  bool // a hand-run reconcile: no cap, may replace edges, may touch canon, needs no base
}

// maxBytes is the default limit of one emitted atom: far above a hand-written
// one, far below what would fill a repository.
const maxBytes = 256 << 10

func (o Options) limit() int {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return maxBytes
}

// Malformed is an emission that cannot be merged.
type Malformed struct{ Problems []okf.Problem }

// Error is one line a problem.
func (m *Malformed) Error() string {
	lines := make([]string, len(m.Problems))
	for i, p := range m.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Refused is the reason code.
func (m *Malformed) Refused() string { return "malformed" }

// Merge decides the fate of every incoming atom against g, sorted by id. An
// agent's atoms are capped first, so that a caller cannot forget it. The error is
// a *Malformed that lists every bad atom with its location; then nothing of the
// emission may land.
func Merge(g *okf.Graph, in []Incoming, o Options) ([]Item, error) {
	cands, bad := admit(g, in, o)
	if len(bad) > 0 {
		return nil, &Malformed{Problems: bad}
	}
	m := newMerger(g, o, cands)
	for _, c := range cands {
		if c.prior == nil {
			m.place(c)
		}
	}
	if err := m.decideAll(cands); err != nil {
		return nil, err
	}
	if o.FullScan {
		m.orphans(cands)
	}
	slices.SortStableFunc(m.items, compareItems)
	return m.items, nil
}

// compareItems is the order of the result: by id, then path.
func compareItems(a, b Item) int {
	if c := strings.Compare(string(a.ID), string(b.ID)); c != 0 {
		return c
	}
	return strings.Compare(a.Path, b.Path)
}

// problem is a malformed atom, located where the emission has it. at is
// "NAME:LINE" or a name.
func problem(at, code, format string, args ...any) okf.Problem {
	path, line := at, 1
	if i := strings.LastIndexByte(at, ':'); i >= 0 {
		var n int
		if _, err := fmt.Sscanf(at[i+1:], "%d", &n); err == nil && n > 0 {
			path, line = at[:i], n
		}
	}
	return okf.Problem{Code: code, Severity: okf.Error, Path: path, Line: line, Message: fmt.Sprintf(format, args...)}
}
