//go:build bench

package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	togetherRounds = 5 // of creates; three of claims
	togetherAtOnce = 8
)

// together starts eight creates at once, five times, with every tool that can
// create in less than a second or so, and counts what is stored; and eight
// drains at once, three times, and counts tasks that were claimed twice.
func (s *section) together(t *testing.T, have []installed) {
	for _, p := range have {
		if p.name == "Task Master" || p.jobs(p.bin, "", 20)["create"].argv == nil {
			continue
		}
		dir := filepath.Join(work, "together-"+p.name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		p.fill(t, p.bin, dir, 20)
		create := p.jobs(p.bin, dir, 20)["create"]
		var took time.Duration
		for round := range togetherRounds {
			began := time.Now()
			atOnce(togetherAtOnce, func(i int) {
				_, _ = patientlyAside(dir, fmt.Sprintf("%s-%d", p.name, i), p.env, ask{argv: create.titled(fmt.Sprintf("Fresh thing %d-%d", round, i)).argv})
			})
			took += time.Since(began)
		}
		stored := s.countStored(t, p, dir)
		s.note("at once: stored of 40, "+p.name, 0, float64(stored))
		s.note("at once: ms, "+p.name, 0, millis(took))
		t.Logf("%s: %d of 40 creates are stored, %v", p.name, stored, took)
	}
	s.claims(t)
}

// countStored is how many distinct fresh things a listing has.
func (s *section) countStored(t *testing.T, p installed, dir string) int {
	argv := p.jobs(p.bin, dir, 20)["list all"].argv
	if _, err := patiently(dir, p.env, ask{argv: argv}); err != nil {
		t.Logf("%s: %v", p.name, err)
		return 0
	}
	b, err := os.ReadFile(filepath.Join(work, "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for round := range togetherRounds {
		for i := range togetherAtOnce {
			if strings.Count(string(b), fmt.Sprintf("Fresh thing %d-%d", round, i)) == 1 {
				stored++
			}
		}
	}
	return stored
}

// claims starts eight drains at once, three times. One of them drains, the
// others say that odd is busy; no task may be claimed twice.
func (s *section) claims(t *testing.T) {
	dir := yard(t, "claimed", 24)
	for range 3 {
		atOnce(togetherAtOnce, func(i int) {
			_, _ = patientlyAside(dir, fmt.Sprintf("claim-%d", i), nil, ask{argv: []string{odd, "drain", "--max-tasks", "1"}})
		})
	}
	seen, doubled := map[string]int{}, 0
	for line := range strings.Lines(sh(t, dir, "", "git", "log", "--format=%s")) {
		if rest, ok := strings.CutPrefix(line, "board: claim task-"); ok {
			if seen[rest]++; seen[rest] > 1 {
				doubled++
			}
		}
	}
	s.note("at once: claimed, odd", 0, float64(len(seen)))
	s.note("at once: doubled, odd", 0, float64(doubled))
	t.Logf("odd: %d tasks claimed, %d of them twice", len(seen), doubled)
}

// atOnce calls f for 0 to n-1, all at once.
func atOnce(n int, f func(int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}
