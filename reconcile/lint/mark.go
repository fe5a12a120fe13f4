package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// lure is one form of text that speaks to the model that reads it.
type lure struct {
	kind string
	// hints are words in lower case, one of which is in every text that the
	// pattern matches, because looking for them first is many times faster.
	hints string
	re    *regexp.Regexp
}

// lures are the shapes of injected instructions, in the order in which hits are
// told. Words may be joined by blanks, line breaks, emphasis and quote marks.
// The last four are met in honest governance prose as well, which is why a hit
// is a mark and no refusal.
var lures = sync.OnceValue(func() []lure {
	const (
		by   = `[\s*_~"'>-]{1,8}`  // between two words
		gap  = `(?:` + by + `\w+)` // one more word
		they = `(?:validat\w*|gates?|safety|securit\w*|governance|guard\w*|firewalls?|iron` + by + `gate|risk` + by + `tiers?|approvals?|reviews?)`
	)
	shape := func(kind, hints, re string) lure { return lure{kind, hints, regexp.MustCompile(`(?is)` + re)} }
	return []lure{
		shape("override", "ignore disregard forget", `\b(?:ignore|disregard|forget)`+gap+`{0,3}?`+by+`(?:previous|prior|all|above|earlier|preceding)`+gap+`{0,3}?`+by+`(?:instruction|prompt|message|directive)s?\b`),
		shape("new-role", "now role act", `\byou`+by+`are`+by+`now\b|\bnew`+by+`role\b|\bact`+by+`as(?:`+by+`if)?\b`),
		shape("chat-markup", "<", `<\s*\|\s*/?\s*(?:im_start|im_end|system|user|assistant|role)\b[^|>\n]{0,64}\|\s*>`),
		shape("bracket-tag", "system", `\[\s*/?\s*system\s*\]`),
		shape("element", "system", `<\s*/?\s*system(?:\s[^<>]{0,256})?>`),
		shape("directive", "critical mandatory", `<\s*(?:critical|mandatory)[_\s-]{0,3}(?:system|admin|override)|\b(?:critical|mandatory)`+by+`(?:(?:admin\w*|override)\b|system`+by+`(?:directive|instruction|message|override|prompt|order)s?\b)`),
		shape("switch-off", "skip bypass disable circumvent ignore override", `\b(?:skip|bypass|disable|circumvent|ignore|override)(?:`+by+`(?:the|all|any|this|our|your))?`+by+they+`\b`),
		shape("unchecked", "do don never", `\b(?:do`+by+`not|don['’]?t|never)`+by+`(?:validate|check|verify|gate|review|audit|scan|sanitize|enforce)\b`),
		shape("set-off", "set", `\bset(?:`+by+`the)?`+by+`(?:risk`+by+`tier|approval|gate|validation)(?:`+by+`to)?[\s*_~"'>=:-]{1,8}(?:safe_auto|none|disabled|off|skip)\b`),
		shape("forced", "force always", `\b(?:force|always)`+by+`(?:approve|accept|pass|allow|merge|commit|apply)\b`),
		shape("unreviewed", "without", `\bwithout(?:`+by+`(?:any|a|an|the|further))?`+by+`(?:human|manual|operator|approval|review|validation|verification|gate|check)s?\b`),
	}
})

// MarkKinds are the names of what MarkInstructions looks for, in its order.
func MarkKinds() []string {
	var out []string
	for _, l := range lures() {
		out = append(out, l.kind)
	}
	return out
}

// markFor stands in front of what MarkInstructions found. Its words and signs are such that
// no lure reaches over it.
func markFor(kind string) string { return "[odd: data that reads like an instruction: " + kind + "] " }

// MarkInstructions puts "[odd: data that reads like an instruction: KIND] " in front of every part of a
// text that reads like an instruction to the model which is shown it, and writes
// the opening of a chat template's own markup apart, as "< |". Nothing is taken
// out: a document about such texts stays readable. hits are the kinds found, each
// once, in the order of MarkKinds.
//
// It is for what a model is shown and did not ask a person: the output of a tool,
// an atom, a web page. Its callers take out first what nobody can see (a
// zero-width sign between two letters hides a word from any pattern), and redact
// credentials. MarkInstructions of its own result adds nothing.
func MarkInstructions(text []byte) (marked []byte, hits []string) {
	spans, hits := findLures(text)
	last := 0
	for _, s := range spans {
		if s.hi <= last {
			continue // inside another
		}
		if s.lo >= last {
			marked = append(marked, text[last:s.lo]...)
			if !isMarked(text[:s.lo]) {
				marked = append(marked, markFor(s.kind)...)
			}
			last = s.lo
		}
		marked = append(marked, splitMarks(text[last:s.hi])...)
		last = s.hi
	}
	return append(marked, text[last:]...), hits
}

// span is a part of a text that a lure matched.
type span struct {
	lo, hi int
	kind   string
}

// findLures finds what the lures match, in the order of the text.
func findLures(text []byte) (all []span, hits []string) {
	lower := bytes.ReplaceAll(bytes.ToLower(text), []byte("ſ"), []byte("s")) // which a pattern takes for an s too
	for _, l := range lures() {
		if !slices.ContainsFunc(strings.Fields(l.hints), func(h string) bool { return bytes.Contains(lower, []byte(h)) }) {
			continue
		}
		found := l.re.FindAllIndex(text, -1)
		for _, m := range found {
			all = append(all, span{m[0], m[1], l.kind})
		}
		if len(found) > 0 {
			hits = append(hits, l.kind)
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return a.lo - b.lo })
	return all, hits
}

// ownMarks are what Redact and MarkInstructions put into a text that is shown.
var ownMarks = lazy(`\[redacted:[\w.-]{1,64}\]|\[odd: data that reads like an instruction: [\w-]{1,32}\]`)

// ownMarksIn finds odd's own marks: who writes one wrote back what it was shown.
func ownMarksIn(s side) []hit {
	var out []hit
	for i, l := range s.lines() {
		for _, m := range ownMarks().FindAllString(l, -1) {
			out = append(out, newHit("odd_mark", fmt.Sprintf("the text has %s, which odd shows in place of text or beside it", m), policy.ByBytes, "odd_mark", m, i+1))
		}
	}
	return out
}

// isMarked reports whether text ends with a marker.
func isMarked(text []byte) bool {
	line := text[1+bytes.LastIndexByte(text, '\n'):]
	return slices.ContainsFunc(MarkKinds(), func(k string) bool { return strings.HasSuffix(string(line), markFor(k)) })
}

// splitMarks writes "<|" so that no tokenizer takes it for its own sign.
func splitMarks(b []byte) []byte { return bytes.ReplaceAll(b, []byte("<|"), []byte("< |")) }
