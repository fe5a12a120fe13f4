package surface

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
)

func (o Output) countSays(kinds ...string) (n int) {
	for _, s := range o.Says {
		for _, k := range kinds {
			if s.Kind == k {
				n++
			}
		}
	}
	return n
}

func prematureClosure(l look) []contract.Hint {
	closing, opening := l.o.countSays("decision", "recommendation"), l.o.countSays("question", "tension")
	if closing <= opening {
		return nil
	}
	return []contract.Hint{{Message: fmt.Sprintf("%d decisions and recommendations, %d questions and tensions; exploration reveals and does not decide", closing, opening)}}
}

func textualQuestion(l look) (out []contract.Hint) {
	if l.c.Engagement == contract.Assistant {
		return nil
	}
	for i, s := range l.o.Says {
		if s.Kind != "question" && s.Kind != "reversion" && l.c.Mode != contract.Exploration && countQuestions(s.Text) > 0 {
			out = append(out, contract.Hint{At: placeOfSay(i), Message: "reads like a question, and nobody is there to answer"})
		}
	}
	return out
}

func placeOfSay(i int) string { return fmt.Sprintf("says[%d].text", i) }

// countQuestions counts the question marks that end something: those of a url or a
// pattern are followed by more.
func countQuestions(s string) (n int) {
	for w := range strings.FieldsSeq(s) {
		if strings.HasSuffix(strings.TrimRightFunc(w, func(r rune) bool { return unicode.IsPunct(r) && r != '?' }), "?") {
			n++
		}
	}
	return n
}

func looseReversion(l look) (out []contract.Hint) {
	for i, s := range l.o.Says {
		if s.Kind == "reversion" && countQuestions(s.Text) > 1 {
			out = append(out, contract.Hint{At: placeOfSay(i), Message: "asks more than one question; a reversion names one unknown"})
		}
	}
	return out
}

func metricLaundering(l look) (out []contract.Hint) {
	done := []string{"done", "complete", "completed", "finished", "all tests pass", "fully working", "works perfectly", "ready to ship", "100%"}
	for i, s := range l.o.Says {
		if p := findPhrase(s.Text, done); p != "" && (s.Kind == "assertion" || s.Kind == "progress") && !hasReference(s.Text) {
			out = append(out, contract.Hint{At: placeOfSay(i), Message: fmt.Sprintf("%q without a reference to what was; name the path, id or commit", p)})
		}
	}
	if d := l.o.Deliverable; d != nil && d.Claims != nil && len(d.Claims.Does) > 0 && len(d.Claims.Evidence) == 0 {
		out = append(out, contract.Hint{At: "deliverable.evidence", Message: "claims without evidence; effort is no result"})
	}
	return out
}

// hasReference reports whether s names a path, a url, a file, a commit or code.
func hasReference(s string) bool {
	for w := range strings.FieldsSeq(s) {
		w = strings.TrimFunc(w, func(r rune) bool { return unicode.IsPunct(r) && r != '`' })
		digits := strings.ContainsAny(w, "0123456789")
		hex := len(w) >= 7 && digits && strings.Trim(w, "0123456789abcdef") == ""
		if hex || strings.ContainsAny(w, "/`.") {
			return true
		}
	}
	return false
}

func otherArtifact(l look) []contract.Hint {
	if l.o.Deliverable == nil || l.c.Artifact == "" {
		return nil
	}
	got := l.o.Deliverable.Artifact()
	if got == "" || got == l.c.Artifact {
		return nil
	}
	return []contract.Hint{{At: "deliverable.artifact", Message: fmt.Sprintf("is about %q, the contract is about %q", got, l.c.Artifact)}}
}

func unchangedFix(l look) (out []contract.Hint) {
	known := l.boundFindings()
	for i, r := range l.listRemedies() {
		if known[r.Finding] == deliver.Fix && len(r.Changed) == 0 {
			out = append(out, contract.Hint{At: fmt.Sprintf("deliverable.remedies[%d]", i), Message: r.Finding + " was to be fixed and nothing was changed; a fresh validator will look at the reason"})
		}
	}
	return out
}

func unmarkedTurn(l look) []contract.Hint {
	if l.c.Engagement != contract.Assistant || !l.unmarked || len(l.o.Says) == 0 {
		return nil
	}
	return []contract.Hint{{At: fmt.Sprintf("says[%d].marker", len(l.o.Says)-1), Message: "no say carries a marker; read as " + l.turn}}
}
