package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// driftCount are the sources of atoms that no longer say what was read: of files that are
// gone, and of files that have another text.
type driftCount struct {
	Gone    int `json:"gone"`
	Changed int `json:"changed"`
}

func (d driftCount) String() string {
	var parts []string
	if d.Gone > 0 {
		parts = append(parts, countNoun(d.Gone, "source")+" gone")
	}
	switch {
	case d.Changed > 0 && d.Gone > 0:
		parts = append(parts, fmt.Sprintf("%d changed", d.Changed))
	case d.Changed > 0:
		parts = append(parts, countNoun(d.Changed, "source")+" changed")
	}
	return strings.Join(parts, ", ")
}

// driftRecord is what a clone keeps of the last count: it holds for every commit that
// changes no atom and no file of a kind that atoms cite.
type driftRecord struct {
	Odd, Root string
	Tip       repo.OID
	Kinds     []string // how the names of cited files end
	Count     driftCount
}

const driftCache = "drift"

// countDrift counts the drifted sources of the board's commit. Edits that are not committed
// count where they are of atoms.
func (v *view) countDrift(ctx context.Context, dirty []string) (driftCount, error) {
	var known driftRecord
	if json.Unmarshal(v.repo.Cached(driftCache), &known) == nil && len(dirty) == 0 && v.sameDrift(ctx, known) {
		return known.Count, nil
	}
	known = driftRecord{Odd: oddVersion(), Root: v.cfg.Root, Tip: v.tip}
	kinds := map[string]bool{}
	for _, of := range okf.Gather(v.graph, func(string) bool { return true }, func(a *okf.Atom) (ends []string) {
		for _, s := range a.Sources {
			ends = append(ends, path.Ext(s.Resource))
		}
		return slices.Compact(ends)
	}) {
		for _, end := range of {
			kinds[end] = true
		}
	}
	known.Kinds = slices.Sorted(maps.Keys(kinds))
	for _, d := range okf.Drifted(v.graph, v.files, v.files) {
		switch {
		case d.Lost && d.Gone:
			known.Count.Gone++
		case d.Lost:
			known.Count.Changed++
		}
	}
	if len(dirty) > 0 {
		return known.Count, nil
	}
	b, err := json.Marshal(known)
	if err == nil {
		_ = v.repo.Keep(driftCache, b) // the next one counts again
	}
	return known.Count, err
}

// sameDrift reports that a count is of this commit, or of one that differs in nothing that it
// depends on.
func (v *view) sameDrift(ctx context.Context, known driftRecord) bool {
	if known.Odd != oddVersion() || known.Root != v.cfg.Root || known.Tip == "" {
		return false
	}
	if known.Tip == v.tip {
		return true
	}
	changes, err := v.repo.Diff(ctx, known.Tip, v.tip)
	return err == nil && !slices.ContainsFunc(changes, func(c repo.Change) bool {
		name, ours := strings.CutPrefix(c.Path, v.cfg.Root+"/")
		if !ours {
			return slices.Contains(known.Kinds, path.Ext(c.Path))
		}
		folder, _, _ := strings.Cut(name, "/")
		return path.Ext(name) == ".md" && folder != "tasks" && path.Base(name) != "index.md"
	})
}
