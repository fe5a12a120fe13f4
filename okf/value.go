package okf

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// flowWidth is the longest list or mapping, in bytes, that is written on the
// line of its key.
const flowWidth = 100

// canonical turns what a Set or a Field may hold into what Parse returns for
// it: string, bool, int, float64, nil, []any or map[string]any.
func canonical(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case Stamp:
		return compact("by", v.By, "at", v.At), nil
	case Source:
		return compact("id", v.ID, "resource", v.Resource, "title", v.Title), nil
	case Confidence:
		return v.String(), nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		if !utf8.ValidString(r.String()) {
			return nil, fmt.Errorf("%q is not UTF-8", r.String())
		}
		return r.String(), nil
	case reflect.Bool:
		return r.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return int(r.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() > math.MaxInt64 {
			return nil, fmt.Errorf("%d does not fit an integer", r.Uint())
		}
		return int(r.Uint()), nil
	case reflect.Float32, reflect.Float64:
		if f := r.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v cannot be written", f)
		}
		return r.Float(), nil
	case reflect.Slice, reflect.Map:
		return collection(r)
	}
	return nil, fmt.Errorf("a %T cannot be written", v)
}

func collection(r reflect.Value) (any, error) {
	if r.Kind() == reflect.Slice {
		out := make([]any, r.Len())
		for i := range out {
			e, err := canonical(r.Index(i).Interface())
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	}
	if r.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("a %s cannot be written", r.Type())
	}
	out := make(map[string]any, r.Len())
	for it := r.MapRange(); it.Next(); {
		e, err := canonical(it.Value().Interface())
		if err != nil {
			return nil, err
		}
		out[it.Key().String()] = e
	}
	return out, nil
}

// compact makes a mapping of the pairs whose value is not empty.
func compact(pairs ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out[pairs[i]] = pairs[i+1]
		}
	}
	return out
}

// look is how a value is laid out: what Edit keeps of the old value's shape.
// The zero look is canonical for a key in column 0.
type look struct {
	base  int  // indent of the key
	block bool // a list or mapping below its key
	flow  bool // a list or mapping on the line of its key
	inner int  // indent of the lines below the key, where block is set
	quote byte // ' or " for a text, 0 for what is needed
}

// layout renders v: head stands on the key's line, below on the lines after it.
func (l look) layout(v any) (head string, below []string) {
	switch c := v.(type) {
	case []any:
		return l.list(c)
	case map[string]any:
		return l.mapping(c)
	case string:
		return quotedAs(c, l.quote), nil
	}
	return scalar(v, false), nil
}

func (l look) list(c []any) (head string, below []string) {
	fits := l.flow || flat(c) && len(flowText(c)) <= flowWidth
	if len(c) == 0 || !l.block && fits {
		return flowText(c), nil
	}
	for _, e := range c {
		below = append(below, itemLines(l.pad(l.base), e)...)
	}
	return "", below
}

func (l look) mapping(c map[string]any) (head string, below []string) {
	fits := l.flow || len(flowText(c)) <= flowWidth
	if len(c) == 0 || !l.block && fits {
		return flowText(c), nil
	}
	pad := l.pad(l.base + 1)
	return "", mapLines(pad, pad, c)
}

// pad is the indent of the lines below the key, which must be least or more.
func (l look) pad(least int) string {
	if l.block && l.inner >= least {
		return strings.Repeat(" ", l.inner)
	}
	return strings.Repeat(" ", l.base+2)
}

// flat reports a list of scalars.
func flat(c []any) bool {
	return !slices.ContainsFunc(c, func(e any) bool {
		switch e.(type) {
		case []any, map[string]any:
			return true
		}
		return false
	})
}

// itemLines is one element of a block list.
func itemLines(pad string, e any) []string {
	m, ok := e.(map[string]any)
	if !ok || len(m) == 0 || len(flowText(e)) <= flowWidth {
		if _, isList := e.([]any); ok || isList {
			return []string{pad + "- " + flowText(e)}
		}
		return []string{pad + "- " + scalar(e, false)}
	}
	return mapLines(pad+"- ", pad+"  ", m)
}

// mapLines is a block mapping; first starts its first line.
func mapLines(first, pad string, m map[string]any) []string {
	var out []string
	for _, k := range nestedKeys(m) {
		v := scalar(m[k], false)
		switch m[k].(type) {
		case []any, map[string]any:
			v = flowText(m[k])
		}
		out = append(out, first+quotedAs(k, 0)+": "+v)
		first = pad
	}
	return out
}

// nestedKeys orders the keys of a nested mapping: the ones OKF defines first,
// the rest by name.
func nestedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	rank := func(k string) int {
		if i := slices.Index([]string{"by", "at", "id", "resource", "title"}, k); i >= 0 {
			return i
		}
		return 5
	}
	slices.SortFunc(keys, func(a, b string) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return keys
}

func flowText(v any) string {
	var parts []string
	switch c := v.(type) {
	case []any:
		for _, e := range c {
			parts = append(parts, flowText(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, k := range nestedKeys(c) {
			parts = append(parts, scalar(k, true)+": "+flowText(c[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return scalar(v, true)
}

// scalar writes a value so that it reads back as itself, here and in a YAML
// 1.1 reader, dates aside: those stay plain.
func scalar(v any, inFlow bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if plainSafe(v) && !(inFlow && strings.ContainsAny(v, ",[]{}?#")) {
			return v
		}
		return quote(v)
	case float64:
		return decimal(v)
	default:
		return fmt.Sprint(v)
	}
}

// decimal writes a float so that it is not read as an integer.
func decimal(f float64) string {
	format := byte('f')
	if a := math.Abs(f); a >= 1e15 || a != 0 && a < 1e-6 {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// quotedAs writes a text in the quotes q where they can hold it.
func quotedAs(s string, q byte) string {
	switch {
	case q == '"':
		return doubleQuote(s)
	case q == '\'' && printable(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return scalar(s, false)
}

// plainSafe reports whether s can stand without quotes in block context.
func plainSafe(s string) bool {
	if s == "" || !printable(s) || strings.TrimSpace(s) != s || !plainStart(s) || s[0] == '~' || s[0] == '=' {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || yaml11Bool(s) {
		return false
	}
	if strings.IndexByte("0123456789+-.", s[0]) >= 0 {
		return date(s) || strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEFxXoO_.+-:iInN", r) })
	}
	kind, ok := resolve(s)
	return ok && kind == kindText
}

// printable reports whether a plain or single-quoted scalar can hold s.
func printable(s string) bool {
	return scannable(s) && !strings.ContainsAny(s, "\n\r") && !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e && !unicode.IsGraphic(r) })
}

func quote(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && printable(s) {
		return "'" + s + "'"
	}
	return doubleQuote(s)
}

func doubleQuote(s string) string {
	var sb strings.Builder
	sb.WriteByte('"')
	for _, r := range s {
		sb.WriteString(escapeRune(r))
	}
	sb.WriteByte('"')
	return sb.String()
}

// escapeRune returns r inside double quotes. What YAML does not print, or breaks lines
// at, is written by number.
func escapeRune(r rune) string {
	switch {
	case r == '"' || r == '\\':
		return `\` + string(r)
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\u2028' || r == '\u2029' || !unicode.IsGraphic(r) || r >= 0xfff0 && r <= 0xffff:
	default:
		return string(r)
	}
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
