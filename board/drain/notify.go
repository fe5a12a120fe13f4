package drain

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// notifyTime is how long [drain] notify may take for one task.
const notifyTime = 10 * time.Second

// notify runs [drain] notify with the end of a task on its standard input: the task's
// object of odd drain --json, with the run and without what its session said. A command
// that fails is noted, and changes nothing. It also runs for a task that the person
// interrupted.
func (pc computer) notify(ctx context.Context, out Outcome) {
	argv := pc.at.cfg.Notify
	if len(argv) == 0 {
		return
	}
	out.Session, out.Reason = nil, secrets.RedactText(out.Reason)
	out.Notes = slices.Clone(out.Notes)
	for i, n := range out.Notes {
		out.Notes[i] = secrets.RedactText(n)
	}
	b, _ := json.Marshal(struct { // texts and integers
		Run string `json:"run"`
		Outcome
	}{pc.Run, out})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
	defer cancel()
	r := exec.Run(ctx, exec.Command{Argv: argv, Tree: cmp.Or(pc.repo.Root(), pc.repo.CommonDir()), Env: CommandEnv(pc.Environ, pc.Run), Input: append(b, '\n'), Max: 4 << 10})
	if r.Done && r.Exit == 0 {
		return
	}
	why := cmp.Or(r.Detail, fmt.Sprintf("it ended with exit code %d", r.Exit))
	if r.Fault == exec.FaultTimeout {
		why = fmt.Sprintf("it did not end within %s", notifyTime)
	}
	if said := oneLine(string(r.Output)); said != "" {
		why += ": " + said
	}
	pc.addNote(fmt.Sprintf("%s: [drain] notify failed, and the task's result stands: %s", out.Task, why))
}

// CommandEnv is all that [drain] notify and the sensor custom see of the environment: what a program needs to
// start, to reach a desktop and to pass a proxy. ODD_RUN tells odd that no person acts.
func CommandEnv(environ []string, run string) []string {
	out := []string{"ODD_RUN=" + run}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains([]string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
			"HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}, name) {
			out = append(out, kv)
		}
	}
	return out
}

// notes are what a run leaves to tell besides its results. Each is told at once too.
type notes struct {
	say func(string)
	all *[]string
}

func (n notes) addNote(s string) {
	*n.all = append(*n.all, s)
	n.say(s)
}

func (n notes) noteOnce(s string) {
	if !slices.Contains(*n.all, s) {
		n.addNote(s)
	}
}
