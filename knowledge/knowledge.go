// Package knowledge carries the two repositories that odd can lay out for you.
//
// The folder it lies in is odd's own bundle: the roles, processes, policies,
// terms, decisions and tasks of the people who make odd. The two archives
// beside them are not atoms of that bundle, which is why they are archives:
//
//	starter.txtar  what odd init adds to a repository: a first role with the
//	               little it needs, one task in backlog, the audit's profile and
//	               its workflow, a pull request template, .gitattributes
//	demo.txtar     what odd demo makes: a small company with its handbook,
//	               its bundle and one task that is ready
//
// The atoms of the starter that describe a team are drafts, which count half
// towards the floor of a persona. So its role is refused as it comes, with the list of what is
// missing, and clears the floor once a person has made the atoms true and taken
// "status: draft" out of them. The role of the demo clears it from the start.
//
// Neither archive holds an odd.toml: that is written from the configuration
// package's own template, so that there is one place which knows the keys.
package knowledge

import (
	_ "embed"

	"golang.org/x/tools/txtar"
)

//go:embed starter.txtar
var starter []byte

//go:embed demo.txtar
var demo []byte

// File is one file of an archive: a slash-separated path below the top of the
// repository, and its bytes.
type File struct {
	Path string
	Data []byte
}

// Starter is what odd init lays out, in the order in which it is best told.
func Starter() []File { return files(starter) }

// Demo is the demo company whole, in the same order each time.
func Demo() []File { return files(demo) }

func files(archive []byte) []File {
	a := txtar.Parse(archive)
	out := make([]File, len(a.Files))
	for i, f := range a.Files {
		out[i] = File{f.Name, f.Data}
	}
	return out
}
