package drain

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/board/config"
)

// A task in progress holds the artifact that it names, or that its handoffs are about, in the mode of its
// role, until its claim ends; a task that nobody works on holds nothing, nor does one for itself.
func TestListBusy(t *testing.T) {
	const claimed = "state: in_progress|claimed_by: " + runA + "|lease_expires: 2026-03-02T10:00:00Z|attempts: 1|contract_role: explorer"
	p := newPaper(t, "", "a "+claimed+"|artifact: docs/a.md", "b "+claimed+"|handoff: [handoffs/none, handoffs/x]", "c state: ready|contract_role: explorer|artifact: docs/c.md", "d "+claimed)
	p.files["knowledge/handoffs/x.md"] = []byte("---\ntype: handoff\nid: x\nfrom: exploration\nto: planning\nartifact: docs/b.md\n---\n")
	for name, at := range map[string]struct {
		own  string
		when time.Time
		want string
	}{
		"another's":        {"c", begin, "[{docs/a.md exploration a} {docs/b.md exploration b}]"},
		"its own":          {"a", begin, "[{docs/b.md exploration b}]"},
		"after the claims": {"c", begin.Add(2 * time.Hour), "[]"},
	} {
		d := p.run(runB, at.when)
		if got := fmt.Sprint(d.contracts().listBusy(p.task(d, at.own))); got != at.want {
			t.Errorf("%s: %s, want %s", name, got, at.want)
		}
	}
}

// Claude's program has its own name where odd.toml names none.
func TestClaudesProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "")
	_, lacks := exec.LookPath("claude")
	for argv, missing := range map[string]bool{"": lacks != nil, "argv = [\"no-such-program\"]\n": true, "argv = [\"true\"]\n": false} {
		cfg, err := config.Parse("odd.toml", []byte("[session]\nsubstrate = \"claude\"\n[substrate.claude]\nfree = true\n"+argv))
		if err != nil {
			t.Fatal(err)
		}
		program, why := admission{contracts: contracts{repo: w.repo}}.missingProgram(cfg)
		if (why != nil) != missing || missing && program != map[bool]string{true: "claude", false: "no-such-program"}[argv == ""] {
			t.Errorf("%q: %q, %v", argv, program, why)
		}
	}
}

// A task is refused for a missing program only where no agent that may run it has its own.
func TestAnotherAgentIsInstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "", "a")
	for _, c := range []struct{ first, next, lacks string }{
		{"true", "true", ""}, {"no-such-program", "true", ""}, {"true", "no-such-program", ""}, {"no-such-program", "no-other-program", "no-such-program no-other-program"},
	} {
		s := *w.fresh()
		var err error
		if s.cfg, err = config.Parse("odd.toml", []byte("[session]\nsubstrate = \"exec\"\nfallback = [\"acp\"]\n[substrate.exec]\nargv = [\""+c.first+"\"]\n[substrate.acp]\nargv = [\""+c.next+"\"]\n")); err != nil {
			t.Fatal(err)
		}
		err = admission{contracts: contracts{repo: w.repo, at: &s}}.checkInstalled(w.mustTask("a"))
		if (err == nil) != (c.lacks == "") {
			t.Errorf("%s, %s: %v", c.first, c.next, err)
		}
		for _, name := range strings.Fields(c.lacks) {
			if !strings.Contains(err.Error(), "needs the program "+name) {
				t.Errorf("it does not say %s: %v", name, err)
			}
		}
	}
}
