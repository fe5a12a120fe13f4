// Package extract is the default substrate: it reads the markdown and reStructuredText a task names
// and emits what the text says exists, as inferred atoms. No model, no network,
// no cost; the same files give the same bytes.
//
// # What it reads
//
//   - policies: the paragraphs and lists of a section that oblige people, whole, so that their conditions stay, a
//     heading that obliges, and a list of orders of what agents or contributors read. A section of bearable length is
//     quoted whole, and one whose parts say little alone, or that only opens what its parts oblige to, with its parts;
//     what is done before a change is handed in, for those who do it. Where a document is about how people work,
//     weaker words count, and in a charter what is done
//   - processes: a heading that names an activity, or a sentence that says what for, above an ordered list,
//     instructions or commands; a noun only above steps or commands; Diagnosis, Mitigation and the like of a runbook;
//     in a charter, what people do in turn. A document or heading named for an affair of the team, as a release, an
//     onboarding or a checklist, whose headings instruct is one procedure with all of them; where it is too long, each
//     of its stages is. Left out is a procedure that runs a script which the program's tree no longer has. A section
//     that obliges as often as it instructs is neither a policy nor a process, and a finding counts it
//   - decisions: the section of an ADR that states the decision; not one that was given up or refused, that a
//     later record of the folder removes by name, decides again or says it replaces, that is a stop-gap or a list of work,
//     or that names what the program's tree no longer has; one that is only proposed says so in its title and stands
//     behind
//   - roles: tables, lists and sub-headings of a section about roles, and an office that a heading
//     names, where the text says what its holders are or do; "The X is responsible for …", first in
//     a section
//   - systems and artifacts: tables and lists of a section about them; "X is a … service"
//   - terms: definition lists; lists, paragraphs and sub-headings of a glossary; tables with a column
//     of terms; "What is X?"; "An *X* is a …"
//
// What a section is about is told by its heading, else by the nearest heading above it, else by the file or folder. It
// passes over licences and tables of contents; what is not in English; minutes, plans, reviews of one time, drafts,
// proposals, examples, papers, themes and forms; what a folder, a heading, the front matter or a field at the top
// calls done, rejected, archived or legacy; invitations, and what only weighs, as context and alternatives.
// Specifications, references of an interface and manuals for users, and what tells others how to begin with a product,
// check it or build on it, hold no rule or procedure of the team.
//
// # What an atom holds
//
// Its kind, title and, where the quote has one, a sentence about it that stands alone; its sources, with their lines,
// the blob of the file and a hash of the cited text; and the text itself as a quote with footnotes. TestAtomWhole has
// one.
//
// Edges are typed only where the text says how (Owner, "reports to", a command
// that is run, "produces"); a mere mention is relates_to.
//
// # What holds
//
//  1. No atom without a file and lines that say so, word for word: what it quotes stands in those lines, in their
//     order, with marks of markdown taken off, and what a generator of sites marks, as a warning or the file of some
//     code, as a label in bold. Code keeps its marks; a link stays where it can be followed from the atom's file. A
//     procedure is quoted whole, with the notes below its steps and the comments in its commands. An atom that fails
//     this is left out, and a finding names it.
//  2. One concept is one atom: the same name or the same rule in several files is one atom with
//     several sources, which cite what it quotes, and where kinds disagree the plainest source decides. Of documents
//     for several years or versions the last one says what holds; a finding names the others.
//  3. What the bundle already holds is emitted only with something new and with
//     the blob it updates, and never when a person wrote or verified it. Other lines
//     for the same text and other links are nothing new, and what a person edited stays while the text does.
//  4. The plainest sources win: procedures, decisions and rules by how plainly they are such, then roles, definitions,
//     systems, files; a point for every further document that says the same, up to five, eight for an affair of the
//     team, and less for a past year, notes, an example, a heading that does not name it, no description, or what
//     countLacks counts. Each further atom of one document or type counts less. Beyond two fifths of MaxAtoms only
//     what strong evidence speaks for is emitted, and nowhere a rule that says little, nor how a program is built or
//     run without a why; the weaker ones are named. How many were left out is a finding, as is every input that was
//     not read and every name that two documents define differently.
//  5. A source whose text is gone from the file that was read goes from the atom, with what
//     is quoted of it. An atom that loses the last one is proposed as deprecated, and only
//     named where a person verified it. A file that is gone counts as read where it is
//     among the inputs, or in a folder that is.
//  6. A fault of the reader on one file costs that file alone.
//
// The package is large because each kind of atom, and each way in which documents lay one out, has rules of its own.
// The types section and document have the questions that these rules ask of a text, which are more than forty.
package extract

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Substrate reads markdown and reStructuredText. It has no settings.
type Substrate struct{}

// Run reads r.Inputs from r.Files in one turn, at no cost.
func (Substrate) Run(ctx context.Context, r session.Request) (session.Emission, error) {
	if e, ok := r.BeginTurn(ctx, session.Usage{}); !ok {
		return e, nil
	}
	free := session.Usage{Turns: 1, CostKnown: true, Model: "extract"}
	files, skips, err := readInputs(ctx, r.Files, r.Inputs, r.BundleRoot)
	if err != nil {
		return interruptedEmission(ctx, free), nil
	}
	skips = slices.DeleteFunc(skips, func(s skip) bool { return s.class == absent && isCited(r.Graph, []string{s.path}) })
	if len(files) == 0 && !isCited(r.Graph, r.Inputs) {
		e := session.Fail(session.NoInputs, "nothing to read; give the task inputs: paths, folders or globs of files in markdown or reStructuredText")
		e.Usage, e.Notes = free, unread(skips)
		return e, nil
	}
	docs := make([]*document, 0, len(files))
	for i, f := range files {
		if ctx.Err() != nil {
			return interruptedEmission(ctx, free), nil
		}
		if i > 0 && i%100 == 0 && r.Progress != nil {
			r.Progress(fmt.Sprintf("reading %d of %d files", i+1, len(files)))
		}
		d, err := readFile(f)
		if err != nil {
			skips = append(skips, skip{path: f.path, why: err.Error()})
			continue
		}
		if d.bad != "" {
			skips = append(skips, skip{path: d.path, why: d.bad, class: unheaded})
		}
		if d.listsVersions() {
			skips = append(skips, skip{path: d.path, why: "a change log", class: forge})
		} else if why, of := d.whyPast(); why != "" {
			skips = append(skips, skip{path: d.path, why: why, class: of})
		}
		docs = append(docs, d)
	}
	e, err := emitAtoms(docs, append(skips, withoutManual(r.Files, docs)...), r)
	if err != nil {
		return session.Emission{}, err
	}
	e.Usage = free
	e.Raw = session.Print(e)
	return e, nil
}

// readFile reads a document and its candidates. A fault of the reader on one file
// costs that file alone.
func readFile(f file) (d *document, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the reader failed on it: %v", p)
		}
	}()
	d = parseDocument(f)
	d.found = d.findCandidates()
	return d, nil
}

func interruptedEmission(ctx context.Context, u session.Usage) session.Emission {
	e := session.Fail(session.Interruption(ctx), "")
	e.Usage = u
	return e
}

// chosen is a candidate with the atom it updates, nil for a new one.
type chosen struct {
	candidate
	prior *okf.Atom
	drift []okf.Drift // the sources of prior whose files do not have the text
}

// id is the id the atom has or will have.
func (c chosen) id() string {
	if c.prior != nil {
		return string(c.prior.ID)
	}
	return c.newID()
}

// newID is the id of a new atom: its title's, with its kind behind where the file would
// have a name that OKF or a file system keeps for itself, as index and con.
func (c candidate) newID() string {
	id := slug(c.title)
	if id == "index" || id == "log" || len(policy.CheckPath(id+".md")) > 0 {
		return id + "-" + c.kind
	}
	return id
}

// emitAtoms turns documents into atoms and findings.
func emitAtoms(docs []*document, skips []skip, r session.Request) (session.Emission, error) {
	var all []candidate
	for _, d := range docs {
		all = append(all, d.found...)
	}
	all, copies := withoutCopies(all)
	skips = append(skips, copies...)
	all, older := keepLatest(all)
	all, overturned := withoutOverturned(all)
	all, stale := withoutGone(r.Files, all)
	cs, clashes := mergeCandidates(all)
	rankCandidates(cs, r.Now.UTC().Format("2006"))
	t := tally{docs: docs, skips: skips, older: append(older, overturned...), doubted: stale, clashes: clashes, kinds: map[string]int{}}
	there := newBundle(r.Graph, cs)
	var kept, declined []chosen
	d := newDirectory(r.Graph, cs)
	drift, read := driftOf(r, docs), map[string]bool{}
	for _, c := range cs {
		k := chosen{candidate: c, prior: there.findPrior(c)}
		if k.prior == nil && r.Declined != nil {
			a, _, err := k.makeAtom(d, r)
			if err != nil {
				return session.Emission{}, err
			}
			if r.Declined(a.ID, okf.Grounds(&a)) != "" {
				declined = append(declined, k) // and takes no place of what nobody has seen
				continue
			}
		}
		if k.prior != nil {
			k.drift = drift[k.prior.Path]
			read[k.prior.Path] = true
			_, news, err := k.makeAtom(d, r)
			if err != nil {
				return session.Emission{}, err
			}
			if !news {
				t.known++
				continue
			}
		}
		kept = append(kept, k)
	}
	tidied, err := t.tidyGone(drift, read, r)
	if err != nil {
		return session.Emission{}, err
	}
	kept, t.weak = splitWeak(kept, r.MaxAtoms)
	if most := max(r.MaxAtoms-len(tidied), 0); r.MaxAtoms > 0 && len(kept) > most {
		kept, t.left = kept[:most], kept[most:]
	}
	if room := r.MaxAtoms - len(tidied) - len(kept); r.MaxAtoms > 0 && len(declined) > room {
		declined = declined[:max(room, 0)]
	}
	kept = append(kept, declined...)
	e, err := finishEmission(kept, &t, r)
	e.Atoms = append(tidied, e.Atoms...)
	return e, err
}

// splitWeak leaves of candidates in the order of their rank the first, two fifths of what a limit allows,
// and of the others those that are there already and changed, and those for which strong evidence speaks.
func splitWeak(all []chosen, limit int) (kept, weak []chosen) {
	if limit == 0 {
		return all, nil
	}
	for i, k := range all {
		if 5*i < 2*limit && !k.isTrifle() || k.prior != nil || k.isStrong() {
			kept = append(kept, k)
		} else {
			weak = append(weak, k)
		}
	}
	return kept, weak
}

// isTrifle reports whether c takes no place, however many are free: a rule that says little, or how something is run
// that is told without a why, or that every program's documents tell and for which no strong evidence speaks.
func (c candidate) isTrifle() bool {
	e := c.evidence[0]
	switch c.kind {
	case policyAtom:
		return e.isTrifling()
	case process:
		return e.doc.isOfProgram() && (e.isBare() || isEveryday(c.title) && c.score < scoreStrong || (isEveryday(c.title) || isEveryday(c.under)) && !e.tellsWhy())
	}
	return false
}

// isStrong reports whether strong evidence speaks for c: of a rule less is enough in a document for rules, and of a
// role in one that governs.
func (c candidate) isStrong() bool {
	least := scoreStrong
	switch d := c.evidence[0].doc; {
	case c.isTrifle():
		return false
	case c.kind == system || c.kind == artifact:
		return false
	case (c.kind == policyAtom || c.kind == role) && d.isCharter() || c.kind == policyAtom && d.isForAgents():
		least = scoreSigns
	case c.kind == policyAtom && d.isForRules():
		least = scoreSigns + 3
	}
	return c.score >= least
}

// finishEmission prints what is kept. Edges are made last, among what is emitted and
// what is there, so that none points to an atom that was left out.
func finishEmission(kept []chosen, t *tally, r session.Request) (session.Emission, error) {
	e := session.Emission{Outcome: session.Completed}
	kept, err := t.withoutDoubtful(kept, r)
	if err != nil {
		return session.Emission{}, err
	}
	d := directoryOf(kept, r)
	for _, k := range kept {
		a, news, err := k.makeAtom(d, r)
		if err != nil {
			return session.Emission{}, err
		}
		if !news {
			t.known++
			continue
		}
		t.kinds[k.kind]++
		out := session.Atom{Atom: a, At: fmt.Sprintf("%s:%d", k.evidence[0].doc.path, k.evidence[0].from)}
		if k.prior != nil {
			out.Base = k.prior.Blob
		}
		e.Atoms = append(e.Atoms, out)
	}
	e.Notes, e.Known = t.writeNotes(), t.known
	return e, nil
}

func directoryOf(kept []chosen, r session.Request) directory {
	cs := make([]candidate, len(kept))
	for i, k := range kept {
		cs[i] = k.candidate
	}
	return newDirectory(r.Graph, cs)
}

// withoutDoubtful takes out what has something new and is doubtful, and keeps why.
func (t *tally) withoutDoubtful(kept []chosen, r session.Request) (out []chosen, err error) {
	d := directoryOf(kept, r)
	for _, k := range kept {
		a, news, err := k.makeAtom(d, r)
		if err != nil {
			return nil, err
		}
		if why := k.whyDoubted(a); news && why != "" {
			t.doubted = append(t.doubted, skip{path: secrets.RedactText(k.title), why: secrets.RedactText(why)})
			continue
		}
		out = append(out, k)
	}
	return out, nil
}

// whyDoubted is why an atom is left out after all, "" for none: what it quotes must stand in
// the lines it names and hold no credential, and odd must take its path.
func (k chosen) whyDoubted(a okf.Atom) string {
	for _, e := range k.cited() {
		if why := e.whyDoubted(); why != "" {
			return why
		}
	}
	if t := k.findTemplate(); t != "" {
		return "a template of the site stands for text: " + clip(t, maxDescription)
	}
	if text := a.Bytes(); !bytes.Equal(text, secrets.Redact(text)) {
		return fmt.Sprintf("%s:%d has what looks like a credential; take it out of the file, and renew it if it is one", k.evidence[0].doc.path, k.evidence[0].from)
	}
	if bad := policy.CheckPath(a.Path); len(bad) > 0 {
		return "the path " + a.Path + " " + bad[0].Text
	}
	return ""
}

// whyDoubted is why what e quotes is not to be shown as what its lines say, "" for no reason.
func (e evidence) whyDoubted() string {
	if q := e.firstAltered(); q != "" {
		return fmt.Sprintf("%s:%d does not say: %s", e.doc.path, e.from, clip(q, maxDescription))
	}
	for _, t := range e.readsAs() {
		if strings.Contains(t.text, unseen) {
			return fmt.Sprintf("%s:%d has an image without a text within a sentence", e.doc.path, e.from)
		}
	}
	src := e.doc.markdownWithin(e.from, e.to)
	if bytes.Count(src, []byte("<table")) > bytes.Count(src, []byte("</table")) {
		return fmt.Sprintf("%s:%d ends within a table of HTML", e.doc.path, e.to)
	}
	if struck().Match(src) {
		return fmt.Sprintf("%s:%d has text that is struck out", e.doc.path, e.from)
	}
	if d := e.doc.madeBySite(e.from, e.to); d != "" {
		return "a template of the site stands for text: " + d
	}
	if e.breaksOff || e.isTooLong() {
		return fmt.Sprintf("%s:%d goes on for more lines than one atom quotes", e.doc.path, e.from)
	}
	if q := e.announcesMore(); q != "" {
		return fmt.Sprintf("%s:%d goes on behind: %s", e.doc.path, e.to, clip(q, maxDescription))
	}
	return ""
}

// codeMarked is a code span.
var codeMarked = lazy("`+[^`]*`+")

// struck is text that a page shows as no longer valid.
var struck = lazy(`(?:^|[^~])~~[^\s~]|(?i:<(?:del|s|strike)>)`)

// findTemplate is a text of k that stands for another, "" for none. In code braces are code,
// but for those of shortcodes and, within a line of a page that Ruby fills in, its own.
func (k chosen) findTemplate() string {
	if left().MatchString(k.title) {
		return k.title
	}
	for _, e := range k.cited() {
		for _, t := range e.readsAs() {
			if shortcode().MatchString(t.text) || !t.code && (left().MatchString(codeMarked().ReplaceAllString(t.renderRun(nil), "")) || isERB(e.doc.path) && erb().MatchString(t.text)) {
				return t.text
			}
		}
	}
	return ""
}

// makeAtom is what is emitted for k; news false means that nothing is.
func (k chosen) makeAtom(d directory, r session.Request) (a okf.Atom, news bool, err error) {
	if k.prior != nil {
		a, news, err = k.updatePrior(d, r)
	} else {
		a, err = k.newAtom(d, r)
		news = true
	}
	if err != nil {
		return okf.Atom{}, false, fmt.Errorf("extract: %s from %s: %w", k.id(), k.evidence[0].doc.path, err)
	}
	return a, news, nil
}
