package drain

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

// findTakenPaths lists the files that a candidate adds where the base, with these paths, has no
// room for them: below a file, and under the name that another has where neither case nor
// the composition of letters counts, as on a Mac. There Knowledge/terms/x.md would
// be an atom.
func findTakenPaths(base []string, files []pipeline.Edit) (no pipeline.Unusable) {
	known, spelled := map[string]bool{}, map[string]string{} // each file and folder of the base; the same by folded paths
	for _, p := range base {
		for at := p; at != "." && !known[at]; at = path.Dir(at) {
			known[at], spelled[policy.FoldPath(at)] = true, at
		}
	}
	for _, e := range files {
		why := ""
		for at := e.Path; e.Before == nil && e.After != nil && at != "."; at = path.Dir(at) {
			if like := spelled[policy.FoldPath(at)]; !known[at] && like != "" {
				why = fmt.Sprintf("differs from %q only in upper and lower case", like)
			} else if at != e.Path && slices.Contains(base, at) {
				why = fmt.Sprintf("is below %q, which is a file", at)
			}
		}
		if why != "" {
			no = append(no, pipeline.Fault{Code: "path_taken", At: e.Path, Text: why, Fix: "choose another path"})
		}
	}
	return no
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
func (a attempt) findConverted(ctx context.Context, files []repo.FileEdit) (no pipeline.Unusable, err error) {
	changes := repo.Changes{}
	for _, f := range files {
		if f.After != nil && string(f.After) != string(f.Before) {
			changes[f.Path] = f.After
		}
	}
	all, err := a.d.repo.Converted(ctx, a.c.base, changes)
	for _, c := range all {
		no = append(no, pipeline.Fault{Code: "converted", At: c.Path, Text: "git would store it with other bytes: " + c.Error(), Fix: cmp.Or(c.Mend(), "leave the file as it is; a person commits it with git")})
	}
	return no, err
}
