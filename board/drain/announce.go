package drain

import (
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/state"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// # What a claim announces
//
// The records of an op land with the task's result, all in one commit, so that a
// process that dies before it leaves none of them. But its claim, which lands before
// anything is done, has the op's id (data.op), and whoever closes the claim writes
// how that op ended: the run itself, or the one that takes back what it held. So of
// every op that was ever meant, history says how it ended, and that it did once.

// unrecordedOp returns an op that a claim announced and no ledger tells of: all that is known of
// it is its base, and the run that died with it, "" for none.
func (bw *boardWriter) unrecordedOp(id, task, base, dead string) (pipeline.Story, error) {
	facts := map[string]string{}
	for k, v := range map[string]string{pipeline.FactBase: base, pipeline.FactDied: dead} {
		if v != "" {
			facts[k] = v
		}
	}
	o, err := pipeline.Begin(id, task, bw.log.id, bw.log.now(), pipeline.Limits{}, facts)
	return pipeline.Story{Told: []pipeline.Told{{Op: o, Record: o.Record()}}, Sound: true}, err
}

// opDied ends the op that the claim of a dead run announced, in this run's own
// ledger. Older claims announce none.
func (bw *boardWriter) opDied(p *draft, claim event.Record) error {
	id := claim.Claim().Op
	if id == "" {
		return nil
	}
	story, err := bw.at.findStory(id)
	if err == nil && story.Told == nil {
		if story, err = bw.unrecordedOp(id, claim.Task, claim.Claim().Base, claim.Run); err == nil {
			err = p.recordOps(story.Op())
		}
	}
	if err != nil {
		return err
	}
	end, ok, err := pipeline.Abandon(story, bw.log.id, bw.log.now(), "the run that worked on it died, and its claim went on")
	if !ok {
		return err
	}
	return p.recordOps(end)
}

// findStory returns what the board's ledgers tell of an op; none for an op that they do not know.
func (s *snapshot) findStory(id string) (pipeline.Story, error) {
	stories, err := s.state.Stories(func(o *state.Op) bool { return o.ID == id })
	if err != nil || len(stories) == 0 {
		return pipeline.Story{}, err
	}
	return stories[0], nil
}

// tellOp writes what the op of a claim came to until its outcome. One that was
// announced and not begun, because the work ended before, is abandoned here; one
// that another run has ended, as of a dead run, has no word to add.
func (bw *boardWriter) tellOp(p *draft, c *claim, w *work) error {
	switch {
	case c.opEnded:
		return nil
	case w.change != nil && len(w.change.ops) > 0:
		before, _ := w.change.splitOps()
		return p.recordOps(before...)
	case c.op == "":
		return nil
	}
	s, err := bw.unrecordedOp(c.op, string(c.task.ID), string(c.base), "")
	if err != nil {
		return err
	}
	end, err := pipeline.End(s.Op(), bw.log.id, bw.log.now(), pipeline.Abandoned, string(secrets.Redact([]byte(w.reason))))
	if err != nil {
		return err
	}
	return p.recordOps(s.Op(), end)
}
