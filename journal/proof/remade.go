package proof

import (
	"fmt"

	"github.com/odd-cli/odd/journal/repo"
)

// mergeIt is the way out of what a rebase did to a machine's commits.
const mergeIt = "what machines commit names the commits it stands on, so it is merged and never made again: go back to where the branch stood (git reflog BRANCH tells) and git pull --no-rebase; where it is pushed already, send what came of it back with odd reject. With [board] remote odd drains on what others have pushed"

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
	return fmt.Sprintf(", which %s made again, as git rebase and git cherry-pick do", c.Committer.Email), nil
}
