package anchor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/octave"
)

// A payload is read in the forms that agents are likely to write, and written in one
// form only (anchorText). The forms are the identity block of an OCTAVE envelope, the same
// block without an envelope, and the older text with headings:
//
//	===IDENTITY===                BIND:                    ## BIND
//	META:                           ROLE::editor           ROLE::editor
//	  TYPE::IDENTITY                COGNITION::LOGOS       COGNITION::LOGOS::ATLAS⊕HERMES
//	  VERSION::"5.0"                ARCHETYPES::[ATLAS]    AUTHORITY::RESPONSIBLE[the docs]
//	BIND:                         TENSIONS:                ## TENSION
//	  ROLE::editor                  [A]⇌CTX:b[c]→TRIGGER[d]   L1::[A] <-> CTX:b[c] -> TRIGGER[d]
//	…
//
// A key counts only in its own section: a ROLE in a comment, in another section or
// before all of them is not a role. A section or a key that stands twice is refused,
// because either could be meant. ARM is the server's, so a payload's own is ignored,
// and so is text outside of every section.

// readBind reads the payload of the second stage.
func readBind(b []byte) (Bind, []Problem) {
	r := parsePayload(b, BindSyntax)
	s := r.findSection("BIND", "BIND")
	if s == nil {
		return Bind{}, r.problems
	}
	bind := Bind{Role: roleName(s.readText("ROLE"))}
	bind.Cognition, bind.Archetypes = s.readCognition()
	bind.Authority = s.readAuthority()
	return bind, r.problems
}

// readProof reads the payload of the last stage. A tension keeps the ordinal it
// carries, 0 for none; JudgeProof numbers them.
func readProof(b []byte) (Proof, []Problem) {
	r := parsePayload(b, ProofSyntax)
	var p Proof
	if s := r.findSection("TENSIONS", "TENSIONS", "TENSION"); s != nil {
		p.Tensions, p.Unread = s.readTensions()
	}
	p.Commit = r.readCommit()
	return p, r.problems
}

// readCommit reads the payload of an express session, or the COMMIT of any other.
func readCommit(b []byte) (Commit, []Problem) {
	r := parsePayload(b, ProofSyntax)
	return r.readCommit(), r.problems
}

func (r *payload) readCommit() Commit {
	s := r.findSection("COMMIT", "COMMIT")
	if s == nil {
		return Commit{}
	}
	return Commit{Artifact: s.readText("ARTIFACT"), Gate: s.readText("GATE")}
}

// payload is one that was taken apart.
type payload struct {
	entries  []*octave.Entry
	src      []string // the lines as they were sent
	syntax   Code     // of what the payload as a whole gets wrong
	broken   bool
	problems []Problem
}

func (r *payload) addProblem(p Problem) {
	p.Found = okf.Visible(p.Found)
	r.problems = append(r.problems, p)
}

// The limits of a payload: what a session could mean, and some more.
const (
	MaxPayload  = 256 << 10 // bytes
	maxTensions = 32
)

func parsePayload(b []byte, syntax Code) *payload {
	r := &payload{syntax: syntax}
	if len(b) > MaxPayload {
		r.broken = true
		r.addProblem(Problem{Code: syntax, At: "payload", Text: fmt.Sprintf("it is over %d KiB and is not read", MaxPayload>>10), Want: "a payload of a few lines"})
		b = nil
	}
	r.src = strings.Split(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	entries, bad := octave.Parse(normalizeLines(r.src))
	for _, n := range bad {
		r.broken = true
		r.addProblem(Problem{Code: syntax, At: "payload", Line: n.Line, Text: n.Message, Found: truncate(r.lineText(n.Line)), Want: n.Hint})
	}
	for _, e := range entries {
		if e.Kind == octave.Envelope {
			r.entries = append(r.entries, e.Items...)
		} else {
			r.entries = append(r.entries, e)
		}
	}
	return r
}

func (r *payload) lineText(n int) string {
	if n < 1 || n > len(r.src) {
		return ""
	}
	return strings.TrimSpace(r.src[n-1])
}

// normalizeLines makes lines that no OCTAVE reader could keep whole into ones it can,
// line by line so that places hold: a bare tension is put in quotes, and the
// fence of back-ticks that a chat wraps a payload in is left out.
func normalizeLines(src []string) []byte {
	out := make([]string, len(src))
	for i, line := range src {
		out[i] = normalizeLine(line)
	}
	return []byte(strings.Join(out, "\n"))
}

func normalizeLine(line string) string {
	switch text := strings.TrimSpace(line); {
	case strings.HasPrefix(text, "```"):
		return ""
	case looksLikeTension(text):
		return line[:len(line)-len(strings.TrimLeft(line, " \t"))] + quoteTension(text)
	}
	return line
}

// quoteTension puts a bare tension in quotes behind an ordinal. One that is quoted
// already loses only a comma behind it.
func quoteTension(text string) string {
	for _, bullet := range []string{"- ", "* "} {
		text = strings.TrimLeft(strings.TrimPrefix(text, bullet), " ")
	}
	label := tensionOrdinal().FindString(text)
	body := text[len(label):]
	switch {
	case strings.HasPrefix(body, `"`):
		return label + strings.TrimRight(strings.TrimSuffix(body, ","), " ")
	case label == "" && !strings.HasPrefix(body, "["):
		return text
	}
	return label + `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(body) + `"`
}

type payloadSection struct {
	*payload
	name    string
	entries []*octave.Entry
}

// findSection finds the part that answers to one of the names. Reading the section
// also refuses keys in it that are another's.
func (r *payload) findSection(name string, names ...string) *payloadSection {
	var found *payloadSection
	for _, e := range r.entries {
		switch {
		case !isSection(e) || !isNamed(e.Key, names):
		case found != nil:
			r.addProblem(Problem{Code: r.syntax, At: name, Line: e.Line, Text: "the section stands a second time", Want: "one " + name})
			return nil
		default:
			found = &payloadSection{payload: r, name: name, entries: e.Items}
		}
	}
	if found != nil {
		found.refuseForeignKeys()
	} else if !r.broken {
		r.addProblem(Problem{Code: r.syntax, At: name, Text: "there is no section " + name, Want: name + ": at the left, its keys indented by two"})
	}
	return found
}

func isSection(e *octave.Entry) bool {
	return e.Kind == octave.Section || e.Kind == octave.Block || e.Kind == octave.List
}

// isNamed reports whether a key is one of the names, in any case.
func isNamed(key string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, key) })
}

func keySections() map[string]string {
	return map[string]string{
		"ROLE": "BIND", "COGNITION": "BIND", "ARCHETYPES": "BIND", "ARCHETYPE": "BIND", "AUTHORITY": "BIND",
		"ARTIFACT": "COMMIT", "GATE": "COMMIT",
	}
}

// refuseForeignKeys refuses what belongs in another section, and headings that are
// indented, which open none.
func (s *payloadSection) refuseForeignKeys() {
	home := keySections()
	for _, e := range s.entries {
		switch {
		case home[strings.ToUpper(e.Key)] != "" && home[strings.ToUpper(e.Key)] != s.name:
			s.addProblem(Problem{Code: s.syntax, At: s.name + "." + e.Key, Line: e.Line, Found: truncate(s.lineText(e.Line)),
				Text: fmt.Sprintf("%s stands in %s and does not count there", e.Key, s.name), Want: e.Key + " in " + home[e.Key]})
		case e.Kind == octave.Loose && strings.HasPrefix(e.Text, "##"):
			s.addProblem(Problem{Code: s.syntax, At: s.name, Line: e.Line, Found: truncate(e.Text),
				Text: "an indented heading opens no section", Want: "the heading at the left"})
		}
	}
}

func (s *payloadSection) findEntry(keys ...string) *octave.Entry {
	var found *octave.Entry
	for _, e := range s.entries {
		if e.Kind < octave.List || !isNamed(e.Key, keys) {
			continue
		}
		if found != nil {
			s.addProblem(Problem{Code: s.syntax, At: s.name + "." + keys[0], Line: e.Line, Text: keys[0] + " stands a second time", Want: "one " + keys[0]})
			return found
		}
		found = e
	}
	return found
}

// readText returns the value of a key as a string, "" where there is none. A bare value
// is all of its line.
func (s *payloadSection) readText(key string) string {
	e := s.findEntry(key)
	if e == nil {
		return ""
	}
	if e.Kind == octave.List {
		s.addProblem(Problem{Code: s.syntax, At: s.name + "." + key, Line: e.Line, Text: "a list where a single value is expected",
			Found: truncate(s.lineText(e.Line)), Want: key + `::"…"`})
		return ""
	}
	return plainText(e)
}

// plainText takes off the back-ticks of a value that was written as code.
func plainText(v *octave.Entry) string {
	text := strings.TrimSpace(v.Text)
	if inner, ok := strings.CutPrefix(text, "`"); ok && v.Kind == octave.Word {
		if inner, ok = strings.CutSuffix(inner, "`"); ok && !strings.Contains(inner, "`") {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// readCognition reads COGNITION::LOGOS with ARCHETYPES::[…], or both in one as
// COGNITION::LOGOS::ATLAS⊕HERMES.
func (s *payloadSection) readCognition() (cognition string, archetypes []string) {
	cognition, inline, _ := strings.Cut(s.readText("COGNITION"), "::")
	add := func(text string) {
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("⊕+,", r) }) {
			if name = archetypeName(name); name != "" && !slices.Contains(archetypes, name) {
				archetypes = append(archetypes, name)
			}
		}
	}
	add(inline)
	if e := s.findEntry("ARCHETYPES", "ARCHETYPE"); e != nil {
		for _, i := range append(e.Items, e) {
			if len(i.Items) == 0 {
				add(i.Text)
			}
		}
	}
	return strings.ToUpper(strings.TrimSpace(cognition)), archetypes
}

// archetypeName returns a name without its qualifier: ATLAS for ATLAS<foundation>.
func archetypeName(s string) string {
	if i := strings.IndexAny(s, "<[("); i > 0 {
		s = s[:i]
	}
	return strings.ToUpper(strings.Trim(s, " \t[]"))
}

// roleName returns the form in which roles are compared: implementation-lead for
// IMPLEMENTATION_LEAD.
func roleName(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "-") }

// authorityForm is what AUTHORITY looks like.
const authorityForm = "RESPONSIBLE[what you answer for], or DELEGATED[token::task] under a session that is bound"

func (s *payloadSection) readAuthority() Authority {
	text := s.readText("AUTHORITY")
	if text == "" {
		return Authority{} // the judge says that it is missing
	}
	verb, rest := text, ""
	if i := strings.IndexAny(text, "[<"); i >= 0 {
		verb, rest = strings.TrimSpace(text[:i]), text[i:]
		if inner, ok := strings.CutSuffix(rest, ">"); ok && rest[0] == '<' {
			rest = "[" + inner[1:] + "]"
		}
	}
	bad := func(what string) Authority {
		e := s.findEntry("AUTHORITY")
		s.addProblem(Problem{Code: BindAuthority, At: "BIND.AUTHORITY", Line: e.Line, Text: what, Found: truncate(text), Want: authorityForm})
		return Authority{}
	}
	if verb != "RESPONSIBLE" && verb != "DELEGATED" {
		return bad("the authority is neither RESPONSIBLE nor DELEGATED")
	}
	if rest == "" || groupEnd(rest) != len(rest) {
		return bad("the authority has no scope in brackets")
	}
	scope := strings.TrimSpace(rest[1 : len(rest)-1])
	if scope == "" {
		return bad("the brackets of the authority are empty")
	}
	if verb == "RESPONSIBLE" {
		return Authority{Scope: scope}
	}
	parent, task, _ := strings.Cut(scope, "::")
	return Authority{Delegated: true, Parent: strings.TrimSpace(parent), Scope: strings.TrimSpace(task)}
}

// readTensions reads every line of the section that was meant as one. A line that looks like
// a tension and is none is a problem, and counted; any other text is ignored.
func (s *payloadSection) readTensions() (all []Tension, unread int) {
	seen := map[int]int{}
	for _, e := range s.entries {
		if len(all)+unread == maxTensions {
			s.addProblem(Problem{Code: TenCount, At: "TENSIONS", Line: e.Line, Text: fmt.Sprintf("more than %d tensions; the rest is not read", maxTensions), Want: "the tensions that matter"})
			break
		}
		text, meant := tensionText(e)
		if !meant {
			continue
		}
		t, bad := scanTension(text)
		t.Line = e.Line
		if bad != nil {
			bad.At, bad.Line = tensionAt(t.N, len(all)+unread+1), t.Line
			bad.Text = fmt.Sprintf("line %d looks like a tension but %s", t.Line, bad.Text)
			s.addProblem(*bad)
			unread++
			continue
		}
		if at := seen[t.N]; t.N > 0 && at > 0 {
			s.addProblem(Problem{Code: TenDup, At: tensionAt(t.N, 0), Line: e.Line, Text: fmt.Sprintf("L%d stands a second time; it is on line %d already", t.N, at), Want: "each ordinal once"})
		}
		seen[t.N] = e.Line
		all = append(all, t)
	}
	return all, unread
}

// tensionText returns the text of an entry that was meant as a tension, its ordinal in front.
func tensionText(e *octave.Entry) (text string, meant bool) {
	switch e.Kind {
	case octave.Section, octave.Block:
		return "", false
	case octave.Loose:
		return strings.Trim(e.Text, `"`), looksLikeTension(e.Text)
	}
	label := tensionOrdinal().FindString(e.Key + "::")
	mine := label != "" || e.Key == "" || keySections()[strings.ToUpper(e.Key)] == "" && looksLikeTension(e.Text)
	if tensionOrdinal().MatchString(e.Text) {
		label = ""
	}
	return label + e.Text, mine
}

// tensionAt names a tension: its ordinal, or its place among the others.
func tensionAt(n, index int) string {
	if n > 0 {
		return "TENSIONS.L" + strconv.Itoa(n)
	}
	return "TENSIONS[" + strconv.Itoa(index) + "]"
}
