package state

import (
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/journal/event"
)

// RunFile is one file of the ledger: what a run recorded, or people about an op.
type RunFile struct {
	Path    string // in the bundle
	Records []event.Record
	Err     error // a [*Damaged] where these are not all of it
}

// RunFile is the file of a run; ok is false where the ledger has none, or several.
func (s *State) RunFile(run string) (f RunFile, ok bool) {
	if run == s.run && run != "" { // tasks of one run are asked about one after the other
		return s.runFile, true
	}
	names, err := fs.Glob(s.bundle, "ledger/*/"+run+".jsonl")
	if err != nil || len(names) != 1 {
		return f, false
	}
	s.run, s.runFile = run, s.readRun(names[0], s.reader.Read)
	return s.runFile, true
}

// RunFiles are the files of a month, or of all time for "", one after the other by path. It
// reads those for which about is true, nil for all, and no other. about is told the run of a
// file and its tasks; it is not asked of a file that is damaged or of several runs, which may
// have anything.
func (s *State) RunFiles(month string, about func(run string, tasks []string) bool) (iter.Seq[RunFile], error) {
	names, err := fs.Glob(s.bundle, "ledger/*/*.jsonl")
	if began, bad := time.Parse("2006-01", month); bad == nil {
		first := event.Month(began.AddDate(0, -1, 0)) // a run's file lies in the month it began in, and no run lasts one
		names = slices.DeleteFunc(names, func(name string) bool {
			at := path.Base(path.Dir(name))
			return at < first || at > month
		})
	}
	if about != nil && err == nil && len(names) > 0 {
		_, err = s.read()
		names = slices.DeleteFunc(names, func(name string) bool {
			f, known := s.known(name)
			return known && !f.damaged && f.Run != "" && !about(f.Run, f.Tasks)
		})
	}
	return func(yield func(RunFile) bool) {
		for _, name := range names {
			if !yield(s.readRun(name, event.Read)) {
				return
			}
		}
	}, err
}

// known is what the folded months have of a ledger file.
func (s *State) known(name string) (f file, known bool) {
	for _, m := range s.months {
		if m.Name == path.Base(path.Dir(name)) {
			f, known = m.rest().Files[path.Base(name)]
		}
	}
	return f, known
}

// readRun reads a file of the ledger.
func (s *State) readRun(name string, read func([]byte) ([]event.Record, error)) RunFile {
	b, err := fileOf(s.bundle, name)
	f := RunFile{Path: name}
	if err == nil {
		f.Records, err = read(b)
	}
	if damaged := (*Damaged)(nil); err != nil && !errors.As(err, &damaged) {
		err = &Damaged{name, err}
	}
	f.Err = err
	return f
}

// Receipts itemises a month's closed spending, "" for every month's, of files with a task.
func (s *State) Receipts(month, task string) ([]event.Receipt, error) {
	files, err := s.RunFiles(month, aboutTask(task))
	if err != nil {
		return nil, err
	}
	all := event.Receipts(func(yield func([]event.Record) bool) {
		for f := range files {
			if err = f.Err; err != nil || !yield(f.Records) {
				return
			}
		}
	})
	return slices.DeleteFunc(all, func(r event.Receipt) bool { return month != "" && r.Month != month || task != "" && r.Task != task }), err
}

// aboutTask takes the files with a task, all for "".
func aboutTask(task string) func(run string, tasks []string) bool {
	if task == "" {
		return nil
	}
	return func(_ string, tasks []string) bool { return slices.Contains(tasks, task) }
}
