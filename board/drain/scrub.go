package drain

import (
	"maps"
	"slices"

	"github.com/odd-cli/odd/reconcile/irongate"
)

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
