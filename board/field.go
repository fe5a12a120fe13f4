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

func (r *reader) readText(key string) string {
	v := r.lookUp(key)
	switch v.(type) {
	case []any, map[string]any:
		r.addProblem(key, key+" must be one value, not a list or a mapping", "write one value")
		return ""
	}
	return strings.TrimSpace(formatScalar(v))
}

// readName reads one of a list of names. all is called only if the task has the key.
func readName[T ~string](r *reader, key string, all func() []T) T {
	s := r.readText(key)
	if s == "" {
		return ""
	}
	name, err := contract.Named(s, all())
	if err != nil {
		r.addProblem(key, key+" "+err.Error(), "")
	}
	return name
}

func (r *reader) readList(key string) []string {
	value := r.lookUp(key)
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
				r.addProblem(key, fmt.Sprintf("an item of %s is empty", key), "delete it, or write what it stands for")
				return nil
			}
		}
	}
	if mapped {
		r.addProblem(key, key+" must be a list of texts", "write one text per item, and quote those with \": \" in them")
		return nil
	}
	return r.a.List(key)
}

func (r *reader) readIDs(key string) []okf.ID {
	var out []okf.ID
	for _, s := range r.readList(key) {
		out = append(out, okf.ID(s))
	}
	return out
}

func (r *reader) readInputs() []string {
	in := r.readList("inputs")
	for _, s := range in {
		if !strings.Contains(s, "://") && !isConfined(strings.TrimSuffix(s, "/")) {
			r.addProblem("inputs", fmt.Sprintf("%q is not a path inside the repository", s), `write it from the top of the repository, without ".."`)
		}
	}
	return in
}

func (r *reader) readGlobs() []string {
	globs := r.readList("paths")
	for _, s := range globs {
		if !isConfined(s) {
			r.addProblem("paths", fmt.Sprintf("%q is not a glob inside the repository", s), `write it from the top of the repository, without "..", like "docs/**"`)
			continue
		}
		for part := range strings.SplitSeq(s, "/") {
			if _, err := path.Match(part, ""); err != nil {
				r.addProblem("paths", fmt.Sprintf("%q is not a glob: %v", s, err), "escape a literal bracket with \\")
			}
		}
	}
	return globs
}

// isConfined reports whether a path or glob stays inside the repository, and out of .git, on
// every file system.
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

// readCommands reads a list of argv lists. It refuses a string and does not split it: odd
// runs no shell, and no two splitters agree.
func (r *reader) readCommands() [][]string {
	value := r.lookUp("commands")
	if value == nil {
		return nil
	}
	const hint = "write each command as a list of words, like [[make, test]]"
	items, isList := value.([]any)
	if !isList {
		r.addProblem("commands", "commands must be a list of lists of words", hint)
		return nil
	}
	var out [][]string
	for _, item := range items {
		argv, err := parseArgv(item)
		if err != "" {
			r.addProblem("commands", err, hint)
			return nil
		}
		out = append(out, argv)
	}
	return out
}

// parseArgv reads one command. wrong is "" if it is right.
func parseArgv(item any) (out []string, wrong string) {
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

// readMoney reads an amount of dollars. YAML parses a plain 0.25 as a float. Its shortest
// decimal form is what the author wrote up to 15 digits; an amount with more is refused.
func (r *reader) readMoney(key string) budget.MicroUSD {
	value := r.lookUp(key)
	if value == nil {
		return 0
	}
	s := formatScalar(value)
	if v, isFloat := value.(float64); isFloat {
		s = strconv.FormatFloat(v, 'f', -1, 64)
		if len(s) > 16 {
			r.addProblem(key, s+" has too many digits", "write the amount as a text, like \"0.25\"")
			return 0
		}
	}
	m, err := budget.Parse(s)
	if err != nil {
		r.addProblem(key, key+": "+err.Error(), "")
	}
	return m
}

func (r *reader) readInteger(key string, least int) int {
	value := r.lookUp(key)
	if value == nil {
		return 0
	}
	v, isInt := value.(int)
	if !isInt || v < least || v > 1_000_000 {
		r.addProblem(key, fmt.Sprintf("%s %s is not a whole number of at least %d", key, formatScalar(value), least), "write a whole number without quotes")
		return 0
	}
	return v
}

func (r *reader) readTime(key string) time.Time {
	s := r.readText(key)
	if s == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		r.addProblem(key, fmt.Sprintf("%s %q is not a time in RFC 3339 form", key, s), "write it like 2026-07-01T09:30:00Z")
	}
	return at.UTC()
}

func (r *reader) readRejections() (out []Rejection) {
	for _, m := range r.readMaps("rejected", "rejected must be a list of {by, at, reason}", "restore it from git history; only odd reject writes it") {
		out = append(out, Rejection{By: formatScalar(m["by"]), At: formatScalar(m["at"]), Reason: formatScalar(m["reason"])})
	}
	return out
}

func (r *reader) readDeclines() (out []Decline) {
	for _, m := range r.readMaps("declined", "declined must be a list of {id, text, by, at, reason}", "take out what is none, or restore it from git history") {
		out = append(out, Decline{ID: okf.ID(formatScalar(m["id"])), Text: formatScalar(m["text"]), By: formatScalar(m["by"]), At: formatScalar(m["at"]), Reason: formatScalar(m["reason"])})
	}
	return out
}

func (r *reader) readEndorsements() (out []Endorsement) {
	for _, m := range r.readMaps("endorsed", "endorsed must be a list of {by, at, proposal}", "restore it from git history; only odd approve writes it") {
		out = append(out, Endorsement{By: formatScalar(m["by"]), At: formatScalar(m["at"]), Proposal: formatScalar(m["proposal"])})
	}
	return out
}

// readMaps reads a list of maps, or a single one. Anything else is the problem wrong.
func (r *reader) readMaps(key, wrong, way string) (out []map[string]any) {
	value := r.lookUp(key)
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
		r.addProblem(key, wrong, way)
	}
	return out
}

func (r *reader) readResult() Result {
	value := r.lookUp("result")
	m, ok := value.(map[string]any)
	if !ok && value != nil {
		r.addProblem("result", "result must be {run, branch, commit}", "restore it from git history; only odd drain writes it")
	}
	return Result{Run: formatScalar(m["run"]), Branch: formatScalar(m["branch"]), Commit: formatScalar(m["commit"])}
}

// formatScalar returns v as text, "" if it is no scalar.
func formatScalar(v any) string {
	switch v := v.(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
