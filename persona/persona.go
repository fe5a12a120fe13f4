// Package persona compiles a work role's part of the graph into a persona, and refuses below the floor.
package persona

import "github.com/odd-cli/odd/okf"

// Floor is the least a persona must rest on.
type Floor struct {
	MinAtoms         int // resolved atoms, a draft counts half
	MinProcesses     int // processes the role owns
	MinGuides        int // policies or terms
	MaxUnresolvedPct int
}

// DefaultFloor is 5 atoms, 1 process, 1 policy or term, 20 % unresolved.
func DefaultFloor() Floor { return Floor{5, 1, 1, 20} }

// Item is one atom of a persona.
type Item struct {
	ID, Path, Blob, Type, Title, Description string
	Confidence, Tier                         string
	Draft                                    bool
	Via                                      []okf.Hop // the edge path from the role
}

// Persona is a compiled role. Same graph, same bytes.
type Persona struct {
	Role                                      Item
	Commit                                    string // set by the caller; "" outside git
	Items                                     []Item
	Reached, Resolved, Unresolved, Unloadable int
	Gaps                                      []string // one line each: what is missing and where
}

// Compile walks the graph from the role over real edges.
func Compile(g *okf.Graph, role string) (Persona, error) { return Persona{}, nil }

// Shortfall is one floor rule that p does not meet.
type Shortfall struct{ Rule, Have, Want, Way string }

// Below lists every floor rule p does not meet.
func (p Persona) Below(f Floor) []Shortfall { return nil }

// Markdown is the document; bodies come from g when inline is set.
func (p Persona) Markdown(g *okf.Graph, inline bool) []byte { return nil }

// JSON is the manifest. Mermaid is the picture.
func (p Persona) JSON() ([]byte, error) { return nil, nil }
func (p Persona) Mermaid() []byte       { return nil }
