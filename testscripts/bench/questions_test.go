//go:build bench

package bench

import (
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/disk"
	"github.com/odd-cli/odd/persona"
)

// childQueries loads the bundle of args[0] and times questions asked of the
// loaded graph: about role args[1], about atom args[2], for word args[3].
func childQueries(args []string) (call, error) {
	g, _, err := okf.Load(disk.Dir(args[0]))
	return func() (counts, error) {
		out := map[string]float64{}
		var err error
		out["search, first"] = micros(1, func() { g.Search(args[3], 10) })
		out["search, a rare word"] = micros(20, func() { g.Search(args[3], 10) })
		out["get"] = micros(200, func() { _, err = g.Find(args[2]) })
		out["related"] = micros(200, func() { g.Related(okf.ID(args[2])) })
		out["compile-persona"] = micros(50, func() {
			if _, e := persona.Compile(g, args[1]); e != nil {
				err = e
			}
		})
		return func() map[string]float64 { return out }, err
	}, err
}

// micros is the least time of k calls, in microseconds.
func micros(k int, f func()) float64 {
	least := time.Duration(1 << 62)
	for range k {
		begin := time.Now()
		f()
		least = min(least, time.Since(begin))
	}
	return float64(least) / float64(time.Microsecond)
}
