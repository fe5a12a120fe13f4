package drain

import (
	"cmp"
	"context"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

// checkStorable refuses a board whose files git would store as other bytes: a task could
// be claimed there whose result cannot be written.
func (bw *boardWriter) checkStorable(ctx context.Context) error {
	ch := repo.Changes{bw.log.proposalsPath(): {'\n'}}
	for _, name := range []string{"tasks/" + bw.log.slug() + ".md", "handoffs/" + bw.log.slug() + ".md", "pause.toml", bw.log.ledgerPath(), bw.log.journalPath()} {
		ch[bw.at.file(name)] = []byte{'\n'}
	}
	all, err := bw.repo.Converted(ctx, bw.at.tip, ch)
	if err == nil && len(all) > 0 {
		err = refuse("converted", "%v", all[0])
	}
	return err
}

// dropConverted takes back atoms that git would store as others.
func (a *attempt) dropConverted(ctx context.Context) error {
	if a.w.change != nil || !a.w.isPublishable() { // a change was looked at when it was made
		return nil
	}
	all, err := a.d.repo.Converted(ctx, a.c.base, a.w.proposedChanges(a.d.at))
	if len(all) > 0 {
		a.w.void("converted: " + all[0].Error())
	}
	return err
}

// converted returns the candidate's files that git would store as others.
func (b baseFiles) converted(ctx context.Context, files []repo.FileEdit) (no pipeline.Unusable, err error) {
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
