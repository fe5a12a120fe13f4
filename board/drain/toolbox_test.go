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
	c, err := w.repo.Commit(tip)
	if err != nil {
		t.Fatal(err)
	}
	w.commit(repo.Changes{"docs/tides.md": []byte("Low.\n"), "docs/ebb.md": []byte("Ebb.\n")}, "not on the base")
	later, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	w.commit(repo.Changes{"docs/tides.md": []byte("Slack.\n")}, "nor this")
	newest, err := w.repo.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	first := c
	for len(first.Parents) > 0 {
		if first, err = w.repo.Commit(first.Parents[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		base           repo.OID
		from, to, path string
		want, not, err string
	}{
		{newest, "", "", "", "+Slack.", "+Ebb.", ""},
		{newest, "", string(later), "", "+Low.", "+Slack.", ""},
		{newest, string(tip), string(later), "docs/ebb.md", "+Ebb.", "Low.", ""},
		{newest, string(tip), "", "docs/tides.md", "+Slack.", "+Low.", ""},
		{newest, "", string(first.OID), "odd.toml", "+[session]", "docs/", ""},
		{tip, "", string(later), "", "", "", string(later) + ": is not an ancestor of the commit that the session works on"},
		{newest, string(newest), string(later), "", "", "", string(newest) + ": is not an ancestor"},
		{newest, "", "nothing", "", "", "", "nothing: is not an ancestor"},
	} {
		got, err := newHistory(w.repo, c.base).Diff(t.Context(), c.from, c.to, c.path)
		if (err == nil) != (c.err == "") || err != nil && !strings.HasPrefix(err.Error(), c.err) || !strings.Contains(got, c.want) || c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("from %q to %q of %q: %q, %v", c.from, c.to, c.path, got, err)
		}
	}
	if got, err := newHistory(w.repo, later).Blame(t.Context(), "docs/tides.md", 1, 1); err != nil || !strings.Contains(got, "Low.") {
		t.Errorf("%q, %v", got, err)
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
