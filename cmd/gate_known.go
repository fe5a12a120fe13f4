package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/proof"
)

// findings are those that the person acknowledges, as the gate's row names them: all that
// odd check finds in the commit by the invariant, and what it counts with them.
func (p *plan) findings(ctx context.Context) ([]string, error) {
	if p.o.act.Kind != gate.Acknowledge {
		return nil, nil
	}
	commit, rule, _ := strings.Cut(p.o.known, ":")
	rule = strings.TrimLeft(strings.TrimPrefix(rule, "odd-invariant-"), "0")
	if len(commit) < 7 || rule == "" {
		return nil, usage("gate evaluation: --acknowledge %q; write it as COMMIT:INVARIANT, such as 1f0c2ab9d4:14, as odd check prints both", p.o.known)
	}
	report, err := proof.Check(ctx, p.repo, "", p.tip)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range report.Findings {
		if !strings.HasPrefix(string(f.Commit), commit) || fmt.Sprint(f.Invariant) != rule {
			continue
		}
		for _, f := range append([]proof.Finding{f}, f.Also...) {
			if slices.Contains(out, f.Key()) {
				continue
			}
			out = append(out, f.Key())
			p.also = append(p.also, gate.Change{Field: fmt.Sprintf("%s:%d [invariant %d, %s]", f.Path, f.Line, f.Invariant, short(f.Commit)), Before: f.Message, After: "acknowledged"})
		}
	}
	if len(out) == 0 {
		return nil, refuse("no-finding", "gate evaluation: odd check --all finds nothing at %s on %s that is not acknowledged; it prints COMMIT and INVARIANT in brackets", p.o.known, p.line.Name())
	}
	return out, nil
}
