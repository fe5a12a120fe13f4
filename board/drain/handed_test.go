package drain

import (
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/persona/session/cage"
	"github.com/odd-cli/odd/persona/session/servers"
)

// A session is told of the servers that its agent is not handed, and does not begin
// where a person said that it must not go without one.
func TestUnhanded(t *testing.T) {
	t.Parallel()
	through := func(names ...string) *relay {
		r := &relay{}
		for _, name := range names {
			r.legs = append(r.legs, leg{cfg: config.Config{Session: config.Session{Substrate: name}, Sandbox: config.Sandbox{Network: "allow"}}})
		}
		return r
	}
	open := servers.Spec{Name: "sea", Argv: []string{"sea"}, Network: cage.Allow}
	held := servers.Spec{Name: "air", Argv: []string{"air"}, Network: cage.None}
	needed := held
	needed.Required = true
	for _, c := range []struct {
		r         *relay
		specs     []servers.Spec
		lost, why string
	}{
		{through("claude"), []servers.Spec{open}, "", ""},
		{through("claude"), []servers.Spec{open, held}, "air: ", ""},
		{through("acp"), []servers.Spec{open, needed}, "", "acp does not get air: "},
		{through("anthropic", "claude"), []servers.Spec{held}, "", ""},
		{through("anthropic", "claude"), []servers.Spec{needed}, "", "claude does not get air: "},
		{through("openai"), []servers.Spec{needed}, "", ""},
		{through("claude", "acp"), []servers.Spec{held, open}, "air: ", ""},
	} {
		lost, why := c.r.missingServers(c.specs)
		if (lost == "") != (c.lost == "") || !strings.HasPrefix(lost, c.lost) || (why == "") != (c.why == "") || !strings.HasPrefix(why, c.why) {
			t.Errorf("%s: lost %q, %q; want %q, %q", c.r.currentName(), lost, why, c.lost, c.why)
		}
		if strings.Count(lost, "air: ") > 1 {
			t.Errorf("told twice: %q", lost)
		}
	}
	d := newDrain(nil, Options{Host: agent.Host{Now: time.Now}, Progress: func(string) {}})
	for range 2 {
		if why := d.whyNotLent("t", []servers.Spec{open, held}, "exec"); why != "" {
			t.Error(why)
		}
	}
	if got := strings.Join(*d.notes.all, "\n"); got != "t: agents of kind exec take no MCP server from odd; the session goes on without sea, air" {
		t.Errorf("told %q", got)
	}
	if why := d.whyNotLent("t", []servers.Spec{open, needed}, "exec"); !strings.HasPrefix(why, "the task needs an MCP server that its agent cannot use: air; agents of kind exec") {
		t.Error(why)
	}
}

// A command that is told of results and fails is noted, with what it said; one that succeeds is not.
func TestNotify(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	for argv, want := range map[string]string{
		"":                  "",
		"true":              "",
		"false":             "t: [drain] notify failed, and the task's result stands: it ended with exit code 1",
		"sh -c exit${IFS}3": "it ended with exit code 3",
		"sh -c grep${IFS}-c${IFS}'\"reason\":\"at${IFS}sea\"';exit${IFS}2": "it ended with exit code 2: 0",
		"/not/there": "/not/there",
	} {
		d := newDrain(w.repo, Options{Host: agent.Host{Run: runA, Now: w.time, Environ: []string{"PATH=/usr/bin:/bin"}}, Progress: func(string) {}})
		d.at = &snapshot{}
		d.at.cfg.Notify = strings.Fields(argv)
		d.computer().notify(t.Context(), Outcome{Task: "t", Reason: "at sea"})
		if got := strings.Join(*d.notes.all, "\n"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", argv, got, want)
		}
	}
}
