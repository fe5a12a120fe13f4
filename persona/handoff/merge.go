package handoff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
)

// Merge joins several outputs of one role on one artifact into one handoff. It keeps every
// source's items, and equal items once; Said tells who said each. Disagreements are listed
// worst first: findings at one place with different weights, different remedies, something
// that one source puts in scope and another out of scope, and minimum content that a source
// lacks. Findings with the same claim about the same place become one, with the heaviest
// classification and the disposition that asks for most. The order of list does not matter.
//
// The caller must set the remaining members of Meta: Slug, Title, Run, By, At and Journal.
// The error is a Refusal.
func Merge(list []Handoff) (Meta, deliver.Deliverable, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Handoff) int { return strings.Compare(a.ID, b.ID) })
	if err := checkMergeable(list); err != nil {
		return Meta{}, deliver.Deliverable{}, err
	}
	first := list[0]
	m := merger{of: list, d: deliver.Deliverable{Schema: first.Deliverable.Schema}}
	m.meta = Meta{From: first.From, To: first.To, Artifact: first.Artifact}
	m.mergeSources()
	m.noteSilences()
	switch d := first.Deliverable; {
	case d.Findings != nil:
		m.d.Findings = &deliver.Findings{Artifact: d.Artifact(), Findings: m.mergeFindings()}
	case d.Remediation != nil:
		m.d.Remediation = &deliver.Remediation{Artifact: d.Artifact(), Remedies: m.mergeRemedies()}
	default:
		m.mergeLists()
	}
	m.meta.Disagreements = slices.Concat(m.worst, m.rest)
	return m.meta, m.d, nil
}

// checkMergeable returns every reason against the merge.
func checkMergeable(list []Handoff) error {
	var no []string
	if len(list) < 2 {
		no = append(no, "a merge takes two handoffs or more")
	}
	for i, h := range list[min(1, len(list)):] {
		first, before := list[0], list[i]
		if h.ID == before.ID {
			no = append(no, fmt.Sprintf("%s stands twice", h.ID))
		}
		if h.From != first.From || h.To != first.To {
			no = append(no, fmt.Sprintf("%s is %s → %s, %s is %s → %s; a merge joins outputs of one role", first.ID, first.From, first.To, h.ID, h.From, h.To))
		}
		if h.Artifact != first.Artifact {
			no = append(no, fmt.Sprintf("%s is about %q, %s about %q; a merge joins outputs on one artifact", first.ID, first.Artifact, h.ID, h.Artifact))
		}
	}
	return refuse("merge", no)
}

type merger struct {
	of          []Handoff
	d           deliver.Deliverable
	meta        Meta
	worst, rest []string
}

// mergeSources collects what concerns the whole handoff: origin, taint and disagreements.
func (m *merger) mergeSources() {
	var taints []string
	for _, h := range m.of {
		m.meta.Derives = append(m.meta.Derives, h.ID)
		if h.Tainted != "" && !slices.Contains(taints, h.Tainted) {
			taints = append(taints, h.Tainted)
		}
		if h.Atom == nil || h.Atom.Confidence() == okf.Inferred {
			m.meta.Inferred = true
		}
		for _, s := range h.Disagreements {
			m.rest = append(m.rest, h.ID+": "+s)
		}
	}
	m.meta.Tainted = strings.Join(taints, ", ")
}

// noteSilences notes the minimum content that some sources lack.
func (m *merger) noteSilences() {
	for _, h := range m.of {
		if len(h.Missing) > 0 {
			m.rest = append(m.rest, fmt.Sprintf("%s says nothing of %s", h.ID, strings.Join(h.Missing, ", ")))
		}
	}
}

// foldText returns a text for comparison, without case, repeated spaces and a final stop.
func foldText(s string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(s), " ")), ".")
}

// mergeLists merges a synthesis, a plan or claims key by key.
func (m *merger) mergeLists() {
	said := map[string][]Said{}
	for _, key := range deliver.Keys(m.d.Schema) {
		switch deliver.ShapeOf(m.d.Schema, key) {
		case deliver.Word:
			m.mergeText(key)
		case deliver.List:
			said[key] = m.mergeList(key)
			m.meta.Said = append(m.meta.Said, said[key]...)
		}
	}
	m.flagOpposed(said, "scope_in", "scope_out")
	m.flagOpposed(said, "does", "does_not")
	m.flagOpposed(said, "possibilities", "rejected")
	if s := m.d.Synthesis; s != nil {
		for _, h := range m.of {
			if h.Deliverable.Synthesis != nil {
				s.Entries = append(s.Entries, h.Deliverable.Synthesis.Entries...)
			}
		}
	}
}

// mergeList merges one list: each item once, in order of first occurrence.
func (m *merger) mergeList(key string) []Said {
	var union []string
	var out []Said
	for _, h := range m.of {
		_, items, there := h.Deliverable.Get(key)
		if there && union == nil {
			union = []string{}
		}
		for _, s := range items {
			i := slices.IndexFunc(out, func(o Said) bool { return foldText(o.Text) == foldText(s) })
			switch {
			case i < 0:
				union = append(union, s)
				out = append(out, Said{key, s, []string{h.ID}, len(m.of)})
			case !slices.Contains(out[i].By, h.ID):
				out[i].By = append(out[i].By, h.ID)
			}
		}
	}
	m.d.Set(key, "", union)
	return out
}

// mergeText merges one text: the common one, or each with its sources.
func (m *merger) mergeText(key string) {
	by := map[string][]string{}
	var order []string
	for _, h := range m.of {
		s, _, there := h.Deliverable.Get(key)
		if !there {
			continue
		}
		if by[s] == nil {
			order = append(order, s)
		}
		by[s] = append(by[s], h.ID)
	}
	joined, sides := joinSides(order, by)
	if len(order) > 1 {
		m.rest = append(m.rest, key+": "+strings.Join(sides, " | "))
	}
	m.d.Set(key, joined, nil)
}

// joinSides returns a single text as it is, or each text on a line after its sources. It
// also returns the texts as sides of a disagreement.
func joinSides(order []string, by map[string][]string) (joined string, sides []string) {
	if len(order) == 1 {
		return order[0], nil
	}
	lines := make([]string, len(order))
	for i, s := range order {
		lines[i] = strings.Join(by[s], ", ") + ": " + s
		sides = append(sides, fmt.Sprintf("%q (%s)", s, strings.Join(by[s], ", ")))
	}
	return strings.Join(lines, "\n"), sides
}

// flagOpposed notes what one source puts under in and another under out.
func (m *merger) flagOpposed(said map[string][]Said, in, out string) {
	for _, a := range said[in] {
		for _, b := range said[out] {
			if foldText(a.Text) == foldText(b.Text) {
				m.worst = append(m.worst, fmt.Sprintf("%q is %s for %s and %s for %s", a.Text, in, strings.Join(a.By, ", "), out, strings.Join(b.By, ", ")))
			}
		}
	}
}

type sourcedFinding struct {
	source string
	deliver.Finding
}

func (s sourcedFinding) describeWeight() string {
	return cmp.Or(string(s.Classification), "unrated") + "/" + cmp.Or(string(s.Disposition), "no disposition")
}

// rankFinding ranks findings, the worst first; unrated ones come before all others.
func rankFinding(f deliver.Finding) int {
	return 10*slices.Index(deliver.Classifications(), string(f.Classification)) + slices.Index(deliver.Dispositions(), string(f.Disposition))
}

// mergeFindings merges the findings by place, and by claim within it.
func (m *merger) mergeFindings() []deliver.Finding {
	at := map[string][]sourcedFinding{}
	said := false
	for _, h := range m.of {
		if h.Deliverable.Findings == nil || h.Deliverable.Findings.Findings == nil {
			continue
		}
		said = true
		for _, f := range h.Deliverable.Findings.Findings {
			at[f.Location] = append(at[f.Location], sourcedFinding{h.ID, f})
		}
	}
	if !said {
		return nil
	}
	out := []deliver.Finding{}
	var conflicts []conflict
	for _, location := range slices.Sorted(maps.Keys(at)) {
		if c, ok := findConflict(location, at[location]); ok {
			conflicts = append(conflicts, c)
		}
		out = append(out, m.mergeClaims(at[location])...)
	}
	slices.SortStableFunc(conflicts, func(a, b conflict) int { return cmp.Compare(a.rank, b.rank) })
	for _, c := range conflicts {
		m.worst = append(m.worst, c.text)
	}
	slices.SortStableFunc(out, func(a, b deliver.Finding) int { return cmp.Compare(rankFinding(a), rankFinding(b)) })
	for i := range out {
		out[i].ID = fmt.Sprintf("F%d", i+1)
	}
	return out
}

// conflict is a disagreement with the rank of its worst finding.
type conflict struct {
	rank int
	text string
}

// findConflict describes the sides if the sources weigh one place differently.
func findConflict(location string, fs []sourcedFinding) (conflict, bool) {
	by := map[string][]string{}
	worst := map[string]int{}
	for _, f := range fs {
		w := f.describeWeight()
		worst[w] = rankFinding(f.Finding)
		if mark := f.source + " " + f.ID; !slices.Contains(by[w], mark) {
			by[w] = append(by[w], mark)
		}
	}
	sources := map[string]bool{}
	for _, f := range fs {
		sources[f.source] = true
	}
	if len(by) < 2 || len(sources) < 2 {
		return conflict{}, false
	}
	order := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(worst[a], worst[b]), strings.Compare(a, b)) })
	sides := make([]string, len(order))
	for i, w := range order {
		sides[i] = fmt.Sprintf("%s (%s)", w, strings.Join(by[w], ", "))
	}
	return conflict{worst[order[0]], cmp.Or(location, "no location") + ": " + strings.Join(sides, " | ")}, true
}
