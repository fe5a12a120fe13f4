package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Caps of a delivered candidate, which protect the reader. The iron gate has its own for a
// change.
const (
	maxCandidateBytes = 8 << 20 // of the whole, as it is delivered
	MaxCandidates     = 3       // of one answer
	maxCandidateFiles = 100     // of one candidate
	maxContent        = 4 << 20 // bytes of one file, or of its diff
	maxWords          = 4000    // bytes of a rationale or a reason
	maxName           = 200     // bytes of an id or a name
	maxPathBytes      = 1024
)

// Given is what ParseCandidate compares a delivery with.
type Given struct {
	// At is the file at a path of the base: its bytes and its mode. Nil bytes
	// mean that there is none.
	At func(path string) (b []byte, mode string, err error)
	// Wrote are the paths that the session wrote in its scratch repository. A
	// session that wrote files cannot say that there is nothing to do, nor
	// deliver something else as text.
	Wrote []string
}

// ParseCandidate reads one candidate object: schema_version 2b.1, 2b.1-diff or
// 2b.1-noop. The checks come in this order, and the error, an Unusable, lists
// every fault of the first one that finds any:
//
//	size, UTF-8, JSON, object      too_large json not_an_object
//	noop                           noop_with_writes noop_with_candidates
//	version                        missing_schema_version unknown_version
//	top members                    unexpected_key
//	what was written as well       two_deliveries
//	candidates, one to three       missing_candidates no_candidates too_many_candidates
//	members of each                missing_… wrong_type unexpected_candidate_key one_or_files path_…
//	content against the base       stale_source context_mismatch diff_… unchanged not_a_file
//
// The iron gate judges the content: whether it parses and is whole.
func ParseCandidate(b []byte, g Given) ([]Candidate, error) {
	top, err := readJSON(b, maxCandidateBytes)
	if err != nil {
		return nil, err
	}
	version, said := top.findMember("schema_version")
	switch version.Text {
	case FromNoop:
		return parseNoop(top, g)
	case FromFull, FromDiff:
	default:
		if !said {
			return nil, Unusable{{"missing_schema_version", top.place(), "has no schema_version", "write 2b.1, 2b.1-diff or 2b.1-noop"}}
		}
		return nil, Unusable{{"unknown_version", version.place(), fmt.Sprintf("%s is not a known schema", version.rawText()), "write 2b.1, 2b.1-diff or 2b.1-noop"}}
	}
	var u Unusable
	f := &form{v: top, u: &u, known: []string{"schema_version", "candidates", "provider_metadata"}}
	f.refuseOthers("unexpected_key")
	if len(u) > 0 {
		return nil, u
	}
	if len(g.Wrote) > 0 {
		return nil, Unusable{{"two_deliveries", "", fmt.Sprintf("the agent changed %s in its tree and also delivered a change block", strings.Join(g.Wrote, ", ")), "deliver one of the two"}}
	}
	list := f.readList("candidates", true, MaxCandidates)
	if len(u) == 0 && len(list) == 0 {
		u = append(u, Fault{"no_candidates", top.place(), "candidates is empty", "deliver one, or a 2b.1-noop"})
	}
	if len(u) > 0 {
		return nil, u
	}
	return parseAll(list, version.Text == FromDiff, g)
}

func parseNoop(top value, g Given) ([]Candidate, error) {
	var u Unusable
	f := &form{v: top, u: &u, known: []string{"schema_version"}}
	c := Candidate{Source: FromNoop, Reason: f.readText("reason", true, maxWords)}
	if m, ok := f.findMember("no_op", false); ok && m.rawText() != "true" {
		f.addFault("wrong_type", m.place(), "is not true", "write true, or leave it out")
	}
	if m, ok := f.findMember("candidates", false); ok {
		f.addFault("noop_with_candidates", m.place(), "a noop also delivers candidates", "deliver one of the two")
	}
	f.findMember("provider_metadata", false)
	f.refuseOthers("unexpected_key")
	if len(g.Wrote) > 0 {
		f.addFault("noop_with_writes", top.place(), fmt.Sprintf("says that there is nothing to do, but the agent changed %s", strings.Join(g.Wrote, ", ")), "deliver what was written, or write nothing")
	}
	if len(u) > 0 {
		return nil, u
	}
	return []Candidate{c}, nil
}

// delivered is one file of a candidate, before it is compared with the base.
type delivered struct {
	at      string
	path    string
	content string // or the diff
	sum     string // of the file it was made from, for a diff
}

func parseAll(list []value, diffs bool, g Given) ([]Candidate, error) {
	var u Unusable
	out := make([]Candidate, len(list))
	files := make([][]delivered, len(list))
	for i, v := range list {
		f := &form{v: v, u: &u}
		if f.checkObject(v) {
			out[i], files[i] = f.readCandidate(diffs)
		}
		if out[i].ID != "" && slices.ContainsFunc(out[:i], func(c Candidate) bool { return c.ID == out[i].ID }) {
			f.addFault("candidate_twice", v.place(), fmt.Sprintf("the id %q appears twice", out[i].ID), "give each candidate its own")
		}
	}
	if len(u) > 0 {
		return nil, u
	}
	for i := range out {
		for _, t := range files[i] {
			e, faults := t.makeEdit(diffs, g)
			u = append(u, faults...)
			out[i].Files = append(out[i].Files, e)
		}
		if len(u) == 0 {
			u = append(u, out[i].checkFiles()...)
		}
	}
	if len(u) > 0 {
		return nil, u
	}
	return out, nil
}

func (f *form) readCandidate(diffs bool) (Candidate, []delivered) {
	c := Candidate{ID: f.readText("candidate_id", true, maxName), Rationale: f.readText("rationale", true, maxWords), Source: FromFull}
	if diffs {
		c.Source = FromDiff
	}
	var files []delivered
	_, many := f.v.findMember("files")
	_, one := f.v.findMember("file_path")
	if many == one {
		f.addFault("one_or_files", f.v.place(), "has both file_path and files, or neither", "write one file_path, or files with one entry for each")
	}
	if !many || one {
		files = append(files, f.readFile(diffs))
	}
	if many {
		list := f.readList("files", true, maxCandidateFiles)
		if len(list) == 0 {
			f.addFault("no_files", f.v.place(), "files is empty", "write at least one file")
		}
		for _, v := range list {
			g := &form{v: v, u: f.u}
			if g.checkObject(v) {
				t := g.readFile(diffs)
				if slices.ContainsFunc(files, func(before delivered) bool { return before.path == t.path }) {
					f.addFault("path_clash", t.at, fmt.Sprintf("%q appears twice", t.path), "write each file once")
				}
				files = append(files, t)
				g.readText("rationale", false, maxWords)
				g.refuseOthers("unexpected_file_key")
			}
		}
	}
	f.refuseOthers("unexpected_candidate_key")
	return c, files
}

// readFile reads the members of one file. Content may be empty, but not missing.
func (f *form) readFile(diffs bool) delivered {
	t := delivered{at: f.v.place(), path: f.readText("file_path", true, maxPathBytes)}
	if m, ok := f.v.findMember("file_path"); ok {
		t.at = m.place()
		for _, p := range policy.CheckPath(t.path) {
			f.addFault(p.Code, t.at, p.Text, p.Fix)
		}
	}
	if diffs {
		t.sum = strings.ToLower(f.readText("source_sha256", false, 64))
		t.content = f.readText("unified_diff", true, maxContent)
		return t
	}
	m, ok := f.findMember("full_content", true)
	if m.Kind == '"' && len(m.Text) <= maxContent {
		t.content = m.Text
	} else if ok {
		f.addFault("wrong_type", m.place(), fmt.Sprintf("is not a string of at most %d bytes", maxContent), "write the whole new content of the file")
	}
	return t
}

func (t delivered) makeEdit(diffs bool, g Given) (Edit, Unusable) {
	before, mode, err := g.At(t.path)
	if err != nil {
		return Edit{}, Unusable{{"base_unreadable", t.at, fmt.Sprintf("the file %q cannot be read in the base commit: %v", t.path, err), "choose another path"}}
	}
	e := Edit{Path: t.path, Before: before, OldMode: mode, NewMode: mode}
	if before == nil {
		e.OldMode, e.NewMode = "", modePlain
	}
	if !diffs {
		e.After = []byte(t.content)
		return e, nil
	}
	if fault := t.checkSource(before); fault != nil {
		return e, Unusable{*fault}
	}
	after, fault := applyDiff(t.path, before, t.content)
	if fault != nil {
		fault.At = strings.TrimSuffix(t.at+", "+fault.At, ", ")
		return e, Unusable{*fault}
	}
	if e.After = after; after == nil {
		e.NewMode = ""
	}
	return e, nil
}

// shortSum is how many digits of the sum a session must give.
const shortSum = 12

// checkSource finds a diff that was made from other bytes than those at the base.
func (t delivered) checkSource(before []byte) *Fault {
	if before == nil {
		if t.sum != "" {
			return &Fault{"stale_source", t.at, fmt.Sprintf("%q does not exist in the base commit, but source_sha256 is given", t.path), "leave source_sha256 out for a new file"}
		}
		return nil
	}
	sum := sha256.Sum256(before)
	want := hex.EncodeToString(sum[:])
	switch {
	case len(t.sum) < shortSum:
		return &Fault{"missing_source_sha256", t.at, fmt.Sprintf("gives %d digits of the SHA-256 of %q, and at least %d are needed", len(t.sum), t.path, shortSum), "write the SHA-256 of the file that the diff was made from"}
	case !strings.HasPrefix(want, t.sum):
		return &Fault{"stale_source", t.at, fmt.Sprintf("the diff was made from %s, but %q is %s in the base commit", t.sum, t.path, want[:shortSum]), "make the diff again from the current file"}
	}
	return nil
}
