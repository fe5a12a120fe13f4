package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// event is one thing that happened, as odd log --json prints it: a ledger
// record of a run, or a commit by a person.
type event struct {
	At     time.Time `json:"ts"`
	Kind   string    `json:"kind"` // a ledger kind, or "person"
	Run    string    `json:"run,omitempty"`
	Person string    `json:"person,omitempty"`
	Task   string    `json:"task,omitempty"`
	Text   string    `json:"text"`
	Cost   int64     `json:"cost_micro_usd,omitempty"`
	Commit string    `json:"commit,omitempty"`
}

// who is the person, or the end of the run's id, which odd log --run takes.
func (e event) who() string {
	if e.Person != "" {
		return e.Person
	}
	return "run " + e.Run[max(0, len(e.Run)-6):]
}

// events are the ledger's records and people's commits on the board, oldest
// first; records of a run stay in their order. damaged is about ledger files
// that could be read only in part.
func (v *view) events(ctx context.Context) (all []event, damaged, err error) {
	all = []event{}
	err = ledger.Walk(v.bundle, func(file string, b []byte) error {
		records, err := ledger.Read(b)
		if err != nil {
			damaged = errors.Join(damaged, fmt.Errorf("%s: %w", v.file(file), err))
		}
		for _, r := range records {
			text := r.Tell(func(n int64) string { return budget.MicroUSD(n).String() })
			task := r.Task
			if task == r.Run {
				task = "" // no task asked for it
			}
			all = append(all, event{At: r.TS, Kind: string(r.Kind), Run: r.Run, Task: task, Text: okf.Visible(text), Cost: r.Cost})
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	records := len(all)
	for c, err := range v.repo.Log(ctx, "", v.tip) {
		if err != nil {
			return nil, nil, err
		}
		if e, ok := v.act(c); ok {
			all = append(all, e)
		}
	}
	slices.Reverse(all[records:]) // children came first
	slices.SortStableFunc(all, func(a, b event) int { return a.At.Compare(b.At) })
	return all, damaged, nil
}

// act reads a person's commit about the board. Commits of the agent are in the
// ledger already, and those about anything else are not odd's to tell.
func (v *view) act(c repo.Commit) (event, bool) {
	if c.Author.Email == v.cfg.AgentEmail {
		return event{}, false
	}
	subject, body := message(c)
	first := func(name string) string {
		if all := c.Trailer(name); len(all) > 0 {
			return all[0]
		}
		return ""
	}
	e := event{
		At: c.Author.When.UTC(), Kind: "person", Person: or(c.Author.Name, c.Author.Email), Run: first("Odd-Run"), Task: first("Odd-Task"), Commit: string(c.OID),
	}
	if e.Text = decided(e.Task, subject, body, first); e.Text == "" {
		e.Text = kept(subject, body)
	}
	e.Text = okf.Visible(e.Text)
	return e, e.Text != ""
}

// decided tells an act that its trailers name, "" where none does.
func decided(task, subject, body string, first func(string) string) string {
	switch {
	case first("Odd-Approved-By") != "":
		return "approved " + task
	case first("Odd-Rejected-By") != "":
		return "rejected " + task + because(body)
	case first("Odd-Ready-By") != "":
		return "made " + task + " ready"
	case first("Odd-Approval") != "":
		return "took " + task + " to done, as approved where reviews merge"
	case first("Odd-Decision") != "":
		return "decided " + first("Odd-Decision") + ": " + strings.TrimPrefix(subject, "decide: ")
	case first("Odd-Gate") != "" && strings.HasPrefix(subject, "gate: "):
		return "passed the " + first("Odd-Gate") + " gate: " + strings.TrimPrefix(subject, "gate: "+first("Odd-Gate")+", ") + because(body)
	case first("Odd-Resumed-By") != "":
		return "resumed the board"
	}
	return ""
}

// kept tells an act that its subject names, "" where it is not odd's to tell.
func kept(subject, body string) string {
	area, rest, _ := strings.Cut(subject, ": ")
	verb, what, _ := strings.Cut(rest, " ")
	switch {
	case subject == "board: pause":
		return "paused the board" + because(body)
	case area == "board" && verb == "add":
		return "added " + what
	case area == "board" && verb == "edit":
		return "edited " + what
	case area == "board":
		return rest
	case area == "handoff":
		return "handed over: " + rest
	case area == "journal":
		return "noted: " + rest
	}
	return ""
}

// message is a commit's subject and the text between it and the trailers.
func message(c repo.Commit) (subject, body string) {
	subject, rest, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	paragraphs := strings.Split(strings.TrimSpace(rest), "\n\n")
	if last := len(paragraphs) - 1; strings.HasPrefix(paragraphs[last], "Odd-") {
		paragraphs = paragraphs[:last]
	}
	return subject, strings.Join(paragraphs, "\n\n")
}

// because is a reason behind a colon, and nothing where none was given.
func because(reason string) string {
	if reason = strings.TrimSpace(reason); reason == "" {
		return ""
	}
	return ": " + reason
}
