package proof

import (
	"fmt"

	"github.com/odd-cli/odd/journal/repo"
)

// mergeIt is the way out of what a rebase did to a commit by odd or an agents.
const mergeIt = "odd's commits name other commits by their ids, so merge them and do not rebase: reset the branch to where it was (git reflog BRANCH shows that), then git pull --no-rebase. If it is pushed already, send the result back with odd reject TASK. With [board] remote, odd drain begins from what others have pushed"

// remade says who made a claim again, where what a session stood on is another commit than
// its claim, and has the finding tell the way out of that. git rebase and git cherry-pick
// make a commit anew in the hands of whoever moves it: that is no forgery, and yet what
// stood under the session can be proven no more. "" where nobody did.
func (j *judge) remade(claim repo.OID) (string, error) {
	c, err := j.commit(claim)
	if err != nil || len(c.Parents) == 0 {
		return "", err
	}
	law, err := j.lawAt(c.Parents[0])
	if err != nil || !isAgent(c.Author, law) || isAgent(c.Committer, law) {
		return "", err
	}
	j.way = mergeIt
	return fmt.Sprintf(", which %s rewrote (git rebase or git cherry-pick), so odd's records name the old commit", c.Committer.Email), nil
}
