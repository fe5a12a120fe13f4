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

// unionSight unites what the contract's modes may read.
func unionSight(c contract.Contract) sight {
	s := sight{pairs: []contract.Pair{}}
	list := modesOf(c)
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

// visibleHandoffs are those of list that may be read.
func (s sight) visibleHandoffs(list []handoff.Handoff) []handoff.Handoff {
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
		d := deliver.Deliverable{Schema: deliver.SchemaClaims, Claims: c.Claims, Remediation: c.Remediation}
		if c.Claims == nil {
			d.Schema = deliver.SchemaRemediation
		}
		out = append(out, handoffFile(c.Path, c.Blob, c.From, c.To, d))
	}
	b.addFiles("handoff", out, capHandoff)
}

// handoffFile returns a handoff as a file whose text is its deliverable as lists.
func handoffFile(path, blob string, from, to contract.Mode, d deliver.Deliverable) File {
	text := fmt.Sprintf("%s to %s\n\n%s", from, to, d.Outline(oneLine))
	return File{path, blob, []byte(strings.ToValidUTF8(text, "\uFFFD"))}
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
	b.addPart("profile", text.String(), text.Len(), from...)
	b.noteCut("profile", cut)
}
