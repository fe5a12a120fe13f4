package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// routine is a function of a language without a tree: its lines without comments, and
// where it begins.
type routine struct {
	lines []string
	at    int
}

// isHollow reports that a function does nothing.
func (r *routine) isHollow() bool {
	return !slices.ContainsFunc(r.lines, func(l string) bool { return !emptyBody().MatchString(l) })
}

var (
	pythonHead = lazy(`^(class|(?:async\s+)?def)\s+(\w+)`)
	braceDef   = lazy(`\b([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?|:\s*(?:async\s+)?function\s*)?\([^;]*\{\s*$`)
	controls   = lazy(`^\s*\}?\s*(?:if|for|while|switch|catch|else|do|try|with|match|loop|foreach|using|lock)\b`)
)

// blankPython returns Python with spaces for comments and for what stands in quotes, but for
// f-strings on one line, which use names.
func blankPython(src []byte) []byte {
	out := bytes.Clone(src)
	for i := 0; i < len(out); i++ {
		c, from, end := out[i], i, []byte("\n")
		if c == '"' || c == '\'' {
			if end = bytes.Repeat([]byte{c}, 3); !bytes.HasPrefix(out[i:], end) {
				end = end[:1]
			}
			from += len(end)
		} else if c != '#' {
			continue
		}
		stays := c != '#' && len(end) == 1 && bytes.ContainsAny(out[len(bytes.TrimRight(out[:i], "rRfF")):i], "fF")
		for i += len(end); i < len(out) && !bytes.HasPrefix(out[i:], end) && (len(end) > 1 || out[i] != '\n'); i++ {
			i += btoi(out[i] == '\\' && c != '#')
		}
		if i = min(i, len(out)); !stays {
			blank(out[from:i])
		}
		i += len(end) - 1
	}
	return out
}

// blank puts spaces for a text, and keeps its lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// findRoutines finds the functions of a file by indentation in Python, where a method's name
// is CLASS.METHOD, and by braces elsewhere.
func findRoutines(ext string, s side) map[string]*routine {
	switch {
	case slices.Contains(pythonExts(), ext):
		return indentedRoutines(side{src: blankPython(s.src)}.lines())
	case slices.Contains(scriptExts(), ext), slices.Contains(otherExts(), ext), ext == ".sh":
		return bracedRoutines(s.lines())
	}
	return nil
}

// indentedRoutines gives a line to the innermost function that it stands in, and to none where
// it is of a class within a function.
func indentedRoutines(lines []string) map[string]*routine {
	type scope struct {
		depth int
		class string // with a dot
		body  *routine
	}
	out := map[string]*routine{}
	open := []scope{{depth: -1}}
	brackets := 0 // that a list of parameters has open
	for i, l := range lines {
		text := strings.TrimSpace(l)
		head := pythonHead().FindStringSubmatch(text)
		switch {
		case head != nil:
			brackets = 0
		case brackets > 0:
			brackets += openBrackets(text)
			continue
		case strings.Trim(text, `rRuUbB"' `) == "": // a text is no statement
			continue
		}
		for dedents(l, open[len(open)-1].depth) {
			open = open[:len(open)-1]
		}
		in := open[len(open)-1]
		if head == nil {
			if in.body != nil {
				in.body.lines = append(in.body.lines, text)
			}
			continue
		}
		in.depth, brackets = strings.Index(l, text), openBrackets(text)
		if head[1] == "class" {
			in.class, in.body = head[2]+".", nil
		} else {
			in.body = &routine{at: i + 1}
			out[in.class+head[2]] = in.body
		}
		open = append(open, in)
	}
	return out
}

// dedents reports that a line of blank Python ends what is behind a line so deep. The end of a
// text or of brackets does not.
func dedents(line string, depth int) bool {
	text := strings.TrimLeft(line, " \t")
	return len(line)-len(text) <= depth && text != "" && !strings.ContainsAny(text[:1], ")]}\"'\r\n")
}

// openBrackets counts the brackets that a text opens and does not close.
func openBrackets(text string) (n int) {
	for _, r := range text {
		n += btoi(strings.ContainsRune("([{", r)) - btoi(strings.ContainsRune(")]}", r))
	}
	return n
}

func bracedRoutines(lines []string) map[string]*routine {
	out := map[string]*routine{}
	name, depth, base, comment := "", 0, 0, false
	for i, l := range lines {
		text := strings.TrimSpace(l)
		inside := comment && strings.HasPrefix(text, "* ") // else it is a generator
		comment = (comment || strings.HasPrefix(text, "/*")) && !strings.Contains(text, "*/")
		if text == "" || inside || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "/*") && strings.HasSuffix(text, "*/") {
			continue // brackets of a comment open nothing
		}
		if name == "" && strings.HasSuffix(text, "{") && !controls().MatchString(l) {
			if m := braceDef().FindStringSubmatch(l); m != nil {
				name, base = m[1], depth
				out[name] = &routine{at: i + 1}
				depth += strings.Count(l, "{") - strings.Count(l, "}")
				continue
			}
		}
		depth += strings.Count(l, "{") - strings.Count(l, "}")
		if name == "" || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "#") {
			continue
		}
		if depth <= base {
			name = ""
			continue
		}
		out[name].lines = append(out[name].lines, text)
	}
	return out
}

// lastName is the name of a method without its class.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

var emptyBody = lazy(`^(?:pass|\.\.\.|return(?:\s+(?:None|null|nil|undefined|true|false|True|False|0|""|''|\[\]|\{\}))?;?|raise\s+NotImplemented\w*.*|throw\s+new\s+\w*Error\(.*|unimpl` + `emented!\(.*|to` + `do!\(.*|panic!\(.*|:|exit 0)$`)

// bodiesByText does for other languages what a tree does for Go.
func bodiesByText(d *delta) []policy.Finding {
	was := findRoutines(d.ext, d.was)
	if len(was) == 0 || d.After == nil || d.test {
		return nil
	}
	now := findRoutines(d.ext, d.now)
	hollow := map[string]*routine{} // functions that are new and do nothing: one may be an old one, in a class with another name
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was[name] == nil && now[name].isHollow() {
			hollow[lastName(name)] = now[name]
		}
	}
	var out []policy.Finding
	for _, name := range slices.Sorted(maps.Keys(was)) {
		r := cmp.Or(now[name], hollow[lastName(name)])
		if had := len(was[name].lines); had >= collapsedFrom && r != nil && r.isHollow() {
			out = append(out, d.oneFinding("function_body_collapsed", policy.ByText, r.at, fmt.Sprintf("the function %s had %d lines and now does nothing", name, had))...)
		}
	}
	return out
}
