package drain

import (
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// redactDeliverable returns a deliverable as a report shows it, refused or not: without credentials.
func redactDeliverable(d *deliver.Deliverable) *deliver.Deliverable {
	if d == nil {
		return nil
	}
	out := d.Clone()
	for _, t := range out.Texts() {
		*t.S = irongate.RedactText(*t.S)
	}
	return &out
}
