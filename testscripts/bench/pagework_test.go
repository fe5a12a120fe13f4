//go:build bench

package bench

import (
	"fmt"
	"strings"
)

// boards shows the task board.
func (p *page) boards() {
	p.say("## The board")
	p.say("Whole commands on boards of ready tasks with bodies of some 650 bytes, in ms.")
	sizes := p.tasks.measured("odd task show")
	head := []string{"command"}
	for _, n := range sizes {
		head = append(head, short(float64(n))+" tasks, warm", "no cache", "peak, MB")
	}
	var rows [][]string
	for _, name := range []string{"odd task list --state ready", "odd task list --all", "odd task show", "odd search", "odd get", "odd status", "odd task add, with its commit", "odd task edit, with its commit", "write and git commit -- path", "odd --version"} {
		row := []string{name}
		for _, n := range sizes {
			mb := p.tasks.find(name, n).MB
			if f := p.tasks.find(name+", no cache", n); f != nil {
				mb = max(mb, f.MB)
			}
			row = append(row, p.tasks.cell(name, n), p.tasks.cell(name+", no cache", n), memory(mb))
		}
		rows = append(rows, row)
	}
	if len(sizes) == 0 {
		rows = nil
	}
	p.table(head, rows)
	p.say("A claim is drain's first commit and writes what an edit does: one task, by compare-and-swap.")
}

// drained shows what a drain costs beside its bare commits, and the merge.
func (p *page) drained() {
	p.say("## Work that lands")
	var rows [][]string
	add := func(s *section, what, name, beside string, n int) {
		if s.find(name, n) != nil {
			rows = append(rows, []string{what, s.cell(name, n), beside, s.cell(beside, n), s.over(name, beside, n)})
		}
	}
	add(p.drain, fmt.Sprintf("drain %d tasks", drainBatch), "odd drain", fmt.Sprintf("%d git commit -- path", perTask*drainBatch), drainBatch)
	add(p.drain, "judge the last 50 commits of 30,000", checkPushed, "git log --raw", longHistory)
	for _, n := range p.reconcile.measured("odd reconcile") {
		add(p.reconcile, "reconcile "+short(float64(n))+" emitted atoms", "odd reconcile", "write as many files", n)
	}
	for _, n := range p.soak.measured("odd check --all") {
		commits := p.soak.find("commits", n).Value
		what := fmt.Sprintf("prove the history of %s commits (%s ms a commit)", number(commits), number(p.soak.find("odd check --all", n).MS/commits))
		add(p.soak, what, "odd check --all", "git log --raw", n)
		add(p.soak, what, "odd check --all", "git log", n)
	}
	p.table([]string{"odd", "ms", "beside", "ms", "ratio"}, rows)
}

// soaked shows whether anything grows while one repository is worked.
func (p *page) soaked() {
	s, name := p.soak, "drain 100 tasks"
	sizes := s.measured(name)
	p.say("## The soak")
	if len(sizes) == 0 {
		p.say("Not measured yet.")
		return
	}
	p.say("%s tasks drained in one repository, %d a drain. Flat is good: a task's time and a drain's memory should not depend on what was done before, and .git should grow by the same for every task.", number(float64(sizes[len(sizes)-1])), soakBatch)
	perTaskMS := func(f figure) float64 { return f.MS / soakBatch }
	mb := func(f figure) float64 { return f.MB }
	var rows [][]string
	for i, n := range sizes {
		if i == 0 || i == len(sizes)-1 || (i+1)%5 == 0 {
			f, git, before := s.find(name, n), s.find(".git, MB", n), s.find(".git, MB", n-soakBatch)
			rows = append(rows, []string{number(float64(n)), number(f.MS / soakBatch), number(f.CPU / soakBatch), memory(f.MB), number(git.Value), number((git.Value - before.Value) * 1e3 / soakBatch)})
		}
	}
	p.table([]string{"tasks done", "ms a task", "CPU ms a task", "peak, MB", ".git, MB", ".git, kB a task"}, rows)
	p.picture("soak", plot{title: "A soak: time, memory and .git", xUnit: "tasks done before", yUnit: "ms, MB", lines: []line{
		s.line("ms a task", name, perTaskMS), s.line("peak memory, MB", name, mb), s.line(".git, MB", ".git, MB", value),
	}}, "Time a task, memory and size of .git over the soak")
}

// started shows processes that do little.
func (p *page) started() {
	p.say("## Start-up")
	var rows [][]string
	for _, f := range p.start.Figures {
		if f.N > 0 && !strings.HasPrefix(f.Name, "mcp") {
			continue
		}
		beside := "—"
		if f.N == 0 {
			beside = p.start.over(f.Name, "true", 0)
		}
		rows = append(rows, []string{f.Name, number(f.MS), number(f.CPU), number(f.Slowest), fmt.Sprint(f.Runs), beside})
	}
	p.say("One process from start to answer. The gate is `odd anchor gate --hook claude`, started for every call of a tool; the MCP server holds 10,000 atoms, its cache warm, and is timed to its first answer.")
	p.table([]string{"process", "least ms", "CPU ms", "slowest ms", "runs", "times `true`"}, rows)
}
