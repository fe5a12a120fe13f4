// Package okf reads and writes atoms: the concept files of an Open Knowledge
// Format (OKF v0.2) bundle, and the graph of real edges between them.
//
// An atom is one markdown file: a YAML mapping between two lines that are
// exactly "---", then a body.
//
//	---
//	type: process
//	id: publish-article
//	title: Publish an article
//	owner: editor
//	---
//
//	An article leaves the desk once.
//
// OKF asks for one key, type. Everything else odd reads is an extension key:
// id, confidence, the typed edges, uri. Unknown types and unknown keys are
// legal and are kept. Nothing in this package touches git, the clock or the
// network; a bundle arrives as an fs.FS and leaves as bytes.
package okf

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// ID is the permanent name of an atom: its explicit id key, or else the bundle
// path without ".md" (OKF v0.2's concept id).
type ID string

// Confidence is how far an atom may be trusted. The order is the ladder
// inferred < asserted < verified; Unset is an atom that does not say.
type Confidence uint8

// The rungs of the ladder.
const (
	Unset Confidence = iota
	Inferred
	Asserted
	Verified
)

var confidenceNames = [...]string{"", "inferred", "asserted", "verified"}

// String is the word as it stands in frontmatter; Unset is "".
func (c Confidence) String() string { return confidenceNames[c] }

// ParseConfidence reads the frontmatter word. The empty string is Unset; any
// other unknown word is not ok.
func ParseConfidence(s string) (c Confidence, ok bool) {
	for i, n := range confidenceNames {
		if s == n {
			return Confidence(i), true
		}
	}
	return Unset, false
}

// Stamp is an actor and a moment, as in generated and verified. At is the
// author's own text and is never retyped.
type Stamp struct {
	By string `json:"by"`
	At string `json:"at,omitempty"`
}

// Human reports whether a person made the stamp: only the exact prefix
// "human:" counts (OKF v0.2 §7).
func (s Stamp) Human() bool { return strings.HasPrefix(s.By, "human:") && len(s.By) > len("human:") }

// Source says where an atom's claim comes from (OKF v0.2 §5.1).
type Source struct {
	ID       string `json:"id,omitempty"`
	Resource string `json:"resource"`
	Title    string `json:"title,omitempty"`
}

// Tier is the trust tier OKF derives from verified alone.
type Tier string

// The tiers of OKF v0.2 §5.3.
const (
	Unverified       Tier = "unverified"
	MachineConfirmed Tier = "machine-confirmed"
	HumanReviewed    Tier = "human-reviewed"
)

// EdgeKind names a typed edge. The vocabulary is closed; there is no "owns".
type EdgeKind string

// The typed edges, in the order every command lists them, and Link, the
// untyped edge a markdown link makes.
const (
	Owner        EdgeKind = "owner"
	ReportsTo    EdgeKind = "reports_to"
	Uses         EdgeKind = "uses"
	GovernedBy   EdgeKind = "governed_by"
	Produces     EdgeKind = "produces"
	Stages       EdgeKind = "stages"
	DecidedBy    EdgeKind = "decided_by"
	RelatesTo    EdgeKind = "relates_to"
	Supersedes   EdgeKind = "supersedes"
	SupersededBy EdgeKind = "superseded_by"
	Link         EdgeKind = "link"
)

// EdgeKinds lists the typed edges in canonical order, Link excluded.
func EdgeKinds() []EdgeKind {
	return []EdgeKind{Owner, ReportsTo, Uses, GovernedBy, Produces, Stages, DecidedBy, RelatesTo, Supersedes, SupersededBy}
}

// Edge is one outgoing typed edge as written: Target is an id or a bundle path.
type Edge struct {
	Kind   EdgeKind
	Target string
	Line   int // 1-based line in the file
}

// Field is one top-level frontmatter key. Value is a string, bool, int,
// float64, nil, []any or map[string]any; timestamps stay the author's text.
type Field struct {
	Key   string
	Value any
	Line  int // 1-based line in the file
}

// Atom is one parsed concept file. It keeps the bytes it came from.
type Atom struct {
	Path        string // slash-separated, relative to the bundle root
	ID          ID
	ExplicitID  bool // the file has an id key
	Type        string
	Title       string
	Description string
	Resource    string
	URI         string
	Status      string // OKF lifecycle only; a task's place is its state key
	StaleAfter  string
	Tags        []string
	Claimed     Confidence // as written; Confidence() is what counts
	Edges       []Edge
	Sources     []Source
	Generated   Stamp
	Verified    []Stamp
	Fields      []Field // every key in file order, the ones above included
	Blob        string  // git blob id of the file's bytes
	BodyLine    int     // 1-based line the body starts on

	src  []byte
	body int       // offset of the body in the file
	disk *original // what src is read from once it is needed; nil for a parsed atom

	links *[]Linked // nil until readLinks
}

// Bytes returns the file's bytes as they were parsed. Callers must not change
// them. For an atom from a cache they are read when first asked for, and are
// nil where the file is no longer what it was.
func (a *Atom) Bytes() []byte {
	if a.disk != nil {
		return a.disk.bytes(a.Path, a.Blob)
	}
	return a.src
}

// Body returns the markdown after the closing fence. Callers must not change
// it. It is nil where Bytes is.
func (a *Atom) Body() []byte {
	b := a.Bytes()
	if len(b) < a.body {
		return nil
	}
	return b[a.body:]
}

// Field returns the named key.
func (a *Atom) Field(key string) (Field, bool) {
	for _, f := range a.Fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Text returns the named key as text: a scalar's own, "" for anything else.
func (a *Atom) Text(key string) string {
	f, _ := a.Field(key)
	return text(f.Value)
}

// List returns the named key as a list of strings. A scalar is a list of one;
// maps inside a list are skipped.
func (a *Atom) List(key string) []string {
	f, _ := a.Field(key)
	return list(f.Value)
}

// Line returns the line of the named key, or 1.
func (a *Atom) Line(key string) int {
	if f, ok := a.Field(key); ok {
		return f.Line
	}
	return 1
}

// Confidence is the rung that counts. A file that claims verified without a
// verified entry by a person is asserted; one that says nothing is asserted
// when a person wrote it and inferred otherwise.
func (a *Atom) Confidence() Confidence {
	switch a.Claimed {
	case Verified:
		if a.Tier() != HumanReviewed {
			return Asserted
		}
	case Unset:
		if a.Generated.By != "" && !a.Generated.Human() {
			return Inferred
		}
		return Asserted
	}
	return a.Claimed
}

// Tier derives OKF's trust tier from verified alone.
func (a *Atom) Tier() Tier {
	t := Unverified
	for _, v := range a.Verified {
		if v.Human() {
			return HumanReviewed
		}
		t = MachineConfirmed
	}
	return t
}

// edgeRank is the place of k in EdgeKinds, or -1.
func edgeRank(k EdgeKind) int {
	switch k {
	case Owner:
		return 0
	case ReportsTo:
		return 1
	case Uses:
		return 2
	case GovernedBy:
		return 3
	case Produces:
		return 4
	case Stages:
		return 5
	case DecidedBy:
		return 6
	case RelatesTo:
		return 7
	case Supersedes:
		return 8
	case SupersededBy:
		return 9
	}
	return -1
}

// sortEdges puts edges into canonical order of kind; edges of a kind stay as
// written.
func sortEdges(es []Edge) {
	byKind := func(a, b Edge) int { return edgeRank(a.Kind) - edgeRank(b.Kind) }
	if !slices.IsSortedFunc(es, byKind) {
		slices.SortStableFunc(es, byKind)
	}
}

// ValidID reports whether s may be an explicit id: at most 200 bytes of parts
// separated by "/", each a letter, digit or "_" followed by letters, digits,
// "_", "-" and "."; the grammar of OKF's concept ids, so that every id is a
// possible path. It may not end in ".md", which would be taken for a path.
func ValidID(s string) bool {
	if len(s) > 200 || strings.HasSuffix(s, ".md") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' {
			return false
		}
		for i := 0; i < len(part); i++ {
			if !wordByte(part[i]) && part[i] != '.' {
				return false
			}
		}
	}
	return true
}

// BlobID is the git blob id of b, the version of a file everywhere in odd.
func BlobID(b []byte) string {
	h := hashes.Get().(hash.Hash)
	defer hashes.Put(h)
	h.Reset()
	var room [2 * sha1.Size]byte
	h.Write(append(strconv.AppendInt(append(room[:0], "blob "...), int64(len(b)), 10), 0))
	h.Write(b)
	return string(hex.AppendEncode(room[:0], h.Sum(nil)))
}

// hashes are kept from one BlobID to the next: a load asks for one a file.
var hashes = sync.Pool{New: func() any { return sha1.New() }}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil, []any, map[string]any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

func list(v any) []string {
	switch v := v.(type) {
	case nil, map[string]any:
		return nil
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			if s := text(e); s != "" {
				out = append(out, s)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	default:
		if s := text(v); s != "" {
			return []string{s}
		}
		return nil
	}
}
