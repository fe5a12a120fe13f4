package risk

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/reconcile/policy"
)

// Missing is an entry of [governance.approvers] too few of whose people approved a file.
type Missing struct {
	Path   string
	Of     string // the entry
	People []string
	More   int // of them, that must approve
}

// Approvers are the entries about a file that by, the addresses of who approve it, do not
// satisfy. types are those its atom had and has, none for another file.
func Approvers(cfg config.Config, path string, types, by []string) (out []Missing) {
	for _, of := range slices.Sorted(maps.Keys(cfg.Approvers)) {
		if !policy.MatchGlob(of, path) && !slices.Contains(types, of) {
			continue
		}
		m := Missing{path, of, nil, cfg.Approvals}
		for _, who := range cfg.Approvers[of] {
			if slices.ContainsFunc(by, func(s string) bool { return strings.EqualFold(s, who) }) {
				m.More--
			} else {
				m.People = append(m.People, who)
			}
		}
		if m.More > 0 {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b Missing) int { return cmp.Compare(len(a.People), len(b.People)) })
	return out
}
