package anchor

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
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

// tensionForm is the form of a tension, for messages.
const tensionForm = "[CONSTRAINT]⇌CTX:path/to/file:10-20[STATE]→TRIGGER[ACTION]"

// tensionScanner reads one tension from the left. The first thing that is not as the
// grammar has it ends the reading.
type tensionScanner struct {
	rest string
	bad  *Problem
}

func (s *tensionScanner) fail(code Code, found, want, format string, args ...any) {
	if s.bad == nil {
		s.bad = &Problem{Code: code, Text: fmt.Sprintf(format, args...), Found: truncate(found), Want: want}
	}
}

// scanTension reads a line. N is the ordinal it carries, 0 for none. The problem
// has neither At nor Line.
func scanTension(line string) (Tension, *Problem) {
	t := Tension{GeneratedBy: "agent"}
	s := &tensionScanner{rest: strings.TrimSpace(line)}
	if m := tensionOrdinal().FindStringSubmatch(s.rest); m != nil {
		t.N, _ = strconv.Atoi(m[1])
		s.rest = s.rest[len(m[0]):]
	}
	t.Constraint = s.readGroup("the constraint", "[CONSTRAINT]")
	s.readOperator("between the constraint and its place", "⇌", "<->", "vs")
	ctx, found := s.readContext()
	if found {
		t.State, t.Path = s.splitState(ctx)
		t.Path, t.Start, t.End = s.readPlace(t.Path)
	}
	s.readLiteral("TRIGGER", "TRIGGER[ACTION]")
	t.Trigger = s.readGroup("the trigger", "TRIGGER[ACTION]")
	if rest := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s.rest), ",")); rest != "" {
		want := "one tension a line, and nothing behind its last ]"
		if looksLikeTension(rest) {
			s.fail(TenSyntax, rest, want, "a second tension begins on the same line")
		}
		s.fail(TenSyntax, rest, want, "something stands behind the trigger")
	}
	return t, s.bad
}

// readGroup reads a balanced [ … ] and returns what is in it, trimmed.
func (s *tensionScanner) readGroup(what, want string) string {
	s.rest = strings.TrimLeft(s.rest, " ")
	if !strings.HasPrefix(s.rest, "[") {
		s.fail(TenSyntax, s.rest, want, "%s is not in brackets", what)
		return ""
	}
	end := groupEnd(s.rest)
	if end < 0 {
		s.fail(TenSyntax, s.rest, want, "the bracket that opens %s is not closed", what)
		return ""
	}
	in := strings.TrimSpace(s.rest[1 : end-1])
	s.rest = s.rest[end:]
	return in
}

// readOperator passes one of the forms, with blanks round it.
func (s *tensionScanner) readOperator(where string, forms ...string) {
	before := s.rest
	s.rest = strings.TrimLeft(s.rest, " ")
	for _, f := range forms {
		rest, ok := strings.CutPrefix(s.rest, f)
		if ok && (f != "vs" || before != s.rest && strings.HasPrefix(rest, " ")) {
			s.rest = strings.TrimLeft(rest, " ")
			return
		}
	}
	s.fail(TenSyntax, before, forms[0]+" (or "+forms[1]+")", "no %s %s", forms[0], where)
}

// readLiteral passes a fixed word.
func (s *tensionScanner) readLiteral(word, want string) {
	rest, ok := strings.CutPrefix(s.rest, word)
	if !ok {
		s.fail(TenSyntax, s.rest, want, "no %s", want)
		return
	}
	s.rest = rest
}

// readContext reads from CTX: to the first arrow outside of brackets that TRIGGER
// follows.
func (s *tensionScanner) readContext() (string, bool) {
	rest, ok := strings.CutPrefix(s.rest, "CTX:")
	if !ok {
		s.fail(TenSyntax, s.rest, "CTX:path/to/file[STATE]", "no CTX: in front of the place")
		return "", false
	}
	depth := 0
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if n := arrowLength(rest[i:]); depth <= 0 && n > 0 {
			if s.rest = strings.TrimLeft(rest[i+n:], " "); strings.HasPrefix(s.rest, "TRIGGER") {
				return strings.TrimSpace(rest[:i]), true
			}
		}
	}
	want := "CTX:path/to/file[STATE]→TRIGGER[ACTION]"
	if depth > 0 {
		s.fail(TenSyntax, rest, want, "a bracket behind CTX: is not closed")
	}
	s.fail(TenSyntax, rest, want, "no →TRIGGER[ACTION] behind [STATE]")
	return "", false
}

func arrowLength(s string) int {
	for _, a := range []string{"→", "->"} {
		if strings.HasPrefix(s, a) {
			return len(a)
		}
	}
	return 0
}

// splitState takes the state, the last balanced group, off the end of a context.
func (s *tensionScanner) splitState(ctx string) (state, place string) {
	depth := 0
	for i := len(ctx) - 1; i >= 0; i-- {
		switch ctx[i] {
		case ']':
			depth++
		case '[':
			depth--
		}
		if depth == 0 {
			if strings.HasSuffix(ctx, "]") {
				return strings.TrimSpace(ctx[i+1 : len(ctx)-1]), strings.TrimSpace(ctx[:i])
			}
			break
		}
	}
	s.fail(TenSyntax, ctx, "CTX:path/to/file[STATE]", "no [STATE] behind the place")
	return "", ctx
}

// readPlace takes the lines off the end of a path. A path holds no colon, so what
// stands behind one is meant as lines.
func (s *tensionScanner) readPlace(p string) (path string, start, end int) {
	path, cite, found := strings.Cut(p, ":")
	if !found {
		return p, 0, 0
	}
	want := path + ":10-20, lines counted from 1"
	m := citedLines().FindStringSubmatch(cite)
	if m == nil {
		s.fail(CtxRange, p, want, "what stands behind the colon is not a line or a range of lines")
		return path, 0, 0
	}
	start, _ = strconv.Atoi(m[1])
	end = start
	if m[2] != "" {
		end, _ = strconv.Atoi(m[2])
	}
	if start < 1 || end < start {
		s.fail(CtxRange, p, want, "the lines do not run upwards from 1")
	}
	return path, start, end
}

// groupEnd returns where the group that s begins with ends, behind its bracket, or -1.
func groupEnd(s string) int {
	depth := 0
	for i := range len(s) {
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

// looksLikeTension reports a line that was meant as a tension.
func looksLikeTension(line string) bool {
	line = strings.TrimSpace(line)
	if tensionOrdinal().MatchString(line) {
		return true
	}
	for _, mark := range []string{"⇌", "<->", "CTX:", "TRIGGER"} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return false
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
