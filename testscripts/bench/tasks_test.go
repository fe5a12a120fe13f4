//go:build bench

package bench

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestBenchTasks measures a board: every read with and without odd's cache,
// and what a change with its commit costs beside a bare one.
func TestBenchTasks(t *testing.T) {
	s := begin()
	for _, n := range boards() {
		c := boardOf(t, n)
		reads := c.reads()
		for _, r := range reads {
			s.turns(t, n, min(3, *runs), c.without(r))
		}
		reads[0].run(t)
		s.turns(t, n, *runs, append(reads, command("odd --version", c.dir, "", odd, "--version"))...)
		s.turns(t, n, *runs, c.writes(t)...)
	}
	c := companyOf(t, 100, targetTasks, endedOps)
	for _, r := range c.opReads() {
		s.turns(t, targetTasks, min(3, *runs), c.without(r))
		r.run(t)
		s.turns(t, targetTasks, *runs, r)
	}
	s.end(t, "tasks")
}

// endedOps is how many changes have ended on the board that odd status and odd op list
// are asked about.
const endedOps = 2000

// opReads are the questions whose answer is in the ledger.
func (c company) opReads() []job {
	return []job{
		command("odd status, 2,000 changes ended", c.dir, "", odd, "status"),
		command("odd op list, 2,000 changes ended", c.dir, "", odd, "op", "list"),
		command("odd op list --all, 2,000 changes ended", c.dir, "op-", odd, "op", "list", "--all"),
	}
}

// reads are the questions one asks of a board.
func (c company) reads() []job {
	first, last := c.board.ID(0), c.board.ID(c.board.N-1)
	return []job{
		command("odd task list --state ready", c.dir, first, odd, "task", "list", "--state", "ready"),
		command("odd task list --all", c.dir, last, odd, "task", "list", "--all"),
		command("odd task show", c.dir, last, odd, "task", "show", last),
		command("odd search", c.dir, "task-", odd, "search", "kittiwake"),
		command("odd get", c.dir, last, odd, "get", last),
		command("odd status", c.dir, "", odd, "status"),
	}
}

// writes change the board, a commit each. Claiming has no command of its own:
// it is drain's first commit, and writes what an edit writes, one task.
func (c company) writes(t *testing.T) []job {
	made, edited, bare := 0, 0, 0
	return []job{
		{"odd task add, with its commit", func(t *testing.T) sample {
			made++
			return process(t, c.dir, "", "backlog", odd, "task", "add", fmt.Sprintf("Count the gulls, time %d", made))
		}},
		{"odd task edit, with its commit", func(t *testing.T) sample {
			edited++
			return process(t, c.dir, "", "", odd, "task", "edit", c.board.ID(7), "--title", fmt.Sprintf("Count the terns, time %d", edited))
		}},
		{"write and git commit -- path", func(t *testing.T) sample {
			bare++
			path, text := c.board.Task(8)
			write(t, filepath.Join(c.bundle(), path), fmt.Sprintf("%s\nTime %d.\n", text, bare))
			return process(t, c.dir, "", "", "git", "commit", "-qm", "one", "--", "knowledge/"+path)
		}},
	}
}
