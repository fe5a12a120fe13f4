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

// pathWords cuts a path or a name into lower-case words: at every character that
// is no letter or digit, between letters and digits, and where upper case begins a
// word: "httpTokenV2" is http, token, v, 2.
func pathWords(s string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	rs := []rune(s)
	for i, r := range rs {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if i > 0 && beginsWord(rs, i) {
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

func beginsWord(rs []rune, i int) bool {
	before, r := rs[i-1], rs[i]
	switch {
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return true
	case unicode.IsLower(before) && unicode.IsUpper(r):
		return true
	}
	return unicode.IsUpper(before) && unicode.IsUpper(r) && i+1 < len(rs) && unicode.IsLower(rs[i+1])
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

// The urgencies, from the least.
const (
	UrgencyLow      = "low"
	UrgencyNormal   = "normal"
	UrgencyHigh     = "high"
	UrgencyCritical = "critical"
)

// class is what a source of changes means for the way they take; "" is ordinary.
type class string

const (
	waiting     class = "waiting" // a person waits for it
	urgent      class = "urgent"  // something is broken
	background  class = "background"
	speculative class = "speculative"
)

// sources are the sources of changes that are not ordinary. Nothing changes it.
var sources = map[string]class{
	"person":         waiting,
	"test_failure":   urgent,
	"runtime_health": urgent,
	"backlog":        background,
	"code_marks":     background,
	"doc_staleness":  background,
	"exploration":    background,
	"architecture":   background,
	"intent":         speculative,
}

// Signal is what asks for a change, as far as its way depends on it.
type Signal struct {
	Source     string // "person", "task", or one of board.Signals
	Urgency    string // "" is normal
	Complexity Complexity
	Files      int  // that it names or edits; 0 where it names none
	CrossRepo  bool // it reaches into another repository
}

// laneRule is one row of the route table; the first that holds decides.
type laneRule struct {
	reason string
	lane   Lane
	holds  func(Signal, class) bool
}

// lanes is the route table. Nothing changes it.
var lanes = []laneRule{
	{"critical_urgency", LaneImmediate, func(s Signal, _ class) bool { return s.Urgency == UrgencyCritical }},
	{"person_waiting", LaneImmediate, func(_ Signal, c class) bool { return c == waiting }},
	{"high_urgency_immediate", LaneImmediate, func(s Signal, c class) bool { return s.Urgency == UrgencyHigh && c == urgent }},
	{"cross_repo", LaneImmediate, func(s Signal, _ class) bool { return s.CrossRepo }},
	{"speculative_source", LaneSpeculative, func(s Signal, c class) bool { return c == speculative && s.Urgency != UrgencyHigh }},
	{"background_low_urgency", LaneBackground, func(s Signal, c class) bool { return c == background && s.Urgency == UrgencyLow }},
	{"background_source", LaneBackground, func(s Signal, c class) bool { return c == background && !s.isLarge() }},
	{"complex_task", LaneComplex, func(s Signal, _ class) bool { return s.isLarge() }},
	{"multi_file", LaneComplex, func(s Signal, _ class) bool { return s.Files >= 3 && s.Complexity != Trivial && s.Complexity != Simple }},
	{"standard", LaneStandard, func(Signal, class) bool { return true }},
}

func (s Signal) isLarge() bool { return s.Complexity == Complicated || s.Complexity == Architectural }

// LaneFor is the way a change takes and the row that said so.
func LaneFor(s Signal) (lane Lane, reason string) {
	i := slices.IndexFunc(lanes, func(r laneRule) bool { return r.holds(s, sources[s.Source]) })
	return lanes[i].lane, lanes[i].reason // the last row always holds
}
