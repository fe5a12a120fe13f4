package board

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/okf"
)

func ready(id okf.ID, deps ...okf.ID) Task {
	return Task{Row: Row{ID: id, State: Ready, Kind: "extract", Priority: "p2", Dependencies: deps}}
}

func in(s State, t Task) Task {
	t.State = s
	return t
}

func TestEligible(t *testing.T) {
	t.Parallel()
	claimed := ready("x")
	claimed.ClaimedBy, claimed.LeaseExpires = "run-1", nine
	odd := ready("x")
	odd.Kind = "juggle"
	for _, c := range []struct {
		name   string
		task   Task
		others []Task
		now    time.Time
		want   Reason
	}{
		{"ready", ready("x"), nil, nine, ""},
		{"backlog", in(Backlog, ready("x")), nil, nine, "it is in backlog; odd task ready x makes it ready"},
		{"done", in(Done, ready("x")), nil, nine, "it is done"},
		{"a claim that still holds", claimed, nil, nine.Add(-time.Second), "run-1 is working on it until 2026-07-01T09:00:00Z"},
		{"a claim that expires now", claimed, nil, nine, ""},
		{"an unknown kind", odd, nil, nine, `unknown kind "juggle"; set one with odd task edit x --kind KIND`},
		{"a dependency that is done", ready("x", "a"), []Task{in(Done, ready("a"))}, nine, ""},
		{"a dependency in review", ready("x", "a"), []Task{in(Review, ready("a"))}, nine, "depends on a, which is review"},
		{"a dependency that is not there", ready("x", "a"), nil, nine, "depends on a, which is not a task or cannot be read"},
		{"itself", ready("x", "x"), nil, nine, "its dependencies form a cycle: x → x"},
		{"a circle of three", ready("x", "a"), []Task{ready("a", "b"), ready("b", "x")}, nine, "its dependencies form a cycle: x → a → b → x"},
		{"a circle ahead", ready("x", "a"), []Task{ready("a", "b"), ready("b", "a")}, nine, "its dependencies form a cycle: a → b → a"},
	} {
		if got := Eligible(&c.task.Row, IndexOf(RowsOf(append(c.others, c.task))), c.now); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A chain of tasks that all wait costs about as much as it is long.
func TestEligibleStopsInALongChain(t *testing.T) {
	t.Parallel()
	chain := []Task{ready("t0", "t9999")}
	for i := 1; i < 10_000; i++ {
		chain = append(chain, ready(okf.ID(fmt.Sprint("t", i)), okf.ID(fmt.Sprint("t", i-1))))
	}
	all := IndexOf(RowsOf(chain))
	for _, x := range RowsOf(chain) {
		if got, want := Eligible(x, all, nine), Reason("depends on "+string(x.Dependencies[0])+", which is ready"); got != want {
			t.Fatalf("%s: got %q, want %q", x.ID, got, want)
		}
	}
}

func TestSoftDependenciesDoNotHold(t *testing.T) {
	t.Parallel()
	x := ready("x")
	x.Soft = []okf.ID{"nowhere"}
	if got := Eligible(&x.Row, Index{x.ID: &x.Row}, nine); got != "" {
		t.Errorf("held back: %s", got)
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	at := func(id okf.ID, priority, created string) Task {
		x := ready(id)
		x.Priority, x.Created = priority, created
		return x
	}
	all := []Task{
		at("z-urgent", "p0", ""),
		at("frees-two", "p1", "2026-07-01T00:00:00Z"),
		at("frees-one", "p1", "2026-01-01T00:00:00Z"),
		at("old", "p1", "2026-01-01T01:00:00+02:00"), // 23:00 the day before, UTC
		at("new", "p1", "2026-01-01T00:00:00Z"),
		at("a-same", "p1", "2026-03-01T00:00:00Z"),
		at("b-same", "p1", "2026-03-01T00:00:00Z"),
		at("undated", "p1", ""),
		at("low", "p3", "2020-01-01T00:00:00Z"),
		in(Blocked, ready("d1", "frees-two")), in(Backlog, ready("d2", "frees-two", "past")), in(Backlog, ready("d3", "frees-one")),
		in(Backlog, ready("d4", "frees-one", "old")), // waits for two: neither frees it
		in(Done, ready("d5", "frees-one")),           // waits for nothing any more
		in(Done, ready("past")),
	}
	var got []okf.ID
	for _, x := range Order(RowsOf(all[:9]), IndexOf(RowsOf(all))) {
		got = append(got, x.ID)
	}
	want := []okf.ID{"z-urgent", "frees-two", "frees-one", "old", "new", "a-same", "b-same", "undated", "low"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The order does not depend on the order tasks come in.
func TestOrderIsTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var ts []Task
		for i := range rapid.IntRange(2, 8).Draw(t, "tasks") {
			x := ready(okf.ID(fmt.Sprint("t", i)))
			x.Priority = rapid.SampledFrom([]string{"p0", "p1"}).Draw(t, "priority")
			x.Created = rapid.SampledFrom([]string{"", "soon", "2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00"}).Draw(t, "created")
			if i > 0 {
				x.Dependencies = []okf.ID{ts[0].ID}
			}
			ts = append(ts, x)
		}
		ids := func(ts []Task) (out []okf.ID) {
			for _, x := range Order(RowsOf(ts), IndexOf(RowsOf(ts))) {
				out = append(out, x.ID)
			}
			return out
		}
		if d := cmp.Diff(ids(ts), ids(rapid.Permutation(ts).Draw(t, "order"))); d != "" {
			t.Fatal(d)
		}
	})
}

var slugShape = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,59}$`)

func TestSlug(t *testing.T) {
	t.Parallel()
	long := okf.ID(strings.Repeat("long-", 20) + "x")
	for id, want := range map[okf.ID]string{
		"tidy": "tidy", "tidy-up-2": "tidy-up-2",
		"tasks/tidy": "tidy-", "Tidy": "tidy-", "a.b_c": "a-b-c-", "ünï": "uni-", "---": "task-", "": "task-", "a/": "task-", "a--b": "a-b-",
		"x.lock": "x-lock-", "..": "task-", "@{": "task-", long: "long-long-",
	} {
		got := Slug(id)
		if !strings.HasPrefix(got, want) || !slugShape.MatchString(got) {
			t.Errorf("Slug(%q) = %q, want %q…", id, got, want)
		}
		if changed := got != string(id); changed && !regexp.MustCompile(`-[0-9a-f]{8}$`).MatchString(got) {
			t.Errorf("Slug(%q) = %q has no mark", id, got)
		}
	}
	seen := map[string]okf.ID{}
	for _, id := range []okf.ID{"tidy", "Tidy", "tasks/tidy", "x/tidy", "tidy_", "TIDY", "t/i/d/y", long, long + "y"} {
		if other, taken := seen[Slug(id)]; taken {
			t.Errorf("%s and %s share %s", id, other, Slug(id))
		}
		seen[Slug(id)] = id
	}
}

func TestSlugIsAlwaysASlug(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := okf.ID(rapid.String().Draw(t, "id"))
		if got := Slug(id); !slugShape.MatchString(got) || strings.HasSuffix(got, "-") {
			t.Fatalf("Slug(%q) = %q", id, got)
		}
	})
}

// git itself takes what Slug makes.
func TestSlugIsARefGitTakes(t *testing.T) {
	t.Parallel()
	for _, id := range []okf.ID{"tidy", "tasks/x.lock", "..", "@{-1}", "-x", okf.ID(strings.Repeat("é", 300))} {
		ref := "refs/heads/odd/review/" + Slug(id) + ".1"
		if out, err := exec.Command("git", "check-ref-format", ref).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", ref, err, out)
		}
	}
}
