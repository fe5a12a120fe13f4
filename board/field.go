package board

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// text reads a scalar.
func (r *reader) text(key string) string {
	v := r.value(key)
	switch v.(type) {
	case []any, map[string]any:
		r.bad(key, key+" must be one value, not a list or a mapping", "write one value")
		return ""
	}
	return strings.TrimSpace(scalar(v))
}

// nameIn reads one of a list of names, which is made for a task that has the key.
func nameIn[T ~string](r *reader, key string, all func() []T) T {
	s := r.text(key)
	if s == "" {
		return ""
	}
	name, err := contract.Named(s, all())
	if err != nil {
		r.bad(key, key+" "+err.Error(), "")
	}
	return name
}

// list reads a scalar or a list of scalars.
func (r *reader) list(key string) []string {
	value := r.value(key)
	if value == nil {
		return nil
	}
	items, _ := value.([]any)
	_, mapped := value.(map[string]any)
	if v, one := value.(string); one && v != "" {
		items = []any{v}
	}
	for _, v := range items {
		switch v := v.(type) {
		case []any, map[string]any, nil:
			mapped = true
		case string:
			if strings.TrimSpace(v) == "" {
				r.bad(key, fmt.Sprintf("an item of %s is empty", key), "delete it, or write what it stands for")
				return nil
			}
		}
	}
	if mapped {
		r.bad(key, key+" must be a list of texts", "write one text per item, and quote those with \": \" in them")
		return nil
	}
	return r.a.List(key)
}

func (r *reader) ids(key string) []okf.ID {
	var out []okf.ID
	for _, s := range r.list(key) {
		out = append(out, okf.ID(s))
	}
	return out
}

func (r *reader) inputs() []string {
	in := r.list("inputs")
	for _, s := range in {
		if !strings.Contains(s, "://") && !isConfined(strings.TrimSuffix(s, "/")) {
			r.bad("inputs", fmt.Sprintf("%q is not a path inside the repository", s), `write it from the top of the repository, without ".."`)
		}
	}
	return in
}

func (r *reader) globs() []string {
	globs := r.list("paths")
	for _, s := range globs {
		if !isConfined(s) {
			r.bad("paths", fmt.Sprintf("%q is not a glob inside the repository", s), `write it from the top of the repository, without "..", like "docs/**"`)
			continue
		}
		for part := range strings.SplitSeq(s, "/") {
			if _, err := path.Match(part, ""); err != nil {
				r.bad("paths", fmt.Sprintf("%q is not a glob: %v", s, err), "escape a literal bracket with \\")
			}
		}
	}
	return globs
}

// isConfined reports whether a path or glob stays inside the repository, and out
// of git's own folder, on every file system.
func isConfined(s string) bool {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.Contains(s, ":") {
		return false
	}
	for i, part := range strings.Split(s, "/") {
		if part == "" || part == ".." || part == "." && s != "." || i == 0 && strings.EqualFold(part, ".git") || strings.Contains(part, `\..`) {
			return false
		}
	}
	return true
}

// commands reads a list of argv lists. A string is refused rather than split:
// odd runs no shell, and two splitters never agree.
func (r *reader) commands() [][]string {
	value := r.value("commands")
	if value == nil {
		return nil
	}
	const hint = "write each command as a list of words, like [[make, test]]"
	items, isList := value.([]any)
	if !isList {
		r.bad("commands", "commands must be a list of lists of words", hint)
		return nil
	}
	var out [][]string
	for _, item := range items {
		argv, err := argv(item)
		if err != "" {
			r.bad("commands", err, hint)
			return nil
		}
		out = append(out, argv)
	}
	return out
}

// argv reads one command; the string says what is wrong with it, "" for nothing.
func argv(item any) (out []string, wrong string) {
	list, ok := item.([]any)
	if !ok {
		return nil, fmt.Sprintf("command %v is not a list of words", item)
	}
	for _, w := range list {
		switch w := w.(type) {
		case string:
			out = append(out, w)
		case int, float64, bool:
			return nil, fmt.Sprintf("%v in a command is not a text; quote it", w)
		default:
			return nil, "a command has a word that is not a text"
		}
	}
	if len(out) == 0 || out[0] == "" || slices.ContainsFunc(out, func(w string) bool { return strings.ContainsRune(w, 0) }) {
		return nil, "a command has no program"
	}
	return out, ""
}

// money reads an amount of dollars. YAML hands a plain 0.25 over as a float; its
// shortest decimal form is what the author wrote up to 15 digits, and an amount
// with more is refused.
func (r *reader) money(key string) budget.MicroUSD {
	value := r.value(key)
	if value == nil {
		return 0
	}
	s := scalar(value)
	if v, isFloat := value.(float64); isFloat {
		s = strconv.FormatFloat(v, 'f', -1, 64)
		if len(s) > 16 {
			r.bad(key, s+" has too many digits", "write the amount as a text, like \"0.25\"")
			return 0
		}
	}
	m, err := budget.Parse(s)
	if err != nil {
		r.bad(key, key+": "+err.Error(), "")
	}
	return m
}

func (r *reader) integer(key string, least int) int {
	value := r.value(key)
	if value == nil {
		return 0
	}
	v, isInt := value.(int)
	if !isInt || v < least || v > 1_000_000 {
		r.bad(key, fmt.Sprintf("%s %s is not a whole number of at least %d", key, scalar(value), least), "write a whole number without quotes")
		return 0
	}
	return v
}

func (r *reader) moment(key string) time.Time {
	s := r.text(key)
	if s == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		r.bad(key, fmt.Sprintf("%s %q is not a time in RFC 3339 form", key, s), "write it like 2026-07-01T09:30:00Z")
	}
	return at.UTC()
}

func (r *reader) readRejections() (out []Rejection) {
	for _, m := range r.maps("rejected", "rejected must be a list of {by, at, reason}", "restore it from git history; only odd reject writes it") {
		out = append(out, Rejection{By: scalar(m["by"]), At: scalar(m["at"]), Reason: scalar(m["reason"])})
	}
	return out
}

func (r *reader) readDeclines() (out []Decline) {
	for _, m := range r.maps("declined", "declined must be a list of {id, text, by, at, reason}", "take out what is none, or restore it from git history") {
		out = append(out, Decline{ID: okf.ID(scalar(m["id"])), Text: scalar(m["text"]), By: scalar(m["by"]), At: scalar(m["at"]), Reason: scalar(m["reason"])})
	}
	return out
}

func (r *reader) readEndorsements() (out []Endorsement) {
	for _, m := range r.maps("endorsed", "endorsed must be a list of {by, at, proposal}", "restore it from git history; only odd approve writes it") {
		out = append(out, Endorsement{By: scalar(m["by"]), At: scalar(m["at"]), Proposal: scalar(m["proposal"])})
	}
	return out
}

// maps reads a list of maps, or a single one; anything else is what wrong says.
func (r *reader) maps(key, wrong, way string) (out []map[string]any) {
	value := r.value(key)
	items, isList := value.([]any)
	if m, one := value.(map[string]any); one {
		items, isList = []any{m}, true
	}
	bad := !isList && value != nil
	for _, v := range items {
		m, ok := v.(map[string]any)
		if !ok {
			bad, out = true, nil
			break
		}
		out = append(out, m)
	}
	if bad {
		r.bad(key, wrong, way)
	}
	return out
}

func (r *reader) result() Result {
	value := r.value("result")
	m, ok := value.(map[string]any)
	if !ok && value != nil {
		r.bad("result", "result must be {run, branch, commit}", "restore it from git history; only odd drain writes it")
	}
	return Result{Run: scalar(m["run"]), Branch: scalar(m["branch"]), Commit: scalar(m["commit"])}
}

// scalar is v as text; "" for what is no scalar.
func scalar(v any) string {
	switch v := v.(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
