package extract

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// The folders of documents that say what was, of those that teach, and of forms.
const (
	givenUp  = "archive archives archived attic historical legacy deprecated defunct rejected obsolete superseded"
	putAway  = givenUp + " minutes reports completed done retros retrospectives postmortems assessment assessments audits newsletters blog posts presentations slides meetings retro stories news jobs vacancies"
	teaching = "examples samples tutorial tutorials quickstart lesson lessons lecture lectures assignment assignments exercise exercises homework"
	blanks   = "template templates"
)

// whyPast tells why a document says what was, is to be or might be, and not what holds; "" for no
// reason. Of a record of a decision only its folder tells. A full date in its name makes minutes or a report
// only with a word of such, or with no more than one word besides.
func (d *document) whyPast() (why string, of class) {
	folders := strings.FieldsFunc(strings.ToLower(path.Dir(d.path)), splitsPath)
	left := putAway + " " + teaching + " " + blanks
	if d.decides {
		left = givenUp
	}
	at := slices.IndexFunc(folders, func(f string) bool { return in(left, f) })
	state := strings.ToLower(d.state)
	switch {
	case d.foreign:
		return "not in English", ""
	case d.decides && at < 0:
		return "", ""
	case at > 0 && folders[at] == "done" && folders[at-1] == "of": // a definition of done
	case at >= 0 && in(teaching, folders[at]):
		return "in a folder named " + folders[at], taught
	case at >= 0 && in(blanks, folders[at]):
		return "in a folder named " + folders[at], blank
	case at >= 0:
		return "in a folder named " + folders[at], dated
	case strings.Contains(strings.ReplaceAll(strings.ToLower(d.path), "_", "-"), "release-notes/"):
		return "notes on a release", forge
	case d.isOnce():
		return "a review or a plan of one time, by its name", dated
	case ofPaper().Match(d.raw) || d.hasWord("whitepaper whitepapers") || slices.ContainsFunc(folders, func(f string) bool { return in("paper papers", f) }):
		return "a paper for others", taught
	case d.isSample():
		return "a sample, by its name", taught
	case d.isForm():
		return "a form with blanks", blank
	case d.isProposal():
		return "a proposal, by its head", planned
	case d.hasWord("draft"):
		return "a draft, by its path", planned
	case d.hasWord("election elections") && slices.ContainsFunc(d.pathWords(), century().MatchString) || event().MatchString(path.Dir(d.path)):
		return "of one year, by its folder", dated
	case strings.Contains(strings.ToLower(d.title), "(deprecated)"):
		return "deprecated, by its title", dated
	case in("rejected declined withdrawn abandoned superseded obsolete", state), in("completed complete implemented done", state) && strings.EqualFold(d.form, "proposal"):
		return "its front matter says " + state, dated
	case strings.EqualFold(d.stem(), "roadmap") || slices.Contains(folders, "roadmap"):
		return "a plan", planned
	case slices.ContainsFunc(folders, func(f string) bool { return in(proposing, f) }) && !(d.isGuide() && in(proposing, folders[len(folders)-1])):
		return "a proposal, by its folder", planned
	}
	if !date().MatchString(d.stem()) {
		return "", ""
	}
	ws := strings.FieldsFunc(strings.ToLower(date().ReplaceAllString(d.stem(), "-")), splitsPath)
	if len(ws) < 2 || slices.ContainsFunc(append(ws, folders...), func(w string) bool {
		return in("meeting meetings minutes notes agenda report reports retro retrospective postmortem incident incidents audit call sync standup news announcement announcements update updates", w)
	}) {
		return "minutes or a report, by its name", dated
	}
	return "", ""
}

// isOnce reports whether d is named after what is done once: a review of one year, a plan or a checklist of what goes, a
// move from one version to another.
func (d *document) isOnce() bool {
	ws := strings.FieldsFunc(strings.ToLower(d.stem()), splitsPath)
	has := func(list string) bool { return slices.ContainsFunc(ws, func(w string) bool { return in(list, w) }) }
	return slices.ContainsFunc(ws, century().MatchString) && has("review audit assessment report findings survey plan goals") ||
		has("remove removal removing migrate migration rollout sunset") && has("checklist plan tracker") || fromTo().MatchString(d.stem())
}

// fromTo names two versions, and ofPaper is how a paper speaks of itself.
var fromTo, ofPaper = lazy(`(?i)\bv?[0-9]+(?:\.[0-9]+)*(?:\.x)?[- _]to[- _]v?[0-9]+(?:\.[0-9]+)*(?:\.x)?(?:[^0-9-]|$)`), lazy(`(?i)\bthis (?:white ?)?paper (?:is|aims|offers|introduces|refers|presents|describes|explores|provides|discusses|focuses|assumes|covers)\b`)

// isNamed reports whether the file of d is named after one of these words, at the beginning or the end, and
// not after what has such a word in front, as an engine for templates.
func (d *document) isNamed(list string) (named, alone bool) {
	ws := strings.FieldsFunc(strings.ToLower(d.stem()), splitsPath)
	if len(ws) == 0 {
		return false, false
	}
	at := len(ws) - 1
	if !in(list, ws[at]) {
		at = 0
	}
	return in(list, ws[at]), !slices.ContainsFunc(slices.Delete(ws, at, at+1), func(w string) bool {
		return !in("adr madr decision record rfc proposal policy charter contract agreement plan report minutes meeting agenda issue letter page document readme runbook playbook postmortem incident role process procedure checklist guidelines", w)
	})
}

// isSample reports whether d shows how a document of its kind looks: by its name, as sample-policy.
func (d *document) isSample() bool {
	named, alone := d.isNamed("sample example")
	return named && alone
}

// isForm reports whether d is to be filled in: its name says so, and it has blanks.
func (d *document) isForm() bool {
	if named, _ := d.isNamed("template form sample example"); !named {
		return false
	}
	n := len(blankOf().FindAll(d.raw, 3))
	for i, s := range d.sections {
		if s.title != "" && len(s.blocks) == 0 && (i+1 == len(d.sections) || d.sections[i+1].level <= s.level) {
			n++ // a heading with nothing below it
		}
	}
	return n > 1
}

// blankOf is a place that is to be filled in: a placeholder in brackets, a note on what to write, dots.
var blankOf = lazy(`(?m)\{[A-Za-z][^{}\n]*\}|\[[A-Za-z][^\]\n]*\](?:[^(\[:]|$)|<[A-Za-z][^<>\n=/]* [^<>\n=]*>|<!--|\b(?:(?i:todo|tbd)|X{3}|YYYY|NNNN)\b|_{3,}|(?:\.\.\.|…)$`)

// event is a folder with a year and another word in its name, as that of a vote or a conference.
var event = lazy(`(?:^|/)(?:(?:19|20)[0-9]{2}[-_][A-Za-z]|[^/]*[A-Za-z][-_](?:19|20)[0-9]{2}(?:[-_/]|$))`)

// isProposal reports whether d says that it proposes something, by its first words, or begins with the fields of
// a proposal: its status, and who wrote or reviews it. A draft has only the first.
func (d *document) isProposal() bool {
	people := isRST(d.path) && rstAuthor().Match(d.raw)
	for i, s := range d.sections[:min(3, len(d.sections))] {
		for _, b := range s.blocks {
			for _, t := range b.listTexts() {
				label, _, ok := strings.Cut(strings.ToLower(t.run.text), ":")
				people = people || ok && i < 2 && in("author authors author(s) reviewer reviewers reviewer(s) proposer champion", label)
				if proposes().MatchString(firstOf(t.run.text)) {
					return true
				}
			}
		}
	}
	return slices.ContainsFunc(words(d.readStatus()), func(w string) bool {
		w = strings.TrimRight(w, ".,;!")
		return w == "draft" || people && in(proposedStates+" "+refused, w)
	})
}

// proposes are the words of a document about itself, and rstAuthor the field of its author.
var proposes, rstAuthor = lazy(`(?i)^this (?:[\w-]+ )?(?:document |page )?(?:proposes|is a proposal)\b`), lazy(`(?mi)^(?:\| *|:)?authors?(?:\(s\))?(?::| {2,}| *\|)`)

// proposedStates are what becomes of a proposal; a rule is in force, or has an owner.
const proposedStates = "draft proposed proposal provisional implementable implemented deferred pending review progress"

// proposing are the words in the folder of proposals.
const proposing = "tep teps kep keps sep seps pep peps rfc rfcs proposal proposals enhancement enhancements"

// isGuide reports whether d explains the documents of its folder, and is none of them.
func (d *document) isGuide() bool {
	return in("readme index process guide how-to about", strings.ToLower(d.stem()))
}

// date is a full date in the name of a file. A rule may well be of a year; minutes are of a day.
var date = lazy(`(?:^|[^0-9])(?:19|20)[0-9]{2}(?:-[01][0-9]-|_[01][0-9]_|\.[01][0-9]\.|[01][0-9])[0-3][0-9](?:[^0-9]|$)`)

// shelfPenalty returns how much less a document counts that is kept and not lived by: that is old, of a
// year before this one, notes, an example. A decision is of a date and holds.
func (d *document) shelfPenalty(thisYear string) int {
	n := 0
	for _, part := range d.pathWords() {
		if !d.decides && century().MatchString(part) && part < thisYear || in("old deprecated legacy faq faqs components notes example sample", part) {
			n += 10
		}
	}
	return min(n, 30)
}

// age is how many years ago d, a record of a decision, was made, up to maxAge: 0 where it has no date at its top or
// in its name.
func (d *document) age(thisYear string) int {
	at := yearOf().FindStringSubmatch(d.path + " " + string(d.raw[:min(len(d.raw), 300)]))
	if !d.decides || at == nil {
		return 0
	}
	made, _ := strconv.Atoi(at[1])
	now, _ := strconv.Atoi(thisYear)
	return min(max(now-made, 0), maxAge)
}

// maxAge is the age from which a decision is as likely overtaken as any older one, in years.
const maxAge = 6

// yearOf is a year within a date or alone.
var yearOf = lazy(`(?:^|[^0-9])((?:19|20)[0-9]{2})(?:[^0-9]|$)`)
