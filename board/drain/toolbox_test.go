package drain

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session"
)

// TestHistoryTellsWork: a session is told of the commits of people, newest first, and not
// of those that only keep the state of tasks.
func TestHistoryTellsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "read")
	w.commit(repo.Changes{"docs/tides.md": []byte("High.\n")}, "tell of the tides")
	w.must()
	tip, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"": "tell of the tides\nbegin", "docs/tides.md": "tell of the tides"} {
		log, err := newHistory(w.repo, tip).Log(context.Background(), path, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(log) {
			_, title, _ := strings.Cut(line, ": ")
			got = append(got, strings.TrimSpace(title))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	if log, err := newHistory(w.repo, tip).Log(context.Background(), "", 1); err != nil || strings.Count(log, "\n") != 0 || !strings.Contains(log, "tell of the tides") {
		t.Errorf("%q, %v", log, err)
	}
}

// TestAnAgentThatCannotBeMadeBlocks: the task says why, and nothing goes to review.
func TestAnAgentThatCannotBeMadeBlocks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, paid, "read")
	w.o.Substrate = func(config.Config, fs.FS) (session.Substrate, error) { return nil, errors.New("the recording is torn") }
	r := w.must()
	if len(r.Tasks) != 1 || !strings.Contains(r.Tasks[0].Reason, "the recording is torn") {
		t.Errorf("%+v", r.Tasks)
	}
}
