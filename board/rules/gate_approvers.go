package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// checkApprovers returns whose approval odd.toml still requires for the approval c of t. The author of c and those who
// endorsed the proposal count; endorsements do not cover a file that the author edited. is lists the paths with the
// blobs that c has.
func (j *judge) checkApprovers(t board.Task, c repo.Commit, proposed, is [][3]string, left map[string]okf.ID) string {
	if len(j.Law.Approvers) == 0 {
		return ""
	}
	edited, _ := j.readEdited(c, proposed, left)
	for i, p := range is {
		if left[p[0]] != "" {
			continue
		}
		by := []string{c.Author.Email}
		if edited[p[0]] == "" {
			by = append(by, t.Endorsers()...)
		}
		var types []string
		if rel, in := strings.CutPrefix(p[0], j.Root); in {
			for _, blob := range []string{p[1], p[2], proposed[i][2]} {
				if blob == "" {
					continue
				}
				a := j.ReadAtom(repo.OID(blob), "100644", rel)
				if a != nil {
					types = append(types, a.Type)
				}
			}
		}
		if m := risk.Approvers(*j.Law, p[0], types, by); len(m) > 0 {
			return fmt.Sprintf("the approval takes %s, and %d more of %s must approve it, by [governance.approvers] %s", p[0], m[0].More, strings.Join(m[0].People, ", "), m[0].Of)
		}
	}
	return ""
}

// checkEndorsement returns why the act may not add an endorsement: it must be its author's own.
func (j *judge) checkEndorsement(f *File) string {
	was := readEndorsements(f.Was)
	for _, e := range readEndorsements(f.Is) {
		if !slices.Contains(was, e) && (j.Kind != Person || e.By != "human:"+j.Author.Email) {
			return fmt.Sprintf("writes that %s endorsed %s, in a commit by %s", e.By, ShortID(e.Proposal), j.Author.Email)
		}
	}
	return ""
}

// readEndorsements returns the endorsements of a task, nil for any other atom.
func readEndorsements(a *okf.Atom) []board.Endorsement {
	if !IsTask(a) {
		return nil
	}
	t, _ := board.Parse(a)
	return t.Endorsed
}
