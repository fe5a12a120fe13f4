package anchor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/odd-cli/odd/okf"
)

// A tension on its line:
//
//	T   = ["L" digit+ "::"] "[" C "]" op1 "CTX:" PATH [":" n ["-" n]] "[" S "]" op2 "TRIGGER[" A "]" [","]
//	op1 = "⇌" | "<->" | " vs "
//	op2 = "→" | "->"
//
// Blanks may stand round the operators. Brackets are balanced by depth, so a
// path may be app/[id]/page.tsx and a state may speak of s[0]; the state is the
// last balanced group before op2. String writes the first form of each.

// tensionOrdinal is the label a tension may begin with.
var tensionOrdinal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^L(\d{1,6})\s*::\s*`) })

// citedLines is what stands behind the colon of a CTX: 12, or 12-20.
var citedLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\d{1,9})(?:-(\d{1,9}))?$`) })

// String returns the tension on one line, without its ordinal.
func (t Tension) String() string {
	at := t.Path
	switch {
	case t.Start > 0 && t.End > t.Start:
		at += fmt.Sprintf(":%d-%d", t.Start, t.End)
	case t.Start > 0:
		at += fmt.Sprintf(":%d", t.Start)
	}
	return fmt.Sprintf("[%s]⇌CTX:%s[%s]→TRIGGER[%s]", t.Constraint, at, t.State, t.Trigger)
}

const tensionForm = "[CONSTRAINT]⇌CTX:path/to/file:10-20[STATE]→TRIGGER[ACTION]"

// The operators of a tension, with the blanks round them.
var (
	againstOperator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?: *(?:⇌|<->) *| +vs +)`) })
	thenOperator    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:→|->) *TRIGGER`) })
)

// scanTension reads a line from the left; the first thing that is not as the grammar
// has it ends the reading. N is the ordinal it carries, 0 for none. The problem has
// neither At nor Line.
func scanTension(line string) (t Tension, bad *Problem) {
	t.GeneratedBy = "agent"
	fail := func(code Code, found, want, format string, args ...any) (Tension, *Problem) {
		return t, &Problem{Code: code, Text: fmt.Sprintf(format, args...), Found: truncate(found), Want: want}
	}
	rest := strings.TrimSpace(line)
	if m := tensionOrdinal().FindStringSubmatch(rest); m != nil {
		t.N, _ = strconv.Atoi(m[1])
		rest = rest[len(m[0]):]
	}
	end := groupEnd(rest)
	if end < 0 {
		return fail(TenSyntax, rest, "[CONSTRAINT]", "the constraint is not in brackets that close")
	}
	t.Constraint, rest = strings.TrimSpace(rest[1:end-1]), rest[end:]
	between := againstOperator().FindString(rest)
	if between == "" {
		return fail(TenSyntax, rest, "⇌ (or <->)", "no ⇌ between the constraint and its place")
	}
	rest, ok := strings.CutPrefix(rest[len(between):], "CTX:")
	if !ok {
		return fail(TenSyntax, rest, "CTX:path/to/file[STATE]", "no CTX: in front of the place")
	}
	ctx, after, group, depth := cutContext(rest)
	switch want := "CTX:path/to/file[STATE]→TRIGGER[ACTION]"; {
	case depth > 0:
		return fail(TenSyntax, rest, want, "a bracket behind CTX: is not closed")
	case after == "":
		return fail(TenSyntax, rest, want, "no →TRIGGER[ACTION] behind [STATE]")
	}
	if group < 0 || groupEnd(ctx[group:]) != len(ctx)-group {
		return fail(TenSyntax, ctx, "CTX:path/to/file[STATE]", "no [STATE] behind the place")
	}
	t.State = strings.TrimSpace(ctx[group+1 : len(ctx)-1])
	place := strings.TrimSpace(ctx[:group])
	path, lines, cited := strings.Cut(place, ":") // a path holds no colon
	if t.Path = path; cited {
		want := path + ":10-20, lines counted from 1"
		m := citedLines().FindStringSubmatch(lines)
		if m == nil {
			return fail(CtxRange, place, want, "what stands behind the colon is not a line or a range of lines")
		}
		t.Start, _ = strconv.Atoi(m[1])
		if t.End = t.Start; m[2] != "" {
			t.End, _ = strconv.Atoi(m[2])
		}
		if t.Start < 1 || t.End < t.Start {
			return fail(CtxRange, place, want, "the lines do not run upwards from 1")
		}
	}
	if end = groupEnd(after); end < 0 {
		return fail(TenSyntax, after, "TRIGGER[ACTION]", "the trigger is not in brackets that close")
	}
	t.Trigger = strings.TrimSpace(after[1 : end-1])
	rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(after[end:]), ","))
	switch want := "one tension a line, and nothing behind its last ]"; {
	case looksLikeTension(rest):
		return fail(TenSyntax, rest, want, "a second tension begins on the same line")
	case rest != "":
		return fail(TenSyntax, rest, want, "something stands behind the trigger")
	}
	return t, nil
}

// cutContext cuts at the first arrow outside of brackets that TRIGGER follows. after is
// what follows TRIGGER, and group where the last brackets before the arrow open, or -1.
// Without such an arrow after is "", and depth how many brackets are open at the end.
func cutContext(s string) (ctx, after string, group, depth int) {
	group = -1
	for i := range len(s) {
		switch s[i] {
		case '[':
			if depth++; depth == 1 {
				group = i
			}
		case ']':
			depth = max(0, depth-1)
		}
		if depth > 0 {
			continue
		}
		if arrow := thenOperator().FindString(s[i:]); arrow != "" {
			return strings.TrimSpace(s[:i]), strings.TrimLeft(s[i+len(arrow):], " ") + " ", group, 0
		}
	}
	return s, "", -1, depth
}

// groupEnd returns where the group that s begins with ends, behind its bracket, or -1.
func groupEnd(s string) int {
	depth := 0
	for i := 0; i < len(s) && s[0] == '['; i++ {
		switch s[i] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func looksLikeTension(line string) bool {
	line = strings.TrimSpace(line)
	if tensionOrdinal().MatchString(line) {
		return true
	}
	return slices.ContainsFunc([]string{"⇌", "<->", "CTX:", "TRIGGER"}, func(mark string) bool { return strings.Contains(line, mark) })
}

// truncate shortens what is quoted back.
func truncate(s string) string {
	const most = 120
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + " …"
}

// Tensions makes the tensions of an express session from the rules of its role,
// as many as the strictness asks for. The same constitution gives the same ones:
//
//	CONSTRAINT  what may never pass, then what the role may stop, then what it
//	            must never do, as a name of up to three words; the last with
//	            "@" and its line
//	CTX         the line of the rule in the constitution
//	STATE       "clean", because a session is bound only to a committed constitution
//	TRIGGER     to stop and ask whom the role escalates to, else a person
//
// They do not show that an agent thought about anything, so GeneratedBy is
// "server". Under deep each has a line of its own. A constitution with too few
// rules is ConstPoor.
func Tensions(c Constitution, s Strictness) (out []Tension, ps []Problem) {
	need, seen := s.Least(), map[string]bool{}
	add := func(rules []Rule, withLine bool) {
		for _, r := range rules {
			t := Tension{N: len(out) + 1, Constraint: ruleName(r.Text), Path: c.Path, Start: r.Line, End: r.Line, State: "clean",
				Trigger: askWhom(c), GeneratedBy: "server"}
			if r.Line == 0 {
				t.Start, t.End = 1, c.Lines
			}
			if withLine && r.Line > 0 {
				t.Constraint += "@" + strconv.Itoa(r.Line)
			}
			taken := s == Deep && slices.ContainsFunc(out, func(o Tension) bool { return o.Start == t.Start && o.End == t.End })
			if len(out) < need && t.End <= c.Lines && !taken && !isGeneric(ruleName(r.Text)) && !seen[t.Constraint] {
				seen[t.Constraint] = true
				out = append(out, t)
			}
		}
	}
	add(c.Gates, false)
	add(c.Blocking, false)
	add(c.MustNever, true)
	if len(out) < need {
		return nil, []Problem{{Code: ConstPoor, At: c.Path, Found: strconv.Itoa(len(out)), Want: strconv.Itoa(need),
			Text: fmt.Sprintf("express makes %d tensions out of gates, blocking and must_never, and %s yields %d; bind with mode full, or write more of them there", need, c.Role, len(out))}}
	}
	return out, nil
}

// ruleName returns a rule as a name: a single word as it is, else its first three
// words that carry meaning, in upper case and joined by "_".
func ruleName(text string) string {
	joining := strings.Fields("a an and any are as at be by for from has have in is it its of on or that the their this to with you your")
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(joining, w) })
	if strings.Contains(text, " ") {
		words = words[:min(len(words), 3)]
	}
	return strings.ToUpper(strings.Join(words, "_"))
}

// maxTrigger is how many bytes of a trigger are kept.
const maxTrigger = 160

// askWhom returns the trigger of the tensions of a role, without the signs that
// mean something in a tension.
func askWhom(c Constitution) string {
	whom := okf.OneLine(strings.NewReplacer("[", "(", "]", ")", "⇌", "/", "→", ">", "<->", "/", "->", ">").Replace(c.Escalation))
	if whom == "" {
		whom = "a person"
	}
	return okf.Clip("stop and ask "+whom, maxTrigger)
}
