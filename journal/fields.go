package journal

import (
	"regexp"
	"strings"
	"sync"
)

// closes is the field that every type has: the names of the entries that this one closes,
// separated by ", ".
const closes = "closes"

// fieldBar matches the beginning of a field behind a text: a bar with any number of backslashes before it, and a
// name.
var fieldBar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` (\\*)\| ([a-z][a-z0-9_]*):`) })

// Compose returns a text with the fields behind it, as the content of a row has them. It trims the text and the
// values, and drops empty fields.
func Compose(text string, fields []Field) string {
	var b strings.Builder
	b.WriteString(escape(text))
	for _, f := range fields {
		if v := strings.TrimSpace(f.Value); v != "" {
			b.WriteString(" | " + f.Name + ":" + escape(" "+v))
		}
	}
	return b.String()
}

// escape protects every bar that would be read as the beginning of a field.
func escape(s string) string { return fieldBar().ReplaceAllString(s, ` \$1| $2:`) }

// decompose is the inverse of Compose, for fields that r knows. A bar before any other name is text.
func (r Registry) decompose(content string) (text string, fields []Field) {
	from := 0 // where the current piece begins
	name := ""
	end := func(to int) {
		piece := unescape(content[from:to])
		if name == "" {
			text = piece
			return
		}
		fields = append(fields, Field{name, strings.TrimSpace(piece)})
	}
	for _, m := range fieldBar().FindAllStringSubmatchIndex(content, -1) {
		word := content[m[4]:m[5]]
		if m[3] > m[2] || !r.hasField(word) {
			continue
		}
		end(m[0])
		from, name = m[1], word
	}
	end(len(content))
	return text, fields
}

// unescape removes the backslash that escape added to a bar.
func unescape(s string) string {
	return fieldBar().ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, ` \`, " ", 1) })
}

// Get returns the value of a field, "" if the entry has none.
func (e Entry) Get(name string) string {
	switch name {
	case "title":
		return e.Title
	case "body":
		return e.Content
	}
	for _, f := range e.More {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// listItems returns the different items of a field that holds a list.
func (e Entry) listItems(name string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for one := range strings.SplitSeq(e.Get(name), ",") {
		if one = strings.TrimSpace(one); !seen[one] {
			seen[one] = true
			out = append(out, one)
		}
	}
	return out
}
