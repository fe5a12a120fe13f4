package object

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// parseCommit reads a commit object. Headers odd has no use for (encoding, …) are skipped.
func parseCommit(oid OID, b []byte) (Commit, error) {
	c := Commit{OID: oid}
	for {
		line, rest, ok := bytes.Cut(b, []byte("\n"))
		if !ok {
			return c, fmt.Errorf("%s: malformed commit object", oid)
		}
		b = rest
		if len(line) == 0 {
			break
		}
		if err := c.parseHeader(string(line)); err != nil {
			return c, fmt.Errorf("%s: %w", oid, err)
		}
	}
	c.Message = string(b)
	return c, nil
}

// parseHeader reads one header line of a commit; a continuation line starts with a space. It reads malformed
// commits as git does: of repeated lines the first counts, and a parent counts only before the author.
func (c *Commit) parseHeader(line string) (err error) {
	key, val, _ := strings.Cut(line, " ")
	switch key {
	case "tree":
		c.Tree = cmp.Or(c.Tree, OID(val))
	case "parent":
		if c.Author == (Signature{}) {
			c.Parents = append(c.Parents, OID(val))
		}
	case "author":
		err = c.Author.parseFirst(val)
	case "committer":
		err = c.Committer.parseFirst(val)
	case "gpgsig", "gpgsig-sha256":
		c.Signed = true
	}
	return err
}

// parseFirst parses an identity unless one was parsed already.
func (s *Signature) parseFirst(val string) (err error) {
	if *s == (Signature{}) {
		*s, err = ParseSignature(val)
	}
	return err
}

// ParseSignature reads "Name <email> 1700000000 +0100". A missing or malformed time is the epoch in UTC, as in git.
func ParseSignature(s string) (Signature, error) {
	lt, gt := strings.IndexByte(s, '<'), strings.LastIndexByte(s, '>')
	if lt < 0 || gt < lt {
		return Signature{}, fmt.Errorf("malformed identity %q", s)
	}
	sig := Signature{Name: strings.TrimSpace(s[:lt]), Email: s[lt+1 : gt]}
	sec, zone, _ := strings.Cut(strings.TrimSpace(s[gt+1:]), " ")
	n, err := strconv.ParseInt(sec, 10, 64)
	if err != nil {
		n = 0
	}
	sig.When = time.Unix(n, 0).In(parseZone(zone))
	return sig, nil
}

// parseZone reads "+0130"; anything else is UTC.
func parseZone(s string) *time.Location {
	n, err := strconv.Atoi(s)
	if err != nil || len(s) != 5 || n == 0 {
		return time.UTC
	}
	return time.FixedZone("", (n/100*60+n%100)*60)
}

// String returns the form that git stores.
func (s Signature) String() string {
	return fmt.Sprintf("%s <%s> %d %s", s.Name, s.Email, s.When.Unix(), s.When.Format("-0700"))
}

// Check refuses an identity that would break a commit's header line or that git refuses.
func (s Signature) Check() error {
	switch {
	case strings.TrimSpace(s.Name) == "" || s.Email == "":
		return fmt.Errorf("identity %q <%s>: name and email must not be empty", s.Name, s.Email)
	case strings.ContainsAny(s.Name+s.Email, "<>\n\r\x00"):
		return fmt.Errorf("identity %q <%q>: angle brackets, line breaks and NUL are not allowed", s.Name, s.Email)
	case s.When.IsZero():
		return fmt.Errorf("identity %s <%s>: no time given", s.Name, s.Email)
	}
	return nil
}

// printCommit returns the bytes of an unsigned commit object. author and committer are as Signature.String prints
// them; the message gets its final newline.
func printCommit(tree OID, parents []OID, author, committer, message string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s\n", author, committer, strings.TrimRight(message, "\n"))
	return []byte(b.String())
}

// Trailer returns the values of the named trailer ("Odd-Run: VALUE") in the message's last paragraph, in order.
// Names compare without case, as in git.
func (c Commit) Trailer(name string) []string {
	var out []string
	for _, line := range c.TrailerLines() {
		key, val, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(key, name) {
			out = append(out, strings.TrimSpace(val))
		}
	}
	return out
}

// TrailerLines returns the lines of the message's last paragraph, none if the message has only a subject.
func (c Commit) TrailerLines() []string {
	paras := strings.Split(strings.TrimRight(c.Message, "\n"), "\n\n")
	if len(paras) < 2 {
		return nil
	}
	return strings.Split(paras[len(paras)-1], "\n")
}
