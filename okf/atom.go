// Package okf reads and writes atoms, the concept files of an Open Knowledge Format (OKF
// v0.2) bundle. It also builds the graph of the edges between them.
//
// A bundle is a folder of markdown files. Each of them is an atom: a YAML mapping between
// two lines that are exactly "---" (the front matter), then a body.
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
// OKF requires one key, type. odd reads further keys: id, confidence, uri, and the typed
// edges such as owner above. Unknown types and keys are legal and are kept.
//
// [Load] reads a bundle from an fs.FS into a [Graph]. [Check] reports what is wrong in it,
// [Edit] changes one key and keeps every other byte, and [Graph.Search] ranks atoms.
// Nothing in this package touches git, the clock or the network.
//
// The package is large because a bundle of a hundred thousand files must load in about the
// time that reading them takes: it scans front matter in place and keeps rows, links and
// words in caches. Graph has more than forty methods because each question to it may be
// answered from those rows or from the files that changed since.
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

// ID is the permanent name of an atom: its id key or, without one, its bundle path without
// ".md" (OKF v0.2's concept id).
type ID string

// Confidence says how far an atom may be trusted, in the order inferred < asserted <
// verified. Unset means that the atom does not say.
type Confidence uint8

// The levels, lowest first.
const (
	Unset Confidence = iota
	Inferred
	Asserted
	Verified
)

var confidenceNames = [...]string{"", "inferred", "asserted", "verified"}

// String returns the word that front matter uses; "" for Unset.
func (c Confidence) String() string { return confidenceNames[c] }

// ParseConfidence reads the word of front matter. The empty string is Unset; any other
// unknown word is not ok.
func ParseConfidence(s string) (c Confidence, ok bool) {
	for i, n := range confidenceNames {
		if s == n {
			return Confidence(i), true
		}
	}
	return Unset, false
}

// Stamp is an actor and a time, as in the keys generated and verified. At is kept as the
// author wrote it.
type Stamp struct {
	By string `json:"by"`
	At string `json:"at,omitempty"`
}

// Human reports whether a person made the stamp: By must begin with exactly "human:" (OKF
// v0.2 §7).
func (s Stamp) Human() bool { return strings.HasPrefix(s.By, "human:") && len(s.By) > len("human:") }

// Source says where an atom's claim comes from (OKF v0.2 §5.1).
type Source struct {
	ID       string `json:"id,omitempty"`
	Resource string `json:"resource"`
	Title    string `json:"title,omitempty"`
}

// Tier is the trust tier that OKF derives from the key verified alone.
type Tier string

// The tiers of OKF v0.2 §5.3.
const (
	Unverified       Tier = "unverified"
	MachineConfirmed Tier = "machine-confirmed"
	HumanReviewed    Tier = "human-reviewed"
)

// EdgeKind names a typed edge. The list is closed; there is no "owns".
type EdgeKind string

// The typed edges in the order in which every command lists them, then Link, the
// untyped edge that a markdown link makes.
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

// EdgeKinds lists the typed edges in canonical order, without Link.
func EdgeKinds() []EdgeKind {
	return []EdgeKind{Owner, ReportsTo, Uses, GovernedBy, Produces, Stages, DecidedBy, RelatesTo, Supersedes, SupersededBy}
}

// Edge is one outgoing typed edge as the file has it: Target is an id or a bundle path.
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

// Atom is one parsed concept file. It keeps the bytes that it was parsed from.
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
	Claimed     Confidence // as the file says; use Confidence()
	Edges       []Edge
	Sources     []Source
	Generated   Stamp
	Verified    []Stamp
	Fields      []Field // every key in file order, the ones above included
	Blob        string  // git blob id of the file's bytes
	BodyLine    int     // 1-based line the body starts on

	src  []byte
	body int       // offset of the body in the file
	disk *original // where Bytes reads the file; nil where src has it

	links *[]Linked // nil until readLinks
}

// Bytes returns the bytes of the file as it was parsed. Callers must not change them. An
// atom from a cache reads its file at the first call and returns nil if the file has
// changed since.
func (a *Atom) Bytes() []byte {
	if a.disk != nil {
		return a.disk.readBytes(a.Path, a.Blob)
	}
	return a.src
}

// Body returns the markdown after the front matter. Callers must not change it. It is nil
// where Bytes is.
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

// Text returns the value of a key as text; "" for a list, a mapping or a missing key.
func (a *Atom) Text(key string) string {
	f, _ := a.Field(key)
	return valueText(f.Value)
}

// List returns the value of a key as a list of strings. A scalar is a list of one; maps
// inside a list are skipped.
func (a *Atom) List(key string) []string {
	f, _ := a.Field(key)
	return valueList(f.Value)
}

// Line returns the line of a key; 1 for a missing key.
func (a *Atom) Line(key string) int {
	if f, ok := a.Field(key); ok {
		return f.Line
	}
	return 1
}

// Confidence returns the level that counts. A file that claims verified counts as asserted
// unless a person verified it. A file that claims nothing counts as inferred if a machine
// generated it, and else as asserted.
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

// Tier derives OKF's trust tier from the key verified alone.
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

// edgeRank returns the place of k in EdgeKinds; -1 for any other kind.
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

// sortEdges sorts edges by kind; edges of one kind stay in the order of the file.
func sortEdges(es []Edge) {
	byKind := func(a, b Edge) int { return edgeRank(a.Kind) - edgeRank(b.Kind) }
	if !slices.IsSortedFunc(es, byKind) {
		slices.SortStableFunc(es, byKind)
	}
}

// ValidID reports whether s may be an explicit id. An id has at most 200 bytes and consists
// of parts separated by "/". A part begins with a letter, a digit or "_", and goes on with
// these, "-" or ".". This is the grammar of OKF's concept ids, so every id is a possible
// path. An id may not end in ".md", because it would be taken for a path.
func ValidID(s string) bool {
	if len(s) > 200 || strings.HasSuffix(s, ".md") {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "" || part[0] == '.' || part[0] == '-' {
			return false
		}
		for i := 0; i < len(part); i++ {
			if !isWordByte(part[i]) && part[i] != '.' {
				return false
			}
		}
	}
	return true
}

// BlobID returns the git blob id of b, which odd uses as the version of a file.
func BlobID(b []byte) string {
	h := hashes.Get().(hash.Hash)
	defer hashes.Put(h)
	h.Reset()
	var room [2 * sha1.Size]byte
	h.Write(append(strconv.AppendInt(append(room[:0], "blob "...), int64(len(b)), 10), 0))
	h.Write(b)
	return string(hex.AppendEncode(room[:0], h.Sum(nil)))
}

// hashes are reused, because Load hashes every file.
var hashes = sync.Pool{New: func() any { return sha1.New() }}

// valueText formats a scalar; "" for a list, a mapping or nil.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil, []any, map[string]any:
		return ""
	default:
		return fmt.Sprint(v)
	}
}

// valueList returns the texts of a list, or a scalar as a list of one.
func valueList(v any) []string {
	switch v := v.(type) {
	case nil, map[string]any:
		return nil
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			if s := valueText(e); s != "" {
				out = append(out, s)
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	default:
		if s := valueText(v); s != "" {
			return []string{s}
		}
		return nil
	}
}
