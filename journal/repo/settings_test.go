package repo

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/journal/repo/object"
	"github.com/odd-cli/odd/journal/repo/repotest"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	s := parseSettings("core.repositoryformatversion=0\nalias.x=!f() {\ncommit.gpgsign=off\n}\ncommit.gpgsign\nuser.name=A = B\nGIT_COMMITTER_IDENT=C <c@x> 1 +0000\nGIT_AUTHOR_IDENT=A = B <a@x> 2 -0130\nGIT_EDITOR=vi\n")
	repotest.Eq(t, "told", s.hasConfiguration(), true)
	repotest.Eq(t, "name", s.values["user.name"], []string{"A = B"})
	repotest.Eq(t, "author", s.author, "A = B <a@x> 2 -0130")
	repotest.Eq(t, "committer", s.committer, "C <c@x> 1 +0000")
	repotest.Eq(t, "a key without a value is a yes", s.isOff("commit.gpgsign"), false)
	repotest.Eq(t, "a no", parseSettings("a.b=No\na.b=0\n").isOff("a.b"), true)
	repotest.Eq(t, "a no and a yes", parseSettings("a.b=No\na.b=1\n").isOff("a.b"), false)
	repotest.Eq(t, "without its configuration", parseSettings("GIT_AUTHOR_IDENT=A <a@x> 2 +0000\n").hasConfiguration(), false)
}

// An identity is the one that a person set: a name that git guesses is nobody's.
func TestIdentityIsTheOneThatIsSet(t *testing.T) {
	t.Parallel()
	r, _ := fresh(t)
	ask := func() string {
		r.settings.last = nil // as in another command
		who, err := r.Identity(t.Context())
		if err != nil {
			return err.Error()
		}
		return who.Name + " <" + who.Email + ">"
	}
	repotest.Git(t, r.Root(), "config", "user.name", "Ann Other")
	repotest.Git(t, r.Root(), "config", "user.email", "ann@example.org")
	repotest.Eq(t, "set", ask(), "Ann Other <ann@example.org>")
	repotest.Git(t, r.Root(), "config", "author.name", "Bob <Other>")
	repotest.Eq(t, "set for authors", ask(), "Bob Other <ann@example.org>")
	repotest.Git(t, r.Root(), "config", "author.name", "...")
	repotest.Eq(t, "nothing but crud, in git's words", strings.Contains(ask(), "disallowed characters"), true)
	repotest.Git(t, r.Root(), "config", "--unset", "author.name")
	repotest.Git(t, r.Root(), "config", "user.email", "")
	repotest.Eq(t, "empty", strings.Contains(ask(), "not set"), true)

	r.git.Self = append(r.git.Self, "GIT_AUTHOR_EMAIL=eve@example.org", "GIT_AUTHOR_DATE=1700000000 +0230")
	repotest.Eq(t, "from the environment", ask(), "Ann Other <eve@example.org>")
	who, err := r.Identity(t.Context())
	repotest.Eq(t, "its date", who.String(), "Ann Other <eve@example.org> 1700000000 +0230")
	repotest.Eq(t, "error", err, nil)
	s := repotest.Must[*settings](t)(r.loadSettings(t.Context()))
	repotest.Eq(t, "a committer whom git guesses", r.isPlain(s), false)
	guess := parseSettings("user.name=Ann\nalias.x=!f() {\nuser.email=ann@example.org\n}\nGIT_COMMITTER_IDENT=Ann <ann@host.(none)> 1 +0000\n")
	repotest.Eq(t, "a guess beside a line of another value", guess.isSetByPerson(r, "COMMITTER", repotest.Must[Signature](t)(object.ParseSignature(guess.committer))), false)
}

// A commit bears the moment at which it is made, however short a time ago git was
// asked who makes it: the machine may have slept since.
func TestACommitIsOfNow(t *testing.T) {
	t.Parallel()
	r, base := board(t)
	before := r.git.Self
	for _, at := range []int64{1_700_000_000, 1_700_010_000} {
		now := fmt.Sprintf("DATE=%d +0000", at)
		r.git.Self = append(slices.Clip(before), "GIT_AUTHOR_"+now, "GIT_COMMITTER_"+now)
		tree := repotest.Must[Commit](t)(r.Commit(base)).Tree
		oid := repotest.Must[OID](t)(r.PersonCommit(t.Context(), []OID{base}, tree, changes("k/task.md", now), "decided\n"))
		c := repotest.Must[Commit](t)(r.Commit(oid))
		repotest.Eq(t, "author", c.Author.When.Unix(), at)
		repotest.Eq(t, "committer", c.Committer.When.Unix(), at)
	}
}
