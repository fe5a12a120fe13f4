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
	doc   bool
	at    int
}

var (
	pythonDef = lazy(`^(\s*)(?:async\s+)?def\s+(\w+)\s*\(`)
	braceDef  = lazy(`\b([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?|:\s*(?:async\s+)?function\s*)?\([^;]*\{\s*$`)
	controls  = lazy(`^\s*\}?\s*(?:if|for|while|switch|catch|else|do|try|with|match|loop|foreach|using|lock)\b`)
)

// routines finds the functions of a file by indentation in Python, by braces
// elsewhere.
func routines(ext string, s side) map[string]routine {
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
	name, depth := "", 0
	for i, l := range lines {
		text := strings.TrimSpace(l)
		if m := pythonDef().FindStringSubmatch(l); m != nil {
			name, depth = m[2], len(m[1])
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
		if len(r.lines) == 0 && !r.doc && (strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, `'''`)) {
			r.doc = true
		} else {
			r.lines = append(r.lines, text)
		}
		out[name] = r
	}
	return out
}

func bracedRoutines(lines []string) map[string]routine {
	out := map[string]routine{}
	name, depth, base := "", 0, 0
	for i, l := range lines {
		text := strings.TrimSpace(l)
		if name == "" && strings.HasSuffix(text, "{") && !controls().MatchString(l) {
			if m := braceDef().FindStringSubmatch(l); m != nil {
				name, base = m[1], depth
				out[name] = routine{at: i + 1}
				depth += strings.Count(l, "{") - strings.Count(l, "}")
				continue
			}
		}
		depth += strings.Count(l, "{") - strings.Count(l, "}")
		if name == "" || text == "" || strings.HasPrefix(text, "//") || strings.HasPrefix(text, "*") || strings.HasPrefix(text, "#") {
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

var (
	emptyBody  = lazy(`^(?:pass|\.\.\.|return(?:\s+(?:None|null|nil|undefined|true|false|True|False|0|""|''|\[\]|\{\}))?;?|raise\s+NotImplemented\w*.*|throw\s+new\s+\w*Error\(.*|unimpl` + `emented!\(.*|to` + `do!\(.*|panic!\(.*|:|exit 0)$`)
	returnBool = lazy(`^return\s+(True|False|true|false);?$`)
)

// bodiesByText does for other languages what a tree does for Go.
func bodiesByText(d *delta) []policy.Finding {
	was := routines(d.ext, d.was)
	if len(was) == 0 || d.After == nil || d.test {
		return nil
	}
	now := routines(d.ext, d.now)
	var out []policy.Finding
	for _, name := range slices.Sorted(maps.Keys(was)) {
		old := was[name]
		r, ok := now[name]
		if !ok {
			continue
		}
		hollow := !slices.ContainsFunc(r.lines, func(l string) bool { return !emptyBody().MatchString(l) })
		if len(old.lines) >= collapsedFrom && hollow {
			out = append(out, d.list("function_body_collapsed", policy.ByText, r.at, fmt.Sprintf("the function %s had %d lines and now does nothing", name, len(old.lines)))...)
		}
		if a, b := firstBool(old.lines), firstBool(r.lines); a != "" && b != "" && a != b {
			out = append(out, d.list("return_value_flipped", policy.ByText, r.at, name+" now returns the opposite")...)
		}
		if old.doc && !r.doc && slices.Equal(old.lines, r.lines) {
			out = append(out, d.list("docstring_only_delete", policy.ByText, r.at, "the comment of "+name+" was removed, and its code is unchanged")...)
		}
	}
	return out
}

func firstBool(lines []string) string {
	for _, l := range lines {
		if m := returnBool().FindStringSubmatch(l); m != nil {
			return strings.ToLower(m[1])
		}
	}
	return ""
}

var guardLine = lazy(`^\s*(?:\}\s*)?(?:el|else\s+)?if\s*(\(?)\s*(not\s+|!\s*)?([\w.$()\[\]]+?)\)*\s*(?::|\{|\)|;?\s*then|$)`)

var constantLine = lazy(`^\s*(?:\}\s*)?(?:el|else\s+)?if\s*\(?\s*(?:not\s+|!\s*)?(?:True|False|true|false|0|1)\b\s*(?:and\b|or\b|&&|\|\||\)|:|\{|;)`)

// conditionsByText compares the conditions of other languages line by line.
func conditionsByText(d *delta) []policy.Finding {
	if d.After == nil || slices.Contains(proseExts(), d.ext) {
		return nil
	}
	read := func(s side) (c counts[condition], at map[condition]int, fixed []int) {
		c, at = counts[condition]{}, map[condition]int{}
		for i, l := range s.lines() {
			if !strings.Contains(l, "if") {
				continue
			}
			if constantLine().MatchString(l) {
				fixed = append(fixed, i+1)
			} else if m := guardLine().FindStringSubmatch(l); m != nil {
				key := condition{m[3], m[2] != ""}
				c[key]++
				at[key] = i + 1
			}
		}
		return c, at, fixed
	}
	was, _, wasFixed := read(d.was)
	now, at, fixed := read(d.now)
	var out []policy.Finding
	if len(fixed) > len(wasFixed) {
		out = append(out, d.list("guard_constant", policy.ByText, fixed[len(fixed)-1], "a condition is always true or always false")...)
	}
	if d.test {
		return out
	}
	gone, come := was.subtract(now), now.subtract(was)
	for _, c := range sortedConditions(gone) {
		if come[c.inverse()] > 0 {
			out = append(out, d.list("guard_boolean_inverted", policy.ByText, at[c.inverse()], fmt.Sprintf("a condition is now %s, it was %s", c.inverse(), c))...)
		}
	}
	return out
}
