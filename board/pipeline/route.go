package pipeline

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Complexity is how much work a change is.
type Complexity string

// The complexities, from the least.
const (
	Trivial       Complexity = "trivial"
	Simple        Complexity = "simple"
	Moderate      Complexity = "moderate"
	Complicated   Complexity = "complex"
	Architectural Complexity = "architectural"
)

// Words of a task that say how much work it is. Each is a phrase of whole words.
var (
	largeWords = []string{"new capability", "new module", "new service", "architecture", "design", "protocol", "schema", "migration", "breaking change"}
	smallWords = []string{"typo", "comment", "docstring", "import", "rename", "whitespace", "formatting", "lint"}
	smallFiles = []string{".md", ".txt", ".yaml", ".yml", ".json", ".gitignore"}
)

// ComplexityOf says how much work a change of these files is that is asked for in
// these words. It decides about the lane, and about how much a session must have
// looked at; it never lowers a tier.
func ComplexityOf(ask string, files []string) Complexity {
	words := " " + strings.Join(pathWords(ask), " ") + " "
	says := func(all []string) bool {
		return slices.ContainsFunc(all, func(w string) bool { return strings.Contains(words, " "+w+" ") })
	}
	small := func(f string) bool {
		base := path.Base(f)
		return slices.Contains(smallFiles, path.Ext(base)) || strings.HasPrefix(base, "requirements")
	}
	switch {
	case says(largeWords):
		return Architectural
	case len(files) <= 1 && (says(smallWords) || len(files) == 1 && small(files[0])):
		return Trivial
	case len(files) <= 1:
		return Simple
	case len(files) <= 3:
		return Moderate
	}
	return Complicated
}

// wordBorder is where a word of a path or a name begins within letters and digits.
var wordBorder = pattern(`(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})|([^\p{Nd}])(\p{Nd})|(\p{Nd})([^\p{Nd}])`)

// pathWords cuts a path or a name into lower-case words: at every character that
// is no letter or digit, between letters and digits, and where upper case begins a
// word: "httpTokenV2" is http, token, v, 2.
func pathWords(s string) []string {
	for range 2 { // borders beside each other share a character
		s = wordBorder().ReplaceAllString(s, "$1$3$5$7 $2$4$6$8")
	}
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Of is the larger of two complexities; one that is none counts as the least.
func (c Complexity) Of(other Complexity) Complexity {
	if all := []Complexity{Trivial, Simple, Moderate, Complicated, Architectural}; slices.Index(all, other) > slices.Index(all, c) {
		return other
	}
	return c
}

// Lane is the way a change takes: how soon, and in which limits.
type Lane string

// The lanes.
const (
	LaneImmediate   Lane = "immediate"
	LaneStandard    Lane = "standard"
	LaneComplex     Lane = "complex"
	LaneBackground  Lane = "background"
	LaneSpeculative Lane = "speculative"
)

// Signal is what asks for a change, as far as its way depends on it.
type Signal struct {
	Source     string // "person", "task", or one of board.Signals
	Priority   string // p0 to p3; "" is p2
	Complexity Complexity
	Files      int  // that it names or edits; 0 where it names none
	CrossRepo  bool // it reaches into another repository
}

// LaneFor is the way a change takes and why; the first case that holds decides.
func LaneFor(s Signal) (lane Lane, reason string) {
	broken := slices.Contains([]string{"test_failure", "runtime_health"}, s.Source)
	canWait := slices.Contains([]string{"backlog", "code_marks", "doc_staleness", "exploration", "architecture"}, s.Source)
	large := s.Complexity == Complicated || s.Complexity == Architectural
	switch {
	case s.Priority == "p0":
		return LaneImmediate, "critical_urgency"
	case s.Source == "person":
		return LaneImmediate, "person_waiting"
	case s.Priority == "p1" && broken:
		return LaneImmediate, "high_urgency_immediate"
	case s.CrossRepo:
		return LaneImmediate, "cross_repo"
	case s.Source == "intent" && s.Priority != "p1":
		return LaneSpeculative, "speculative_source"
	case canWait && s.Priority == "p3":
		return LaneBackground, "background_low_urgency"
	case canWait && !large:
		return LaneBackground, "background_source"
	case large:
		return LaneComplex, "complex_task"
	case s.Files >= 3 && s.Complexity == Moderate:
		return LaneComplex, "multi_file"
	}
	return LaneStandard, "standard"
}
