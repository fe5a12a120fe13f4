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
	b, err := fileOf(s.bundle, names[0])
	s.run, s.runFile = run, readRun(names[0], b, err, s.reader.Read)
	return s.runFile, true
}

// RunFiles are the files of a month, or of all time for "", one after the other by path. It
// reads those for which about is true, nil for all, and no other. about is told the run of a
// file and its tasks; it is not asked of a file that is damaged or of several runs, which may
// have anything.
func (s *State) RunFiles(month string, about func(run string, tasks []string) bool) (iter.Seq[RunFile], error) {
	dirs, err := fs.ReadDir(s.bundle, "ledger")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	first := ""
	if began, bad := time.Parse("2006-01", month); bad == nil {
		first = event.Month(began.AddDate(0, -1, 0)) // a run's file lies in the month it began in, and no run lasts one
	}
	var all []entry
	for _, d := range dirs {
		if err == nil && d.IsDir() && d.Name() >= first && (month == "" || d.Name() <= month) {
			var files []entry
			files, err = (&folding{bundle: s.bundle, dir: path.Join("ledger", d.Name())}).listEntries()
			for _, e := range files {
				e.name = path.Join("ledger", d.Name(), e.name)
				all = append(all, e)
			}
		}
	}
	if about != nil && err == nil && len(all) > 0 {
		_, err = s.readMonths()
		all = slices.DeleteFunc(all, func(e entry) bool {
			f, known := s.knownFile(e.name)
			return known && !f.damaged && f.Run != "" && !about(f.Run, f.Tasks)
		})
	}
	return func(yield func(RunFile) bool) {
		for _, e := range all {
			var f RunFile
			if damaged := e.nameDamage(e.name); damaged != nil {
				f = RunFile{Path: e.name, Err: damaged}
			} else {
				b, err := fs.ReadFile(s.bundle, e.name)
				f = readRun(e.name, b, err, event.Read)
			}
			if !yield(f) {
				return
			}
		}
	}, err
}

// knownFile is what the folded months have of a ledger file.
func (s *State) knownFile(name string) (f file, known bool) {
	for _, m := range s.months {
		if m.Name == path.Base(path.Dir(name)) {
			f, known = m.loadDetails().Files[path.Base(name)]
		}
	}
	return f, known
}

// readRun is a file of the ledger that has these bytes, or this error.
func readRun(name string, b []byte, err error, read func([]byte) ([]event.Record, error)) RunFile {
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
