package testscripts

import (
	"fmt"
	"strings"
	"time"
)

// blow is one way to strike at a scene, and what comes of it.
type blow struct {
	name   string
	scene  string
	kinds  []string           // of strikes; none: nobody is struck, there are only many at once, or trouble around them
	before func(*world)       // what the scene lacks
	acts   func(*world) []act // begun at once; one of them is struck
	amid   func(*world)       // what others do while a stopped process stands
	around func(*world)       // what goes on while nobody is struck
	after  func(*world)       // what a person does next; nil is every act again
	mess   bool               // the acts only write: what they left is clean after after alone
	fault  bool               // an act may end as a fault, for what is around it
	states []string           // where tasks may end besides review, done and backlog
}

// force is every kind of end; pause, every kind of standstill.
var (
	force = []string{kill, felled}
	pause = []string{halted, frozen}
	every = []string{kill, felled, halted, frozen}
)

// one is a single act in the repository shop.
func one(answer string, argv ...string) func(*world) []act {
	return func(*world) []act { return []act{{"shop", append([]string{"odd"}, argv...), answer}} }
}

// drainAll takes whatever is ready.
var drainAll = []string{"odd", "drain", "--max-tasks", "9"}

// hours pass while a process stands still, and others go on.
func hours(acts ...act) func(*world) {
	return func(w *world) {
		w.later(time.Duration(31+w.rnd.IntN(300)) * time.Minute)
		for _, a := range acts {
			if out, code := w.do(a); code == 1 || code == 2 {
				w.failf("%s, while another stands still: exit %d\n%s", strings.Join(a.argv, " "), code, out)
			}
		}
	}
}

var localBlows = []blow{
	{name: "drain", scene: "ready", kinds: every, acts: one("", drainAll[1:]...), amid: hours(act{"shop", drainAll, ""}, act{"shop", []string{"odd", "status"}, ""})},
	{name: "drain a change", scene: "ready", kinds: every, acts: one("", "drain", "--task", "many"), amid: hours(act{"shop", drainAll, ""}), states: []string{"blocked"}},
	{name: "drain, dying agents", scene: "ready", kinds: force, before: func(w *world) { w.write("agent.sh", "kill -9 $$\n") }, acts: one("", drainAll[1:]...), states: []string{"blocked"}},
	{name: "agent run", scene: "ready", kinds: every, fault: true, acts: one("", "agent", "run", "--contract-role", "explorer", "--task", "What is slack water?"), amid: hours(act{"shop", drainAll, ""})},
	{name: "approve", scene: "review", kinds: every, acts: one("alpha", "approve", "alpha"), amid: hours()},
	{name: "approve --verify", scene: "review", kinds: every, acts: one("beta", "approve", "beta", "--verify"), amid: hours()},
	{name: "approve a change", scene: "review", kinds: every, acts: one("many", "approve", "many"), amid: hours()},
	{name: "reject", scene: "review", kinds: every, acts: one("alpha", "reject", "alpha", "--reason", "not this word"), amid: hours()},
	{name: "reject --retry", scene: "review", kinds: force, acts: one("many", "reject", "many", "--reason", "other files", "--retry"), after: func(*world) {}},
	{name: "op cancel", scene: "review", kinds: force, acts: func(w *world) []act {
		op, _, _ := strings.Cut(w.must("shop", "odd", "op", "list"), "\t")
		return []act{{"shop", []string{"odd", "op", "cancel", op, "--reason", "no longer"}, op}}
	}},
	{name: "review --refresh", scene: "review", kinds: force, acts: one("", "review", "many", "--refresh")},
	{name: "reconcile", scene: "ready", kinds: every, before: emission, acts: one("", "reconcile", "../emission"), amid: hours(), mess: true, after: func(w *world) {
		w.must("shop", "odd", "reconcile", "../emission")
		w.must("shop", "git", "add", "-A")
		w.must("shop", "git", "commit", "-qm", "words")
		if n := len(strings.Fields(w.must("shop", "git", "ls-files", "knowledge/terms/word-*.md"))); n != words {
			w.failf("%d words, want %d", n, words)
		}
	}},
	{name: "journal add", scene: "ready", kinds: every, acts: one("", "journal", "add", "L", "Tides win", "Slack water is the only time beginners stay dry."), amid: hours(), after: journaled},
	{name: "handoff new", scene: "ready", kinds: every, acts: one("", "agent", "handoff", "new", "--from", "planning", "--artifact", "knowledge/terms/slack-water.md", "--title", "Slack"), amid: hours()},
	{name: "task add", scene: "ready", kinds: every, acts: one("", "task", "add", "Gamma", "--role", "shore-lead", "--kind", "extract"), amid: hours(), after: func(w *world) {
		if out, _ := w.do(act{"shop", []string{"git", "cat-file", "-t", "main:knowledge/tasks/gamma.md"}, ""}); out != "blob\n" {
			w.must("shop", "odd", "task", "add", "Gamma", "--role", "shore-lead", "--kind", "extract")
		}
	}},
	{name: "task ready", scene: "ready", kinds: every, before: func(w *world) {
		w.must("shop", "odd", "task", "add", "Gamma", "--role", "shore-lead", "--kind", "extract")
	}, acts: one("gamma", "task", "ready", "gamma"), amid: hours(act{"shop", drainAll, ""})},
	{name: "pause", scene: "ready", kinds: force, acts: one("", "drain", "pause", "lunch"), after: func(w *world) {
		if w.has("shop/knowledge/pause.toml") {
			w.person("shop", "resume", "drain", "resume")
		}
	}},
	{name: "decide", scene: "ready", kinds: force, acts: one("decide", "gate", "decide", "keep paper", "--rationale", "it floats", "--tradeoffs", "it is slow", "--confidence", "high")},
}

// words is how many atoms are reconciled at once.
const words = 40

func emission(w *world) {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "```atom path=words/w%02d.md\n---\ntype: term\nid: word-%02d\ntitle: Word %d\n---\n\nA word.\n```\n\n", i, i, i)
	}
	w.write("emission", b.String()+"```json\n{\"schema\": \"odd.finish.1\", \"outcome\": \"completed\"}\n```\n")
}

// journaled adds the entry unless it is there, and finds it once.
func journaled(w *world) {
	told := func() int { return strings.Count(w.must("shop", "odd", "journal", "list", "--type", "L"), "Tides win") }
	if told() == 0 {
		w.must("shop", "odd", "journal", "add", "L", "Tides win", "Slack water is the only time beginners stay dry.")
	}
	if n := told(); n != 1 {
		w.failf("the entry is in the journal %d times", n)
	}
}
