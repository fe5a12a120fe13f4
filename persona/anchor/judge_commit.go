package anchor

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/odd-cli/odd/reconcile/policy"
)

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
		j.fail(CommitArtifact, at, "", want, "COMMIT has no ARTIFACT")
		return
	case isGeneric(p), slices.Contains(vagueArtifacts(), name):
		j.fail(CommitArtifact, at, p, want, "the artifact says nothing")
		return
	}
	if bad := checkLocalPath(p); bad != "" {
		j.fail(CommitArtifact, at, p, want, "%s", bad)
		return
	}
	info, err := fs.Stat(j.in.Files, p)
	switch {
	case err == nil && !info.Mode().IsRegular():
		j.fail(CommitArtifact, at, p, want, "it is not a regular file")
	case isUnderLink(j.in.Files, p):
		j.fail(CommitArtifact, at, p, want, "the way to it goes over a link")
	case strings.ContainsAny(p, "*?"):
		j.fail(CommitArtifact, at, p, want, "it is a pattern and not a path")
	case err != nil && !strings.ContainsAny(p, "./") && !slices.Contains(filesWithoutDot(), p):
		j.fail(CommitArtifact, at, p, want, "it is neither a file of the work tree nor the path of a new one")
	default:
		j.checkAllowed(at, p)
	}
}

// checkAllowed refuses an artifact that the session could not write.
func (j *proofJudge) checkAllowed(at, p string) {
	if why, yes := j.in.Protected(p); yes {
		j.fail(CommitOutside, at, p, "a path that a session may write", "no session may write it: %s", why)
		return
	}
	c := j.in.Constitution
	permit := Permit{Role: c.Role, Allow: c.Paths, Deny: c.BlockedPath}
	if bad, ok := permit.Covers(p); !ok {
		j.fail(CommitOutside, at, p, bad.Want, "%s", bad.Text)
	}
}

func (j *proofJudge) checkGate(g string) {
	const at = "COMMIT.GATE"
	list := j.in.Constitution.GateCommand
	if len(list) == 0 {
		list = policy.TestCommands()
	}
	want := "GATE:: and a command that begins with one of: " + strings.Join(list, ", ")
	switch {
	case g == "":
		j.fail(CommitGate, at, "", want, "COMMIT has no GATE")
	case !j.checkVisible(at, g):
	case isGeneric(g):
		j.fail(CommitGate, at, g, want, "the gate says nothing")
	default:
		words, err := policy.ParseSimple(g)
		if err != nil {
			j.fail(CommitGate, at, g, want, "the gate is not one simple command: %v", err)
		} else if !slices.ContainsFunc(list, func(prefix string) bool { return beginsWithWords(words, prefix) }) {
			j.fail(CommitUnlisted, at, g, want, "no such command judges a session of this role")
		} else if len(j.in.Constitution.GateCommand) == 0 && !policy.IsTest(words) {
			j.fail(CommitUnlisted, at, g, want, "the gate has a word that may do more than choose tests")
		}
	}
}

func beginsWithWords(words []string, prefix string) bool {
	p := strings.Fields(prefix)
	return len(p) > 0 && len(words) >= len(p) && slices.Equal(words[:len(p)], p)
}
