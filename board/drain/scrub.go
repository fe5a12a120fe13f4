package drain

import (
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/secrets"
)

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
