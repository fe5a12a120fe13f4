package drain

import (
	"maps"
	"slices"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/reconcile/irongate"
)

// shown is a deliverable as a report shows it, refused or not: without credentials.
func shown(d *deliver.Deliverable) *deliver.Deliverable {
	if d == nil {
		return nil
	}
	out := d.Clone()
	for _, t := range out.Texts() {
		*t.S = irongate.RedactText(*t.S)
	}
	return &out
}

// scrubbed is what a record holds without credentials in its texts.
func scrubbed(v any) any {
	switch v := v.(type) {
	case string:
		return irongate.RedactText(v)
	case []string:
		v = slices.Clone(v)
		for i := range v {
			v[i] = irongate.RedactText(v[i])
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = scrubbed(v[i])
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for k := range v {
			v[k] = scrubbed(v[k])
		}
		return v
	}
	return v
}
