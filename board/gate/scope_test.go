package gate

import (
	"strings"
	"testing"
)

func TestCovers(t *testing.T) {
	t.Parallel()
	l := Lease{Scope: Scope{Kinds: []string{"fix"}, Roles: []string{"editor"}, Tags: []string{"v1", "v2"}, Tasks: []string{"a"}, Paths: []string{"knowledge/**", "src/*.go"}}}
	in := func(p ...string) []string { return p }
	for _, c := range []struct {
		kind, role string
		tags       []string
		task       string
		paths      []string
		want       string // part of why not
	}{
		{"fix", "editor", in("v2", "x"), "a", in("knowledge/x.md", "src/a.go"), ""},
		{"fix", "editor", in("v1"), "a", nil, ""},
		{"implement", "editor", in("v1"), "a", nil, "kind implement"},
		{"fix", "", in("v1"), "a", nil, `role ""`},
		{"fix", "editor", nil, "a", nil, "no tag"},
		{"fix", "editor", in("v1"), "b", nil, "task b"},
		{"fix", "editor", in("v1"), "a", in("src/a/b.go"), "path src/a/b.go is outside"},
		{"fix", "editor", in("v1"), "a", in("knowledge/governance/lease.toml"), "is governed"},
	} {
		ok, why := l.Covers(c.kind, c.role, c.tags, c.task, c.paths)
		if ok != (c.want == "") || ok != (why == "") || !strings.Contains(why, c.want) {
			t.Errorf("%+v: %v %q", c, ok, why)
		}
	}
	if ok, why := (Lease{}).Covers("fix", "", nil, "b", []string{"x"}); ok {
		t.Errorf("a scope without paths lets x be written: %s", why)
	}
	if ok, why := (Lease{}).Covers("fix", "", nil, "b", nil); !ok {
		t.Error(why)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"**", "a/b", true}, {"a/**", "a/b/c", true}, {"a/**", "ab/c", false}, {"a/**", "b", false}, {"a/**/x.go", "a/x.go", true}, {"a/**/x.go", "a/b/c/x.go", true},
		{"a/*.go", "a/x.go", true}, {"a/*.go", "a/b/x.go", false}, {"a", "a", true}, {"a", "a/b", false},
		{"a/**", "a/**", true}, {"a/*", "a/**", false}, {"a/**", "a/*.go", true}, {"a/*.go", "a/*", false}, {"a/?", "a/*", false}, {"a/*", "a/?", true},
		{"a/[*]", "a/*", false}, {"a/*]", "a/[x]", false}, {"a/**", "**", false}, {"a/**", "a/", true}, {"a/*", "a/", false},
		{"**", "../a", false}, {"**", "/a", false}, {"a/**", "a/../b", false}, {"**", "", false}, {"a/**", "a//b", false},
	} {
		if got := patternCovers(c.pattern, c.path); got != c.want {
			t.Errorf("within(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

func TestGuarded(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"governance/lease.toml": true, "knowledge/governance/gates.jsonl": true, "knowledge/Governance/x": true, "governance/**": true, ".git/config": true, "a/.git/x": true,
		".github/workflows/x.yml": true, "odd.toml": true, "ODD.toml": true, "knowledge/pause.toml": true,
		"knowledge/journal/2026-01-01-run.tsv": true, "journal/**": true, "knowledge/ledger/2026-01/r.jsonl": true, "knowledge/ledger/**": true, "proposals/r.jsonl": true,
		"journal/book.go": false, "journal/event/event.go": false, "src/governance.go": false, "docs/odd.toml.md": false, "knowledge/**": false, "knowledge/tasks/a.md": false,
		"journal/**/*.go": false, ".gitignore": false,
	} {
		if Guarded(path) != want {
			t.Errorf("Guarded(%q) = %v", path, !want)
		}
	}
}

const task = `---
type: task
id: fix-it
title: Fix it
description: |
  Fix

  state: not a key
kind: fix
---

# Fix it

state: body
`

func TestWorkOrder(t *testing.T) {
	t.Parallel()
	want := WorkOrder([]byte(task))
	if !strings.HasPrefix(want, "sha256:") || len(want) != 71 {
		t.Fatal(want)
	}
	kept := func(name, old, new string) {
		if got := WorkOrder([]byte(strings.Replace(task, old, new, 1))); got != want {
			t.Errorf("%s: odd's own keys change the hash", name)
		}
	}
	kept("state", "kind:", "state: ready\nkind:")
	kept("claim", "kind: fix\n", "kind: fix\nstate: in_progress\nclaimed_by: run\nlease_expires: 2026-07-01T09:00:00Z\nattempts: 2\n")
	kept("block", "kind: fix\n", "kind: fix\nrejected:\n  - by: human:a@b\n    reason: |\n      two\n\n      lines\nblocked_reason: x\n")
	kept("flat list", "kind: fix\n", "kind: fix\ntags:\n- a\n- b\n")
	kept("flow", "kind: fix\n", "kind: fix\nresult: {run: a,\n  branch: b\n}\n")
	for _, c := range []struct{ old, new string }{
		{"title: Fix it", "title: Fix that"}, {"  state: not a key", "  state: not"}, {"state: body", "state: bodies"}, {"kind: fix", "kind: implement"},
		{"kind: fix\n", "kind: fix\npaths: [\"**\"]\n"}, {"kind: fix\n", "kind: fix\nstate: ready\npaths:\n- src/**\n"}, {"kind: fix\n", "kind: fix\nstate: ready\n\"paths\": [x]\n"},
		{"---\n\n", "state: x\n---\n\nmore"}, {"---\ntype", "type"},
	} {
		if WorkOrder([]byte(strings.Replace(task, c.old, c.new, 1))) == want {
			t.Errorf("%q for %q leaves the hash", c.new, c.old)
		}
	}
	l := Lease{Scope: Scope{WorkOrders: map[string]string{"a": want}}}
	if ok, _, _ := l.Locked("a", []byte(task)); !ok {
		t.Error("the locked task is not itself")
	}
	if ok, w, got := l.Locked("a", []byte(task+"x")); ok || w != want || got == want {
		t.Error("a changed task passes its lock")
	}
	if ok, _, _ := l.Locked("b", nil); !ok {
		t.Error("a task without a lock is locked")
	}
}
