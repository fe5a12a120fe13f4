package handoff

import (
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

// Handoff is a handoff atom read: what resolution needs, and what it carries.
type Handoff struct {
	contract.Handoff
	Title       string
	Persona     string // name@version of who made it
	Run         string // the run that made it, "" for a person's
	Deliverable deliver.Deliverable
	Derives     []string // handoffs it was made from
	Atom        *okf.Atom
}

// Read reads a handoff atom. What is missing of its minimum is in Missing and
// no error; a from and to that are no transition, or a value of another shape, is.
func Read(a *okf.Atom) (Handoff, error) { return Handoff{}, nil }

// Meta is what a made handoff says of itself beyond its deliverable.
type Meta struct {
	Slug, Title      string
	From, To         contract.Mode
	Artifact         string
	Persona, Run, By string // By is generated.by
	At               string // RFC 3339, UTC
	Journal          string
	Derives          []string
	Tainted          string
}

// Make writes a handoff: its path below the bundle root and its bytes.
func Make(m Meta, d deliver.Deliverable) (path string, text []byte, err error) { return "", nil, nil }

// World is what a handoff's claims are checked against.
type World struct {
	Path   func(path string) bool     // a file or folder of the repository, at the commit in question
	Commit func(oid string) bool      // a commit of the repository
	Ref    func(idOrURI string) error // an id or uri of the bundle; another authority's is nil
}

// Check lists what is wrong with a handoff: minimum content that is missing, and
// every cited path, commit, id and uri that does not resolve, with its line.
func Check(h Handoff, w World) []okf.Problem { return nil }
