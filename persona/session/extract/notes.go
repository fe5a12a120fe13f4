package extract

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/persona/session"
)

// tally counts what the run did besides emitting atoms.
type tally struct {
	docs    []*document
	skips   []skip
	older   []skip // what a later year or version says, and which
	clashes []clash
	left    []chosen
	weak    []chosen // beyond the first ones, without strong evidence
	doubted []skip   // titles that were left out, and why
	gone    []skip   // atoms whose sources are gone and which are proposed as deprecated, and a source
	told    []skip   // those that a person verified
	known   int
	kinds   map[string]int
}

// maxClashes bounds the double definitions that have a finding each, and maxTold the names in the title
// of one. Its content has all of them.
const (
	maxClashes = 10
	maxTold    = 3
)

// manyDocuments are so many that a drain shows how much of them said nothing.
const manyDocuments = 8

// writeNotes returns the observations of a run: one closed, of what was read, and an
// open one for each thing a person should look at.
func (t *tally) writeNotes() []session.Note {
	sections := 0
	for _, d := range t.docs {
		sections += len(d.sections)
	}
	var out []session.Note
	if len(t.docs) > 0 {
		title := countNoun(len(t.docs), "file") + " read"
		if len(t.kinds) == 0 && t.known > 0 {
			title += fmt.Sprintf(", %d known already", t.known)
		}
		out = append(out, session.Note{Type: "O", Title: title,
			Content: fmt.Sprintf("Read %s in %s. Proposed: %s; known already, with nothing new: %d.",
				countNoun(sections, "section"), countNoun(len(t.docs), "file"), t.describeEmitted(), t.known)})
	}
	quiet := t.listQuiet()
	if n := len(quiet); n > 0 && len(t.kinds) > 0 && len(t.docs) >= manyDocuments { // else the first note says how many files were read
		out = append(out, openNote(fmt.Sprintf("%s with %s read; %d of them said nothing to propose", countNoun(len(t.docs), "file"), countNoun(sections, "section"), n),
			"Nothing was found in: "+strings.Join(quiet, ", ")+"."))
	}
	if n := len(t.left); n > 0 {
		out = append(out, openNote(countNoun(n, "more candidate")+" left out; raise [session] max_atoms or narrow the task's inputs to see them",
			fmt.Sprintf("The sources say more than max_atoms allows; the least plain were left out: %s. Run the task again after the review, or raise max_atoms.", titlesOf(t.left))))
	}
	if n := len(t.weak); n > 0 {
		out = append(out, openNote(fmt.Sprintf("%d more, weaker, left out; run the task again after the review to see them", n),
			"Less speaks for these than for what is proposed: "+titlesOf(t.weak)+". Run the task again after the review, narrow its inputs, or raise [session] max_atoms."))
	}
	if n := len(t.doubted); n > 0 {
		out = append(out, openNote(countNoun(n, "doubtful atom")+" left out: "+listSome(pathsOf(t.doubted), maxTold), "The reader found these and does not vouch for them: "+strings.Join(listReasons(t.doubted), ", ")+"."))
	}
	torn := t.listTorn()
	if n := len(torn); n > 0 {
		out = append(out, openNote(countNoun(n, "section")+" left out, not plainly a rule or a procedure: "+listSome(pathsOf(torn), maxTold), "The reader cannot tell which these are: "+strings.Join(pathsOf(torn), ", ")+"."))
	}
	if n := len(t.older); n > 0 {
		out = append(out, openNote(countNoun(n, "candidate")+" left out for a later year, version or decision: "+listSome(pathsOf(t.older), maxTold), "Files whose names differ by a year or a version say these under one heading, and the last holds; or a later decision overturns these: "+strings.Join(listReasons(t.older), ", ")+"."))
	}
	if n := len(t.gone); n > 0 {
		out = append(out, openNote(countNoun(n, "atom")+" orphaned, proposed as deprecated: "+listSome(pathsOf(t.gone), maxTold),
			"No file has what these cite: "+strings.Join(listReasons(t.gone), ", ")+". Leave out those that are still true, and name their new sources."))
	}
	if n := len(t.told); n > 0 {
		out = append(out, openNote(countNoun(n, "verified atom")+" orphaned, left as is: "+listSome(pathsOf(t.told), maxTold),
			"No file has what these cite, and a person verified them: "+strings.Join(listReasons(t.told), ", ")+". Name their new sources, or deprecate them."))
	}
	out = append(out, unread(t.skips)...)
	for i, c := range t.clashes {
		if i == maxClashes {
			out = append(out, openNote(countNoun(len(t.clashes)-i, "more double definition"), "Further names are defined in different words; see the sources of their atoms."))
			break
		}
		out = append(out, openNote(fmt.Sprintf("%s is defined twice", c.title),
			fmt.Sprintf("%s is defined in different words at %s:%d and %s:%d; one of them should go or link to the other.",
				c.title, c.a.doc.path, c.a.from, c.b.doc.path, c.b.from)))
	}
	var why []string
	all := 0
	for _, r := range []struct {
		n    int
		what string
	}{{len(t.left), "over max_atoms"}, {len(t.weak), "weaker"}, {len(t.doubted), "doubtful"}, {len(torn), "not plainly a rule or a procedure"}, {len(t.older), "of an earlier year, version or decision"}, {t.countSkips(formed), "of forms"}, {t.countSkips(manual), "manual pages read in part"}, {t.unread(), "not read"}} {
		if all += r.n; r.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", r.n, r.what))
		}
	}
	title, content := fmt.Sprintf("%s%d (%s)", session.LeftOut, all, strings.Join(why, ", ")), "What the reader found and does not propose; notes of this run name it."
	if all == 0 {
		title, content = session.LeftOut+"nothing", ""
	}
	if n := len(quiet); n > 0 {
		title += fmt.Sprintf("; %s said nothing to propose", countNoun(n, "section"))
		content = strings.TrimSpace(content + " Nothing was found in: " + strings.Join(quiet, ", ") + ".")
	}
	if all+len(quiet) > 0 {
		out = append(out, session.Note{Type: "O", Title: title, Content: content})
	}
	return out
}

// listTorn are the sections that are neither read as a rule nor as a procedure.
func (t *tally) listTorn() (out []skip) {
	for _, d := range t.docs {
		for _, s := range d.sections {
			if s.torn {
				out = append(out, skip{path: fmt.Sprintf("%s:%d", d.path, s.line)})
			}
		}
	}
	return out
}

// listQuiet are the sections with a text of which the reader found nothing.
func (t *tally) listQuiet() (out []string) {
	for _, d := range t.docs {
		for _, s := range d.sections {
			if why, _ := d.whyPast(); len(s.blocks) > 0 && !s.gave && !s.torn && !s.part && !s.isClosed() && why == "" && !d.listsVersions() {
				out = append(out, fmt.Sprintf("%s:%d", d.path, s.line))
			}
		}
	}
	return out
}

// unread is how many inputs were not read, or not to the end.
func (t *tally) unread() int {
	return len(t.skips) - t.countSkips(unheaded) - t.countSkips(formed) - t.countSkips(manual)
}

func (t *tally) countSkips(of class) int {
	return count(t.skips, func(s skip) bool { return s.class == of })
}

// countNoun returns a number with its noun, "1 file" or "2 files".
func countNoun(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (t *tally) describeEmitted() string {
	var parts []string
	for _, k := range []string{term, process, role, system, artifact, policyAtom, decision} {
		if n := t.kinds[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", k, n))
		}
	}
	if len(parts) == 0 {
		return "no atoms"
	}
	return strings.Join(parts, ", ")
}

// unread says what was not read: one note a class, the files with a reason of their own first.
func unread(skips []skip) (out []session.Note) {
	for _, c := range []struct {
		class
		noun, which, way string
	}{
		{absent, "input", " left out", "Commit what is missing, or correct the task's inputs."},
		{"", "file", " left out", "Name other files, or mend these."},
		{unheaded, "file", " with front matter that is not YAML, which was skipped", "A title, an owner and a status there are used."},
		{foreign, "file", " left out, neither markdown nor reStructuredText", "The reader reads .md, .markdown, .mdown, .mkd, .mdx and .rst, and .md.erb."},
		{forge, "file", " left out, licences, change logs and the like", "A file that the task's inputs name by its own path is read."},
		{dated, "file", " left out, minutes, reports and what is put away", "Keep what still holds in a file of another name, in a folder of another name."},
		{planned, "file", " left out, proposals, drafts and plans", "Keep what holds already in a file of another name, in a folder of another name."},
		{blank, "file", " left out, forms", "What holds stands in a document without blanks."},
		{taught, "file", " left out, tutorials, examples and papers", "Rules and procedures of the team stand in other folders, as contributing or runbooks."},
		{formed, "passage", " left out, of forms that documents of one folder fill in", "What holds stands in the form, or where the form comes from."},
		{manual, "page", " of the product's manual, whose rules and procedures are left out", "Rules and procedures of the team stand in other folders than the manual, as contributing or runbooks."},
		{passed, "folder", " passed over", "A folder that the task's inputs name by its own path is read."},
	} {
		var these []skip
		for _, s := range skips {
			if s.class == c.class {
				these = append(these, s)
			}
		}
		if len(these) == 0 {
			continue
		}
		told, all := pathsOf(these), listReasons(these)
		if c.class == "" || c.class == absent {
			told = all
		}
		what := "Not read: "
		switch c.class {
		case unheaded:
			what = "Front matter passed over: "
		case formed:
			what = "Left out: "
		case manual:
			what = "Rules and procedures left out of: "
		}
		out = append(out, openNote(countNoun(len(these), c.noun)+c.which+": "+listSome(told, maxTold), what+strings.Join(all, ", ")+". "+c.way))
	}
	return out
}

// titlesOf are the titles of candidates, in a row.
func titlesOf(cs []chosen) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = c.title
	}
	return strings.Join(names, ", ")
}

// pathsOf are the paths or names alone of what was left out.
func pathsOf(skips []skip) []string {
	out := make([]string, len(skips))
	for i, s := range skips {
		out[i] = s.path
	}
	return out
}

// listReasons returns what was left out, each with why.
func listReasons(skips []skip) []string {
	out := make([]string, len(skips))
	for i, s := range skips {
		out[i] = s.path + " (" + s.why + ")"
	}
	return out
}

func openNote(title, content string) session.Note {
	return session.Note{Type: "O", Facet: "open", Title: title, Content: content}
}

// listSome names most of them, and how many more there are.
func listSome(names []string, most int) string {
	if n := len(names); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n-most)
	}
	return strings.Join(names, ", ")
}
