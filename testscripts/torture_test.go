package testscripts

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

var (
	blowsFlag = flag.Int("blows", 0, "how many blows the torture strikes; 0: the short form, or -for")
	forFlag   = flag.Duration("for", 0, "how long the torture goes on")
	seedFlag  = flag.Uint64("seed", 1, "of the torture: which blows in which order, and when they fall")
	onlyFlag  = flag.String("only", "", "strike only this number of the torture's blows, as a failure tells it, or only blows of this name")
)

// short are the blows of make test, by name.
var short = []string{"drain", "drain a change", "task add", "gate framing", "approve a change"}

// tally is what the table says of one kind of blow.
type tally struct{ blows, hits, recovered, failed, lost int }

// torture strikes real processes on real repositories, by the table of blows.
//
// A seed decides which blows fall in which order, and draws their instants from
// what the act took when it was left alone. What the process has come to by then
// is the machine's affair, so that a replay strikes at about the same place, not
// at the same instruction.
type torture struct {
	*testing.T
	dir    string
	models string
	scenes map[string]string
	paces  map[string]pace
	rows   map[string]*tally
}

func TestTorture(t *testing.T) {
	t.Parallel()
	tt := &torture{T: t, dir: t.TempDir(), scenes: map[string]string{}, paces: map[string]pace{}, rows: map[string]*tally{}}
	tt.models = models(t, tt.dir)
	all := slices.Concat(localBlows, gateBlows, anchorBlows, landBlows, shareBlows, crowds)
	limit, began := *blowsFlag, time.Now()
	if limit == 0 && *forFlag == 0 && *onlyFlag == "" {
		all = slices.DeleteFunc(all, func(b blow) bool { return !slices.Contains(short, b.name) })
		for i := range all {
			all[i].kinds = force
		}
		limit = len(all)
	}
	order := rand.New(rand.NewPCG(*seedFlag, 0)).Perm(len(all))
	for i := 0; (limit == 0 || i < limit) && (*forFlag == 0 || time.Since(began) < *forFlag); i++ {
		b := all[order[i%len(all)]]
		switch only := *onlyFlag; {
		case only == "", only == fmt.Sprint(i), only == b.name:
			tt.one(i, b)
		case limit == 0 && *forFlag == 0 && i > 1000:
			return
		}
	}
	t.Logf("seed %d, %s\n%s", *seedFlag, time.Since(began).Round(time.Second), tt.table())
}

// one lets the i-th blow fall, and counts what came of it.
func (t *torture) one(i int, b blow) {
	kind := ""
	rnd := rand.New(rand.NewPCG(*seedFlag, uint64(i)+1))
	if len(b.kinds) > 0 {
		kind = b.kinds[rnd.IntN(len(b.kinds))]
	}
	row := t.rows[b.name+"\t"+kind]
	if row == nil {
		row = &tally{}
		t.rows[b.name+"\t"+kind] = row
	}
	row.blows++
	root := &world{TB: t, models: t.models, rnd: rnd, now: moment(begin)}
	var w *world
	defer func() {
		if w != nil {
			row.hits += min(w.struck, 1)
			os.RemoveAll(w.home)
		}
		switch r := recover().(type) {
		case nil:
			row.recovered++
		case broken:
			row.failed++
			t.Errorf("blow %d, %s %s: %s\n(again: go test ./testscripts -run TestTorture -seed %d -only %d)%s", i, b.name, kind, strings.TrimSpace(r.what), *seedFlag, i, w.told())
		default:
			panic(r)
		}
	}()
	p := t.pace(root, b)
	w = root.copied(t.scene(root, b.scene), filepath.Join(t.dir, fmt.Sprintf("blow%d", i)))
	w.suffer(b, kind, p)
	row.lost += w.lost
}

// told is what ran, where one blow is struck again to find out.
func (w *world) told() string {
	if w == nil || *onlyFlag == "" {
		return ""
	}
	return "\n" + strings.Join(w.story, "\n")
}

func moment(s string) time.Time {
	now, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return now
}

// scene is the world of a scene, made when it is first asked for.
func (t *torture) scene(root *world, name string) string {
	if t.scenes[name] == "" {
		w := &world{TB: t, home: filepath.Join(t.dir, "scene-"+name), rnd: root.rnd}
		if err := os.MkdirAll(w.home, 0o777); err != nil {
			t.Fatal(err)
		}
		w.set(root.now)
		scenes[name](w)
		t.scenes[name] = w.home
	}
	return t.scenes[name]
}

// pace is what the blow's act takes when it is left alone, measured once.
func (t *torture) pace(root *world, b blow) pace {
	p, ok := t.paces[b.name]
	if !ok && len(b.kinds) > 0 {
		w := root.copied(t.scene(root, b.scene), filepath.Join(t.dir, "pace"))
		defer os.RemoveAll(w.home)
		if b.before != nil {
			b.before(w)
		}
		p = w.measured(b.acts(w)[0])
		t.paces[b.name] = p
	}
	return p
}

// suffer lets one blow fall and holds the world to what is promised.
func (w *world) suffer(b blow, kind string, p pace) {
	if b.before != nil {
		b.before(w)
	}
	acts := b.acts(w)
	var procs []*proc
	for _, a := range acts {
		procs = append(procs, w.begun(a))
	}
	if kind != "" {
		w.strike(procs[w.rnd.IntN(len(procs))], kind, w.draw(p), func() {
			if b.amid != nil {
				b.amid(w)
			}
		})
	} else if b.around != nil {
		b.around(w)
	}
	for _, p := range procs {
		if code := w.ended(p); code == 1 && !p.hit && !b.fault {
			w.failf("%s: a fault\n%s", strings.Join(p.argv, " "), p.out.String())
		}
	}
	w.recovers(b, acts)
	if kind == halted || kind == frozen { // what took longer than it may is blocked, and says so
		b.states = append(slices.Clone(b.states), "blocked")
	}
	w.settles(b)
}

// recovers is the next ordinary command in every clone, and then what a person does next.
func (w *world) recovers(b blow, acts []act) {
	for _, c := range w.clones() {
		w.must(c, "odd", "status")
	}
	if !b.mess {
		w.sound("after the blow")
	}
	if b.after != nil {
		b.after(w)
		return
	}
	for _, a := range acts {
		if out, code := w.do(a); code == 1 || code == 2 {
			w.failf("%s, again: exit %d\n%s", strings.Join(a.argv, " "), code, out)
		}
	}
}

// settles drains what is left once every lease of a claim is over, and holds the world to all that is promised.
func (w *world) settles(b blow) {
	w.later(2 * time.Hour)
	for _, c := range w.clones() {
		if out, code := w.do(act{dir: c, argv: drainAll}); code == 1 || code == 2 {
			w.failf("%s: odd drain: exit %d\n%s", c, code, out)
		}
	}
	for _, c := range w.clones() {
		if w.has("hub.git") {
			w.must(c, "odd", "sync")
		}
	}
	w.swept()
	w.sound("settled")
	w.settled(filed, b.states...)
	if left, _ := filepath.Glob(filepath.Join(w.home, "tmp", "odd-*", "scratch-*")); len(left) > 0 {
		w.failf("scratch repositories are left: %s", strings.Join(left, ", "))
	}
}

func (t *torture) table() string {
	var b strings.Builder
	out := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "blow\tstrike\tblows\tstruck\trecovered\treservations lost\tfailed")
	var sum tally
	for _, name := range slices.Sorted(maps.Keys(t.rows)) {
		r := t.rows[name]
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\n", name, r.blows, r.hits, r.recovered, r.lost, r.failed)
		sum = tally{sum.blows + r.blows, sum.hits + r.hits, sum.recovered + r.recovered, sum.failed + r.failed, sum.lost + r.lost}
	}
	fmt.Fprintf(out, "all\t\t%d\t%d\t%d\t%d\t%d\n", sum.blows, sum.hits, sum.recovered, sum.lost, sum.failed)
	out.Flush()
	return b.String()
}
