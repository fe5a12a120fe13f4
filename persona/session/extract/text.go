package extract

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
	"golang.org/x/text/unicode/norm"

	"github.com/odd-cli/odd/okf"
)

type spanKind uint8

const (
	strong spanKind = iota + 1
	emphasis
	codeSpan
	link
)

// span is a marked piece of a run.
type span struct {
	kind spanKind
	at   int // byte offset in run.text
	text string
	to   string // the target of a link
}

// run is inline text with the markdown taken off. Its spans tell what was
// marked, the outer before the inner.
type run struct {
	text  string
	spans []span
}

// flattenRun flattens the inline children of n.
func (d *document) flattenRun(n ast.Node) run {
	f := flattener{src: d.src}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		f.addInline(c, 0)
	}
	return f.finishRun()
}

type flattener struct {
	src   []byte
	b     strings.Builder
	spans []span // text is not set before finish; at is an offset in b
	ends  []int
}

func (f *flattener) addInline(n ast.Node, depth int) {
	if depth > maxDepth {
		return
	}
	mark := -1
	if k := spanKindOf(n); k != 0 {
		mark = len(f.spans)
		f.spans, f.ends = append(f.spans, span{kind: k, at: f.b.Len(), to: f.targetOf(n)}), append(f.ends, 0)
	}
	switch n := n.(type) {
	case *ast.Text:
		f.addText(n)
	case *ast.String:
		f.b.Write(n.Value)
	case *ast.AutoLink:
		f.b.Write(n.Label(f.src))
	case *ast.RawHTML:
	case *ast.Image:
		if !f.interruptsSentence(n) {
			break
		}
		had := f.b.Len()
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			f.addInline(c, depth+1)
		}
		if strings.TrimSpace(f.b.String()[had:]) == "" {
			f.b.WriteString(unseen)
		}
	case *ast.CodeSpan:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				f.b.Write(t.Segment.Value(f.src))
			}
		}
	default:
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			f.addInline(c, depth+1)
		}
	}
	if mark >= 0 {
		f.ends[mark] = f.b.Len()
	}
}

// join is r and, behind a blank, another.
func (r run) join(next run) run {
	at := len(r.text) + 1
	for _, s := range next.spans {
		s.at += at
		r.spans = append(r.spans, s)
	}
	r.text += " " + next.text
	return r
}

// unseen stands for an image without a text within a sentence.
const unseen = "\uFFFC"

// interruptsSentence reports whether an image stands within a sentence, which lacks a word without it: behind
// the beginning of one, and in front of more on its line or behind a word that wants one.
func (f *flattener) interruptsSentence(n *ast.Image) bool {
	before := strings.TrimRight(f.b.String(), " ")
	if ws := words(before); len(ws) == 0 || strings.ContainsAny(before[len(before)-1:], ".!?:;") {
		return false
	} else if in("a an the and or see in on at to of with from by like", ws[len(ws)-1]) {
		return true
	}
	next, ok := n.NextSibling().(*ast.Text)
	return ok && len(bytes.TrimSpace(next.Segment.Value(f.src))) > 0
}

func (f *flattener) addText(n *ast.Text) {
	v := n.Segment.Value(f.src)
	if !n.IsRaw() {
		v = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(v)))
	}
	f.b.Write(v)
	if n.SoftLineBreak() || n.HardLineBreak() {
		f.b.WriteByte(' ')
	}
}

// targetOf is where a link leads; of a URL that stands for itself it is its text.
func (f *flattener) targetOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Link:
		return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Destination))))
	case *ast.AutoLink:
		return string(n.Label(f.src))
	}
	return ""
}

func spanKindOf(n ast.Node) spanKind {
	switch n := n.(type) {
	case *ast.Emphasis:
		if n.Level >= 2 {
			return strong
		}
		return emphasis
	case *ast.CodeSpan:
		return codeSpan
	case *ast.Link, *ast.AutoLink:
		return link
	}
	return 0
}

// finishRun squeezes white space and moves the spans along.
func (f *flattener) finishRun() run {
	raw := f.b.String()
	r := run{text: squeeze(raw)}
	for i, s := range f.spans {
		s.text = squeeze(raw[s.at:f.ends[i]])
		s.at = len(squeeze(raw[:s.at]))
		if s.at > 0 && s.at < len(r.text) && r.text[s.at] == ' ' {
			s.at++
		}
		if s.text != "" && strings.HasPrefix(r.text[min(s.at, len(r.text)):], s.text) {
			r.spans = append(r.spans, s)
		}
	}
	return r
}

// squeeze turns white space into single spaces and drops what a reader cannot see.
func squeeze(s string) string {
	return strings.Join(strings.Fields(okf.Visible(strings.ToValidUTF8(s, ""))), " ")
}

// splitLead is the marked text a run begins with, and what follows its separator.
func (r run) splitLead() (lead span, rest string, ok bool) {
	if len(r.spans) == 0 || r.spans[0].at != 0 {
		return span{}, "", false
	}
	lead = r.spans[0]
	rest = r.text[len(lead.text):]
	inside := strings.HasSuffix(lead.text, ":")
	lead.text = strings.TrimRight(lead.text, " :")
	trimmed := strings.TrimLeft(rest, " ")
	for _, sep := range []string{":", "—", "–", "- ", "-- ", "= "} {
		if after, found := strings.CutPrefix(trimmed, sep); found {
			return lead, strings.TrimSpace(after), true
		}
	}
	return lead, trimmed, inside && trimmed != ""
}

// splitSentences cuts text at full stops, question and exclamation marks that end a
// sentence: not those of abbreviations, file names or versions.
func splitSentences(text string) []string {
	var out []string
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '.' && c != '!' && c != '?' {
			continue
		}
		end := i + 1
		for end < len(text) && strings.IndexByte(`"')]`, text[end]) >= 0 {
			end++
		}
		if end < len(text) && (text[end] != ' ' || text[end-1] == ')' && end+1 < len(text) && text[end+1] >= 'a' && text[end+1] <= 'z') || c == '.' && endsInAbbreviation(text[start:i]) || !opensSentence(text[start:i], text[end:]) {
			continue
		}
		out = append(out, strings.TrimSpace(text[start:end]))
		start, i = end, end-1
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		out = append(out, rest)
	}
	return out
}

// opensSentence reports whether a sentence may begin at rest: with a small letter only
// behind a whole sentence, because names of programs have one.
func opensSentence(before, rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLower(r) || len(strings.Fields(before)) >= 6 && !strings.HasSuffix(before, ".")
}

func endsInAbbreviation(before string) bool {
	w := strings.ToLower(before[strings.LastIndexAny(before, " (")+1:])
	return in("e.g i.e eg ie etc vs cf mr mrs dr no nr approx inc ltd fig st al resp incl ca", w) && w != "" ||
		len(w) == 1 && w[0] >= 'a' && w[0] <= 'z'
}

// firstOf is the first sentence of text, "" of a text without one.
func firstOf(text string) string {
	if ss := splitSentences(text); len(ss) > 0 {
		return ss[0]
	}
	return ""
}

// firstSentence is the first sentence of text, at most 200 bytes, without a
// closing colon.
func firstSentence(text string) string {
	return clip(strings.TrimRight(stripLabel(firstOf(text)), " :;,"), maxDescription)
}

// describeBy is the first sentence of text where it stands alone, else "".
func describeBy(text string) string {
	if !standsAlone(firstOf(text)) {
		return ""
	}
	return firstSentence(text)
}

// standsAlone reports whether a sentence says what it is about without those around it: it does not
// begin with what stands for another, as "This", "To do that, …" and "If it breaks, …", announces
// nothing, and points to nothing above or below it.
func standsAlone(sentence string) bool {
	sentence = aside().ReplaceAllString(stripLabel(sentence), "")
	if strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, ";") || strings.HasSuffix(sentence, "?") || pronounFirst(sentence) && !expletive().MatchString(sentence) || pointing().MatchString(sentence) {
		return false
	}
	if opening := strings.ToLower(sentence); sequels().MatchString(opening) || pointsAway(words(sentence)) {
		return false
	}
	head, _, ok := strings.Cut(sentence, ", ")
	ws := words(head)
	if !ok || len(ws) == 0 || !in("if when once to for by in after before with as at here because since while", ws[0]) {
		return true
	}
	for _, w := range ws[1:] {
		if in("it this that these those them they such so", w) {
			return false
		} else if in("a an the any each every your our", w) {
			return true // what it stands for is named
		}
	}
	return true
}

// aside is what stands in brackets, and expletive an "it" that stands for nothing.
var aside, expletive = lazy(` \([^()]*\)`), lazy(`^It (?:is|'s|’s) (?:important|recommended|required|necessary|essential|forbidden|critical|best)\b`)

// aboutOfLead is the sentence that leads up to a list or to commands, where it says by itself what they are for.
func aboutOfLead(text string) string {
	all := splitSentences(text)
	if len(all) == 0 || !strings.HasSuffix(all[len(all)-1], ":") {
		return ""
	}
	lead := stripLabel(strings.TrimRight(all[len(all)-1], ": "))
	ws := words(lead)
	if len(ws) < 6 || conditional().MatchString(lead) || strings.HasSuffix(lead, "]") || !isCapitalized(lead) || !standsAlone(strings.Replace(lead, "following ", "", 1)) || in("must should may can will shall not are is be to by of for in on with from like as and or the a an", ws[len(ws)-1]) {
		return ""
	}
	return clip(lead, maxDescription)
}

// conditional is a lead that says when, and not what.
var conditional = lazy(`(?i)^(?:when|while|if) (?:[^,]*|.*, ?(?:and|or) [^,]*)$`)

// sequels are the words that a sentence begins with which goes on from the one before it.
var sequels = lazy(`^(?:(?:first|second|third|next|now|again|still|instead),|(?:finally|alternate?ly|firstly|put simply|in short|secondly|now that|hence|consequently|accordingly|moreover|furthermore|besides|lastly|afterwards|meanwhile|as such|in (?:addition|both|either|other words|(?:this|that|these|such) ))\b)`)

// pointsAway reports whether words point to something that they do not name: "these tests", but
// not "those who", nor "this repository", which every document stands in.
func pointsAway(ws []string) bool {
	for i, w := range ws[:max(0, len(ws)-1)] {
		next := strings.TrimRight(ws[i+1], ".")
		if w == "these" || w == "those" && !in("who that whose with in of which", next) || w == "such" && next != "as" ||
			w == "this" && !in("repository repo codebase project document policy page guide handbook team organization organisation community charter site standard section", next) {
			return true
		}
	}
	return false
}

// pointing are the words of a sentence that sends to what stands above or below it, and of one that
// announces a list within itself.
var pointing = lazy(`(?i)(?:\bthe|\bas|\bsee|ed|own|ven|out|find|found) (?:above|below)\b|\b(?:above|below)(?:[.,;:)]|$)|\b(?:the|these|as) following\b|^(?:here|there) are (?:some|the)\b|\b(?:this|these|those)(?: (?:is|are|by|in|to|for|with|and|or|as|when|if|can|should|must|will|may)\b|[.,;:)]|$)|[a-z]: [A-Z].*[^.!]$|; (?:or|and)$|^(?:\S+ ){1,4}(?:it|them)[.!]?$|\bthat \w+(?: here)?[.!]$|\b(?:material|content|information|text) here\b`)

// withLimits returns a sentence of text with what limits it behind it, as "Unless …" and "This does
// not hold for …"; up to twice maxDescription long, so that no condition is cut off. ok tells
// that text has the sentence.
func withLimits(text, sentence string) (out string, ok bool) {
	all := splitSentences(text)
	at := slices.IndexFunc(all, func(q string) bool { return q == sentence || strings.HasSuffix(sentence, ": "+q) })
	out = stripLabel(sentence)
	for i := at + 1; at >= 0 && i < len(all) && isRestriction(all[i]); i++ {
		out += " " + all[i]
	}
	out = strings.TrimRight(out, " :;,")
	if slices.ContainsFunc(words(out), isCondition) {
		return clip(out, 2*maxDescription), at >= 0
	}
	return clip(out, maxDescription), at >= 0
}

// isRestriction reports whether a sentence takes back something of the one before it.
func isRestriction(sentence string) bool {
	ws := words(sentence)
	has := func(list string) bool { return slices.ContainsFunc(ws, func(w string) bool { return in(list, w) }) }
	return len(ws) > 0 && (in("except exceptions exception exempt unless only excluding otherwise", ws[0]) ||
		pronounFirst(sentence) && (slices.ContainsFunc(ws, isCondition) || has("not doesn't doesn’t don't don’t") && has("apply hold required needed necessary")))
}

// isCondition reports whether a word begins a condition.
func isCondition(w string) bool { return in("unless except only if until provided without", w) }

// stripLabel takes "Note:" and the like off a sentence.
func stripLabel(s string) string {
	head, rest, ok := strings.Cut(s, ": ")
	if ok && in("note tip tips important warning caution hint nb info attention danger error", strings.ToLower(head)) {
		return capitalize(rest)
	}
	return s
}

// maxDescription bounds a description, in bytes.
const maxDescription = 200

// clip cuts s at a word so that it is at most max bytes, the ellipsis included.
func clip(s string, max int) string {
	if len(s) <= max {
		return s
	}
	cut := max - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if sp := strings.LastIndexByte(s[:cut], ' '); sp > max/2 {
		cut = sp
	}
	return strings.TrimRight(s[:cut], " ,;:(") + "…"
}

// words are the lower-case words of s: letters, digits and what joins them.
func words(s string) []string { return splitWords(strings.ToLower(s)) }

// splitWords are the words of s as they stand there.
func splitWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'’-._@/+#", r)
	})
}

// maxSlug is the longest id that the reader makes of a title.
const maxSlug = 60

// slug makes a lower-case id of a title; a title without a Latin letter or a
// digit is named after its bytes. Of a long one it has the first words and the last, by
// which headings of one document often differ.
func slug(title string) string {
	s := wholeSlug(title)
	if s == "" {
		return "x-" + okf.BlobID([]byte(title))[:12]
	}
	if len(s) <= maxSlug {
		return s
	}
	last := ""
	if word := s[strings.LastIndexByte(s, '-')+1:]; len(word) < maxSlug/3 {
		last = "-" + word
	}
	end := maxSlug - len(last)
	if word := strings.LastIndexByte(s[:end+1], '-'); word > end/2 {
		end = word // no word is cut
	}
	return s[:end] + last
}

// wholeSlug is slug however long, and "" where nothing of the title can be in it.
func wholeSlug(title string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(title)) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r) || r == '\'' || r == '’':
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// capitalize makes the first letter large, unless the word is a name with its own
// casing, a file, or too short to be told from a command: npm stays npm.
func capitalize(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if len(first) < 4 && first == s || strings.ContainsFunc(first, func(r rune) bool { return !unicode.IsLower(r) && r != ',' && r != '\'' }) {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
