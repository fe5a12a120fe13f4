package canon

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// key is one required key; words is its vocabulary where that is closed.
type key struct {
	name  string
	words []string
}

// required are the eight keys of every document, in the order they are written.
func required() []key {
	return []key{
		{name: "uri"},
		{name: "title"},
		{"audience", strings.Fields("canon docs public odd operators apocrypha")},
		{"exposure", strings.Fields("nav public draft hidden internal")},
		{"tier", strings.Fields("1 2 3 4")},
		{"voice", strings.Fields("first_person neutral direct narrative conversational authoritative")},
		{"stability", strings.Fields("stable semi_stable evolving draft experimental")},
		{name: "tags"},
	}
}

// profile holds one document to the required keys.
func (c *checker) profile(p *page) {
	if !p.block {
		c.add(ruleBlock, 1, "", "canon document without frontmatter; begin it with a block of %s", names())
		return
	}
	for _, k := range required() {
		f, ok := p.atom.Field(k.name)
		if !ok || empty(f.Value) {
			c.add(ruleRequired, p.atom.Line(k.name), k.name, "no %s", k.name)
			continue
		}
		c.value(k, f)
	}
	for _, name := range []string{"public", "archived", "start_here", "fallback"} {
		if f, ok := p.atom.Field(name); ok && f.Value != nil && !is[bool](f.Value) {
			c.mismatch(f, "true or false")
		}
	}
	if f, ok := p.atom.Field("order"); ok && f.Value != nil && !is[int](f.Value) {
		c.mismatch(f, "an integer")
	}
	if f, ok := p.atom.Field("public"); ok && f.Value == false && p.atom.Text("exposure") == "public" {
		c.add(ruleContrary, f.Line, "public", "public: false and exposure: public; change one of them")
	}
}

func names() string {
	var out []string
	for _, k := range required() {
		out = append(out, k.name)
	}
	return strings.Join(out, ", ")
}

// empty reports a value that says nothing.
func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return strings.TrimSpace(v) == ""
	case []any:
		return len(v) == 0
	}
	return false
}

// value checks the type of a required key, and then its word. A tier is an
// integer, and true is none.
func (c *checker) value(k key, f okf.Field) {
	want, ok := "text", is[string](f.Value)
	switch k.name {
	case "tier":
		want, ok = "an integer", is[int](f.Value)
	case "tags":
		want, ok = "a list of words", words(f.Value)
	}
	switch {
	case !ok:
		c.mismatch(f, want)
	case k.words != nil && !slices.Contains(k.words, fmt.Sprint(f.Value)):
		c.add(ruleEnum, f.Line, fmt.Sprint(f.Value), "%s %v is not in the vocabulary; use one of %s", k.name, f.Value, strings.Join(k.words, ", "))
	case k.name == "uri" && okf.Authority(fmt.Sprint(f.Value)) == "":
		c.add(ruleType, f.Line, fmt.Sprint(f.Value), "uri %v has no scheme; write it as AUTHORITY://NAME", f.Value)
	}
}

func (c *checker) mismatch(f okf.Field, want string) {
	if s, ok := f.Value.(string); ok {
		c.add(ruleType, f.Line, s, "%s is the text %q; it must be %s", f.Key, s, want)
		return
	}
	c.add(ruleType, f.Line, fmt.Sprint(f.Value), "%s is %v; it must be %s", f.Key, f.Value, want)
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

// words reports a list of scalars.
func words(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(e any) bool { return e == nil || is[[]any](e) || is[map[string]any](e) })
}
