package drain

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/surface"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// handed is a handoff that is not yet committed, as the board will have it.
type handed struct {
	handoff.Handoff
	text []byte
}

// newHanded encodes a deliverable as a handoff, without what looks like a credential; leaks reports that
// something did.
func newHanded(m handoff.Meta, made deliver.Deliverable) (h handed, leaks bool, err error) {
	name, text, err := handoff.Make(m, made)
	if err != nil {
		return h, false, err
	}
	h.text = secrets.Redact(text)
	a, err := okf.Parse(name, h.text)
	if err == nil {
		h.Handoff, err = handoff.Read(&a)
	}
	return h, !bytes.Equal(h.text, text), err
}

// encodeHandoff is the last session of w with what it delivers encoded for whoever comes next. A
// role without a mode hands over to nobody.
func (a attempt) encodeHandoff(w work) lastSession {
	c, s := a.bound.Contract, w.lastSession
	to := modeOf(c.Next)
	if c.Mode == "" || to == "" || s.emission.Deliverable == nil {
		return s
	}
	made := a.d.contracts().withArtifact(s.emission.Deliverable.Clone(), c)
	s.emission.Deliverable = &made
	m := handoff.Meta{
		Slug: a.slug(), From: c.Mode, To: to, Artifact: a.d.at.artifactName(cmp.Or(made.Artifact(), c.Artifact)), Run: a.d.Run, By: a.d.By,
		At: a.d.Now().UTC().Format(time.RFC3339), Journal: a.d.log.journalPath(), Tainted: c.Tainted,
	}
	if c.Persona != nil {
		m.Persona = fmt.Sprintf("%s@%d", c.Persona.Name, c.Persona.Version)
	}
	for _, h := range a.bound.handoffs {
		m.Derives = append(m.Derives, string(h.ID))
	}
	encoded := surface.Encoded(c, made)
	if lacks := encoded.Missing(); len(lacks) > 0 {
		return s.asBlocked("emission refused: the agent's result is missing %s", strings.Join(lacks, ", "))
	}
	h, leaks, err := newHanded(m, encoded)
	switch {
	case leaks:
		return s.asBlocked("emission refused: the agent's result contains something that looks like a credential" + noCredential)
	case err != nil:
		return s.asBlocked("emission refused: the agent's result cannot be passed on: %v", err)
	}
	world := a.d.contracts().handoffWorld(a.bound.built, w.proposedChanges(a.d.at), m.Journal)
	world.Tells = nil // the entry comes with the result
	dead := handoff.Check(h.Handoff, world)
	if a.d.given != nil {
		dead = nil // the board is not what was judged; who reads the findings marks what is not there
	}
	for _, p := range dead {
		return s.asBlocked("emission refused: the agent's result cites a file that does not exist: %s", p.Message)
	}
	s.handed = &h
	return s
}

// slug tells the handoffs of a run apart.
func (a attempt) slug() string {
	switch {
	case !isOffBoard(a.c.task):
		return board.Slug(a.c.task.ID)
	case a.member > 0:
		return fmt.Sprintf("%d %s", a.member, a.bound.Role)
	}
	return ""
}

// addHandoffs adds the handoffs of the sessions to a result's changes, and the entries
// of their transitions to the run's journal.
func (rec recorder) addHandoffs(p *draft, list ...work) {
	for _, w := range list {
		if h := w.handed; h != nil {
			p.changes[rec.at.pathOf(h.Path)] = h.text
			title, content := handoff.Entry(h.Handoff, rec.at.pathOf(h.Path), rec.log.now().UTC().Format(time.RFC3339))
			p.tellJournal("H", title, content+listReversions(w.emission.Says))
		}
		if w.emission.Outcome == session.HandoffInsufficient {
			rec.tellInsufficient(p, w)
		}
		if n := len(w.result.Verdict.Hints); n > 0 {
			p.tellJournal("O", hintOf(n), w.result.Verdict.Hints[0].Message)
		}
	}
}

func hintOf(n int) string {
	if n == 1 {
		return "1 text check warns, and blocks nothing"
	}
	return fmt.Sprintf("%d text checks warn, and block nothing", n)
}

func listReversions(says []deliver.Say) string {
	var b strings.Builder
	for _, s := range says {
		if s.Kind == "reversion" {
			fmt.Fprintf(&b, " Reversion declared: %s.", strings.TrimSuffix(s.Text, "."))
		}
	}
	return b.String()
}

// tellInsufficient tells the journal which handoffs did not hold, what they lack
// and the ways out.
func (rec recorder) tellInsufficient(p *draft, w work) {
	if len(w.bound.handoffs) == 0 {
		p.tellJournal("H", "Handoff insufficient: there was none", "INSUFFICIENT: "+strings.Join(w.emission.Missing, "; "))
	}
	for _, h := range w.bound.handoffs {
		title, content := handoff.Insufficient(h, w.emission.Missing).Entry(rec.at.pathOf(h.Path))
		p.tellJournal("H", title, content)
	}
}

func (b bound) whyInsufficient(missing []string) string {
	why := "handoff_insufficient: " + strings.Join(missing, ", ")
	if len(b.handoffs) == 0 {
		return why
	}
	s := handoff.Insufficient(b.handoffs[0], missing)
	why = fmt.Sprintf("handoff_insufficient: %s is missing: %s", s.Path, strings.Join(s.Missing, ", "))
	for _, way := range s.Ways {
		why += fmt.Sprintf("; %s: %s", way.Says, way.Command)
	}
	return why
}

// underContract adds to a session's record the contract it ran under, what it
// delivered and where that was handed over.
func (rec recorder) underContract(data *event.SessionData, w work) {
	c := w.bound.Contract
	if c.Role == "" {
		return
	}
	of := &event.SessionContract{
		Hash: c.Hash(), Role: string(c.Role), Surface: string(c.Surface.Name), Engagement: string(c.Engagement), Voice: string(c.Voice),
		Mode: string(c.Mode), Artifact: c.Artifact, Tainted: c.Tainted,
	}
	if c.Persona != nil {
		of.Persona = fmt.Sprintf("%s@%d", c.Persona.Name, c.Persona.Version)
	}
	for _, p := range c.Participants {
		of.Participants = append(of.Participants, p.Ref())
	}
	for _, h := range w.bound.handoffs {
		of.Handoffs = append(of.Handoffs, event.GivenFile{Path: rec.at.pathOf(h.Path), Blob: h.Blob})
	}
	if c.Override != nil {
		of.Override = overrideData(c.Override, rec.person)
	}
	data.Contract = of
	if made := w.emission.Deliverable; made != nil {
		data.Deliverable = made.Schema
	}
	if w.handed != nil {
		data.Handoff = rec.at.pathOf(w.handed.Path)
	}
	data.Hints = int64(len(w.result.Verdict.Hints))
}

// overridden is the tag of what came out of a session under an override, and
// of what was made from it.
const overridden = "override-produced"

// tellOverride adds to a claim's commit the entry of an override's start, so that
// it is in history before anything is spawned, and returns what the claim says of it.
func tellOverride(p *draft, o *contract.Override, by string) *event.Override {
	if o == nil {
		return nil
	}
	content := fmt.Sprintf("override started by %s for one session; reason: %s; risks acknowledged: %s; it ends with the session, and what it makes is tagged %s",
		by, o.Reason, strings.Join(o.Risks, ", "), overridden)
	p.tellJournal("D", "override: "+strings.Join(textsFrom(o.Modes), ", ")+" collapsed", content)
	return overrideData(o, by)
}

func overrideData(o *contract.Override, by string) *event.Override {
	return &event.Override{By: by, Modes: textsFrom(o.Modes), Reason: o.Reason, Risks: o.Risks}
}

func (rec recorder) overrideEnds(p *draft, o *contract.Override, how string) {
	if o == nil {
		return
	}
	content := fmt.Sprintf("override ended: %s; decided by %s, because: %s; given up: to keep %s apart; risks accepted: %s", how, rec.person, o.Reason, strings.Join(textsFrom(o.Modes), ", "), strings.Join(o.Risks, ", "))
	p.tellJournal("O", "override ended: "+strings.Join(textsFrom(o.Modes), ", "), content)
}

// overrideDied ends, in the journal of the run that sweeps, the override of a
// session that can no longer do it.
func overrideDied(p *draft, c event.Record) {
	o := c.Claim().Override
	if o == nil {
		return
	}
	p.tellJournal("O", "override ended: "+c.Run, fmt.Sprintf("override ended: the session died; %s had it from %s for: %s", c.Run, o.By, o.Reason))
}

// tagOverride tags what a session made under an override, or from what was.
func tagOverride(e session.Emission) (session.Emission, error) {
	atoms := make([]session.Atom, len(e.Atoms))
	for i, a := range e.Atoms {
		tags := make([]any, 0, len(a.Atom.Tags)+1)
		for _, t := range a.Atom.Tags {
			if t != overridden {
				tags = append(tags, t)
			}
		}
		b, err := okf.Edit(a.Atom.Bytes(), okf.Set{Key: "tags", Value: append(tags, overridden)})
		if err != nil {
			return e, fmt.Errorf("%s: %w", a.At, err)
		}
		if a.Atom, err = okf.Parse(a.Atom.Path, b); err != nil {
			return e, fmt.Errorf("%s: %w", a.At, err)
		}
		atoms[i] = a
	}
	e.Atoms = atoms
	return e, nil
}

// addRemarks appends the session's notes to the run's journal. One of a type that
// the bundle's canon does not have is left out.
func (rec recorder) addRemarks(p *draft, c *claim, w work) {
	types := rec.at.entryTypes()
	for _, n := range w.emission.Notes {
		err := types.Known(journal.Entry{Type: n.Type, Facet: n.Facet})
		if err == nil {
			title, content := journal.FitTitle(quoteText(n.Title), quoteText(n.Content))
			err = p.addEntry(n.Type, n.Facet, title, content)
		}
		if err != nil {
			rec.say(fmt.Sprintf("%s: a note of the session is not in the journal: %v", c.task.ID, err))
		}
	}
}

// The notes that a person is shown with a proposal: so many, of so many bytes each. The
// journal has all of them, whole.
const (
	mostNotes = 6
	noteSize  = 300
)

// openNotes are the titles of a session's open notes as a person is shown them.
func openNotes(notes []session.Note) (out []string) {
	more := 0
	for _, n := range notes {
		switch {
		case n.Facet != "open":
		case len(out) == mostNotes:
			more++
		default:
			title := oneLine(cleanText(n.Title))
			if len(title) > noteSize {
				title = strings.ToValidUTF8(title[:noteSize], "") + "…"
			}
			out = append(out, title)
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%d more; odd journal list --type O-open shows them", more))
	}
	return out
}

// leftOut is the line of a proposal's message that counts what the session found and does
// not propose, "" for nothing.
func leftOut(notes []session.Note) string {
	for _, n := range notes {
		if n.Facet == "" && strings.HasPrefix(n.Title, session.LeftOut) {
			return "\n\n" + oneLine(cleanText(n.Title))
		}
	}
	return ""
}

// quoteText returns a session's text in an entry. What begins as the entries do that odd
// itself writes of transitions and overrides, and finds again by it, is marked as
// the session's, so that no note can pass for one.
func quoteText(s string) string {
	if own().MatchString(strings.TrimSpace(okf.Visible(s))) {
		return "noted: " + s
	}
	return s
}

// own is how those begin.
var own = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i:exploration|planning|execution|validation|resolution)\s*→|^(?i:override|override ended):|^(?:REVERSION|SKIP|CLARIFICATION|INSUFFICIENT):`)
})

// entryTypes returns the types of journal entry that the board's canon has.
func (s *snapshot) entryTypes() journal.Registry {
	var docs []journal.Document
	for _, a := range s.graph.Atoms() {
		if slices.Contains(a.Tags, "encoding-type") && !slices.Contains([]string{"deprecated", "superseded", "archived"}, a.Status) {
			docs = append(docs, journal.Document{Name: s.pathOf(a.Path), Body: a.Body(), Line: a.BodyLine})
		}
	}
	r, _ := journal.RegistryOf(docs)
	return r
}
