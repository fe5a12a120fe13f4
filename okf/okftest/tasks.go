package okftest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
)

// Tasks is a board of N ready tasks with bodies of some 650 bytes. Every fifth
// waits for the one before it, so four in five could be taken, and every
// 500th holds the word Planted.
type Tasks struct {
	Seed uint64
	N    int
	Role string // who works them; may be empty
}

// All yields every file of the board, path and text.
func (b Tasks) All() iter.Seq2[string, []byte] { return all(b.N, b.Task) }

// Write writes the board below dir, by as many workers as there are cores.
func (b Tasks) Write(dir string) error { return writeAll(dir, b.N, b.Task) }

// ID is the id of task i.
func (b Tasks) ID(i int) string { return fmt.Sprintf("task-%05d", i) }

// Task is file i of the board.
func (b Tasks) Task(i int) (path string, text []byte) {
	r := rand.New(rand.NewPCG(b.Seed, uint64(i)))
	var sb strings.Builder
	fmt.Fprintf(&sb, "---\ntype: task\nid: %s\ntitle: %s %d\nstate: ready\nkind: extract\npriority: p%d\n", b.ID(i), prose(r, 4), i, r.IntN(4))
	if b.Role != "" {
		fmt.Fprintf(&sb, "role: %s\n", b.Role)
	}
	fmt.Fprintf(&sb, "tags: [%s]\n", tags(r))
	if i%5 == 4 {
		fmt.Fprintf(&sb, "dependencies: [%s]\n", b.ID(i-1))
	}
	sb.WriteString("---\n\n")
	sb.WriteString(TaskBody(b.Seed, i))
	return "tasks/" + b.ID(i) + ".md", []byte(sb.String())
}

// TaskBody is the text of task i of a board of seed, for stores that keep it
// in a shape of their own.
func TaskBody(seed uint64, i int) string {
	r := rand.New(rand.NewPCG(seed, ^uint64(i)))
	var sb strings.Builder
	for sb.Len() < 640 {
		sb.WriteString(prose(r, 12) + ".\n")
	}
	if i%Planting == 0 {
		sb.WriteString("A " + Planted + " was seen here.\n")
	}
	return sb.String()
}
