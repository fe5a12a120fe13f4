package okf

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// checkTrust checks what an atom says about who wrote, confirmed and rated it.
func (c *checker) checkTrust() {
	a := c.a
	if f, ok := a.Field("confidence"); ok {
		if _, known := ParseConfidence(valueText(f.Value)); !known || f.Value != nil && valueText(f.Value) == "" {
			c.add(Error, codeConfidenceWord, f.Line, "write inferred, asserted or verified", "confidence is %s, which is no level, so it counts as inferred", formatValue(f.Value))
		}
	}
	if a.Claimed == Verified && a.Tier() != HumanReviewed {
		c.add(Error, codeUnproven, a.Line("confidence"), "write confidence: asserted, or a person adds verified: {by: human:NAME}", "confidence is verified, but the key verified names no person, so it counts as asserted")
	}
	if _, ok := a.Field("generated"); ok {
		c.checkStamp("generated", a.Generated)
	}
	for _, v := range a.Verified {
		c.checkStamp("verified", v)
	}
	for _, s := range a.Sources {
		if s.Resource == "" {
			c.add(Warn, codeProvenance, a.Line("sources"), "add resource: the file or address that it stands for", "source %q has no resource", s.ID+s.Title)
		}
	}
	c.checkConfirmation()
}

func (c *checker) checkStamp(key string, s Stamp) {
	line := c.a.Line(key)
	if s.By == "" {
		c.add(Warn, codeProvenance, line, "add by, as in {by: human:NAME}", "%s does not say who", key)
	}
	if looksHuman(s) {
		c.add(Warn, codeActor, line, "write human:NAME", "%s.by is %q, which does not count as a person", key, s.By)
	}
}

// looksHuman reports an actor that is meant to be a person but is not written "human:NAME".
func looksHuman(s Stamp) bool {
	by := strings.ToLower(strings.TrimSpace(s.By))
	rest, ok := strings.CutPrefix(by, "human")
	if !ok || s.Human() && s.By == strings.TrimSpace(s.By) {
		return false
	}
	return rest == "" || strings.HasPrefix(rest, "s:") || strings.IndexByte(":/ =@-_", rest[0]) >= 0
}

// checkConfirmation reports an atom that was generated again after it was last verified.
func (c *checker) checkConfirmation() {
	written, err := time.Parse(time.RFC3339, c.a.Generated.At)
	if err != nil || len(c.a.Verified) == 0 {
		return
	}
	for _, v := range c.a.Verified {
		at, err := time.Parse(time.RFC3339, v.At)
		if err != nil || !at.Before(written) {
			return
		}
	}
	c.add(Warn, codeOutdated, c.a.Line("verified"), "a person reads it and adds verified again", "the atom was generated again after it was last verified")
}

// checkLifecycle checks status and age, and reports the keys of OKF v0.1.
func (c *checker) checkLifecycle() {
	a := c.a
	if f, ok := a.Field("status"); ok && a.URI == "" && !slices.Contains([]string{"", "draft", "stable", "deprecated"}, a.Status) {
		hint := "write draft, stable or deprecated"
		if a.Type == "task" {
			hint = "remove it: a task is in the state that its key state names"
		}
		c.add(Warn, codeStatus, f.Line, hint, "status is %q, which OKF does not have", a.Status)
	}
	c.checkStale()
	if f, ok := a.Field("timestamp"); ok && a.Line("generated") == 1 {
		c.add(Warn, codeTimestamp, f.Line, "move it to generated.at", "timestamp is from OKF v0.1")
	}
	switch {
	case len(a.Sources) > 0:
	case a.disk != nil:
		c.pages = append(c.pages, unreadBody{a.Path, a.Blob, a.body, a.BodyLine})
	default:
		c.checkCitations(a.Path, a.Body(), a.BodyLine)
	}
}

// unreadBody is the body of an atom whose text is not in memory: its file, its offset in
// it, and its first line.
type unreadBody struct {
	path, blob string
	body, line int
}

// checkBodies reads and checks bodies. It skips a file that changed in the meantime.
func (c *checker) checkBodies(pages []unreadBody) {
	names := make([]string, len(pages))
	for k, p := range pages {
		names[k] = p.path
	}
	readTexts(c.g.rows.disk, names, func(k int, b []byte) {
		if p := pages[k]; BlobID(b) == p.blob && p.body <= len(b) {
			c.checkCitations(p.path, b[p.body:], p.line)
		}
	})
}

func (c *checker) checkStale() {
	f, ok := c.a.Field("stale_after")
	if !ok || f.Value == nil {
		return
	}
	at, err := time.Parse(time.RFC3339, c.a.StaleAfter)
	switch {
	case err != nil:
		c.add(Warn, codeStaleDate, f.Line, "write it as 2026-01-31T00:00:00Z", "stale_after %q has no time with a time zone, so it is ignored", c.a.StaleAfter)
	case !c.now.Before(at):
		c.add(Warn, codeStale, f.Line, "check that the atom is still true, then write a later date, or status: deprecated", "stale_after was %s, so the atom may be out of date", c.a.StaleAfter)
	}
}

// checkCitations looks for "# Citations" in a body that begins on line n of its file.
func (c *checker) checkCitations(file string, body []byte, n int) {
	if !bytes.Contains(body, []byte("# Citations")) {
		return
	}
	for line := range bytes.Lines(body) {
		if string(bytes.TrimSpace(line)) == "# Citations" {
			c.addAt(file, Warn, codeCitations, n, "list what it cites in the key sources", "a Citations section is from OKF v0.1")
			return
		}
		n++
	}
}

// formatValue formats a value for a message, with quotes around text, so that "1" and 1
// differ.
func formatValue(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(v)
}
