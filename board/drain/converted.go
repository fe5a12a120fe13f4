package drain

import (
	"cmp"
	"context"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/repo"
)

// checkStorable refuses a board whose files git would store as other bytes: a task could
// be claimed there whose result cannot be written.
func (d *drain) checkStorable(ctx context.Context) error {
	ch := repo.Changes{d.log.proposalsPath(): {'\n'}}
	for _, name := range []string{"tasks/" + d.log.slug() + ".md", "handoffs/" + d.log.slug() + ".md", "pause.toml", d.log.ledgerPath(), d.log.journalPath()} {
		ch[d.at.file(name)] = []byte{'\n'}
	}
	all, err := d.repo.Converted(ctx, d.at.tip, ch)
	if err == nil && len(all) > 0 {
		err = refuse("converted", "%v", all[0])
	}
	return err
}

// dropConverted takes back atoms that git would store as others.
func (d *drain) dropConverted(ctx context.Context, c *claim, w *work) error {
	if w.change != nil || !w.isPublishable() { // a change was looked at when it was made
		return nil
	}
	all, err := d.repo.Converted(ctx, c.base, w.proposedChanges(d.at))
	if len(all) > 0 {
		w.void("converted: " + all[0].Error())
	}
	return err
}

// convertedFiles returns the candidate's files that git would store as others.
func (ch *change) convertedFiles(ctx context.Context, files []repo.FileEdit) (no pipeline.Unusable, err error) {
	changes := repo.Changes{}
	for _, f := range files {
		if f.After != nil && string(f.After) != string(f.Before) {
			changes[f.Path] = f.After
		}
	}
	all, err := ch.d.repo.Converted(ctx, ch.c.base, changes)
	for _, c := range all {
		no = append(no, pipeline.Fault{Code: "converted", At: c.Path, Text: "git would store it with other bytes: " + c.Error(), Fix: cmp.Or(c.Mend(), "leave the file as it is; a person commits it with git")})
	}
	return no, err
}
