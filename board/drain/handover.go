package drain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/session"
)

// handed is the handoff of one session, not yet committed.
type handed struct {
	path string // below the bundle root
	text []byte
	from contract.Mode
	to   contract.Mode
}

// handover encodes what the session of w delivers for whoever comes next. A
// role without a mode hands over to nobody. slug tells the run's sessions apart.
func (d *drain) handover(w *work, slug, title string) {
	c, made := w.bound.Contract, w.emission.Deliverable
	to := modeOf(c.Next)
	if c.Mode == "" || to == "" || made == nil {
		return
	}
	m := handoff.Meta{
		Slug: slug, Title: title, From: c.Mode, To: to, Artifact: d.artifact(or(made.Artifact(), c.Artifact)), Run: d.Run, By: d.By,
		At: d.Now().UTC().Format(time.RFC3339), Journal: journal.Path(d.started, d.slug), Tainted: c.Tainted,
	}
	if c.Persona != nil {
		m.Persona = fmt.Sprintf("%s@%d", c.Persona.Name, c.Persona.Version)
	}
	for _, h := range w.bound.handoffs {
		m.Derives = append(m.Derives, string(h.ID))
	}
	name, text, err := handoff.Make(m, *made)
	if err != nil {
		w.blocked("emission refused: the deliverable cannot be handed over: %v", err)
		return
	}
	if clean := session.Redact(text); !bytes.Equal(clean, text) {
		w.blocked("emission refused: the deliverable holds what looks like a credential")
		return
	}
	w.handed = &handed{path: name, text: text, from: c.Mode, to: to}
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// pass adds the handoffs of the sessions to a result's changes, and the entries
// of their transitions to the run's journal.
func (d *drain) pass(ch repo.Changes, list ...*work) error {
	for _, w := range list {
		if h := w.handed; h != nil {
			ch[d.at.file(h.path)] = h.text
			if err := d.tell(ch, "H", "", fmt.Sprintf("%s to %s: %s", h.from, h.to, or(d.artifact(w.bound.Artifact), "no artifact")), d.transition(w)); err != nil {
				return err
			}
		}
		if w.emission.Outcome == session.HandoffInsufficient {
			if err := d.tell(ch, "H", "", "handoff insufficient: "+named(w.bound.handoffs), insufficiency(w)); err != nil {
				return err
			}
		}
		if n := len(w.result.Verdict.Hints); n > 0 {
			if err := d.tell(ch, "O", "", hinted(n), w.result.Verdict.Hints[0].Message); err != nil {
				return err
			}
		}
	}
	return nil
}

func hinted(n int) string {
	if n == 1 {
		return "a detector hints, and refuses nothing"
	}
	return fmt.Sprintf("detectors hint %d times, and refuse nothing", n)
}

// tell appends an entry to the run's journal.
func (d *drain) tell(ch repo.Changes, letter, facet, title, content string) error {
	name := d.at.file(journal.Path(d.started, d.slug))
	b, err := journal.Append(d.files[name], journal.Entry{
		Type: letter, TypeName: journal.TypeName(letter, facet), Facet: facet, Title: okf.Visible(title), Content: okf.Visible(content),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d.files[name], ch[name] = b, b
	return nil
}

// transition is the entry that canon asks of every passage between modes: from
// where to where and when, the handoff, what was met and what is carried on.
func (d *drain) transition(w *work) string {
	h, made := w.handed, w.emission.Deliverable
	parts := []string{
		fmt.Sprintf("%s → %s: %s at %s", h.from, h.to, h.path, d.Now().UTC().Format(time.RFC3339)),
		"obligations met: " + strings.Join(met(*made), ", "),
		"carried on: " + or(carried(*made), "nothing"),
	}
	if f := made.Findings; f != nil && !slices.ContainsFunc(f.Findings, func(f deliver.Finding) bool { return f.Disposition != deliver.Accept }) {
		parts = append(parts, "terminal: nothing is to be resolved")
	}
	for _, s := range w.emission.Says {
		if s.Kind == "reversion" {
			parts = append(parts, "reversion declared: "+s.Text)
		}
	}
	if t := w.bound.Tainted; t != "" {
		parts = append(parts, "override-produced: "+t)
	}
	return strings.Join(parts, "; ")
}

// met counts what a deliverable holds of its transition's minimum.
func met(made deliver.Deliverable) []string {
	var out []string
	counts := func(name string, n int) { out = append(out, fmt.Sprintf("%d %s", n, name)) }
	switch {
	case made.Synthesis != nil:
		s := made.Synthesis
		counts("possibilities", len(s.Possibilities))
		counts("tensions", len(s.Tensions))
		counts("unknowns", len(s.Unknowns))
		counts("frames", len(s.Frames))
	case made.Plan != nil:
		p := made.Plan
		counts("assumptions", len(p.Assumptions))
		counts("in scope", len(p.ScopeIn))
		counts("out of scope", len(p.ScopeOut))
		counts("invalidating conditions", len(p.WouldInvalidate))
	case made.Claims != nil:
		counts("claims", len(made.Claims.Does))
		counts("limits", len(made.Claims.DoesNot))
		counts("pieces of evidence", len(made.Claims.Evidence))
	case made.Findings != nil:
		s := deliver.Summarize(made.Findings.Findings)
		counts("findings", s.Total)
		for _, k := range deliver.Dispositions() {
			counts("to "+k, s.ByDisposition[deliver.Disposition(k)])
		}
	case made.Remediation != nil:
		counts("remedies", len(made.Remediation.Remedies))
	}
	return out
}

// carried is what a deliverable leaves to whoever comes next.
func carried(made deliver.Deliverable) string {
	switch {
	case made.Synthesis != nil:
		return strings.Join(made.Synthesis.Unknowns, ", ")
	case made.Plan != nil:
		return strings.Join(made.Plan.Deferred, ", ")
	case made.Claims != nil:
		return strings.Join(made.Claims.DoesNot, ", ")
	}
	return ""
}

// insufficiency names the handoff that did not hold, and the three ways out.
func insufficiency(w *work) string {
	return fmt.Sprintf("%s does not hold what %s needs: %s; ways out: %s",
		named(w.bound.handoffs), w.bound.Role, strings.Join(w.emission.Missing, ", "), strings.Join(waysOut(w), "; "))
}

// waysOut are the three answers to an insufficient handoff.
func waysOut(w *work) []string {
	upstream := "the mode before"
	if len(w.bound.handoffs) > 0 {
		upstream = string(w.bound.handoffs[0].From)
	}
	return []string{"a fresh session in " + upstream, "a person adds what is missing to the handoff", "an operator override with its reason"}
}

// named lists handoffs by their paths.
func named(list []handoff.Handoff) string {
	var out []string
	for _, h := range list {
		out = append(out, h.Path)
	}
	return or(strings.Join(out, ", "), "no handoff")
}

// underContract adds to a session's record the contract it ran under, what it
// delivered and where that was handed over.
func (d *drain) underContract(data map[string]any, w *work) {
	c := w.bound.Contract
	if c.Role == "" {
		return
	}
	of := map[string]any{"hash": c.Hash(), "role": string(c.Role), "surface": string(c.Surface.Name), "engagement": string(c.Engagement), "voice": string(c.Voice)}
	put := func(m map[string]any, key, s string) {
		if s != "" {
			m[key] = s
		}
	}
	put(of, "mode", string(c.Mode))
	put(of, "artifact", c.Artifact)
	put(of, "tainted", c.Tainted)
	if c.Persona != nil {
		of["persona"] = fmt.Sprintf("%s@%d", c.Persona.Name, c.Persona.Version)
	}
	var from []any
	for _, h := range w.bound.handoffs {
		from = append(from, map[string]any{"path": d.at.file(h.Path), "blob": h.Blob})
	}
	if len(from) > 0 {
		of["handoffs"] = from
	}
	if c.Override != nil {
		of["override"] = overrideData(c.Override, d.Person)
	}
	data["contract"] = of
	if made := w.emission.Deliverable; made != nil {
		data["deliverable"] = made.Schema
	}
	if w.handed != nil {
		data["handoff"] = d.at.file(w.handed.path)
	}
	if n := len(w.result.Verdict.Hints); n > 0 {
		data["hints"] = n
	}
}
