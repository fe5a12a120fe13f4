// Package audit prepares a validator's session on a change, and holds what it
// finds to the change: the gate that a pull request passes.
//
// The artifact is the difference between two commits, as one patch, with the
// files it touches by path and blob. The claims are what the change says of
// itself: a handoff, a text somebody wrote beside it, or, where there is
// neither, its commit messages, which the brief calls what they are. Nothing
// else reaches the session: its brief is that of any validator.
//
// # Promises
//
//  1. A change is judged by the rules it starts from. Profile, prompts and canon
//     are the base's, and Touched names what of them the change would alter, so
//     that no change brings its own judge.
//  2. A patch that is too long keeps its head and its tail and says between them
//     how much is missing. Characters that nobody can see are written by number.
//  3. Odd's own records are no part of a change: what an earlier judge said, and
//     what a session cost, would lead the next one. They are counted, and history
//     proves them (odd check --range).
//  4. A finding whose place is not there at the end of the change is marked, not
//     dropped: the session's claim is checked, and a person sees both.
package audit

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
	"github.com/odd-cli/odd/persona/invoke"
)

// MaxPatch is how much of a patch a brief carries, in bytes: half of it from the
// beginning and half from the end.
const MaxPatch = 150 << 10

// Change is what is audited. Base is the commit it starts from and Head the one
// it ends with.
type Change struct {
	Base, Head string
	Files      []File // by path
	Patch      []byte
	Commits    []Commit // oldest first
	Records    int      // files left out that differ too, because they are odd's own records
}

// File is one file that differs. Blob is its blob at Head, "" where it is gone.
type File struct {
	Path string `json:"path"`
	Blob string `json:"blob,omitempty"`
}

// Commit is one commit of the change.
type Commit struct{ ID, Message string }

// Name is what the change is called as an artifact.
func (c Change) Name() string { return shortID(c.Base) + ".." + shortID(c.Head) }

func shortID(id string) string { return id[:min(12, len(id))] }

// Artifacts are the patch as a brief carries it, and the files it touches as
// pointers; cut is how many bytes of the patch are left out. Where so many files
// differ that their names alone would crowd the patch out, the last are counted.
func (c Change) Artifacts() (files []invoke.File, cut int) {
	const spare, most = 8 << 10, 64 << 10 // what a brief has beside MaxPatch, and what names may take of it
	names := 0
	for i, f := range c.Files {
		if names > most {
			files = append(files, invoke.File{Path: fmt.Sprintf("and %d files more", len(c.Files)-i)})
			break
		}
		files = append(files, invoke.File{Path: f.Path, Blob: cmp.Or(f.Blob, "gone")})
		names += len(f.Path) + 50
	}
	if told := c.LeftOut(); told != "" {
		files = append(files, invoke.File{Path: told})
	}
	text, cut := headAndTail(visiblePatch(c.Patch), MaxPatch-max(0, names-spare))
	return append([]invoke.File{{Path: "the change " + c.Name(), Blob: okf.BlobID(c.Patch), Text: text}}, files...), cut
}

// LeftOut says what of a change is not audited, "" where all of it is.
func (c Change) LeftOut() string {
	switch c.Records {
	case 0:
		return ""
	case 1:
		return "1 file of odd's own records left out; odd check --range proves it"
	}
	return fmt.Sprintf("%d files of odd's own records left out; odd check --range proves those", c.Records)
}

// headAndTail keeps limit bytes of a text, whole lines from both ends.
func headAndTail(text []byte, limit int) (kept []byte, cut int) {
	if len(text) <= limit {
		return text, 0
	}
	head, tail := string(text[:limit/2]), string(text[len(text)-limit/2:])
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	cut = len(text) - len(head) - len(tail)
	return fmt.Appendf(nil, "%s\n[%d bytes of the change are left out here: it is over the %d that a brief carries]\n\n%s",
		strings.ToValidUTF8(head, "\uFFFD"), cut, limit, strings.ToValidUTF8(tail, "\uFFFD")), cut
}

// visiblePatch returns a patch as text, with what nobody can see by number: a reviewer must
// not miss what a compiler reads.
func visiblePatch(patch []byte) []byte {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(strings.ReplaceAll(string(patch), "\r\n", "\n"), "\uFFFD") {
		if s := string(r); okf.Visible(s) != s {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return []byte(b.String())
}

// Messages are the claims of a change that nobody described: its commits'
// messages.
func (c Change) Messages() handoff.Handoff {
	var does []string
	for _, m := range c.Commits {
		does = append(does, shortID(m.ID)+": "+strings.TrimSpace(m.Message))
	}
	return c.claimsHandoff("the commit messages of "+c.Name(), okf.BlobID([]byte(strings.Join(does, "\n"))), does,
		"nobody stated claims: these are commit messages, taken as what the change says it does")
}

// Stated are the claims in a text: a handoff to validation where it is one, and
// else the paragraphs of a description, such as a pull request's.
func (c Change) Stated(name string, text []byte) (handoff.Handoff, error) {
	if a, err := okf.Parse(name, text); err == nil && a.Type == handoff.Type {
		h, err := handoff.Read(&a)
		if err == nil && h.To != contract.Validation {
			err = fmt.Errorf("%s: a handoff from %s to %s; an audit reads claims, which go to %s", name, h.From, h.To, contract.Validation)
		}
		if err != nil {
			return h, err
		}
		return c.withArtifact(h), nil
	}
	page, _, err := okf.ParsePage(name, text)
	if err != nil {
		return handoff.Handoff{}, err
	}
	var does []string
	for part := range strings.SplitSeq(strings.ReplaceAll(string(page.Body()), "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			does = append(does, part)
		}
	}
	if len(does) == 0 {
		return handoff.Handoff{}, fmt.Errorf("%s: it claims nothing; describe the change, or leave --claims out", name)
	}
	return c.claimsHandoff(name, okf.BlobID(text), does, "a description in the author's words, by paragraph"), nil
}

// withArtifact is h with the change as its artifact: what the handoff is about is what
// the change does, and the change is what is judged.
func (c Change) withArtifact(h handoff.Handoff) handoff.Handoff {
	h.Artifact, h.Deliverable = c.Name(), h.Deliverable.Clone()
	switch d := h.Deliverable; {
	case d.Claims != nil:
		d.Claims.Artifact = c.Name()
	case d.Remediation != nil:
		d.Remediation.Artifact = c.Name()
	}
	return h
}

func (c Change) claimsHandoff(name, blob string, does []string, scope string) handoff.Handoff {
	return handoff.Handoff{
		Handoff: contract.Handoff{ID: name, Path: name, Blob: blob, From: contract.Execution, To: contract.Validation,
			Artifact: c.Name(), Journal: "git log " + c.Name()},
		Deliverable: deliver.Deliverable{Schema: deliver.SchemaClaims, Claims: &deliver.Claims{Artifact: c.Name(), Does: does, DoesNot: []string{"not stated"}, Scope: scope}},
	}
}

// Judged is a finding with what became of its place.
type Judged struct {
	deliver.Finding
	Path  string `json:"path,omitempty"`
	Line  int    `json:"line,omitempty"`
	Found bool   `json:"found"` // the place is there at the end of the change, or the change took the file away
}

// Locate holds every finding's place against the files at the end of the change.
func Locate(list []deliver.Finding, c Change, head fs.FS) []Judged {
	out := make([]Judged, len(list))
	for i, f := range list {
		j := Judged{Finding: f}
		j.Path, j.Line = parsePlace(f.Location)
		gone := slices.ContainsFunc(c.Files, func(f File) bool { return f.Path == j.Path && f.Blob == "" })
		j.Found = gone || hasLine(head, j.Path, j.Line)
		out[i] = j
	}
	return out
}

// parsePlace reads path, path:line, path:line:column or path:line-line.
func parsePlace(location string) (file string, line int) {
	file = strings.TrimSpace(location)
	for range 2 {
		i := strings.LastIndexByte(file, ':')
		if i < 0 {
			break
		}
		from, _, _ := strings.Cut(file[i+1:], "-")
		n, err := strconv.Atoi(strings.TrimPrefix(from, "L"))
		if err != nil || n < 1 {
			break
		}
		file, line = file[:i], n
	}
	return path.Clean(strings.TrimPrefix(file, "./")), line
}

func hasLine(head fs.FS, file string, line int) bool {
	if !fs.ValidPath(file) {
		return false
	}
	st, err := fs.Stat(head, file)
	if err != nil || st.IsDir() {
		return err == nil && line == 0
	}
	b, err := fs.ReadFile(head, file)
	return err == nil && line <= strings.Count(string(b), "\n")+1
}

// Codes returns the rules of an audit: how much a finding weighs.
func Codes() []okf.Code {
	return []okf.Code{
		{Name: "audit-blocker", Severity: okf.Error, About: "a finding that a change must not land with, unless it is accepted"},
		{Name: "audit-finding", Severity: okf.Warn, About: "a defect"},
		{Name: "audit-caveat", Severity: okf.Info, About: "something to know"},
		{Name: "audit-unseen", Severity: okf.Warn, About: "a change too long to be shown whole: a person has to look at the rest"},
		{Name: "audit-failed", Severity: okf.Error, About: "the session did not come to findings, so that the change is not judged"},
	}
}
