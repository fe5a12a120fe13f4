package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/repo"
)

// unsigned says what c lacks of the signature that law requires of a decision,
// "" for nothing. at is the commit whose file says who may sign. Without such a
// file a signature must be there, and whose it is stays attested.
func (h *history) unsigned(c repo.Commit, law config.Config, at repo.OID) (string, error) {
	if !law.RequireSigned {
		return "", nil
	}
	if law.AllowedSigners == "" {
		if c.Signed {
			return "", nil
		}
		return "is not signed, and odd.toml requires it", nil
	}
	blob, mode, err := h.trees.Find(at, law.AllowedSigners)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(mode, "100") {
		return fmt.Sprintf("has %s to be signed by, which is not there", law.AllowedSigners), nil
	}
	if _, ok := h.signers[blob]; !ok {
		if h.signers[blob], err = h.trees.Blob(blob); err != nil {
			return "", err
		}
	}
	why, err := h.repo.VerifyBy(h.ctx, c.OID, h.signers[blob])
	if why != "" {
		why += fmt.Sprintf("; odd.toml requires a key that %s gives its author", law.AllowedSigners)
	}
	return why, err
}

// vouched reports a person's decision without the signature it needs. Gates are
// row 8's, all others row 3's.
func (j *judge) vouched(gates bool) error {
	if j.kind != person || !j.law.RequireSigned || len(j.Parents) == 0 {
		return nil
	}
	what := j.decision()
	if what == "" || gates != (what == aGate) {
		return nil
	}
	j.checked++
	why, err := j.unsigned(j.Commit, j.law, j.Parents[0])
	if why != "" {
		j.find(j.anyPath(), 1, "%s by %s %s", what, j.Author.Email, why)
	}
	return err
}

const aGate = "a gate passed"

// decision is what a person's commit decides that a signature must stand under,
// "" for an edit that needs none.
func (j *judge) decision() string {
	if len(j.Trailer("Odd-Gate")) > 0 {
		return aGate
	}
	for _, t := range [][2]string{{"Odd-Rejected-By", "a rejection"}, {"Odd-Resumed-By", "a resumption"}, {"Odd-Ready-By", "a task made ready"}} {
		if len(j.Trailer(t[0])) > 0 {
			return t[1]
		}
	}
	// A forge's squash repeats the words of an approval, and is none.
	if len(j.Trailer("Odd-Approved-By")) > 0 && (len(j.Parents) > 1 || len(j.files) == 0) {
		return "an approval"
	}
	for _, f := range j.files {
		switch {
		case f.Path == "odd.toml" || f.Path == j.law.AllowedSigners:
			return "a change of " + f.Path
		case f.rel == "pause.toml" && f.New == "":
			return "a resumption"
		case strings.HasPrefix(f.rel, "proposals/"):
			return "a word on proposals"
		case taskState(f.new) != taskState(f.old) && slices.Contains([]board.State{board.Ready, board.Done}, taskState(f.new)):
			return "a task made " + string(taskState(f.new))
		}
	}
	return ""
}
