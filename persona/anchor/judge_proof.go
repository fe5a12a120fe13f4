package anchor

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Judging is what a proof is held against.
type Judging struct {
	Strictness   Strictness
	Files        fs.FS // the work tree; of an os.Root, so that no link leads out of it
	Constitution Constitution
	Protected    func(path string) (why string, yes bool)
}

// Least returns how many tensions a strictness asks for; one that is unknown is taken
// for the default.
func (s Strictness) Least() int {
	switch s {
	case Quick:
		return 1
	case Deep:
		return 3
	}
	return 2
}

// JudgeProof holds tensions and commit against the work tree and the
// constitution. The proof it returns is numbered from 1 in its order and has
// the hash of what each tension cites.
func JudgeProof(p Proof, in Judging) (Proof, []Problem) {
	tensions, ps := judgeTensions(p, in)
	p.Tensions = tensions
	return p, append(ps, judgeCommit(p.Commit, in)...)
}

// judgeTensions is JudgeProof without the commit.
func judgeTensions(p Proof, in Judging) ([]Tension, []Problem) {
	j := &proofJudge{in: in}
	all := slices.Clone(p.Tensions)
	for i := range all {
		t := &all[i]
		at, before := tensionAt(t.N, i+1), len(j.problems)
		j.checkWords(at, *t)
		j.checkRule(at, t.Constraint)
		j.checkPlace(at, t)
		j.checkDuplicate(at, all[:i], *t)
		for k := range j.problems[before:] {
			j.problems[before+k].Line = t.Line
		}
	}
	if n, least := len(all)+p.Unread, in.Strictness.Least(); n < least {
		j.addProblem(TenCount, "TENSIONS", strconv.Itoa(n), fmt.Sprintf("at least %d, each %s", least, tensionFormFor(in.Strictness)), "too few tensions for strictness %s", in.Strictness)
	}
	for i := range all {
		all[i].N = i + 1
	}
	return all, j.problems
}

// judgeCommit is the part of JudgeProof that an express session answers for.
func judgeCommit(c Commit, in Judging) []Problem {
	j := &proofJudge{in: in}
	j.checkCommit(c)
	return j.problems
}

// tensionFormFor returns what a tension looks like under a strictness: only deep must cite lines.
func tensionFormFor(s Strictness) string {
	if s == Deep {
		return tensionForm
	}
	return strings.Replace(tensionForm, ":10-20", "", 1)
}

type proofJudge struct {
	bindJudge
	in Judging
}

func (j *proofJudge) checkWords(at string, t Tension) {
	for _, w := range []struct{ what, text string }{{"constraint", t.Constraint}, {"state", t.State}, {"trigger", t.Trigger}} {
		switch {
		case w.text == "":
			j.addProblem(TenGeneric, at, "[]", tensionFormFor(j.in.Strictness), "the %s is empty", w.what)
		case !j.checkVisible(at, w.text):
		case isGeneric(w.text):
			j.addProblem(TenGeneric, at, w.text, "what it is here, in your own words", "the %s says nothing", w.what)
		}
	}
	if same := foldText(t.Trigger); same != "" && (same == foldText(t.Constraint) || same == foldText(t.State)) {
		j.addProblem(TenGeneric, at, t.Trigger, "an action that answers the state", "the trigger only repeats what stands before it")
	}
}

func foldText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// ruleID is how a constraint cites its constitution: by line, or by the number
// of a clause of its conduct.
var ruleID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@(L?|C-)(\d{1,6})$`) })

// checkRule refuses a citation of a rule that the constitution does not have.
func (j *proofJudge) checkRule(at, constraint string) {
	i := strings.LastIndexByte(constraint, '@')
	if i < 0 || strings.ContainsAny(constraint[i:], " ") {
		return
	}
	c := j.in.Constitution
	clauses := len(c.MustAlways) + len(c.MustNever) + len(c.Gates)
	want := fmt.Sprintf("@L and a line of the constitution (1 to %d), or @C- and the number of one of its %d clauses", c.Lines, clauses)
	m := ruleID().FindStringSubmatch(constraint)
	if m == nil {
		j.addProblem(TenRule, at, constraint, want, "what stands behind the @ is not a rule's place")
		return
	}
	most := c.Lines
	if m[1] == "C-" {
		most = clauses
	}
	if n, _ := strconv.Atoi(m[2]); n < 1 || n > most {
		j.addProblem(TenRule, at, constraint, want, "the constitution has no such rule")
	}
}

// checkDuplicate refuses a tension that is another one again, and under deep the same
// lines cited twice.
func (j *proofJudge) checkDuplicate(at string, before []Tension, t Tension) {
	for i, b := range before {
		if b.Path != t.Path || b.Start != t.Start || b.End != t.End {
			continue
		}
		switch first := tensionAt(b.N, i+1); {
		case foldText(b.Constraint) == foldText(t.Constraint):
			j.addProblem(TenDup, at, t.String(), "another constraint, or another place", "it is %s again: the same constraint at the same place", first)
			return
		case j.in.Strictness == Deep && t.Start > 0:
			j.addProblem(TenDup, at, t.String(), "lines of its own for every tension", "it cites the same lines as %s", first)
			return
		}
	}
}

// checkPlace judges what a tension cites, and keeps its hash.
func (j *proofJudge) checkPlace(at string, t *Tension) {
	want := "CTX:path/to/file, a file of the work tree, from its top"
	if bad := checkLocalPath(t.Path); bad != "" {
		code := CtxEscape
		if t.Path == "" {
			code = CtxMissing
		}
		j.addProblem(code, at, t.Path, want, "%s", bad)
		return
	}
	if code, bad := checkRegularFile(j.in.Files, t.Path); bad != "" {
		j.addProblem(code, at, t.Path, want, "%s", bad)
		return
	}
	b, err := fs.ReadFile(j.in.Files, t.Path)
	if err != nil {
		j.addProblem(CtxMissing, at, t.Path, want, "the file cannot be read")
		return
	}
	if t.Start == 0 && j.in.Strictness == Deep {
		j.addProblem(CtxRange, at, t.Path, tensionFormFor(Deep), "strictness deep asks for lines, and none are cited")
	}
	cited, count, ok := cutLines(b, t.Start, t.End)
	if !ok {
		j.addProblem(CtxRange, at, fmt.Sprintf("%s:%d-%d", t.Path, t.Start, t.End), fmt.Sprintf("lines from 1 to %d", count), "the file has %d lines", count)
		return
	}
	t.RangeSHA256 = hexSum(cited)
}

// cutLines returns the bytes of lines start to end, line ends and all; the whole for a
// start of 0. count is how many lines there are; not ok is a range beyond them.
func cutLines(b []byte, start, end int) (cited []byte, count int, ok bool) {
	lines := slices.Collect(bytes.Lines(b))
	switch count = len(lines); {
	case start == 0:
		return b, count, true
	case start < 1 || end < start || end > count:
		return nil, count, false
	}
	return bytes.Join(lines[start-1:end], nil), count, true
}

// checkLocalPath says what is wrong with the letters of a repository path, "" if nothing.
func checkLocalPath(p string) string {
	for _, f := range policy.CheckPath(p) {
		return f.Text
	}
	if first, _, _ := strings.Cut(p, "/"); policy.FoldPath(first) == ".git" {
		return "the path is git's own and not of the work tree"
	}
	return ""
}

// maxCited is the largest file that a tension may cite, in bytes.
const maxCited = 16 << 20

// checkRegularFile says why a path is not a file of the tree, "" if it is one. A link is
// judged by where it leads: to a file of the tree is well, out of the tree is
// refused by the tree itself.
func checkRegularFile(files fs.FS, p string) (Code, string) {
	info, err := fs.Stat(files, p)
	switch {
	case err == nil && info.Mode().IsRegular() && info.Size() > maxCited:
		return CtxNotFile, fmt.Sprintf("it is over %d MiB", maxCited>>20)
	case err == nil && info.Mode().IsRegular():
		return "", ""
	case err == nil:
		return CtxNotFile, "it is not a regular file"
	case isUnderLink(files, p):
		return CtxEscape, "a link in it leads nowhere, or out of the work tree"
	}
	return CtxMissing, "there is no such file"
}

// isUnderLink reports a link on the way to p.
func isUnderLink(files fs.FS, p string) bool {
	for ; p != "."; p = path.Dir(p) {
		if info, err := fs.Lstat(files, p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}
