package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Caps of what a session delivers as text, which protect the reader. The iron gate has its own
// for a change.
const (
	maxDelivery   = 8 << 20 // bytes of the whole
	MaxCandidates = 3       // of one answer
	maxWords      = 4000    // bytes of a rationale
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

// delivery is a change block. What it has besides is passed over.
type delivery struct {
	Version    string `json:"schema_version"`
	Reason     string `json:"reason"` // of a noop
	Candidates []struct {
		ID            string          `json:"candidate_id"`
		Rationale     string          `json:"rationale"`
		deliveredFile                 // the only one, in the place of files
		Files         []deliveredFile `json:"files"`
	} `json:"candidates"`
}

type deliveredFile struct {
	Path    string  `json:"file_path"`
	Content *string `json:"full_content"` // the whole file
}

// readJSON decodes one JSON object of a schema. The error is an Unusable.
func readJSON(b []byte, into any) error {
	if len(b) > maxDelivery {
		return Unusable{{"too_large", "", fmt.Sprintf("%d bytes, and at most %d are allowed", len(b), maxDelivery), "deliver less at once"}}
	}
	err := json.Unmarshal(b, into)
	at := int64(0)
	if no := (*json.SyntaxError)(nil); errors.As(err, &no) {
		at = no.Offset
	}
	if no := (*json.UnmarshalTypeError)(nil); errors.As(err, &no) {
		at, err = no.Offset, fmt.Errorf("%s may not be of the type %s", no.Field, no.Value)
	}
	if err == nil && !utf8.Valid(b) { // which would be read as other characters
		err = errors.New("it is not UTF-8")
	}
	if err == nil {
		return nil
	}
	return Unusable{{"json", fmt.Sprintf("line %d", 1+bytes.Count(b[:min(at, int64(len(b)))], []byte("\n"))), err.Error(), "deliver one whole JSON object, in UTF-8, and nothing else"}}
}

// ParseCandidate reads one candidate object: schema_version 2b.1 or 2b.1-noop. The error is
// an Unusable. The iron gate judges the content: whether it parses and is whole.
func ParseCandidate(b []byte, g Given) ([]Candidate, error) {
	var d delivery
	if err := readJSON(b, &d); err != nil {
		return nil, err
	}
	noop, n, wrote := d.Version == FromNoop, len(d.Candidates), strings.Join(g.Wrote, ", ")
	switch {
	case !noop && d.Version != FromFull:
		return nil, Unusable{{"unknown_version", "schema_version", fmt.Sprintf("%q is not a known schema", d.Version), "write 2b.1 or 2b.1-noop"}}
	case noop && wrote != "":
		return nil, Unusable{{"noop_with_writes", "", "says that there is nothing to do, but the agent changed " + wrote, "deliver what was written, or write nothing"}}
	case noop && n > 0:
		return nil, Unusable{{"two_deliveries", "candidates", "a noop also delivers candidates", "deliver one of the two"}}
	case wrote != "":
		return nil, Unusable{{"two_deliveries", "", "the agent changed " + wrote + " in its tree and also delivered a change block", "deliver one of the two"}}
	case noop && strings.TrimSpace(d.Reason) == "":
		return nil, Unusable{{"missing_reason", "", "has no reason", "say why nothing needs to change"}}
	case noop:
		return []Candidate{{Source: FromNoop, Reason: d.Reason}}, nil
	case n == 0 || n > MaxCandidates:
		return nil, Unusable{{"candidate_count", "candidates", fmt.Sprintf("%d candidates, and 1 to %d are allowed", n, MaxCandidates), "deliver the best ones, or a 2b.1-noop"}}
	}
	return d.readCandidates(g)
}

func (d delivery) readCandidates(g Given) ([]Candidate, error) {
	var u Unusable
	out := make([]Candidate, len(d.Candidates))
	for i, c := range d.Candidates {
		files := c.Files
		if len(files) == 0 {
			files = []deliveredFile{c.deliveredFile}
		}
		out[i] = Candidate{ID: c.ID, Rationale: strings.ToValidUTF8(c.Rationale[:min(len(c.Rationale), maxWords)], ""), Source: FromFull}
		for n, f := range files {
			e, fault := f.makeEdit(fmt.Sprintf("candidates[%d], file %d", i, n+1), g)
			out[i].Files, u = append(out[i].Files, e), append(u, fault...)
		}
		if len(u) == 0 {
			u = out[i].checkFiles()
		}
	}
	if len(u) > 0 {
		return nil, u
	}
	return out, nil
}

func (f deliveredFile) makeEdit(at string, g Given) (Edit, Unusable) {
	e := Edit{Path: f.Path}
	if f.Path == "" || f.Content == nil {
		return e, Unusable{{"missing_member", at, fmt.Sprintf("%q has no file_path or no full_content", f.Path), "write both, with the whole new content of the file"}}
	}
	for _, p := range policy.CheckPath(f.Path) {
		return e, Unusable{{p.Code, at, p.Text, p.Fix}}
	}
	var err error
	if e.Before, e.OldMode, err = g.At(f.Path); err != nil {
		return e, Unusable{{"base_unreadable", at, fmt.Sprintf("the file %q cannot be read in the base commit: %v", f.Path, err), "choose another path"}}
	}
	e.After, e.NewMode = []byte(*f.Content), e.OldMode
	if e.Before == nil {
		e.OldMode, e.NewMode = "", modePlain
	}
	return e, nil
}
