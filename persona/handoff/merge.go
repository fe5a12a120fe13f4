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

// Merge is the fan-in of several outputs of one role on one artifact into one
// handoff. Every source's items are kept and what they agree on stands once:
// Said counts who said it. What they disagree about is in Disagreements, worst
// first: findings of one place that weigh differently, remedies that differ,
// something one puts in scope and another out of it, and minimum content that
// one says nothing of. Findings that make the same claim of the same place
// become one, with the heaviest classification and the disposition that asks
// for most. The order of list does not matter.
//
// The Meta that comes back lacks only who merges it, when and where it is told:
// Slug, Title, Run, By, At and Journal. The error is a Refusal.
func Merge(list []Handoff) (Meta, deliver.Deliverable, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Handoff) int { return strings.Compare(a.ID, b.ID) })
	if err := mergeable(list); err != nil {
		return Meta{}, deliver.Deliverable{}, err
	}
	first := list[0]
	m := merger{of: list, d: deliver.Deliverable{Schema: first.Deliverable.Schema}}
	m.meta = Meta{From: first.From, To: first.To, Artifact: first.Artifact}
	m.sources()
	m.silences()
	switch d := first.Deliverable; {
	case d.Findings != nil:
		m.d.Findings = &deliver.Findings{Artifact: d.Artifact(), Findings: m.findings()}
	case d.Remediation != nil:
		m.d.Remediation = &deliver.Remediation{Artifact: d.Artifact(), Remedies: m.remedies()}
	default:
		m.lists()
	}
	m.meta.Disagreements = slices.Concat(m.worst, m.rest)
	return m.meta, m.d, nil
}

// mergeable lists every reason against the merge.
func mergeable(list []Handoff) error {
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

// sources takes over what holds of the whole: provenance and taint.
func (m *merger) sources() {
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

// silences notes the minimum content that some sources say nothing of.
func (m *merger) silences() {
	for _, h := range m.of {
		if len(h.Missing) > 0 {
			m.rest = append(m.rest, fmt.Sprintf("%s says nothing of %s", h.ID, strings.Join(h.Missing, ", ")))
		}
	}
}

// fold is a text as it is compared: case, spaces and a final stop do not count.
func fold(s string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(s), " ")), ".")
}

// lists joins a synthesis, a plan or claims key by key.
func (m *merger) lists() {
	said := map[string][]Said{}
	for _, key := range deliver.Keys(m.d.Schema) {
		switch deliver.ShapeOf(m.d.Schema, key) {
		case deliver.Word:
			m.text(key)
		case deliver.List:
			said[key] = m.list(key)
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

// list joins one list: each item once, in the order in which it was first said.
func (m *merger) list(key string) []Said {
	var union []string
	var out []Said
	for _, h := range m.of {
		_, items, there := h.Deliverable.Get(key)
		if there && union == nil {
			union = []string{}
		}
		for _, s := range items {
			i := slices.IndexFunc(out, func(o Said) bool { return fold(o.Text) == fold(s) })
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

// text joins one text: the common one, or each with who said it.
func (m *merger) text(key string) {
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
	joined, sides := each(order, by)
	if len(order) > 1 {
		m.rest = append(m.rest, key+": "+strings.Join(sides, " | "))
	}
	m.d.Set(key, joined, nil)
}

// each is one text alone, or every text behind who said it, a line each, and
// the same as sides of a disagreement.
func each(order []string, by map[string][]string) (joined string, sides []string) {
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

// flagOpposed flags what one source puts under in and another under out.
func (m *merger) flagOpposed(said map[string][]Said, in, out string) {
	for _, a := range said[in] {
		for _, b := range said[out] {
			if fold(a.Text) == fold(b.Text) {
				m.worst = append(m.worst, fmt.Sprintf("%q is %s for %s and %s for %s", a.Text, in, strings.Join(a.By, ", "), out, strings.Join(b.By, ", ")))
			}
		}
	}
}

// sided is one source's finding.
type sided struct {
	source string
	deliver.Finding
}

func (s sided) weight() string {
	return cmp.Or(string(s.Classification), "unrated") + "/" + cmp.Or(string(s.Disposition), "no disposition")
}

// rank orders findings, the worst first. What is unrated comes before all.
func rank(f deliver.Finding) int {
	return 10*slices.Index(deliver.Classifications(), string(f.Classification)) + slices.Index(deliver.Dispositions(), string(f.Disposition))
}

// findings joins the findings by place, and by claim within it.
func (m *merger) findings() []deliver.Finding {
	at := map[string][]sided{}
	said := false
	for _, h := range m.of {
		if h.Deliverable.Findings == nil || h.Deliverable.Findings.Findings == nil {
			continue
		}
		said = true
		for _, f := range h.Deliverable.Findings.Findings {
			at[f.Location] = append(at[f.Location], sided{h.ID, f})
		}
	}
	if !said {
		return nil
	}
	out := []deliver.Finding{}
	var conflicts []conflict
	for _, location := range slices.Sorted(maps.Keys(at)) {
		if c, ok := conflicting(location, at[location]); ok {
			conflicts = append(conflicts, c)
		}
		out = append(out, m.claims(at[location])...)
	}
	slices.SortStableFunc(conflicts, func(a, b conflict) int { return cmp.Compare(a.rank, b.rank) })
	for _, c := range conflicts {
		m.worst = append(m.worst, c.text)
	}
	slices.SortStableFunc(out, func(a, b deliver.Finding) int { return cmp.Compare(rank(a), rank(b)) })
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

// conflicting shows the sides of one place where they weigh it differently.
func conflicting(location string, fs []sided) (conflict, bool) {
	by := map[string][]string{}
	worst := map[string]int{}
	for _, f := range fs {
		w := f.weight()
		worst[w] = rank(f.Finding)
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
