package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/odd-cli/odd/journal/memory"
	"github.com/odd-cli/odd/reconcile/policy"
)

// world is a base with a tested package a, which six others need, and an untested b.
func world() Evidence {
	files := map[string][]byte{
		"go.mod": []byte("module example.org/x\n"), "a/a.go": []byte("package a\n"), "a/a_test.go": []byte("package a\n"), "b/b.go": []byte("package b\n"),
		"odd/cmd.go": []byte("package cmd\nimport _ \"example.org/x/b\"\n"), "t/t_test.go": []byte("package t\nimport _ \"example.org/x/odd\"\n"),
	}
	for i := range 6 {
		files[fmt.Sprintf("n%d/n.go", i)] = fmt.Appendf(nil, "package n\nimport _ \"example.org/x/a\"\n")
	}
	return Evidence{Graph: buildGraph(files)}
}

// buildGraph reads the graph of a tree of these files.
func buildGraph(files map[string][]byte) *Graph {
	tree := fstest.MapFS{}
	for name, b := range files {
		tree[name] = &fstest.MapFile{Data: b}
	}
	g, err := ReadGraph(tree)
	if err != nil {
		panic(err)
	}
	return g
}

func modify(paths ...string) []Edit {
	var out []Edit
	for _, p := range paths {
		out = append(out, Edit{p, []byte("old\n"), []byte("new\n"), modePlain, modePlain})
	}
	return out
}

func add(paths ...string) []Edit {
	var out []Edit
	for _, p := range paths {
		out = append(out, Edit{Path: p, After: []byte("new " + p), NewMode: modePlain})
	}
	return out
}

// asks is a change with all around it.
type asks struct {
	e Evidence
}

func (a asks) verdict() Verdict { return Assess(a.e) }

func ask(files []Edit, with ...func(*asks)) asks {
	b := world()
	a := asks{e: Evidence{Files: files, Graph: b.Graph, Bundle: "knowledge", Policy: defaults(), Made: Made{Seen: true}, Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}}
	for _, w := range with {
		w(&a)
	}
	return a
}

func byPerson(scope ...string) func(*asks) {
	return func(a *asks) { a.e.Filed, a.e.Scope = FiledByPerson, scope }
}

func set(f func(*Policy)) func(*asks) { return func(a *asks) { f(&a.e.Policy) } }

// cases is a change for every code of the two tables.
func cases() map[string]asks {
	own := func(a *asks) { a.e.GoMod = []byte("module github.com/odd-cli/odd\n") }
	core := set(func(p *Policy) { p.Core = []string{"odd/**"} })
	gone := Edit{"a/a.go", []byte("x\n"), nil, modePlain, ""}
	lines := "one()\ntwo()\nthree()\nfour()\n"
	return map[string]asks{
		"path_unfit":                  ask(add("a/con.go")),
		"touches_gate":                ask(modify("reconcile/policy/path.go"), own, byPerson("**")),
		"touches_governance":          ask(modify(".github/workflows/ci.yml"), byPerson(".github/workflows/ci.yml")),
		"touches_bundle":              ask(modify("knowledge/terms/slack.md"), byPerson("**")),
		"touches_credentials":         ask(modify("deploy/.env"), byPerson("deploy/.env")),
		"touches_vendored":            ask(modify("vendor/x/x.go"), byPerson("**")),
		"touches_configured":          ask(modify("deploy/prod.txt"), set(func(p *Policy) { p.Protected = []string{"deploy/"} }), byPerson("deploy/prod.txt")),
		"touches_security_surface":    ask(modify("docs/auth/login.md"), byPerson("docs/**")),
		"machine_touches_core":        ask(modify("odd/cmd.go"), core),
		"security_in_scope":           ask(modify("docs/auth/login.md"), byPerson("docs/auth/**")),
		"crosses_repo_boundary":       ask([]Edit{{"sub", []byte("1"), []byte("2"), modeRepo, modeRepo}}),
		"rename_operation":            ask([]Edit{gone, {"a/z.go", nil, []byte("x\n"), "", modePlain}}),
		"delete_operation":            ask([]Edit{gone}),
		"dependency_change":           ask(modify("go.mod")),
		"core_path_structural_change": ask(add("odd/new.md"), core, byPerson("odd/**")),
		"executable_bit":              ask([]Edit{{"docs/x.md", []byte("a"), []byte("a"), modePlain, modeExec}}),
		"machine_blast_radius":        ask(modify("a/a.go"), set(func(p *Policy) { p.Blast = 9 })),
		"blast_radius_exceeded":       ask(modify("a/a.go"), byPerson("a/**")),
		"too_many_files":              ask(modify("1.md", "2.md", "3.md")),
		"low_test_confidence":         ask(modify("b/b.go"), byPerson("b/**")),
		"new_file_created":            ask(add("docs/x.md")),
		"multi_file_change":           ask(modify("1.md", "2.md")),
		"core_path_modification":      ask(modify("odd/cmd.go"), core, byPerson("odd/**")),
		"all_checks_passed":           ask(modify("docs/x.md")),
		"rule_failed":                 ask(modify("docs/x.md"), func(a *asks) { a.e.Graph = buildGraph(map[string][]byte{"x.go": nil}) }),
		"regression_risk":             ask(modify("docs/x.md"), badly),
		"similar_to_source": ask([]Edit{{"docs/x.md", []byte("zero()\n"), []byte("zero()\n" + lines), modePlain, modePlain}},
			func(a *asks) { a.e.Texts = [][]byte{[]byte("// it\n  " + lines)} }),
		"agent_instructions":       ask(modify("docs/AGENTS.md")),
		"autonomy_observe":         ask(modify("docs/x.md"), set(func(p *Policy) { p.Observe = true })),
		"opaque_substrate":         ask(modify("docs/x.md"), func(a *asks) { a.e.Made.Seen, a.e.Substrate = false, "exec" }),
		"refused_before":           ask(modify("docs/x.md"), func(a *asks) { a.e.Made.Refused = "coverage_outside" }),
		"exploration_insufficient": ask(modify("docs/x.md"), func(a *asks) { a.e.Made.Unread = "it read one file" }),
		"finding_hard":             ask(modify("docs/x.md"), func(a *asks) { a.e.Findings = []policy.Finding{{Code: "x", Severity: policy.Hard}} }),
		"finding_soft":             ask(modify("docs/x.md"), func(a *asks) { a.e.Findings = []policy.Finding{{Code: "x", Severity: policy.Soft}} }),
		"floor_min_tier":           ask(modify("docs/x.md"), set(func(p *Policy) { p.MinTier = NotifyApply })),
		"floor_quiet_hours":        ask(modify("docs/x.md"), set(func(p *Policy) { p.Quiet = &Hours{From: 9, To: 10} })),
	}
}

// badly makes changes of docs/x.md that went wrong.
func badly(a *asks) {
	once := memory.Trial{At: a.e.Now, Files: []string{"docs/x.md"}, Why: "rejected"}
	a.e.Past = memory.At([]memory.Trial{once, once, once}, a.e.Now)
}

// A file that changes failed on raises what may land by itself by one step, and
// nothing any further.
func TestRegressionRaisesByOneStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a    asks
		tier Tier
		code string
	}{
		{ask(modify("docs/x.md"), badly), NotifyApply, "regression_risk"},
		{ask(modify("docs/x.md", "docs/y.md"), badly), ApprovalRequired, "regression_risk"},
		{ask(modify("docs/x.md", "docs/y.md", "docs/z.md"), badly), ApprovalRequired, "too_many_files"},
		{ask(modify("docs/y.md"), badly), SafeAuto, "all_checks_passed"},
		{ask(modify("docs/x.md"), badly, set(func(p *Policy) { p.Observe = true })), ApprovalRequired, "autonomy_observe"},
	} {
		v := c.a.verdict()
		if v.Tier != c.tier || v.Code != c.code {
			t.Errorf("%v: %s by %s, want %s by %s", c.a.e.Files[0].Path, v.Tier, v.Code, c.tier, c.code)
		}
	}
	v := cases()["regression_risk"].verdict()
	if got := v.Text(); !strings.HasSuffix(got, "docs/x.md: 0 of 3 changes went well, fragility 0.65, regression risk 0.59 (medium)") || len(v.Past) != 1 {
		t.Error(got, v.Past)
	}
}

// Every code of the two tables is what some change's verdict says, and means its tier.
func TestEveryRuleIsReached(t *testing.T) {
	t.Parallel()
	all := cases()
	for _, row := range RiskRules() {
		code := row.Code
		a, ok := all[code]
		if !ok {
			t.Errorf("%s: no change shows it", code)
			continue
		}
		v := a.verdict()
		if v.Code != code || v.Tier != row.Tier || v.Way == "" || v.Meaning != row.Meaning {
			t.Errorf("%s: the verdict is %s by %s (%s)", code, v.Tier, v.Code, v.Text())
		}
	}
	if len(all) != len(RiskRules()) {
		t.Errorf("%d changes for %d codes", len(all), len(RiskRules()))
	}
}

// The ladder goes down, so that the first row that holds is the highest that does.
func TestLadderGoesDown(t *testing.T) {
	t.Parallel()
	for i, r := range ladder[1:] {
		if r.tier.rank() > ladder[i].tier.rank() {
			t.Errorf("%s is above %s and lower", ladder[i].code, r.code)
		}
	}
	if last := ladder[len(ladder)-1]; last.tier != SafeAuto || slices.ContainsFunc(ladder[:len(ladder)-1], func(r rule) bool { return r.tier == SafeAuto }) {
		t.Errorf("the last row, and only it, is SAFE_AUTO; it is %s", last.code)
	}
}

func TestRaiseIsMonotone(t *testing.T) {
	t.Parallel()
	words := append(Tiers(), "", "GREEN")
	for _, a := range words {
		for _, b := range words {
			up := Tier(a).Raise(Tier(b))
			if up.rank() < Tier(a).rank() || up.rank() < Tier(b).rank() || up != Tier(b).Raise(Tier(a)) || up != up.Raise(up) || up.rank() < 0 {
				t.Errorf("%q raised to %q is %q", a, b, up)
			}
		}
	}
	if up := SafeAuto.Raise("GREEN"); up != ApprovalRequired {
		t.Errorf("a word that is no tier raises to %s", up)
	}
}

// drawn is any change of the world, judged under any policy.
func drawn(t *rapid.T) asks {
	paths := []string{"a/a.go", "a/a_test.go", "a/z.go", "b/b.go", "b/b_test.go", "odd/cmd.go", "n1/n.go", "docs/x.md", "docs/auth/x.md", "main.py", "test_main.py",
		"go.mod", "odd.toml", ".env", "vendor/x.go", "knowledge/x.md", "deploy/x.txt", "a/testdata/x", "LICENSE", "a\\b"}
	bytes := rapid.SampledFrom([][]byte{nil, {}, []byte("package a\n"), []byte("package a\nimport _ \"example.org/x/b\"\n"), []byte("import")})
	var files []Edit
	for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom(paths), 0, 6, rapid.ID).Draw(t, "paths") {
		e := Edit{Path: p, Before: bytes.Draw(t, "before"), After: bytes.Draw(t, "after")}
		modes := rapid.SampledFrom([]string{modePlain, modeExec})
		if e.Before != nil {
			e.OldMode = modes.Draw(t, "old")
		}
		if e.After != nil {
			e.NewMode = modes.Draw(t, "new")
		}
		files = append(files, e)
	}
	a := ask(files)
	a.e.Filed = rapid.SampledFrom([]Filed{FiledByNobody, FiledByMachine, FiledByPerson}).Draw(t, "filed")
	a.e.Scope = rapid.SampledFrom([][]string{nil, {"**"}, {"docs/auth/**", "a/*"}}).Draw(t, "scope")
	a.e.Atoms = map[string][]string{"docs/x.md": {"t1", "t2"}, "b/b.go": {"t2", "t3", "t4", "t5", "t6"}}
	a.e.Policy = Policy{
		MinTier: rapid.SampledFrom([]Tier{"", SafeAuto, NotifyApply, ApprovalRequired}).Draw(t, "min"), Observe: rapid.Bool().Draw(t, "observe"),
		Core: []string{"odd/**"}, Protected: []string{"deploy/"}, MaxFiles: rapid.IntRange(1, 9).Draw(t, "files"), Blast: rapid.IntRange(0, 9).Draw(t, "blast"),
		MachineBlast: rapid.IntRange(0, 9).Draw(t, "machine"), Confidence: rapid.IntRange(0, 100).Draw(t, "confidence"),
	}
	a.e.Made.Seen = rapid.Bool().Draw(t, "seen")
	return a
}

// Adding a file never lowers the tier, nor does anything else that is added:
// findings, a floor, quiet hours, another glob, something that is not known.
func TestNothingAddedLowersATier(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawn(t)
		all := a.verdict().Tier
		more := func(name string, change func(*asks)) {
			b := a
			change(&b)
			if v := b.verdict(); v.Tier.rank() < all.rank() {
				t.Fatalf("%s lowers %s to %s by %s", name, all, v.Tier, v.Code)
			}
		}
		more("a finding", func(b *asks) { b.e.Findings = []policy.Finding{{Severity: policy.Soft}} })
		more("a floor", func(b *asks) { b.e.Policy.MinTier = b.e.Policy.MinTier.Raise(NotifyApply) })
		more("quiet hours", func(b *asks) { b.e.Policy.Quiet = &Hours{} })
		more("a protected glob", func(b *asks) { b.e.Policy.Protected = append(slices.Clone(b.e.Policy.Protected), "a/**") })
		more("something unknown", func(b *asks) { b.e.Graph = &Graph{problems: []string{"x"}} })
		more("a text", func(b *asks) { b.e.Texts = [][]byte{[]byte("a\nb\nc\n")} })
		for i := range a.e.Files {
			b := a
			b.e.Files = slices.Delete(slices.Clone(a.e.Files), i, i+1)
			if less := b.verdict(); less.Tier.rank() > all.rank() {
				t.Fatalf("adding %s lowers %s (%s) to %s", a.e.Files[i].Path, less.Tier, less.Code, all)
			}
		}
	})
}

// What a task may change is foreseen no higher than any change it allows turns out.
func TestForeseeIsTheLeast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := drawn(t)
		if least := Foresee(a.e); least.Tier.rank() > a.verdict().Tier.rank() {
			t.Fatalf("foreseen %s, it is %s", least.Tier, a.verdict().Tier)
		}
	})
	v := Foresee(Evidence{Files: modify("odd.toml", "docs/x.md"), Graph: buildGraph(nil), Policy: defaults(), Made: Made{Seen: true}})
	if v.Tier != SafeAuto {
		t.Errorf("one of two paths is free, foreseen %s by %s", v.Tier, v.Code)
	}
	if v = Foresee(Evidence{Files: modify("odd.toml", ".env"), Graph: buildGraph(nil), Policy: defaults(), Made: Made{Seen: true}}); v.Tier != NeverByMachine {
		t.Errorf("no path is free, foreseen %s", v.Tier)
	}
}

// A row that cannot tell does not hold, and the change goes to a person.
func TestARowThatFails(t *testing.T) {
	t.Parallel()
	a := ask(modify("docs/x.md"))
	a.e.Graph = &Graph{problems: []string{"a.go is no Go"}}
	if v := a.verdict(); v.Tier != ApprovalRequired || v.Code != "rule_failed" || !strings.HasSuffix(v.Text(), ": machine_blast_radius, blast_radius_exceeded, low_test_confidence: a.go is no Go") {
		t.Errorf("without a graph: %s, %s", v.Tier, v.Text())
	}
}

func TestQuietHours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to int
		want     string // the hours that are quiet
	}{
		{22, 7, "0 1 2 3 4 5 6 22 23"}, {9, 11, "9 10"}, {0, 1, "0"}, {23, 0, "23"},
		{5, 5, "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23"},
	} {
		var got []string
		for h := range 24 {
			if (Hours{From: c.from, To: c.to}).containHour(time.Date(2026, 3, 2, h, 59, 59, 0, time.UTC)) {
				got = append(got, fmt.Sprint(h))
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%d-%d: %s", c.from, c.to, d)
		}
	}
	east := time.FixedZone("east", 3600)
	if !(Hours{From: 22, To: 23, Zone: east}).containHour(time.Date(2026, 3, 2, 21, 0, 0, 0, time.UTC)) {
		t.Error("21 in UTC is 22 in the east")
	}
}

// The hash changes with whatever changes a verdict, and with nothing else.
func TestRulesHash(t *testing.T) {
	t.Parallel()
	seen := map[string]string{RulesHash(defaults()): "the default"}
	for name, change := range map[string]func(*Policy){
		"min tier": func(p *Policy) { p.MinTier = NotifyApply }, "observe": func(p *Policy) { p.Observe = true }, "core": func(p *Policy) { p.Core = []string{"x"} },
		"protected": func(p *Policy) { p.Protected = []string{"x"} }, "security": func(p *Policy) { p.Security = []string{"x"} }, "files": func(p *Policy) { p.MaxFiles++ },
		"blast": func(p *Policy) { p.Blast++ }, "machine": func(p *Policy) { p.MachineBlast++ }, "confidence": func(p *Policy) { p.Confidence++ },
		"quiet": func(p *Policy) { p.Quiet = &Hours{} }, "hours": func(p *Policy) { p.Quiet = &Hours{To: 1} },
	} {
		p := defaults()
		change(&p)
		h := RulesHash(p)
		if seen[h] != "" {
			t.Errorf("%s has the hash of %s", name, seen[h])
		}
		seen[h] = name
	}
	if RulesHash(defaults()) != ask(modify("x.md")).verdict().Rules {
		t.Error("a verdict has another hash")
	}
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	source := []byte("func a() {\n\tb()\n\tc()\n\td()\n}\n")
	for name, c := range map[string]struct {
		before, after string
		want          bool
	}{
		"a copy":                   {"x\n", "x\nfunc a() {\n// why\n\n b()\nc()\nd()\n}\n", true},
		"too little":               {"x\n", "x\nb()\nc()\n", false},
		"of its own":               {"x\n", "x\ne()\nf()\ng()\n", false},
		"seven parts of ten":       {"", "b()\nc()\nd()\n}\nu()\nv()\n", false},
		"what was there was there": {string(source), string(source), false},
	} {
		got := findCopies([]Edit{{Path: "x.go", Before: []byte(c.before), After: []byte(c.after)}}, [][]byte{source})
		if (len(got) > 0) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// defaults are the thresholds of a repository that configures none.
func defaults() Policy {
	return Policy{MaxFiles: 2, Blast: 5, MachineBlast: 3, Confidence: 75}
}
