package anchor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/odd-cli/odd/okf"
)

// NewArm returns the account of where a session stands, with its hash. Names of files
// that are not UTF-8 are written with escapes, so that the record of an ARM says
// what the ARM said.
func NewArm(f Facts, phase, focus, source, constitutionSHA string) Arm {
	a := Arm{
		Version: 1, Head: f.Head, Branch: f.Branch, Upstream: f.Upstream, Ahead: f.Ahead, Behind: f.Behind,
		Phase: phase, Focus: focus, FocusSource: source, Constitution: constitutionSHA, Files: []Change{},
	}
	for _, c := range f.Files {
		a.Files = append(a.Files, Change{XY: c.XY, Path: escapeInvalidUTF8(c.Path), From: escapeInvalidUTF8(c.From)})
	}
	slices.SortStableFunc(a.Files, func(x, y Change) int { return strings.Compare(x.Path, y.Path) })
	a.Hash = a.Sum()
	return a
}

// escapeInvalidUTF8 returns s, or where s is not UTF-8 s in quotes with escapes.
func escapeInvalidUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strconv.Quote(s)
}

// Sum returns the hash of every member but Hash itself: "sha256:" and the SHA-256, in
// hex, of a JSON object with the members sorted by name and no white space.
func (a Arm) Sum() string {
	object := map[string]any{}
	for _, m := range a.listMembers() {
		object[m.name] = m.value
	}
	b, err := canonicalJSON(object)
	if err != nil {
		panic("unreachable: " + err.Error()) // strings, numbers and lists of them
	}
	return "sha256:" + hexSum(b)
}

// armMember is one member by its name, and its value as the hash covers it.
type armMember struct {
	name  string
	value any
}

func (a Arm) listMembers() []armMember {
	files := make([][]string, 0, len(a.Files))
	for _, c := range a.Files {
		files = append(files, []string{c.XY, c.Path, c.From})
	}
	return []armMember{
		{"v", a.Version}, {"head_oid", a.Head}, {"branch", a.Branch}, {"upstream", a.Upstream}, {"ahead", a.Ahead}, {"behind", a.Behind},
		{"phase", a.Phase}, {"focus", a.Focus}, {"focus_source", a.FocusSource}, {"constitution_sha256", a.Constitution}, {"files", files},
	}
}

// compareArms returns a drift for each member that is not as it was seen, in a fixed order;
// none means that the hashes are equal too. Of files it tells the entries that are
// gone and the ones that are new. A seen ARM that is not what its hash says was
// changed by another hand, and that is a member of its own, context_hash.
func compareArms(seen, now Arm, when string) (out []Problem) {
	add := func(moved bool, name, old, new string) {
		if moved {
			out = append(out, Problem{Code: ArmDrift, At: "ARM." + name, Text: name + " is not what it was when " + when, Found: new, Want: old})
		}
	}
	sum := seen.Sum()
	add(seen.Hash != sum, "context_hash", seen.Hash, sum)
	old, new := seen.listMembers(), now.listMembers()
	for i, o := range old {
		if o.name == "files" {
			gone, come := missingChanges(seen.Files, now.Files), missingChanges(now.Files, seen.Files)
			add(len(gone)+len(come) > 0, o.name, nameChanges(gone), nameChanges(come))
		} else {
			add(o.value != new[i].value, o.name, fmt.Sprint(o.value), fmt.Sprint(new[i].value))
		}
	}
	return out
}

// missingChanges returns the changes of a that are not in b.
func missingChanges(a, b []Change) []Change {
	in := map[Change]bool{}
	for _, c := range b {
		in[c] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(c Change) bool { return in[c] })
}

// namedFiles is how many files a drift names.
const namedFiles = 5

func nameChanges(cs []Change) string {
	var parts []string
	for _, c := range cs[:min(len(cs), namedFiles)] {
		parts = append(parts, c.XY+" "+okf.Visible(c.Path))
	}
	if more := len(cs) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// Where a focus comes from, as FocusSource has it.
const (
	FocusTopic   = "topic"  // it was asked for
	FocusIssue   = "issue"  // a number in the branch's name
	FocusBranch  = "branch" // the branch's kind and name
	FocusGeneral = "default"
)

// Focus returns what a session is about, and what says so: the topic if there is one,
// else an issue in the branch's name (fix/issue-12, #12), else the name of a
// branch of one of the usual kinds ("feat: drain-lock"), else "general".
func Focus(topic, branch string) (focus, source string) {
	if topic = okf.OneLine(topic); topic != "" {
		return topic, FocusTopic
	}
	if n := issueForm().FindStringSubmatch(branch); n != nil {
		return "issue-" + n[1], FocusIssue
	}
	kind, name, _ := strings.Cut(branch, "/")
	if slices.Contains([]string{"feat", "fix", "chore", "refactor", "docs"}, kind) && name != "" {
		return kind + ": " + name, FocusBranch
	}
	return "general", FocusGeneral
}

// issueForm finds issue-N, issues-N or #N in a branch's name, where "issue" begins
// a word.
var issueForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)(?:(?:^|[^a-z])issues?-|#)(\d+)`) })
