package cmd

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
)

const beatOf = `{"at":"2027-01-15T08:00:00.000Z","began":"2027-01-15T08:00:00.000Z","op":"op-1","phase":"PHASE","run":"run-1","spent_micro_usd":1000,"task":"tidy","tries":1,"until":"2027-01-15T08:05:00.000Z","doing":"DOING","v":1}` + "\n"

// A terminal has each op on one line that is drawn over; a pipe has a line
// whenever an op is in another phase. Both end when nothing is at work.
func TestWatchEndsWithTheWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		terminal bool
		want     []string
	}{
		{"pipe", false, []string{"op-1\tplan\t0s\t$0.001\ttidy\n", "op-1\tvalidate, checking: go vet\t2s\t$0.001\ttidy\n"}},
		{"terminal", true, []string{"op-1", "tidy: plan\n", "\x1b[1A\x1b[J", "1s", "tidy: plan\n", "\x1b[1A\x1b[J", "2s", "tidy: validate, …\n", "\x1b[1A\x1b[J"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env, out, talk := gateEnv(t, strings.NewReader(""))
			if code := oneAtATime(env, "odd", "init"); code != verb.ExitDone {
				t.Fatal(talk)
			}
			r, err := repo.Open(env.Dir, os.Environ())
			if err != nil {
				t.Fatal(err)
			}
			unlock, err := r.LockDrain() // as the drain has that shows it
			if err != nil {
				t.Fatal(err)
			}
			defer unlock()
			looks, now := []string{"plan", "plan", "validate", ""}, env.Now()
			show := func(phase string) {
				b := strings.ReplaceAll(beatOf, "PHASE", phase)
				b = strings.ReplaceAll(b, "DOING", map[string]string{"validate": "checking: go vet"}[phase])
				if phase == "" {
					b = ""
				}
				if err := r.Show([]byte(b)); err != nil {
					t.Error(err)
				}
			}
			env.Terminal, env.Width = c.terminal, 45
			env.Now = func() time.Time { return now }
			env.Sleep = func(time.Duration) { looks, now = looks[1:], now.Add(time.Second); show(looks[0]) }
			out.Reset()
			show(looks[0])
			_ = oneAtATime(env, "odd", "op", "watch") // an empty board has no commit to tell the ending from
			at := 0
			for _, w := range c.want {
				i := strings.Index(out.String()[at:], w)
				if i < 0 {
					t.Fatalf("%q does not have %q behind %d", out, w, at)
				}
				at += i + len(w)
			}
			if len(looks) != 1 {
				t.Errorf("%d looks left", len(looks))
			}
		})
	}
}
