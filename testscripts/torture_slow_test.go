package testscripts

import (
	"path/filepath"
	"strings"
	"time"
)

// gateBlows fall on acts of the slow loop; what is drained afterwards depends on
// whether they came through, so a task may still be ready.
var gateBlows = []blow{
	{name: "gate framing", scene: "ready", kinds: every, acts: one("L-0001", "gate", "framing", "--reason", "what is asked"), amid: hours(), states: []string{"ready"}},
	{name: "gate commitment", scene: "gated", kinds: every, acts: one("L-0001", "gate", "commitment", "--extend", "2d"), amid: hours(act{"shop", drainAll, ""}), states: []string{"ready"}},
	{name: "gate renew", scene: "gated", kinds: force, before: committed, acts: one("L-0001", "gate", "evaluation", "--renew", "--extend", "1d", "--reason", "words are left"), states: []string{"ready"}},
	{name: "gate release", scene: "gated", kinds: force, before: committed, acts: one("L-0001", "gate", "evaluation", "--release", "--reason", "enough"), states: []string{"ready"}},
	{name: "gate emergency", scene: "gated", kinds: every, before: committed, acts: one("L-0001", "gate", "emergency", "--reason", "wrong river",
		"--decision", "Ask again", "--rationale", "it is another river", "--tradeoffs", "a day", "--confidence", "high"), amid: hours(act{"shop", drainAll, ""}), states: []string{"ready"}},
	{name: "drain under a lease", scene: "gated", kinds: every, before: committed, acts: one("", drainAll[1:]...), amid: hours(), states: []string{"ready", "blocked"}},
	{name: "lease runs out", scene: "gated", kinds: every, before: func(w *world) { committed(w); w.later(300 * time.Hour) }, acts: one("", drainAll[1:]...), amid: hours(), states: []string{"ready"}},
}

func committed(w *world) { w.person("shop", "L-0001", "gate", "commitment", "--extend", "2d") }

// anchorBlows fall on the handshake. Whatever was struck, the session it was about
// can then be bound, is bound once, and is gone when it is released.
var anchorBlows = []blow{
	{name: "anchor identity", scene: "anchored", kinds: every, acts: one("", "anchor", "identity", "editor"), amid: hours()},
	{name: "anchor context", scene: "anchored", kinds: every, acts: staged("opened", "context", "../bind"), amid: hours(), after: bindable("opened")},
	{name: "anchor proof", scene: "anchored", kinds: every, acts: staged("read", "proof", "../proof"), amid: hours(), after: bindable("read")},
	{name: "anchor renew", scene: "anchored", kinds: force, acts: staged("bound", "renew"), after: bindable("bound")},
	{name: "anchor release", scene: "anchored", kinds: force, acts: staged("bound", "release"), after: bindable("bound")},
	{name: "anchor sweep", scene: "anchored", kinds: force, before: func(w *world) { w.later(72 * time.Hour) }, acts: one("", "anchor", "identity", "editor")},
}

// staged is a stage of the handshake of one of the scene's sessions.
func staged(which, stage string, rest ...string) func(*world) []act {
	return func(w *world) []act {
		return []act{{"shop", append([]string{"odd", "anchor", stage, w.read(which)}, rest...), ""}}
	}
}

// bindable goes on with a session from wherever it stands, and ends it.
func bindable(which string) func(*world) {
	return func(w *world) {
		token := w.read(which)
		for _, argv := range [][]string{{"context", token, "../bind"}, {"proof", token, "../proof"}, {"release", token}} {
			out, code := w.do(act{"shop", append([]string{"odd", "anchor"}, argv...), ""})
			if code != 0 && code != 3 && !strings.Contains(out, "no such session") {
				w.failf("odd anchor %s: exit %d\n%s", strings.Join(argv, " "), code, out)
			}
		}
		if out := w.must("shop", "odd", "anchor", "ls"); strings.Contains(out, token+"\tpending") || strings.Contains(out, token+"\tactive") {
			w.failf("%s was released, and is there\n%s", token, out)
		}
	}
}

// swept takes the sessions nobody ends, and finds nothing of them left.
func (w *world) swept() {
	w.later(72 * time.Hour)
	for _, clone := range w.clones() {
		if !w.has(clone + "/.hestai") {
			continue
		}
		token, _, _ := strings.Cut(strings.TrimPrefix(w.must(clone, "odd", "anchor", "identity", "editor"), "IDENTITY "), "\n")
		w.must(clone, "odd", "anchor", "release", token)
		for _, stage := range []string{"pending", "active"} {
			if left, _ := filepath.Glob(filepath.Join(w.home, clone, ".hestai/sessions", stage, "*")); len(left) > 0 {
				w.failf("odd anchor identity left %s", strings.Join(left, ", "))
			}
		}
	}
}
