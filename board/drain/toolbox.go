package drain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// equipSession returns a session's request with what it may look at and do beyond its brief.
// What its contract may not see, package invoke takes away again.
func (a attempt) equipSession(in input, k *desk) session.Request {
	req := in.req
	if a.hasDesk() {
		req.Desk = k.makeTree
	}
	req.Allow = a.grant.Allow
	req.Given = inlinedPaths(in.brief.Text, in.shown)
	if a.d.given == nil {
		req.History, req.Checks = newHistory(a.d.repo, a.c.base), a.d.at.checkCommands(a.c.task)
		if req.Desk != nil {
			req.History.Work = k.diff
		}
	}
	if k := a.bound.Contract; a.d.Reply != nil && !k.Strict && (k.Role == "" || k.Engagement == contract.Assistant) {
		who := invoke.Speaker(k)
		req.Ask = func(ctx context.Context, question string) (string, error) {
			return a.d.Reply(ctx, invoke.Aside(who, question))
		}
	}
	return req
}

// hasDesk reports an attempt whose sessions get a scratch repository.
func (a attempt) hasDesk() bool { return a.d.given == nil }

// checkCommands returns the commands that judge what a session of t makes while it can still mend it.
func (s *snapshot) checkCommands(t board.Task) [][]string {
	return slices.Concat(t.Commands, s.cfg.Pipeline.Validate)
}

// inlinedPaths returns the paths of files whose whole text stands in the brief.
func inlinedPaths(brief []byte, list []invoke.File) []string {
	var out []string
	for _, f := range list {
		text := strings.TrimSpace(okf.Visible(string(f.Text)))
		if text != "" && utf8.Valid(f.Text) && !slices.Contains(out, f.Path) && bytes.Contains(brief, []byte(text)) {
			out = append(out, f.Path)
		}
	}
	return out
}

// mostCalls bounds what is kept of the acts of one session, in lines.
const mostCalls = 2000

// encodeCalls returns the acts of a session that odd saw as JSON Lines, and the last line says
// how many more there were.
func encodeCalls(calls []session.Call) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for i, c := range calls {
		if i == mostCalls {
			fmt.Fprintf(&b, "{\"more\":%d}\n", len(calls)-i)
			break
		}
		_ = e.Encode(c) // a buffer takes everything
	}
	return b.Bytes()
}

func tellActs(data *event.SessionData, e session.Emission) {
	data.Seen = e.Seen
	for _, c := range e.Calls {
		if data.Calls == nil {
			data.Calls = map[string]int64{}
		}
		data.Calls[c.Status]++
	}
	if x := e.Exploration; x != nil {
		data.Exploration = &event.Exploration{ScoreMilli: int64(x.Milli), Categories: x.Categories, Unique: int64(x.Unique)}
	}
}

// The most that a session is told of the past in one answer.
const mostLog = 200

// newHistory answers about the commits up to base.
func newHistory(r *repo.Repo, base repo.OID) *session.History {
	return &session.History{
		Log: func(ctx context.Context, path string, most int) (string, error) {
			return historyLines(ctx, r, base, path, min(most, mostLog))
		},
		Diff: func(ctx context.Context, from, to, path string) (string, error) {
			b, err := findAncestor(ctx, r, base, to)
			if err != nil {
				return "", err
			}
			a, err := commitBefore(ctx, r, b, from)
			if err != nil {
				return "", err
			}
			out, err := r.Patch(ctx, a, b, slices.DeleteFunc([]string{path}, func(p string) bool { return p == "" })...)
			return string(out), err
		},
		Blame: func(ctx context.Context, path string, first, last int) (string, error) {
			out, err := r.Blame(ctx, base, path, first, last)
			return string(out), err
		},
	}
}

// historyLines returns a line for each commit that leads to base, without those that only keep
// the state of tasks.
func historyLines(ctx context.Context, r *repo.Repo, base repo.OID, path string, most int) (string, error) {
	commits := r.Log(ctx, "", base)
	if path != "" {
		commits = r.PathLog(ctx, base, path)
	}
	var out []string
	for c, err := range commits {
		if err != nil {
			return "", err
		}
		title, _, _ := strings.Cut(c.Message, "\n")
		if strings.HasPrefix(title, "board: ") && strings.Contains(c.Message, "\nOdd-Run: ") {
			continue // a task's state, not work
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", c.OID[:12], c.Author.When.UTC().Format("2006-01-02"), c.Author.Name, title))
		if len(out) == most {
			break
		}
	}
	return strings.Join(out, "\n"), nil
}

// findAncestor returns the commit that id names, which must lead to base; "" is base.
func findAncestor(ctx context.Context, r *repo.Repo, base repo.OID, id string) (repo.OID, error) {
	if id == "" {
		return base, nil
	}
	oid, err := r.Resolve(ctx, id)
	if err == nil {
		var leads bool
		if leads, err = r.Ancestor(ctx, oid, base); err == nil && leads {
			return oid, nil
		}
	}
	return "", fmt.Errorf("%s: is not an ancestor of the commit that the session works on", id)
}

// commitBefore is the commit that id names, or the one before to; "" is before the first.
func commitBefore(ctx context.Context, r *repo.Repo, to repo.OID, id string) (repo.OID, error) {
	if id != "" {
		return findAncestor(ctx, r, to, id)
	}
	c, err := r.Commit(to)
	if err != nil || len(c.Parents) == 0 {
		return "", err
	}
	return c.Parents[0], nil
}
