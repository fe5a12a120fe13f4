package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// Malformed lists everything wrong with a lease.toml, in the order of its lines.
type Malformed struct {
	Syntax bool // it is no TOML at all
	Lines  []string
}

// Error returns one "file:line: what" a line.
func (m *Malformed) Error() string { return strings.Join(m.Lines, "\n") }

// maxLease is more bytes than any lease within its limits has.
const maxLease = 1 << 20

// ParseLease reads lease.toml strictly. It refuses unknown keys, values of another type,
// dates beyond the horizon and, except in a draft, placeholders. The error is a *Malformed,
// whose lines begin with name.
func ParseLease(name string, b []byte) (File, error) {
	var top map[string]toml.Primitive
	if len(b) > maxLease {
		return File{}, &Malformed{true, []string{fmt.Sprintf("%s:1: is %d bytes, at most %d; a lease is a page, not a book", name, len(b), maxLease)}}
	}
	if !utf8.Valid(b) {
		return File{}, &Malformed{true, []string{name + ":1: not UTF-8"}}
	}
	md, err := toml.Decode(string(b), &top)
	if err != nil {
		line, text := 1, strings.TrimPrefix(err.Error(), "toml: ")
		if pe, ok := errors.AsType[toml.ParseError](err); ok {
			line, text = 1+bytes.Count(b[:min(max(pe.Position.Start, 0), len(b))], []byte("\n")), pe.Message
		}
		return File{}, &Malformed{true, []string{fmt.Sprintf("%s:%d: %s", name, line, text)}}
	}
	r := &reader{md: &md, at: map[string]int{}, f: File{Lease: Lease{MaxTasks: 20}}}
	r.readTable("", top)
	for _, k := range required {
		if r.at[k] == 0 {
			r.addProblem(k, "is missing")
		}
	}
	if len(r.found) == 0 {
		r.found = r.f.checkFile()
	}
	if len(r.found) > 0 {
		return File{}, r.malformedError(name)
	}
	return r.f, nil
}

var required = []string{"version", "stance", "lease.id", "lease.state", "lease.horizon", "lease.expires_at"}

// checkFile is Check for the whole file.
func (f File) checkFile() []Problem {
	var out []Problem
	bad := func(field, format string, args ...any) {
		out = append(out, Problem{field, fmt.Sprintf(format, args...)})
	}
	if f.Version != 1 {
		bad("version", "%d; this odd reads version 1", f.Version)
	}
	if !slices.Contains(Stances(), f.Stance) {
		bad("stance", "unknown stance %q; %s", f.Stance, didYouMean(string(f.Stance), toStrings(Stances())))
	}
	states := []State{Draft, Active, Suspended, Expired, Released}
	if !slices.Contains(states, f.Lease.State) {
		bad("lease.state", "unknown state %q; %s", f.Lease.State, didYouMean(string(f.Lease.State), toStrings(states)))
	}
	if draft := f.Lease.State == Draft; draft != f.Lease.ActivatedAt.IsZero() && (draft || f.Lease.State == Active) {
		bad("lease.activated_at", "is of an active lease, and only of one that was activated")
	}
	return append(out, f.Lease.Check(f.Lease.State == Active)...)
}

type reader struct {
	md    *toml.MetaData
	at    map[string]int // key → line
	found []Problem
	f     File
}

func (r *reader) addProblem(field, format string, args ...any) {
	r.found = append(r.found, Problem{field, fmt.Sprintf(format, args...)})
}

func (r *reader) malformedError(name string) error {
	line := func(p Problem) int {
		for key := p.Field; key != ""; key = key[:max(strings.LastIndexByte(key, '.'), 0)] {
			if n := r.at[key]; n > 0 {
				return n
			}
		}
		return 1
	}
	slices.SortStableFunc(r.found, func(a, b Problem) int { return cmp.Compare(line(a), line(b)) })
	m := &Malformed{}
	for _, p := range r.found {
		m.Lines = append(m.Lines, fmt.Sprintf("%s:%d: %s", name, line(p), p))
	}
	return m
}

// located takes any TOML value and then fails on purpose. The library reports the position
// of a value only with the error of an Unmarshaler.
type located struct{ value any }

var errLocated = errors.New("located")

// UnmarshalTOML keeps the value. Its error is always errLocated.
func (l *located) UnmarshalTOML(v any) error {
	l.value = v
	return errLocated
}

func (r *reader) readTable(prefix string, t map[string]toml.Primitive) {
	for _, name := range sortedKeys(t) {
		key := prefix + name
		var l located
		var pe toml.ParseError
		if err := r.md.PrimitiveDecode(t[name], &l); errors.As(err, &pe) {
			r.at[key] = max(pe.Position.Line, 1)
		}
		_, isTable := l.value.(map[string]any)
		i := slices.IndexFunc(fields, func(k field) bool { return k.key == key })
		switch {
		case i >= 0:
			if text := fields[i].set(&r.f, l.value); text != "" {
				r.addProblem(key, "%s", text)
			}
		case key != "lease" && key != "lease.scope":
			r.addProblem(key, "unknown key; %s", didYouMean(key, append(fieldNames(), "lease", "lease.scope")))
		case !isTable:
			r.addProblem(key, "want a table; write [%s] above its keys", key)
		default:
			var below map[string]toml.Primitive
			if err := r.md.PrimitiveDecode(t[name], &below); err != nil {
				r.addProblem(key, "%v", err)
			}
			r.readTable(key+".", below)
		}
	}
}

// field is one key of lease.toml. get returns its value as the file writes it, "" for a key
// that is left out; set stores a value or returns what it wants.
type field struct {
	key string
	get func(File) string
	set func(*File, any) string
}

// fields are in the order of lease.toml.
var fields = []field{
	integerField("version", func(f *File) *int { return &f.Version }),
	wordField("stance", func(f *File) *Stance { return &f.Stance }),
	wordField("lease.id", func(f *File) *string { return &f.Lease.ID }),
	wordField("lease.state", func(f *File) *State { return &f.Lease.State }),
	wordField("lease.frame", func(f *File) *string { return &f.Lease.Frame }),
	wordField("lease.horizon", func(f *File) *string { return &f.Lease.Horizon }),
	listField("lease.success_criteria", func(f *File) *[]string { return &f.Lease.Success }),
	listField("lease.non_goals", func(f *File) *[]string { return &f.Lease.NonGoals }),
	wordField("lease.renewal_prompt", func(f *File) *string { return &f.Lease.RenewalPrompt }),
	timeField("lease.activated_at", func(f *File) *time.Time { return &f.Lease.ActivatedAt }),
	timeField("lease.expires_at", func(f *File) *time.Time { return &f.Lease.ExpiresAt }),
	integerField("lease.max_tasks", func(f *File) *int { return &f.Lease.MaxTasks }),
	listField("lease.milestone", func(f *File) *[]string { return &f.Lease.Milestone }),
	listField("lease.signals", func(f *File) *[]string { return &f.Lease.Signals }),
	{"lease.budget_usd", getBudget, setBudget},
	listField("lease.scope.kinds", func(f *File) *[]string { return &f.Lease.Scope.Kinds }),
	listField("lease.scope.roles", func(f *File) *[]string { return &f.Lease.Scope.Roles }),
	listField("lease.scope.tags", func(f *File) *[]string { return &f.Lease.Scope.Tags }),
	listField("lease.scope.tasks", func(f *File) *[]string { return &f.Lease.Scope.Tasks }),
	listField("lease.scope.paths", func(f *File) *[]string { return &f.Lease.Scope.Paths }),
	{"lease.scope.work_orders", getLocks, setLocks},
}

func fieldNames() (keys []string) {
	for _, k := range fields {
		keys = append(keys, k.key)
	}
	return keys
}

func wordField[T ~string](key string, at func(*File) *T) field {
	return field{key, func(f File) string { return quoteText(string(*at(&f))) }, func(f *File, v any) string {
		s, ok := v.(string)
		if !ok {
			return "want a text in quotes"
		}
		*at(f) = T(s)
		return ""
	}}
}

func integerField(key string, at func(*File) *int) field {
	return field{key, func(f File) string { return strconv.Itoa(*at(&f)) }, func(f *File, v any) string {
		n, ok := v.(int64)
		if !ok || n < -1<<31 || n >= 1<<31 {
			return "want a whole number"
		}
		*at(f) = int(n)
		return ""
	}}
}

func listField(key string, at func(*File) *[]string) field {
	return field{key, func(f File) string { return quoteInline(*at(&f)) }, func(f *File, v any) string {
		all, ok := v.([]any)
		var out []string
		for _, v := range all {
			s, isText := v.(string)
			ok = ok && isText
			out = append(out, s)
		}
		if !ok {
			return "want a list of texts, like [\"one\", \"two\"]"
		}
		*at(f) = out
		return ""
	}}
}

func timeField(key string, at func(*File) *time.Time) field {
	return field{key, func(f File) string { return formatTime(*at(&f)) }, func(f *File, v any) string {
		t, ok := v.(time.Time)
		if !ok || strings.HasSuffix(t.Location().String(), "-local") {
			return "want a moment in UTC, like 2026-07-01T09:00:00Z"
		}
		if _, offset := t.Zone(); offset != 0 {
			return "want UTC, a Z behind the time"
		}
		*at(f) = t.UTC()
		return ""
	}}
}

func getLocks(f File) string {
	var out []string
	for _, task := range sortedKeys(f.Lease.Scope.WorkOrders) {
		out = append(out, task+" "+f.Lease.Scope.WorkOrders[task])
	}
	return quoteInline(out)
}

func setLocks(f *File, v any) string {
	all, ok := v.(map[string]any)
	if !ok {
		return "want a table of task = \"sha256:…\""
	}
	for task, v := range all {
		s, isText := v.(string)
		if !isText {
			return fmt.Sprintf("%s: want a text like \"sha256:…\"", task)
		}
		if f.Lease.Scope.WorkOrders == nil {
			f.Lease.Scope.WorkOrders = map[string]string{}
		}
		f.Lease.Scope.WorkOrders[task] = s
	}
	return ""
}

func getBudget(f File) string { return quoteText(formatDollars(f.Lease.Budget)) }

func setBudget(f *File, v any) string {
	s, ok := v.(string)
	n, err := parseDollars(s)
	if !ok || err != nil {
		return "want dollars as a text, like \"5.00\""
	}
	f.Lease.Budget = n
	return ""
}

// parseDollars reads dollars exactly, with at most six decimals.
func parseDollars(s string) (int64, error) {
	whole, frac, point := strings.Cut(s, ".")
	if point && frac == "" || len(frac) > 6 || len(whole) > 12 || strings.ContainsAny(s, "+-") {
		return 0, fmt.Errorf("%q is not an amount of dollars", s)
	}
	return strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
}

// formatDollars prints what parseDollars reads, with at least two decimals.
func formatDollars(n int64) string {
	frac := strings.TrimRight(fmt.Sprintf("%06d", n%1_000_000), "0")
	return fmt.Sprintf("%d.%s", n/1_000_000, frac+strings.Repeat("0", max(0, 2-len(frac))))
}

// PrintLease prints lease.toml. If ParseLease accepts f's values, it reads the bytes back as
// f.
func PrintLease(f File) []byte {
	var b bytes.Buffer
	l, table := f.Lease, ""
	leftOut := map[string]bool{"lease.activated_at": l.ActivatedAt.IsZero(), "lease.signals": len(l.Signals) == 0, "lease.budget_usd": l.Budget == 0, "lease.scope.work_orders": true}
	for _, k := range fields {
		if leftOut[k.key] {
			continue
		}
		dot := strings.LastIndexByte(k.key, '.')
		if above := k.key[:max(dot, 0)]; above != table {
			table = above
			fmt.Fprintf(&b, "\n[%s]\n", table)
		}
		value := k.get(f)
		if k.key == "lease.success_criteria" || k.key == "lease.non_goals" {
			value = quoteLines(map[string][]string{"lease.success_criteria": l.Success, "lease.non_goals": l.NonGoals}[k.key])
		}
		fmt.Fprintf(&b, "%s = %s\n", k.key[dot+1:], value)
	}
	if len(l.Scope.WorkOrders) > 0 {
		b.WriteString("\n[lease.scope.work_orders]\n")
	}
	for _, task := range sortedKeys(l.Scope.WorkOrders) {
		fmt.Fprintf(&b, "%s = %s\n", quoteText(task), quoteText(l.Scope.WorkOrders[task]))
	}
	return b.Bytes()
}

// quoteText returns s as a TOML basic string: JSON's, with DEL escaped too.
func quoteText(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("unreachable: a string has JSON: " + err.Error())
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}

func quoteInline(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = quoteText(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func quoteLines(list []string) string {
	if len(list) == 0 {
		return "[]"
	}
	var b strings.Builder
	for _, s := range list {
		b.WriteString("\n  " + quoteText(s) + ",")
	}
	return "[" + b.String() + "\n]"
}
