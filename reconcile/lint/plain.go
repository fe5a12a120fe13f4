package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

// routine is a function of a language without a tree: its name, its lines
// without comments, and where it begins.
type routine struct {
	lines []string
	at    int
}

var (
	pythonClass = lazy(`^(\s*)class\s+(\w+)`)
	pythonDef   = lazy(`^(\s*)(?:async\s+)?def\s+(\w+)\s*\(`)
	braceDef    = lazy(`\b([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?|:\s*(?:async\s+)?function\s*)?\([^;]*\{\s*$`)
	controls    = lazy(`^\s*\}?\s*(?:if|for|while|switch|catch|else|do|try|with|match|loop|foreach|using|lock)\b`)
)

// findRoutines finds the functions of a file by indentation in Python, where a method's name
// is CLASS.METHOD, and by braces elsewhere.
func findRoutines(ext string, s side) map[string]routine {
	switch {
	case slices.Contains(pythonExts(), ext):
		return indentedRoutines(s.lines())
	case slices.Contains(scriptExts(), ext), slices.Contains(otherExts(), ext), ext == ".sh":
		return bracedRoutines(s.lines())
	}
	return nil
}

func indentedRoutines(lines []string) map[string]routine {
	out := map[string]routine{}
	name, depth, class, top := "", 0, "", 0
	for i, l := range lines {
		text := strings.TrimSpace(l)
		if m := pythonClass().FindStringSubmatch(l); m != nil {
			name, class, top = "", m[2], len(m[1])
			continue
		}
		if m := pythonDef().FindStringSubmatch(l); m != nil {
			name, depth = m[2], len(m[1])
			if class != "" && depth > top {
				name = class + "." + name
			} else {
				class = ""
			}
			out[name] = routine{at: i + 1}
			continue
		}
		if name == "" || text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if len(l)-len(strings.TrimLeft(l, " \t")) <= depth {
			if !strings.HasPrefix(text, ")") {
				name = ""
			}
			continue
		}
		r := out[name]
		if len(r.lines) > 0 || !strings.HasPrefix(text, `"""`) && !strings.HasPrefix(text, "'''") {
			r.lines = append(r.lines, text)
		}
		out[name] = r
	}
	return out
}

func bracedRoutines(lines []string) map[string]routine {
	out := map[string]routine{}
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
				out[name] = routine{at: i + 1}
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
		r := out[name]
		r.lines = append(r.lines, text)
		out[name] = r
	}
	return out
}

// lastName is the name of a method without its class.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

func byLastName(all map[string]routine) map[string][]routine {
	out := map[string][]routine{}
	for name, r := range all {
		out[lastName(name)] = append(out[lastName(name)], r)
	}
	return out
}

var emptyBody = lazy(`^(?:pass|\.\.\.|return(?:\s+(?:None|null|nil|undefined|true|false|True|False|0|""|''|\[\]|\{\}))?;?|raise\s+NotImplemented\w*.*|throw\s+new\s+\w*Error\(.*|unimpl` + `emented!\(.*|to` + `do!\(.*|panic!\(.*|:|exit 0)$`)

// bodiesByText does for other languages what a tree does for Go.
func bodiesByText(d *delta) []policy.Finding {
	was := findRoutines(d.ext, d.was)
	if len(was) == 0 || d.After == nil || d.test {
		return nil
	}
	now := findRoutines(d.ext, d.now)
	before, after := byLastName(was), byLastName(now)
	var out []policy.Finding
	for _, name := range slices.Sorted(maps.Keys(was)) {
		old := was[name]
		r, ok := now[name]
		if last := lastName(name); !ok && len(before[last]) == 1 && len(after[last]) == 1 { // its class has another name
			r, ok = after[last][0], true
		}
		if !ok {
			continue
		}
		hollow := !slices.ContainsFunc(r.lines, func(l string) bool { return !emptyBody().MatchString(l) })
		if len(old.lines) >= collapsedFrom && hollow {
			out = append(out, d.oneFinding("function_body_collapsed", policy.ByText, r.at, fmt.Sprintf("the function %s had %d lines and now does nothing", name, len(old.lines)))...)
		}
	}
	return out
}
