package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/deliver"
)

// mergeClaims merges the findings at one place that make the same claim. All their evidence
// and suggestions are kept.
func (m *merger) mergeClaims(fs []sourcedFinding) []deliver.Finding {
	var out []deliver.Finding
	for len(fs) > 0 {
		same := func(f sourcedFinding) bool { return foldText(f.Claim) == foldText(fs[0].Claim) }
		var group []sourcedFinding
		for _, f := range fs {
			if same(f) {
				group = append(group, f)
			}
		}
		joined := group[0].Finding
		for _, f := range group[1:] {
			joined.Classification = worseOf(deliver.Classifications(), joined.Classification, f.Classification)
			joined.Disposition = worseOf(deliver.Dispositions(), joined.Disposition, f.Disposition)
		}
		joined.Evidence = groupText(group, func(f sourcedFinding) string { return f.Evidence })
		if slices.ContainsFunc(group, func(f sourcedFinding) bool { return f.describeWeight() != group[0].describeWeight() }) {
			joined.Evidence = weighEvidence(group)
		}
		joined.Suggestion = groupText(group, func(f sourcedFinding) string { return f.Suggestion })
		m.meta.Said = append(m.meta.Said, Said{"finding", joined.Location + ": " + joined.Claim, sourcesOf(group), len(m.of)})
		out = append(out, joined)
		rest := slices.Clone(fs)
		fs = slices.DeleteFunc(rest, same)
	}
	return out
}

// weighEvidence returns the evidence of a group that weighs one claim differently, each
// with its weight, so that a reader of the findings alone sees it too.
func weighEvidence(group []sourcedFinding) string {
	lines := make([]string, len(group))
	for i, f := range group {
		lines[i] = fmt.Sprintf("%s (%s): %s", f.source, f.describeWeight(), cmp.Or(f.Evidence, "no evidence"))
	}
	return strings.Join(lines, "\n")
}

// worseOf returns the one of a and b that comes first in order; an unrated one is worst.
func worseOf[T ~string](order []string, a, b T) T {
	if slices.Index(order, string(b)) < slices.Index(order, string(a)) {
		return b
	}
	return a
}

func sourcesOf(group []sourcedFinding) []string {
	var out []string
	for _, f := range group {
		if !slices.Contains(out, f.source) {
			out = append(out, f.source)
		}
	}
	return out
}

// groupText returns the text of a group: one text if all are equal, else each after its
// source.
func groupText(group []sourcedFinding, part func(sourcedFinding) string) string {
	by := map[string][]string{}
	var order []string
	for _, f := range group {
		s := part(f)
		if strings.TrimSpace(s) == "" {
			continue
		}
		if by[s] == nil {
			order = append(order, s)
		}
		by[s] = append(by[s], f.source)
	}
	if len(order) == 0 {
		return ""
	}
	joined, _ := joinSides(order, by)
	return joined
}

// mergeRemedies merges the remedies finding by finding. If one source changed something and
// another explains why it changed nothing, both are kept, as a disagreement.
func (m *merger) mergeRemedies() []deliver.Remedy {
	var out []deliver.Remedy
	changed, kept, whys := map[string][]string{}, map[string][]string{}, map[string][]sourcedFinding{}
	for _, h := range m.of {
		if h.Deliverable.Remediation == nil {
			continue
		}
		for _, r := range h.Deliverable.Remediation.Remedies {
			i := slices.IndexFunc(out, func(o deliver.Remedy) bool { return o.Finding == r.Finding })
			if i < 0 {
				out, i = append(out, deliver.Remedy{Finding: r.Finding}), len(out)
			}
			for _, c := range r.Changed {
				if !slices.Contains(out[i].Changed, c) {
					out[i].Changed = append(out[i].Changed, c)
				}
			}
			whys[r.Finding] = append(whys[r.Finding], sourcedFinding{h.ID, deliver.Finding{Evidence: r.Why}})
			if len(r.Changed) > 0 {
				changed[r.Finding] = append(changed[r.Finding], h.ID)
			} else {
				kept[r.Finding] = append(kept[r.Finding], h.ID)
			}
		}
	}
	for i, r := range out {
		out[i].Why = groupText(whys[r.Finding], func(s sourcedFinding) string { return s.Evidence })
		by := sourcesOf(whys[r.Finding])
		m.meta.Said = append(m.meta.Said, Said{"remedy", r.Finding, by, len(m.of)})
		if c, k := changed[r.Finding], kept[r.Finding]; len(c) > 0 && len(k) > 0 {
			m.worst = append(m.worst, r.Finding+": changed ("+strings.Join(c, ", ")+") | left as it is ("+strings.Join(k, ", ")+")")
		}
		if len(by) < len(m.of) {
			m.rest = append(m.rest, r.Finding+": answered by "+strings.Join(by, ", ")+" alone")
		}
	}
	return out
}
