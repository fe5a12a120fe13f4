package risk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/memory"
)

var monday = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// tried are changes of a file that failed in the days before monday.
func tried(file string, id string) (out []memory.Trial) {
	for i := range 5 {
		out = append(out, memory.Trial{Op: id, At: monday.AddDate(0, 0, -i), Files: []string{file}, Count: 1, Why: "x"})
	}
	return out
}

// TestEveryInputIsHeard: each thing that a change is judged on decides a rule of its own.
func TestEveryInputIsHeard(t *testing.T) {
	t.Parallel()
	const page, lines = "It is wide.\n", "one\ntwo\nthree\nfour\nfive\nsix\n"
	g := ground(t, map[string]string{"doc/x.md": page, "doc/y.md": lines, "doc/z.go": toolA}, "doc/**")
	plain := "It is narrow.\n"
	seen := pipeline.Made{Seen: true}
	for rule, c := range map[string]struct {
		file, after string
		made        pipeline.Made
		on          func(g *Ground)
		says        string
	}{
		"all_checks_passed": {"doc/x.md", plain, seen, func(*Ground) {}, ""},
		"similar_to_source": {"doc/x.md", page + lines, seen, func(*Ground) {}, "100 % of the added text"},
		"regression_risk":   {"doc/x.md", plain, seen, func(g *Ground) { g.Past = tried("doc/x.md", "op-x") }, "doc/x.md"},
		"opaque_substrate":  {"doc/x.md", plain, pipeline.Made{}, func(*Ground) {}, "a session of pencil"},
		"autonomy_observe":  {"doc/x.md", plain, seen, func(g *Ground) { g.Law.Pipeline.Autonomy = "observe" }, ""},
		"floor_min_tier":    {"doc/x.md", plain, seen, func(g *Ground) { g.Law.Pipeline.MinTier = "NOTIFY_APPLY" }, ""},
		"finding_hard":      {"doc/x.md", plain + "-----BEGIN RSA PRIVATE KEY-----\n", seen, func(*Ground) {}, ""},
		"touches_bundle":    {"knowledge/x.md", plain, seen, func(*Ground) {}, ""},
	} {
		at := *g
		c.on(&at)
		j, err := at.Judge(edit(c.file, page, c.after), monday, "pencil", c.made)
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		for _, r := range slices.Concat(j.Risk.Ladder, j.Risk.Raised) {
			if r.Matched {
				heard = append(heard, r.Code)
			}
		}
		if !slices.Contains(heard, rule) || rule == "all_checks_passed" && len(heard) > 1 || !strings.Contains(j.Risk.Text(), c.says) {
			t.Errorf("%s: %q\n%s", rule, heard, j.Risk.Text())
		}
	}
}

// TestForeseen: what a task's paths allow is judged like a change, of each file and for a
// session that odd sees into or not.
func TestForeseen(t *testing.T) {
	t.Parallel()
	g := ground(t, map[string]string{"doc/x.md": "x\n", "doc/y.md": "y\n", "a.md": "a\n"}, "doc/**", "knowledge/**")
	for _, c := range []struct {
		substrate string
		past      []memory.Trial
		want      pipeline.Tier
	}{{"extract", nil, pipeline.SafeAuto}, {"claude", nil, pipeline.ApprovalRequired}, {"openai", slices.Concat(tried("doc/x.md", "op-x"), tried("doc/y.md", "op-x")), pipeline.NotifyApply}} {
		g.Past = c.past
		if v, meant := g.Foresee(monday, c.substrate); v.Tier != c.want || meant != 2 {
			t.Errorf("%s: %s of %d files: %s", c.substrate, v.Tier, meant, v.Text())
		}
	}
}

// TestPast: a change teaches for as long as its window, by the time of its op and of its end.
func TestPast(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{"op-x": true, "op-01JZ0000000000000000000000": false} {
		if got := Past(tried("a", id), config.Default(), monday).Of([]string{"a"}); (len(got) > 0 && got[0].Trials == 5) != want {
			t.Errorf("%s: %+v", id, got)
		}
	}
	if got := Past(tried("a", "op-x"), config.Default(), monday.AddDate(0, 0, 30)).Of([]string{"a"}); len(got) > 0 && got[0].Trials > 0 {
		t.Errorf("a month later: %+v", got)
	}
}

// TestPolicyOfTheConfiguration: every key of [pipeline] about risk is a term of the policy.
func TestPolicyOfTheConfiguration(t *testing.T) {
	t.Parallel()
	law := config.Default()
	zone := time.FixedZone("x", 3600)
	law.Pipeline = config.Pipeline{
		MinTier: "NOTIFY_APPLY", Autonomy: "observe", Core: []string{"c"}, Protected: []string{"p"}, Security: []string{"s"}, MaxFiles: 1, Blast: 2, MachineBlast: 3, TestConfidence: 4,
		Quiet: &config.Quiet{From: 22, To: 7}, Zone: zone,
	}
	want := pipeline.Policy{
		MinTier: "NOTIFY_APPLY", Observe: true, Core: []string{"c"}, Protected: []string{"p"}, Security: []string{"s"}, MaxFiles: 1, Blast: 2, MachineBlast: 3, Confidence: 4,
		Quiet: &pipeline.Hours{From: 22, To: 7, Zone: zone},
	}
	if d := cmp.Diff(want, riskPolicy(law), cmp.Comparer(func(a, b *time.Location) bool { return a == b })); d != "" {
		t.Error(d)
	}
	law.Pipeline.Quiet = nil
	if riskPolicy(law).Quiet != nil {
		t.Error("quiet hours of nobody")
	}
}

// TestRulesAreThoseOfTheTask: an approval is bound to the scope and the commands of the
// task, and to both policies.
func TestRulesAreThoseOfTheTask(t *testing.T) {
	t.Parallel()
	r, tip := committed(t, "begin", map[string]string{"go.mod": "module example.org/x\n\ngo 1.26\n"})
	rules := map[string]string{}
	for name, do := range map[string]func(*Site){
		"plain": func(*Site) {}, "scope": func(s *Site) { s.Task.Paths = []string{"doc/**"} }, "commands": func(s *Site) { s.Task.Commands = [][]string{{"sh", "ci/x.sh"}} },
		"protected": func(s *Site) { s.Law.Pipeline.Protected = []string{"x"} }, "validate": func(s *Site) { s.Law.Pipeline.Validate = [][]string{{"./ci/v"}} },
		"verify": func(s *Site) { s.Law.Pipeline.Verify = [][]string{{"./ci/w"}} }, "tier": func(s *Site) { s.Law.Pipeline.MinTier = "BLOCKED" },
	} {
		s := Site{Task: task("tool/**"), Law: config.Default()}
		do(&s)
		rules[name] = Rules(r, tip, s.Task, s.Law)
	}
	if all := slices.Compact(slices.Sorted(maps.Values(rules))); len(all) != len(rules) || len(all[0]) != 64 {
		t.Errorf("%d rules of %d: %s", len(all), len(rules), fmt.Sprint(rules))
	}
}
