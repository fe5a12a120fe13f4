// Package reconcile merges incoming atoms into prior ones by id and confidence. It is pure: it returns what would change.
package reconcile

import (
	"time"

	"github.com/odd-cli/odd/okf"
)

// Incoming is one emitted atom. Base is the blob id of the atom it was made against, "" for a new one.
type Incoming struct {
	Atom         okf.Atom
	Base         string
	ReplaceEdges bool   // a person's only
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
	Orphaned  Effect = "orphaned"
)

// Item is the fate of one atom.
type Item struct {
	Effect Effect `json:"effect"`
	ID     okf.ID `json:"id"`
	Path   string `json:"path"`             // below the bundle root
	Prior  string `json:"prior,omitempty"`  // blob id
	Reason string `json:"reason,omitempty"` // for guarded, duplicate, conflict
	Other  okf.ID `json:"other,omitempty"`  // the atom it duplicates
	Bytes  []byte `json:"-"`                // what to write, or what a guarded item wanted to write
}

// Options are the session's terms.
type Options struct {
	Cap      okf.Confidence // highest rung an agent may emit; Unset for a person
	By       string         // generated.by forced on agent atoms, "odd/0.1.0" or the model's producer/version
	Now      time.Time
	MaxAtoms int  // 0: no limit
	MaxBytes int  // per atom, 0: 256 KiB
	FullScan bool // report atoms on disk that were not emitted as orphaned
	Person   bool // a hand-run reconcile: no cap, may replace edges, may touch canon
}

// Cap lowers a to what an agent may say: confidence at most max, no verified, generated forced, status draft when new, control and
// zero-width characters stripped. It runs before Merge because Merge trusts rank.
func Cap(a okf.Atom, o Options) (okf.Atom, error) { return a, nil }

// Merge decides the fate of every incoming atom against g, sorted by id. The error is a *Malformed that lists every bad
// atom with its location; then nothing of the emission may land.
func Merge(g *okf.Graph, in []Incoming, o Options) ([]Item, error) { return nil, nil }

// Malformed is an emission that cannot be merged.
type Malformed struct{ Problems []okf.Problem }

func (m *Malformed) Error() string { return "" }
