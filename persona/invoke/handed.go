package invoke

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

// sight is what of an input a mode may read; the package comment is its source.
type sight struct {
	body, inputs bool
	pairs        []contract.Pair // nil is any
}

// sights unites what the contract's modes may read.
func sights(c contract.Contract) sight {
	s := sight{pairs: []contract.Pair{}}
	list := modes(c)
	if len(list) == 0 {
		return sight{body: true, inputs: true}
	}
	for _, m := range list {
		s.body = s.body || m == contract.Exploration
		s.inputs = s.inputs || m != contract.Resolution && m != contract.Validation
		for _, r := range contract.Roles() {
			if r.Mode == m {
				s.pairs = append(s.pairs, r.Reads...)
			}
		}
	}
	return s
}

// handoffs are those of list that may be read.
func (s sight) handoffs(list []handoff.Handoff) []handoff.Handoff {
	if s.pairs == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(h handoff.Handoff) bool {
		return !slices.Contains(s.pairs, contract.Pair{From: h.From, To: h.To})
	})
}

// addHandoffs appends what the handoffs of list hold, each text in a fence of its own.
func (b *Brief) addHandoffs(list []handoff.Handoff) {
	var out []File
	for _, h := range list {
		out = append(out, handoffFile(h.Path, h.Blob, h.From, h.To, h.Deliverable))
	}
	b.addFiles("handoff", out, capHandoff)
}

func (b *Brief) addClaims(list []Claim) {
	var out []File
	for _, c := range list {
		out = append(out, handoffFile(c.Path, c.Blob, c.From, c.To, deliver.Deliverable{Claims: c.Claims, Remediation: c.Remediation}))
	}
	b.addFiles("handoff", out, capHandoff)
}

// handoffFile returns a handoff as a file whose text is its deliverable as lists.
func handoffFile(path, blob string, from, to contract.Mode, d deliver.Deliverable) File {
	text := fmt.Sprintf("%s to %s\n\n%s", from, to, render(d))
	return File{path, blob, []byte(strings.ToValidUTF8(text, "\uFFFD"))}
}

// render writes a deliverable as headed lists, by kind. A list that was written
// empty says none; one that is not there is left out.
func render(d deliver.Deliverable) string {
	var r rendering
	switch {
	case d.Synthesis != nil:
		s := d.Synthesis
		r.list("possibilities", s.Possibilities).list("tensions", s.Tensions).list("unknowns", s.Unknowns)
		r.list("competing frames", s.Frames).list("rejected", s.Rejected)
		for i, e := range s.Entries {
			r.text(fmt.Sprintf("entry %d", i+1), fmt.Sprintf("%s; context: %s; implies: %s; confidence: %s", e.Observation, e.Context, e.Implication, e.Confidence))
			r.list(fmt.Sprintf("open questions of entry %d", i+1), e.OpenQuestions)
		}
	case d.Plan != nil:
		p := d.Plan
		r.text("artifact", p.Artifact).list("assumptions", p.Assumptions).list("in scope", p.ScopeIn).list("out of scope", p.ScopeOut)
		r.list("deferred", p.Deferred).list("would invalidate", p.WouldInvalidate).list("steps", p.Steps)
	case d.Claims != nil:
		c := d.Claims
		r.text("artifact", c.Artifact).list("does", c.Does).list("does not", c.DoesNot).text("built against", c.Scope).list("evidence", c.Evidence)
	case d.Findings != nil:
		r.text("artifact", d.Findings.Artifact)
		for _, f := range d.Findings.Findings {
			r.text(f.ID, fmt.Sprintf("%s (%s, %s)", f.Location, f.Classification, f.Disposition))
			r.text("  claim", f.Claim).text("  evidence", f.Evidence).text("  suggestion", f.Suggestion)
		}
	case d.Remediation != nil:
		r.text("artifact", d.Remediation.Artifact)
		for _, m := range d.Remediation.Remedies {
			r.list(m.Finding+" changed", slices.Concat([]string{}, m.Changed)).text("  why", m.Why)
		}
	case d.Commentary != nil:
		r.list("says", d.Commentary.Says)
	}
	return r.String()
}

type rendering struct{ strings.Builder }

func (r *rendering) text(name, s string) *rendering {
	if s != "" {
		fmt.Fprintf(r, "%s: %s\n", name, oneLine(s))
	}
	return r
}

func (r *rendering) list(name string, items []string) *rendering {
	switch {
	case items == nil:
		return r
	case len(items) == 0:
		fmt.Fprintf(r, "%s: none\n", name)
		return r
	}
	fmt.Fprintf(r, "%s:\n", name)
	for _, s := range items {
		fmt.Fprintf(r, "- %s\n", oneLine(s))
	}
	return r
}

// addProfiles appends the profile part: pointers, and the prompts' texts where
// they were passed.
func (b *Brief) addProfiles(list []Profile) {
	var text strings.Builder
	var from []Ref
	for _, p := range list {
		fmt.Fprintf(&text, "- %s  %s  %s\n", oneLine(p.Name), oneLine(p.Path), p.Blob)
		from = append(from, Ref{URI: p.Prompt, Path: p.Path, Blob: p.Blob})
		for _, f := range [][2]string{{"system prompt", p.Prompt}, {"brand discipline", p.Brand}, {"knowledge bases", strings.Join(p.Knowledge, ", ")}} {
			if f[1] != "" {
				fmt.Fprintf(&text, "  %s: %s\n", f[0], oneLine(f[1]))
			}
		}
	}
	room, cut := capProfile-text.Len(), 0
	for _, p := range list {
		if p.Text == nil {
			continue
		}
		block, lost := fenceText(fmt.Sprintf("system prompt of %s, %s", oneLine(p.Name), okf.BlobID(p.Text)), p.Text, room)
		text.WriteString(block)
		room, cut = room-len(block), cut+lost
		from = append(from, Ref{URI: p.Prompt, Blob: okf.BlobID(p.Text)})
	}
	b.add("profile", text.String(), text.Len(), from...)
	b.noteCut("profile", cut)
}
