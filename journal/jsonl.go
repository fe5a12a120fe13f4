package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// line is one object of a ledger in JSON lines.
type line struct {
	n    int
	keys map[string]any
}

// ledgerKind is one of the two ledgers in JSON lines that were kept before there were journals.
type ledgerKind struct {
	letter, prefix string
	keys           []string // of every line
}

func ledgerKinds() []ledgerKind {
	return []ledgerKind{
		{"D", "dec", []string{"id", "timestamp", "title", "status", "decision", "context", "options_considered", "rationale",
			"consequences", "evidence", "links", "supersedes", "superseded_by", "candidate_promotion"}},
		{"L", "learn", []string{"id", "timestamp", "summary", "trigger", "impact", "confidence", "sources", "evidence", "candidate_targets", "proposed_escalation"}},
	}
}

// ReadLines reads a ledger of decisions or learnings in JSON lines, one object a line, as D and L entries in order.
// The keys of such lines vary. A missing or additional key, or an id or time of another form, is a problem, but the
// line is read. A line without anything for a title is a problem and left out. Values for which a journal has no
// field are added to the content as "(key: value; …)". The error is for a file that is not text.
func ReadLines(b []byte) ([]Entry, []Problem, error) {
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil, nil, fmt.Errorf("line %d: not UTF-8 text; save the file as UTF-8", findBadLine(b))
	}
	var entries []Entry
	var r lineReader
	ids := map[string]int{}
	kind := ledgerKinds()[1]
	for i, text := range bytes.Split(bytes.TrimPrefix(b, bom), []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		l := line{n: i + 1}
		err := json.Unmarshal(text, &l.keys)
		if err == nil && l.keys == nil {
			err = errors.New("null")
		}
		if err != nil {
			r.addProblem(l.n, "not one JSON object: %v", err)
			continue
		}
		kind = ledgerKindOf(l.keys, kind)
		r.checkKeys(l, kind, ids)
		if e, ok := r.makeEntry(l, kind); ok {
			entries = append(entries, e)
		}
	}
	return entries, r.problems, nil
}

type lineReader struct{ problems []Problem }

func (r *lineReader) addProblem(n int, format string, args ...any) {
	r.problems = append(r.problems, Problem{Line: n, Message: fmt.Sprintf(format, args...)})
}

// ledgerKindOf returns the ledger of a line: by its id, else by its keys, else that of the line before.
func ledgerKindOf(keys map[string]any, before ledgerKind) ledgerKind {
	shared := func(k ledgerKind) (n int) {
		for _, key := range k.keys {
			if _, ok := keys[key]; ok {
				n++
			}
		}
		return n
	}
	best := before
	for _, k := range ledgerKinds() {
		id, _ := keys["id"].(string)
		if strings.HasPrefix(id, k.prefix+"-") {
			return k
		}
		if shared(k) > shared(best) {
			best = k
		}
	}
	return best
}

// lineID matches an id such as learn-20260129-0001.
var lineID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(dec|learn)-\d{8}-\d{4}$`) })

// checkKeys reports how a line differs from the lines of its ledger.
func (r *lineReader) checkKeys(l line, kind ledgerKind, ids map[string]int) {
	missing := slices.DeleteFunc(slices.Clone(kind.keys), func(k string) bool { _, ok := l.keys[k]; return ok })
	extra := slices.DeleteFunc(slices.Sorted(maps.Keys(l.keys)), func(k string) bool { return slices.Contains(kind.keys, k) })
	if len(missing) > 0 {
		r.addProblem(l.n, "no %s", strings.Join(missing, ", "))
	}
	if len(extra) > 0 {
		r.addProblem(l.n, "%s: no key of a %s ledger", strings.Join(extra, ", "), strings.ToLower(TypeName(kind.letter, "")))
	}
	if v, ok := l.keys["id"]; ok {
		id, _ := v.(string)
		if !lineID().MatchString(id) {
			r.addProblem(l.n, "id %q; want %s-YYYYMMDD-NNNN", formatValue(v), kind.prefix)
		} else if other, twice := ids[id]; twice {
			r.addProblem(l.n, "id %s is that of line %d too", id, other)
		} else {
			ids[id] = l.n
		}
	}
	if v, ok := l.keys["timestamp"]; ok {
		s, _ := v.(string)
		if _, err := time.Parse(time.RFC3339, s); err != nil {
			r.addProblem(l.n, "timestamp %q; want one like 2026-03-02T09:00:00Z", formatValue(v))
		}
	}
}

// makeEntry makes an entry from a line. Its title is the line's title or its first text.
func (r *lineReader) makeEntry(l line, kind ledgerKind) (Entry, bool) {
	e := Entry{Type: kind.letter, TypeName: TypeName(kind.letter, ""), Line: l.n}
	used := map[string]bool{}
	take := func(names ...string) string {
		for _, name := range names {
			if v := formatValue(l.keys[name]); v != "" {
				used[name] = true
				return v
			}
		}
		return ""
	}
	e.Title = take("title", "summary", "learning", "lesson", "insight", "name", "decision", "statement")
	if e.Title == "" {
		r.addProblem(l.n, "no title and no summary; the line is left out")
		return e, false
	}
	e.Content = cmp.Or(take("decision", "impact", "body", "content", "detail", "description"), e.Title)
	for _, f := range [][]string{{"rationale"}, {"alternatives", "options_considered"}, {"evidence"}, {"id"}, {"ts", "timestamp"}, {"confidence"}} {
		if v := take(f...); v != "" {
			e.More = append(e.More, Field{f[0], v})
		}
	}
	var rest []string
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		if v := formatValue(l.keys[key]); v != "" && !used[key] {
			rest = append(rest, key+": "+v)
		}
	}
	if rest != nil {
		e.Content += " (" + strings.Join(rest, "; ") + ")"
	}
	return e, true
}

// formatValue returns a JSON value as text: lists with "; " between items, objects as "key value" pairs. null, ""
// and empty lists are "".
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case []any:
		var out []string
		for _, one := range v {
			if s := formatValue(one); s != "" {
				out = append(out, s)
			}
		}
		return strings.Join(out, "; ")
	case map[string]any:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if s := formatValue(v[k]); s != "" {
				out = append(out, k+" "+s)
			}
		}
		return strings.Join(out, ", ")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// Convert writes entries from Parse or ReadLines as one file of shape A. Fields keep their names behind the
// content. Scores stay as the rows state them, empty if they state none.
func (r Registry) Convert(entries []Entry) ([]byte, error) {
	if len(entries) == 0 {
		return nil, errors.New("no entries to convert")
	}
	b := []byte(header)
	for _, e := range entries {
		row, err := r.formatRow(e)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", e.Line, err)
		}
		b = append(b, row...)
	}
	return b, nil
}

// FirstDay returns the day of the first entry with a time in its field ts; ok is false if none has one.
func FirstDay(entries []Entry) (day time.Time, ok bool) {
	for _, e := range entries {
		if t, err := time.Parse(time.RFC3339, e.Get("ts")); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
