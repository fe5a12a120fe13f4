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
		var pe toml.ParseError
		if errors.As(err, &pe) {
			line, text = max(pe.Position.Line, 1), pe.Message
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
		switch set, known := keys[key]; {
		case known:
			if text := set(&r.f, l.value); text != "" {
				r.addProblem(key, "%s", text)
			}
		case key != "lease" && key != "lease.scope":
			r.addProblem(key, "unknown key; %s", didYouMean(key, append(sortedKeys(keys), "lease", "lease.scope")))
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

// keys are the keys of lease.toml. Each stores its value or returns what it wants.
var keys = map[string]func(*File, any) string{
	"version":                 setInteger(func(f *File) *int { return &f.Version }),
	"stance":                  func(f *File, v any) string { return setWord(&f.Stance, v) },
	"lease.id":                func(f *File, v any) string { return setWord(&f.Lease.ID, v) },
	"lease.state":             func(f *File, v any) string { return setWord(&f.Lease.State, v) },
	"lease.frame":             func(f *File, v any) string { return setWord(&f.Lease.Frame, v) },
	"lease.horizon":           func(f *File, v any) string { return setWord(&f.Lease.Horizon, v) },
	"lease.success_criteria":  setList(func(f *File) *[]string { return &f.Lease.Success }),
	"lease.non_goals":         setList(func(f *File) *[]string { return &f.Lease.NonGoals }),
	"lease.renewal_prompt":    func(f *File, v any) string { return setWord(&f.Lease.RenewalPrompt, v) },
	"lease.activated_at":      setTime(func(f *File) *time.Time { return &f.Lease.ActivatedAt }),
	"lease.expires_at":        setTime(func(f *File) *time.Time { return &f.Lease.ExpiresAt }),
	"lease.max_tasks":         setInteger(func(f *File) *int { return &f.Lease.MaxTasks }),
	"lease.milestone":         setList(func(f *File) *[]string { return &f.Lease.Milestone }),
	"lease.signals":           setList(func(f *File) *[]string { return &f.Lease.Signals }),
	"lease.budget_usd":        setBudget,
	"lease.scope.kinds":       setList(func(f *File) *[]string { return &f.Lease.Scope.Kinds }),
	"lease.scope.roles":       setList(func(f *File) *[]string { return &f.Lease.Scope.Roles }),
	"lease.scope.tags":        setList(func(f *File) *[]string { return &f.Lease.Scope.Tags }),
	"lease.scope.tasks":       setList(func(f *File) *[]string { return &f.Lease.Scope.Tasks }),
	"lease.scope.paths":       setList(func(f *File) *[]string { return &f.Lease.Scope.Paths }),
	"lease.scope.work_orders": setLocks,
}

func setWord[T ~string](at *T, v any) string {
	s, ok := v.(string)
	if !ok {
		return "want a text in quotes"
	}
	*at = T(s)
	return ""
}

func setInteger(at func(*File) *int) func(*File, any) string {
	return func(f *File, v any) string {
		n, ok := v.(int64)
		if !ok || n < -1<<31 || n >= 1<<31 {
			return "want a whole number"
		}
		*at(f) = int(n)
		return ""
	}
}

func setList(at func(*File) *[]string) func(*File, any) string {
	return func(f *File, v any) string {
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
	}
}

func setTime(at func(*File) *time.Time) func(*File, any) string {
	return func(f *File, v any) string {
		t, ok := v.(time.Time)
		if !ok || strings.HasSuffix(t.Location().String(), "-local") {
			return "want a moment in UTC, like 2026-07-01T09:00:00Z"
		}
		if _, offset := t.Zone(); offset != 0 {
			return "want UTC, a Z behind the time"
		}
		*at(f) = t.UTC()
		return ""
	}
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
	l := f.Lease
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("version = %d", f.Version)
	line("stance = %s", quoteText(string(f.Stance)))
	line("\n[lease]\nid = %s", quoteText(l.ID))
	line("state = %s", quoteText(string(l.State)))
	line("frame = %s", quoteText(l.Frame))
	line("horizon = %s", quoteText(l.Horizon))
	line("success_criteria = %s", quoteLines(l.Success))
	line("non_goals = %s", quoteLines(l.NonGoals))
	line("renewal_prompt = %s", quoteText(l.RenewalPrompt))
	if !l.ActivatedAt.IsZero() {
		line("activated_at = %s", formatTime(l.ActivatedAt))
	}
	line("expires_at = %s", formatTime(l.ExpiresAt))
	line("max_tasks = %d", l.MaxTasks)
	line("milestone = %s", quoteInline(l.Milestone))
	if len(l.Signals) > 0 {
		line("signals = %s", quoteInline(l.Signals))
	}
	if l.Budget != 0 {
		line("budget_usd = %s", quoteText(formatDollars(l.Budget)))
	}
	line("\n[lease.scope]\nkinds = %s", quoteInline(l.Scope.Kinds))
	line("roles = %s", quoteInline(l.Scope.Roles))
	line("tags = %s", quoteInline(l.Scope.Tags))
	line("tasks = %s", quoteInline(l.Scope.Tasks))
	line("paths = %s", quoteInline(l.Scope.Paths))
	if len(l.Scope.WorkOrders) > 0 {
		line("\n[lease.scope.work_orders]")
		for _, task := range sortedKeys(l.Scope.WorkOrders) {
			line("%s = %s", quoteText(task), quoteText(l.Scope.WorkOrders[task]))
		}
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
