package anchor

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// roleForm is what a role is called.
var roleForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,127}$`) })

func cognitionNames() []string { return []string{"ETHOS", "LOGOS", "PATHOS"} }

// knownArchetypes returns the names that a role whose constitution declares none may use.
func knownArchetypes() []string {
	return strings.Fields(`ZEUS ATHENA APOLLO HERMES HEPHAESTUS ARES ARTEMIS POSEIDON DEMETER DIONYSUS
		ODYSSEUS SISYPHUS PROMETHEUS ICARUS PANDORA ATLAS ARGUS THEMIS DAEDALUS`)
}

// takeBind reads and judges BIND, and names each thing that is wrong once.
func takeBind(b []byte, c Constitution, role string, active func(token string) bool) (Bind, []Problem) {
	bind, ps := readBind(b)
	return bind, addJudged(ps, judgeBind(bind, c, role, active))
}

// takeProof reads and judges TENSIONS and COMMIT, as takeBind does.
func takeProof(b []byte, in Judging) (Proof, []Problem) {
	p, ps := readProof(b)
	p, more := JudgeProof(p, in)
	return p, addJudged(ps, more)
}

// takeCommit reads and judges COMMIT, as takeBind does.
func takeCommit(b []byte, in Judging) (Commit, []Problem) {
	c, ps := readCommit(b)
	return c, addJudged(ps, judgeCommit(c, in))
}

// addJudged adds to what reading found what the judge found of the rest: not what
// is missing only because it could not be read.
func addJudged(read, judged []Problem) []Problem {
	return append(read, slices.DeleteFunc(judged, func(q Problem) bool {
		return slices.ContainsFunc(read, func(p Problem) bool { return p.explains(q) })
	})...)
}

func (p Problem) explains(q Problem) bool {
	if p.Code != BindSyntax && p.Code != ProofSyntax {
		return p.At == q.At && p.Line == q.Line || p.At == q.At && q.Line == 0
	}
	return p.At == "payload" || p.At == q.At || strings.HasPrefix(q.At, p.At+".") || strings.HasPrefix(q.At, p.At+"[")
}

// judgeBind holds a BIND against the constitution that the agent was given and
// the role the session was opened for. active reports whether a token is of a
// session that is bound.
func judgeBind(b Bind, c Constitution, role string, active func(token string) bool) []Problem {
	j := &bindJudge{}
	j.checkRole(b.Role, roleName(role), c)
	j.checkCognition(b.Cognition, c)
	j.checkArchetypes(b.Archetypes, c)
	j.checkAuthority(b.Authority, active)
	return j.problems
}

type bindJudge struct{ problems []Problem }

func (j *bindJudge) addProblem(code Code, at, found, want, format string, args ...any) {
	j.problems = append(j.problems, Problem{Code: code, At: at, Text: fmt.Sprintf(format, args...), Found: truncate(okf.Visible(found)), Want: want})
}

// checkVisible refuses invisible characters, and line ends inside a value.
func (j *bindJudge) checkVisible(at, s string) bool {
	if !hasHiddenText(s) {
		return true
	}
	j.addProblem(Hidden, at, s, "plain text on one line", "the value holds a character that cannot be seen")
	return false
}

func hasHiddenText(s string) bool { return okf.Visible(s) != s || strings.ContainsAny(s, "\n\t\r") }

func (j *bindJudge) checkRole(role, asked string, c Constitution) {
	const at = "BIND.ROLE"
	switch {
	case role == "":
		j.addProblem(BindRole, at, "", "ROLE::"+asked, "BIND has no ROLE")
	case !j.checkVisible(at, role):
	case !roleForm().MatchString(role):
		j.addProblem(BindRole, at, role, "ROLE::"+asked, "the role is not a name of letters, digits and hyphens")
	case role != asked:
		j.addProblem(BindMismatch, at, role, "ROLE::"+asked, "the session was opened for another role")
	case c.Role != "" && role != roleName(c.Role):
		j.addProblem(BindMismatch, at, role, "ROLE::"+roleName(c.Role), "the constitution is another role's")
	}
}

func (j *bindJudge) checkCognition(cognition string, c Constitution) {
	const at = "BIND.COGNITION"
	want := "COGNITION:: and one of " + strings.Join(cognitionNames(), ", ")
	if c.Cognition != "" {
		want += ", as your constitution has it"
	}
	switch {
	case cognition == "":
		j.addProblem(BindUnsaid, at, "", want, "BIND has no COGNITION")
	case !slices.Contains(cognitionNames(), cognition):
		j.addProblem(BindCognition, at, cognition, want, "there is no such cognition")
	case c.Cognition != "" && cognition != strings.ToUpper(c.Cognition):
		j.addProblem(BindCognition, at, cognition, want, "the constitution names another cognition")
	}
}

func (j *bindJudge) checkArchetypes(names []string, c Constitution) {
	const at = "BIND.ARCHETYPES"
	declared, want := knownArchetypes(), "names of the nineteen archetypes: "+strings.Join(knownArchetypes(), ", ")
	if len(c.Archetypes) > 0 {
		declared = nil
		for _, a := range c.Archetypes {
			declared = append(declared, archetypeName(a))
		}
		want = "names that your constitution declares, without what it qualifies them with"
	}
	for _, n := range names {
		if !slices.Contains(declared, n) {
			j.addProblem(BindArchetype, at, n, want, "%s is not among the role's archetypes", okf.Visible(n))
		}
	}
}

func (j *bindJudge) checkAuthority(a Authority, active func(token string) bool) {
	const at = "BIND.AUTHORITY"
	switch {
	case a == Authority{}:
		j.addProblem(BindAuthority, at, "", authorityForm, "BIND has no AUTHORITY")
	case !j.checkVisible(at, a.Scope+a.Parent):
	case !a.Delegated && isGeneric(a.Scope):
		j.addProblem(BindAuthority, at, a.Scope, authorityForm, "the scope says nothing")
	case a.Delegated && a.Scope != "" && isGeneric(a.Scope):
		j.addProblem(BindAuthority, at, a.Scope, authorityForm, "the task says nothing")
	case a.Delegated && (a.Parent == "" || active == nil || !active(a.Parent)):
		j.addProblem(BindParent, at, a.Parent, "DELEGATED[token::task] with the token of a session that is bound now", "no session of that token is bound")
	}
}

// isGeneric reports a value that fills a place and says nothing: empty, a word for
// work to come, a word for any rule, or a place that a template left open.
func isGeneric(s string) bool {
	s = strings.TrimSpace(s)
	word := strings.ToUpper(strings.Trim(s, ".…-_!? "))
	return word == "" || slices.Contains(placeholderWords(), word) || strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">")
}

// placeholderWords returns the words that say nothing, some put together from halves so that a
// search for open work does not find them here.
func placeholderWords() []string {
	return []string{
		"CONSTRAINT", "RULE", "POLICY", "REQUIREMENT", "STATE", "ACTION", "TRIGGER", "SCOPE", "TASK",
		"TO" + "DO", "TB" + "D", "FIX" + "ME", "X" + "XX", "PLACEHOLDER", "EXAMPLE", "N/A", "NONE",
	}
}

// vagueArtifacts returns words that name no particular file.
func vagueArtifacts() []string {
	return []string{"RESPONSE", "RESULT", "OUTPUT", "COMPLETION", "ANSWER", "REPLY", "THOUGHTS", "ARTIFACT", "FILE"}
}

// filesWithoutDot returns files that are known without a dot in their names.
func filesWithoutDot() []string {
	return strings.Fields(`Makefile GNUmakefile Dockerfile Containerfile Justfile justfile Procfile Rakefile Gemfile
		LICENSE NOTICE README CHANGELOG AUTHORS CODEOWNERS VERSION`)
}

func (j *proofJudge) checkCommit(c Commit) {
	j.checkArtifact(c.Artifact)
	j.checkGate(c.Gate)
}

func (j *proofJudge) checkArtifact(p string) {
	const at = "COMMIT.ARTIFACT"
	want := "ARTIFACT::\"path/to/file\", what the session will have made or changed"
	name := strings.ToUpper(strings.Trim(p, ". "))
	switch {
	case p == "":
		j.addProblem(CommitArtifact, at, "", want, "COMMIT has no ARTIFACT")
		return
	case isGeneric(p), slices.Contains(vagueArtifacts(), name):
		j.addProblem(CommitArtifact, at, p, want, "the artifact says nothing")
		return
	}
	if bad := checkLocalPath(p); bad != "" {
		j.addProblem(CommitArtifact, at, p, want, "%s", bad)
		return
	}
	info, err := fs.Stat(j.in.Files, p)
	switch {
	case err == nil && !info.Mode().IsRegular():
		j.addProblem(CommitArtifact, at, p, want, "it is not a regular file")
	case isUnderLink(j.in.Files, p):
		j.addProblem(CommitArtifact, at, p, want, "the way to it goes over a link")
	case strings.ContainsAny(p, "*?"):
		j.addProblem(CommitArtifact, at, p, want, "it is a pattern and not a path")
	case err != nil && !strings.ContainsAny(p, "./") && !slices.Contains(filesWithoutDot(), p):
		j.addProblem(CommitArtifact, at, p, want, "it is neither a file of the work tree nor the path of a new one")
	default:
		j.checkAllowed(at, p)
	}
}

// checkAllowed refuses an artifact that the session could not write.
func (j *proofJudge) checkAllowed(at, p string) {
	if why, yes := j.in.Protected(p); yes {
		j.addProblem(CommitOutside, at, p, "a path that a session may write", "no session may write it: %s", why)
		return
	}
	c := j.in.Constitution
	permit := Permit{Role: c.Role, Allow: c.Paths, Deny: c.BlockedPath}
	if bad, ok := permit.Covers(p); !ok {
		j.addProblem(CommitOutside, at, p, bad.Want, "%s", bad.Text)
	}
}

func (j *proofJudge) checkGate(g string) {
	const at = "COMMIT.GATE"
	list := j.in.Constitution.gateCommands()
	want := "GATE:: and a command that begins with one of: " + strings.Join(list, ", ")
	switch {
	case g == "":
		j.addProblem(CommitGate, at, "", want, "COMMIT has no GATE")
	case !j.checkVisible(at, g):
	case isGeneric(g):
		j.addProblem(CommitGate, at, g, want, "the gate says nothing")
	default:
		words, err := policy.ParseSimple(g)
		if err != nil {
			j.addProblem(CommitGate, at, g, want, "the gate is not one simple command: %v", err)
		} else if !slices.ContainsFunc(list, func(prefix string) bool { return beginsWithWords(words, prefix) }) {
			j.addProblem(CommitUnlisted, at, g, want, "no such command judges a session of this role")
		} else if len(j.in.Constitution.GateCommand) == 0 && !policy.IsTest(words) {
			j.addProblem(CommitUnlisted, at, g, want, "the gate has a word that may do more than choose tests")
		}
	}
}

func beginsWithWords(words []string, prefix string) bool {
	p := strings.Fields(prefix)
	return len(p) > 0 && len(words) >= len(p) && slices.Equal(words[:len(p)], p)
}
