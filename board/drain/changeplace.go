package drain

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

// baseFiles are the files that a change is made on.
type baseFiles struct {
	repo   *repo.Repo
	commit repo.OID
}

func (ch *change) base() baseFiles { return baseFiles{ch.d.repo, ch.c.base} }

// findMisplaced lists the files that a candidate adds where the base has no room for
// them: below a file, and under the name that another has where neither case nor
// the composition of letters counts, as on a Mac. There Knowledge/terms/x.md would
// be an atom.
func (b baseFiles) findMisplaced(c pipeline.Candidate) (no pipeline.Unusable, err error) {
	for _, e := range c.Files {
		if e.Before != nil || e.After == nil {
			continue
		}
		why, err := b.whatIsInTheWay(e.Path)
		if err != nil {
			return nil, err
		}
		if why != "" {
			no = append(no, pipeline.Fault{Code: "path_taken", At: e.Path, Text: why, Fix: "choose another path"})
		}
	}
	return no, nil
}

// whatIsInTheWay says what of the base is in the way of a new file, "" for nothing.
func (b baseFiles) whatIsInTheWay(name string) (string, error) {
	dir := ""
	for part := range strings.SplitSeq(name, "/") {
		here := path.Join(dir, part)
		oid, mode, err := b.repo.Find(b.commit, here)
		if err != nil {
			return "", err
		}
		if oid == "" {
			return b.findLikeName(dir, part)
		}
		if here != name && !strings.HasPrefix(mode, "4") {
			return fmt.Sprintf("is below %q, which is a file", here), nil
		}
		dir = here
	}
	return "", nil
}

// findLikeName names what a folder of the base has under a name that is part but for case.
func (b baseFiles) findLikeName(dir, part string) (string, error) {
	names, err := b.repo.Names(b.commit, dir)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if other := path.Join(dir, n); n != part && policy.FoldPath(n) == policy.FoldPath(part) {
			return fmt.Sprintf("differs from %q only in upper and lower case", other), nil
		}
	}
	return "", nil
}

// checkStorable refuses a board whose files git would store as other bytes: a task could
// be claimed there whose result cannot be written.
func (bw *boardWriter) checkStorable(ctx context.Context) error {
	ch := repo.Changes{bw.log.proposalsPath(): {'\n'}}
	for _, name := range []string{"tasks/" + bw.log.slug() + ".md", "handoffs/" + bw.log.slug() + ".md", "pause.toml", bw.log.ledgerPath(), bw.log.journalPath()} {
		ch[bw.at.pathOf(name)] = []byte{'\n'}
	}
	all, err := bw.repo.Converted(ctx, bw.at.tip, ch)
	if err == nil && len(all) > 0 {
		err = refuse("converted", "%v", all[0])
	}
	return err
}

// dropConverted takes back atoms that git would store as others.
func (rec recorder) dropConverted(ctx context.Context, c *claim, w work) (work, error) {
	if w.change != nil || !c.publishes(w) { // a change was looked at when it was made
		return w, nil
	}
	all, err := rec.repo.Converted(ctx, c.base, w.proposedChanges(rec.at))
	if len(all) > 0 {
		w.lastSession = w.asVoid("converted: " + all[0].Error())
	}
	return w, err
}

// findConverted returns the candidate's files that git would store as others.
func (b baseFiles) findConverted(ctx context.Context, files []repo.FileEdit) (no pipeline.Unusable, err error) {
	changes := repo.Changes{}
	for _, f := range files {
		if f.After != nil && string(f.After) != string(f.Before) {
			changes[f.Path] = f.After
		}
	}
	all, err := b.repo.Converted(ctx, b.commit, changes)
	for _, c := range all {
		no = append(no, pipeline.Fault{Code: "converted", At: c.Path, Text: "git would store it with other bytes: " + c.Error(), Fix: cmp.Or(c.Mend(), "leave the file as it is; a person commits it with git")})
	}
	return no, err
}
