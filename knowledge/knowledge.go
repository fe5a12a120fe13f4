// Package knowledge carries the files of two repositories: the one that odd init
// starts with and the one that odd demo makes.
//
// Its folder is also odd's own bundle: roles, processes, policies, terms,
// decisions and tasks of the people who make odd. The two archives beside the
// atoms are archives so that their atoms are not part of that bundle:
//
//	starter.txtar  what odd init adds to a repository: a first role with the
//	               atoms it needs, one task, .gitattributes; and where it is asked
//	               for them CI workflows with the audit's profile, and a pull
//	               request template
//	demo.txtar     what odd demo makes: a small company with its handbook,
//	               its bundle and one task that is ready
//
// The starter's atoms about a team are drafts. A draft counts half as an atom and
// not at all as a process, policy or term, so the starter's role is below the
// floor at first and odd lists what it lacks. It meets the floor once a person has
// edited the atoms and deleted "status: draft". The demo's role meets it as is.
//
// Neither archive holds an odd.toml: that comes from the configuration package's
// template, the one place that knows all keys.
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

// Starter returns the files that odd init writes, in the order it lists them.
func Starter() []File { return files(starter) }

// Demo returns the files of the demo company, always in the same order.
func Demo() []File { return files(demo) }

func files(archive []byte) []File {
	a := txtar.Parse(archive)
	out := make([]File, len(a.Files))
	for i, f := range a.Files {
		out[i] = File{f.Name, f.Data}
	}
	return out
}
