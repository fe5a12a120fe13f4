package journal

import (
	"regexp"
	"strings"
	"sync"
)

// The field every type has: the entries this one closes, by their names, with
// ", " between them.
const closes = "closes"

// bar is what may begin a field behind a text: a bar with any number of
// backslashes before it, and a name.
var bar = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` (\\*)\| ([a-z][a-z0-9_]*):`) })

// Compose is a text with the fields behind it, as the content of a row has
// them. Spaces around the text and the values do not survive, nor do empty fields.
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
func escape(s string) string { return bar().ReplaceAllString(s, ` \$1| $2:`) }

// decompose is the inverse of Compose, for fields that r knows. A bar before
// any other name is text.
func (r Registry) decompose(content string) (text string, fields []Field) {
	from := 0 // of the piece that is being read
	name := ""
	end := func(to int) {
		piece := unescape(content[from:to])
		if name == "" {
			text = piece
			return
		}
		fields = append(fields, Field{name, strings.TrimSpace(piece)})
	}
	for _, m := range bar().FindAllStringSubmatchIndex(content, -1) {
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

// unescape takes one backslash from every bar that escape gave one.
func unescape(s string) string {
	return bar().ReplaceAllStringFunc(s, func(m string) string { return strings.Replace(m, ` \`, " ", 1) })
}

// Get is the value of a field, "" when the entry has none.
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

// list is the items of a field of several.
func (e Entry) list(name string) []string {
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
