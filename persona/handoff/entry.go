package handoff

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/persona/deliver"
)

// Entry returns the journal entry of a transition, of type H. Its content begins "planning
// → execution: " and the handoff's path, so that Tells finds it. It goes on with the time,
// the obligations met and missing, what is deferred, and who is next. file is the handoff's
// path in the repository, and at is in RFC 3339.
func Entry(h Handoff, file, at string) (title, content string) {
	title = fmt.Sprintf("%s hands over to %s: %s", h.From, h.To, cmp.Or(h.Artifact, "no artifact"))
	var b strings.Builder
	fmt.Fprintf(&b, "%s → %s: %s hands over %s at %s.", h.From, h.To, file, cmp.Or(h.Artifact, "no artifact"), at)
	if met := countMet(h.Deliverable); met != "" {
		fmt.Fprintf(&b, " Obligations met: %s.", met)
	}
	if len(h.Missing) > 0 {
		fmt.Fprintf(&b, " Missing: %s.", strings.Join(h.Missing, ", "))
	}
	for _, key := range []string{"deferred", "unknowns", "does_not"} {
		if _, list, _ := h.Deliverable.Get(key); len(list) > 0 {
			fmt.Fprintf(&b, " Carried forward (%s): %s.", key, strings.Join(list, "; "))
		}
	}
	if len(h.Disagreements) > 0 {
		fmt.Fprintf(&b, " The sources disagree: %s.", strings.Join(h.Disagreements, "; "))
	}
	if h.Tainted != "" {
		fmt.Fprintf(&b, " Made under an operator override (%s).", h.Tainted)
	}
	if h.Deliverable.Findings != nil && len(h.Missing) == 0 && acceptsAll(h.Deliverable) {
		b.WriteString(" Every finding is accepted: nothing is left to resolve.")
		return title, b.String()
	}
	state := "Unblocked"
	if len(h.Missing) > 0 {
		state = "Blocked by what is missing"
	}
	fmt.Fprintf(&b, " %s; next is a %s in a fresh session, which reads the handoff alone.", state, Worker(h.To))
	return title, b.String()
}

// countMet summarizes the deliverable: "assumptions 2, scope_out none".
func countMet(d deliver.Deliverable) string {
	if d.Findings != nil && d.Findings.Findings != nil {
		s := deliver.Summarize(d.Findings.Findings)
		return fmt.Sprintf("%s, verdict %s", s, s.Verdict)
	}
	if d.Remediation != nil && d.Remediation.Remedies != nil {
		return fmt.Sprintf("remedies %d", len(d.Remediation.Remedies))
	}
	var out []string
	for _, key := range deliver.Keys(d.Schema) {
		_, list, there := d.Get(key)
		switch {
		case deliver.ShapeOf(d.Schema, key) != deliver.List || !there:
		case len(list) == 0:
			out = append(out, key+" none")
		default:
			out = append(out, fmt.Sprintf("%s %d", key, len(list)))
		}
	}
	return strings.Join(out, ", ")
}

func acceptsAll(d deliver.Deliverable) bool {
	return !slices.ContainsFunc(d.Findings.Findings, func(f deliver.Finding) bool { return f.Disposition != deliver.Accept })
}

// runs matches the name of a run's journal file.
var runs = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:^|[-/])(run-[0-9a-z]{26})\.tsv$`) })

// RunOf returns the run whose journal file this is, in lower case; "" for a person's.
func RunOf(journal string) string {
	m := runs().FindStringSubmatch(journal)
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1])
}

// Vouches reports whether the journal that the handoff names can confirm it: that of its
// own run or a person's. The journal of another run belongs to other sessions.
func (h Handoff) Vouches() bool {
	of := RunOf(h.Journal)
	return of == "" || strings.EqualFold(of, h.Run)
}

// Tells reports whether the content of a journal entry is about the handoff at file: it
// begins with the two modes and contains the whole path.
func Tells(content, from, to, file string) bool {
	rest, ok := strings.CutPrefix(content, from+" → "+to+": ")
	if !ok {
		return false
	}
	for _, word := range strings.Fields(rest) {
		word = strings.Trim(word, "`'\",;:()[]<>")
		if word = strings.TrimSuffix(word, "."); word == file || strings.HasSuffix(word, "/"+file) {
			return true
		}
	}
	return false
}
