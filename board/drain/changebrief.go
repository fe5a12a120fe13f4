package drain

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/reconcile/lint"
	"github.com/odd-cli/odd/reconcile/policy"
)

// askedChange is what the brief says of the change that a task asks for.
func (s *snapshot) askedChange(c *claim, base fs.FS) *invoke.Asked {
	l, law := lint.Limits{}.Filled(), s.cfg.Pipeline
	_, err := fs.Stat(base, "go.mod")
	return &invoke.Asked{
		Paths: c.task.Paths, Root: s.cfg.Root, Base: string(c.base), Commands: commandsOf(law, c.task), GoChecks: err == nil && len(law.Validate) == 0, Files: s.filesMeantBy(c.task.Paths, base),
		Limits: fmt.Sprintf("The change may hold %d files of %d bytes each, %d bytes in all.", l.Files, l.FileBytes, l.TotalBytes),
	}
}

// commandsOf returns the commands that are run on a change, as package pipeline runs them: one
// that is to be verified and was run before is not run again.
func commandsOf(law config.Pipeline, t board.Task) [][]string {
	out := slices.Concat(law.Validate, t.Commands)
	for _, argv := range law.Verify {
		if !slices.ContainsFunc(law.Validate, func(run []string) bool { return slices.Equal(run, argv) }) {
			out = append(out, argv)
		}
	}
	return out
}

// filesMeantBy returns the files of the base that globs mean, in order of path; large ones,
// and those behind the first of them, are pointers.
func (s *snapshot) filesMeantBy(globs []string, base fs.FS) []invoke.File {
	var out []invoke.File
	_ = fs.WalkDir(base, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case len(out) == maxInputs:
			return fs.SkipAll
		case e.IsDir() && name == s.cfg.Root:
			return fs.SkipDir
		case !e.Type().IsRegular() || !policy.MatchAnyGlob(globs, name):
			return nil
		}
		b, err := fs.ReadFile(base, name)
		if err != nil {
			return nil
		}
		f := invoke.File{Path: name, Blob: okf.BlobID(b)}
		if len(b) <= maxInputText {
			f.Text = b
		}
		out = append(out, f)
		return nil
	})
	return out
}
