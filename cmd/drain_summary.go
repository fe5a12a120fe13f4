package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// summary appends to the step summary of a CI run, as markdown, what a drain did, what
// waits for a person with the command to type, what is blocked, and the board.
func (w *workspace) summary(ctx context.Context, r drain.Report, failed error) error {
	name := w.env.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString("### odd drain\n\n")
	switch {
	case failed != nil:
		fmt.Fprintf(&b, "%s\n\n", oneCell(failed.Error()))
	case len(r.Tasks) == 0:
		b.WriteString("No task was ready.\n\n")
	}
	if len(r.Tasks) > 0 {
		b.WriteString("| task | state | spent | branch or reason |\n|---|---|---|---|\n")
		for _, t := range r.Tasks {
			fmt.Fprintf(&b, "| %s | %s | $%s | %s |\n", t.Task, or(string(t.State), "lost"), t.Cost, oneCell(waitsOn(t)))
		}
		b.WriteString("\n")
	}
	w.summarizeBoard(ctx, &b)
	f, err := os.OpenFile(filepath.Clean(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(irongate.RedactText(b.String()))
	return errors.Join(err, f.Close())
}

// summarizeBoard adds what waits for a person, what is blocked, what the month has cost,
// and a picture of the board. Where the board cannot be read, odd drain has said why.
func (w *workspace) summarizeBoard(ctx context.Context, b *strings.Builder) {
	v, err := w.view(ctx, false)
	if err != nil {
		return
	}
	page := w.env.Getenv("GITHUB_SERVER_URL") + "/" + w.env.Getenv("GITHUB_REPOSITORY")
	counts := map[board.State]int{}
	var waiting, blocked strings.Builder
	for _, row := range v.rows() {
		counts[row.State]++
		switch row.State {
		case board.Review:
			branch := "a review branch"
			if t, err := v.taskOf(row.ID); err == nil {
				if p, err := v.proposal(t); err == nil {
					branch = fmt.Sprintf("[%s](%s/tree/%s)", p.Branch, page, p.Branch)
				}
			}
			fmt.Fprintf(&waiting, "- %s: %s, on %s. Read it with `odd review %s`, then `odd approve %[4]s` or `odd reject %[4]s`.\n", row.ID, oneCell(row.Title), branch, row.ID)
		case board.Blocked:
			fmt.Fprintf(&blocked, "- %s: %s. To try again: `odd task ready %[1]s`.\n", row.ID, oneCell(row.BlockedReason))
		}
	}
	if waiting.Len() > 0 {
		b.WriteString("#### Waiting for a person\n\n" + waiting.String() + "\n")
	}
	if blocked.Len() > 0 {
		b.WriteString("#### Blocked\n\n" + blocked.String() + "\n")
	}
	if sum, err := v.state.Spend(); err == nil {
		month := event.Month(w.env.Now())
		if n, err := sum.In(month); err == nil {
			fmt.Fprintf(b, "Spent in %s: $%s.\n\n", month, budget.MicroUSD(n))
		}
	}
	b.WriteString("```mermaid\nflowchart LR\n")
	for _, s := range board.States() {
		fmt.Fprintf(b, "  %s[\"%s: %d\"]\n", s, strings.ReplaceAll(string(s), "_", " "), counts[s])
	}
	b.WriteString("  backlog --> ready --> in_progress --> review --> done\n  in_progress --> blocked --> ready\n```\n")
}

// oneCell makes a text fit into a line of markdown, also in a table, and be no markdown
// itself: a title or a reason may be an agent's.
func oneCell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "[", `\[`, "<", "&lt;", "`", "\\`").Replace(okf.Visible(s))
}
