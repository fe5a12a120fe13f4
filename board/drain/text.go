package drain

import (
	"fmt"
	"strings"
	"time"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// oneLine is an error of several lines as a reason.
func oneLine(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "; ") }

// cleanText is a text for the journal: visible, and without what looks like a credential.
func cleanText(s string) string { return okf.Visible(string(secrets.Redact([]byte(s)))) }

func joinDetail(name, detail string) string {
	if name == "" || detail == "" {
		return name + detail
	}
	return name + ": " + detail
}

func countMore(paths []string) string {
	if len(paths) == 1 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", len(paths)-1)
}

func firstOf[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func textsFrom[T ~string](in []T) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = string(s)
	}
	return out
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// redactDeliverable returns a deliverable as a report shows it, refused or not: without credentials.
func redactDeliverable(d *deliver.Deliverable) *deliver.Deliverable {
	if d == nil {
		return nil
	}
	out := d.Clone()
	for _, t := range out.Texts() {
		*t.S = secrets.RedactText(*t.S)
	}
	return &out
}
