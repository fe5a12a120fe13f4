package okf

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// flowWidth is the longest list or mapping, in bytes, that is written on the line of its
// key.
const flowWidth = 100

// normalizeValue converts a value of a Set or Field to the types that Parse returns:
// string, bool, int, float64, nil, []any or map[string]any.
func normalizeValue(v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case Stamp:
		return makeMap("by", v.By, "at", v.At), nil
	case Source:
		return makeMap("id", v.ID, "resource", v.Resource, "title", v.Title), nil
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
		return normalizeCollection(r)
	}
	return nil, fmt.Errorf("a %T cannot be written", v)
}

func normalizeCollection(r reflect.Value) (any, error) {
	if r.Kind() == reflect.Slice {
		out := make([]any, r.Len())
		for i := range out {
			e, err := normalizeValue(r.Index(i).Interface())
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
		e, err := normalizeValue(it.Value().Interface())
		if err != nil {
			return nil, err
		}
		out[it.Key().String()] = e
	}
	return out, nil
}

// makeMap makes a mapping of the pairs whose value is not empty.
func makeMap(pairs ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out[pairs[i]] = pairs[i+1]
		}
	}
	return out
}

// layout is the form in which a value is written: what Edit keeps of the old value. The
// zero layout is canonical for a key in column 0.
type layout struct {
	base  int  // indent of the key
	block bool // a list or mapping below its key
	flow  bool // a list or mapping on the line of its key
	inner int  // indent of the lines below the key, if block is set
	quote byte // ' or " for a text, 0 for quotes only if needed
}

// render formats v: head goes on the key's line, below on the lines after it.
func (l layout) render(v any) (head string, below []string) {
	switch c := v.(type) {
	case []any:
		return l.renderList(c)
	case map[string]any:
		return l.renderMap(c)
	case string:
		return quoteAs(c, l.quote), nil
	}
	return renderScalar(v, false), nil
}

func (l layout) renderList(c []any) (head string, below []string) {
	fits := l.flow || isFlat(c) && len(renderFlow(c)) <= flowWidth
	if len(c) == 0 || !l.block && fits {
		return renderFlow(c), nil
	}
	for _, e := range c {
		below = append(below, renderItem(l.linePad(l.base), e)...)
	}
	return "", below
}

func (l layout) renderMap(c map[string]any) (head string, below []string) {
	fits := l.flow || len(renderFlow(c)) <= flowWidth
	if len(c) == 0 || !l.block && fits {
		return renderFlow(c), nil
	}
	pad := l.linePad(l.base + 1)
	return "", renderMapLines(pad, pad, c)
}

// linePad returns the indent of the lines below the key, which must be least or more.
func (l layout) linePad(least int) string {
	if l.block && l.inner >= least {
		return strings.Repeat(" ", l.inner)
	}
	return strings.Repeat(" ", l.base+2)
}

// isFlat reports a list of scalars.
func isFlat(c []any) bool {
	return !slices.ContainsFunc(c, func(e any) bool {
		switch e.(type) {
		case []any, map[string]any:
			return true
		}
		return false
	})
}

// renderItem returns the lines of one item of a block list.
func renderItem(pad string, e any) []string {
	m, ok := e.(map[string]any)
	if !ok || len(m) == 0 || len(renderFlow(e)) <= flowWidth {
		if _, isList := e.([]any); ok || isList {
			return []string{pad + "- " + renderFlow(e)}
		}
		return []string{pad + "- " + renderScalar(e, false)}
	}
	return renderMapLines(pad+"- ", pad+"  ", m)
}

// renderMapLines returns the lines of a block mapping; first is the indent of the first
// line.
func renderMapLines(first, pad string, m map[string]any) []string {
	var out []string
	for _, k := range sortNestedKeys(m) {
		v := renderScalar(m[k], false)
		switch m[k].(type) {
		case []any, map[string]any:
			v = renderFlow(m[k])
		}
		out = append(out, first+quoteAs(k, 0)+": "+v)
		first = pad
	}
	return out
}

// sortNestedKeys returns the keys of a nested mapping: those that OKF defines first, the
// rest by name.
func sortNestedKeys(m map[string]any) []string {
	rank := func(k string) int {
		if i := slices.Index([]string{"by", "at", "id", "resource", "title"}, k); i >= 0 {
			return i
		}
		return 5
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
}

func renderFlow(v any) string {
	var parts []string
	switch c := v.(type) {
	case []any:
		for _, e := range c {
			parts = append(parts, renderFlow(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, k := range sortNestedKeys(c) {
			parts = append(parts, renderScalar(k, true)+": "+renderFlow(c[k]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return renderScalar(v, true)
}

// renderScalar writes a value so that odd and a YAML 1.1 reader read the same value. Dates
// are an exception: they stay plain.
func renderScalar(v any, inFlow bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if isPlainSafe(v) && !(inFlow && strings.ContainsAny(v, ",[]{}?#")) {
			return v
		}
		return quoteText(v)
	case float64:
		return formatFloat(v)
	default:
		return fmt.Sprint(v)
	}
}

// formatFloat writes a float so that it is not read as an integer.
func formatFloat(f float64) string {
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

// quoteAs writes a text in the quotes q if they can hold it.
func quoteAs(s string, q byte) string {
	switch {
	case q == '"':
		return doubleQuote(s)
	case q == '\'' && isPrintable(s):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return renderScalar(s, false)
}

// isPlainSafe reports whether s needs no quotes in block context.
func isPlainSafe(s string) bool {
	if s == "" || !isPrintable(s) || strings.TrimSpace(s) != s || !canStartPlain(s) || s[0] == '~' || s[0] == '=' {
		return false
	}
	if strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || isYAML11Bool(s) {
		return false
	}
	if strings.IndexByte("0123456789+-.", s[0]) >= 0 {
		return isDate(s) || strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !numberBytes[r] })
	}
	kind, ok := classifyScalar(s)
	return ok && kind == kindText
}

// isPrintable reports whether a plain or single-quoted scalar can hold s.
func isPrintable(s string) bool {
	return isScannable(s) && !strings.ContainsAny(s, "\n\r") && !strings.ContainsFunc(s, func(r rune) bool { return r > 0x7e && !unicode.IsGraphic(r) })
}

func quoteText(s string) string {
	if strings.ContainsAny(s, `"\`) && !strings.Contains(s, "'") && isPrintable(s) {
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

// escapeRune returns r for double quotes. It writes by number what YAML does not print or
// breaks lines at.
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
