//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
)

// told is what a child prints: the time of its one call, and counts.
type told struct {
	Wall, CPU time.Duration
	Counts    map[string]float64
}

// children are the calls that a fresh process of this test times. Each makes
// ready and returns the call, which returns what it counted.
var children = map[string]func(args []string) (call, error){
	"load":    childLoad,
	"keep":    childKeep,
	"warm":    childWarm,
	"tree":    childTree,
	"read":    childRead,
	"stat":    childStat,
	"write":   childWrite,
	"queries": childQueries,
}

// inChild is the job of calling a child.
func inChild(title, name string, args ...string) job {
	return job{title, func(t *testing.T) sample {
		t.Helper()
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(exe, args...)
		c.Env, c.Stderr = append(environ(), "ODD_BENCH_CHILD="+name), os.Stderr
		b, err := c.Output()
		var say told
		if err == nil {
			err = json.Unmarshal(b, &say)
		}
		if err != nil {
			t.Fatalf("%s %v: %v %s", name, args, err, b)
		}
		return sample{wall: say.Wall, cpu: say.CPU, counts: say.Counts, rss: peak(c.ProcessState.SysUsage().(*syscall.Rusage))}
	}}
}

// child is the whole life of a child.
func child(name string, args []string) int {
	call, err := children[name](args)
	var say told
	if err == nil {
		cpu, begin := cpuTime(), time.Now()
		var found counts
		found, err = call()
		if say.Wall, say.CPU = time.Since(begin), cpuTime()-cpu; err == nil {
			say.Counts = found()
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(say)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// counts says what a call found. It is asked for when the clock has stopped: a
// loaded graph makes its atoms when somebody wants them.
type counts func() map[string]float64

// call is what a child times.
type call func() (counts, error)

// atoms counts them if args end in "count"; a child whose memory is measured
// does not.
func atoms(g *okf.Graph, args []string) counts {
	if args[len(args)-1] != "count" {
		return func() map[string]float64 { return nil }
	}
	return counted("atoms", func() float64 { return float64(g.Len()) })
}

func counted(what string, n func() float64) counts {
	return func() map[string]float64 { return map[string]float64{what: n()} }
}

// childLoad loads the bundle of args[0] without a cache.
func childLoad(args []string) (call, error) {
	return func() (counts, error) {
		g, _, err := okf.Load(disk.Dir(args[0]))
		return atoms(g, args), err
	}, nil
}

// childKeep loads the bundle of args[0] and keeps its cache in args[1]: a cache
// is good for one build, so odd's own is none to a child.
func childKeep(args []string) (call, error) {
	return func() (counts, error) {
		g, _, fresh, err := okf.LoadCached(disk.Dir(args[0]), nil, time.Now())
		if err != nil {
			return nil, err
		}
		return atoms(g, args), os.WriteFile(args[1], fresh, 0o644)
	}, nil
}

// childWarm loads the bundle of args[0] with the cache of args[1], and looks
// for hand edits, as a person's commands do.
func childWarm(args []string) (call, error) {
	return func() (counts, error) {
		b, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		g, _, fresh, err := okf.LoadCached(disk.Dir(args[0]), b, time.Now())
		if err == nil && fresh != nil {
			err = fmt.Errorf("%s: not the cache of %s", args[1], args[0])
		}
		return atoms(g, args), err
	}, nil
}

// childTree loads the bundle of args[0] from the cache of args[1], which is
// that of a commit's tree.
func childTree(args []string) (call, error) {
	return func() (counts, error) {
		b, err := os.ReadFile(args[1])
		if err != nil {
			return nil, err
		}
		g, _, err := okf.Decode(b, disk.Dir(args[0]))
		return atoms(g, args), err
	}, nil
}

// childRead reads the files below args[0], listed before, by two workers.
func childRead(args []string) (call, error) {
	var files []string
	err := filepath.WalkDir(args[0], func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, p)
		}
		return err
	})
	return func() (counts, error) {
		var sum atomic.Int64
		err := each(len(files), func(i int) error {
			b, err := os.ReadFile(files[i])
			sum.Add(int64(len(b)))
			return err
		})
		return counted("bytes", func() float64 { return float64(sum.Load()) }), err
	}, err
}

// childStat lists the folders below args[0] and asks for every file, by two
// workers, a folder each.
func childStat(args []string) (call, error) {
	return func() (counts, error) {
		var seen atomic.Int64
		folders := []string{args[0]}
		for len(folders) > 0 {
			below := make([][]string, len(folders))
			err := each(len(folders), func(i int) (err error) {
				below[i], err = statFolder(folders[i], &seen)
				return err
			})
			if err != nil {
				return nil, err
			}
			folders = slices.Concat(below...)
		}
		return counted("files", func() float64 { return float64(seen.Load()) }), nil
	}, nil
}

func statFolder(dir string, seen *atomic.Int64) (below []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if e.IsDir() {
			below = append(below, p)
			continue
		}
		if _, err := os.Lstat(p); err != nil {
			return nil, err
		}
		seen.Add(1)
	}
	return below, err
}

// childWrite writes the corpus of args[1] atoms below args[0], from memory.
func childWrite(args []string) (call, error) {
	type file struct {
		path string
		text []byte
	}
	var files []file
	for path, text := range emitted(args[1]).All() {
		files = append(files, file{filepath.Join(args[0], path), text})
		if err := os.MkdirAll(filepath.Dir(filepath.Join(args[0], path)), 0o755); err != nil {
			return nil, err
		}
	}
	return func() (counts, error) {
		err := each(len(files), func(i int) error { return os.WriteFile(files[i].path, files[i].text, 0o644) })
		return counted("files", func() float64 { return float64(len(files)) }), err
	}, nil
}

// each calls f for 0 to n-1, by two workers, and returns their first errors.
func each(n int, f func(int) error) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	var errs [2]error
	for w := range errs {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = f(i)
			}
		})
	}
	wg.Wait()
	if errs[0] != nil {
		return errs[0]
	}
	return errs[1]
}
