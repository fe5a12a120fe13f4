package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// nextBrief returns the brief of the next session: the work's own, with what the steps
// before it came to, the step it is asked for, and what was wrong with the last.
func (q *asking) nextBrief(phase pipeline.Phase) invoke.Brief {
	b := q.input.brief
	if len(q.read)+len(q.unread) > 0 {
		b = b.Reading(q.read, q.unread)
	}
	if q.plan != "" {
		b = b.Planned(q.plan)
	}
	switch phase {
	case pipeline.Expand:
		return b.Step(session.StepExpand)
	case pipeline.Plan:
		return b.Step(session.StepPlan)
	}
	if q.wrong != "" {
		b = b.Again(q.wrong)
	}
	return b
}

func shouldPlan(cfg config.Config, t board.Task) bool {
	how := cfg.Pipeline.Plan
	return canBeAsked(cfg) && (how == "always" || how != "off" && pipeline.NeedsPlan(t.Paths, taskBody(t)))
}

// canBeAsked reports a substrate that can be asked anything at all.
func canBeAsked(cfg config.Config) bool { return cfg.Session.Substrate != "extract" }

// expand asks for files to read, at most twice. What cannot be read as an answer
// ends the asking, and the work goes on with what it has.
func (ch *change) expand(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	next := pipeline.Generate
	if shouldPlan(ch.d.at.cfg, ch.c.task) {
		next = pipeline.Plan
	}
	out, said, err := ch.askFirst(ctx, op.Phase, next, "it asked for no more files")
	if said == nil {
		return out, err
	}
	want, err := pipeline.ParseExpansion(said.Text)
	if err != nil {
		out.Note = err.Error()
		return out, nil
	}
	var has []string
	for _, f := range slices.Concat(ch.input.shown, ch.read) {
		if f.Text != nil {
			has = append(has, f.Path)
		}
	}
	given, denied := want.Resolve(ch.ground.Paths(), has)
	for _, name := range given {
		ch.read = append(ch.read, readInput(ch.input.req.Files, name)...)
	}
	for _, not := range denied {
		ch.unread += "\nNot given: " + not + "\n"
	}
	out.Note = fmt.Sprintf("%d files to read", len(given))
	if len(given) > 0 && ch.mayAskAgain(op) {
		out.Next = pipeline.Expand
	}
	return out, nil
}

// askForPlan asks for a plan. One that is missing, or is none, is told, and the work
// goes on without; one that nobody can follow ends the op.
func (q *asking) askForPlan(ctx context.Context, op pipeline.Op) (pipeline.Out, error) {
	out, said, err := q.askFirst(ctx, op.Phase, pipeline.Generate, "there is no plan")
	if said == nil {
		return out, err
	}
	plan, err := pipeline.ParsePlan(said.Text, q.c.task.Paths)
	var no pipeline.Unusable
	wrong := errors.As(err, &no) && slices.ContainsFunc(no, func(f pipeline.Fault) bool {
		return strings.HasPrefix(f.Code, "plan_") || strings.HasPrefix(f.Code, "path_")
	})
	switch {
	case wrong:
		return q.endFor(pipeline.PlanWrong, out.Spent, "%s", oneLine(err.Error()))
	case err != nil:
		out.Note = "there is no plan: " + err.Error()
		return out, nil
	}
	q.plan = string(said.Text)
	out.Note, out.Set = fmt.Sprintf("%d changes, %s", len(plan.Changes), plan.Complexity), map[string]string{"planned": fmt.Sprint(len(plan.Changes))}
	return out, nil
}

// askFirst runs a session for a step before the work, which next follows, and returns what it
// said. One that comes to nothing is told by its note, else none, and is no reason not to begin;
// only what ends the claim, or leaves nothing to work with, is.
func (q *asking) askFirst(ctx context.Context, phase, next pipeline.Phase, none string) (out pipeline.Out, said *session.Change, err error) {
	spent, ok := q.askSession(ctx, phase)
	out.Spent, out.Next = spent, next
	switch why := q.whyExhausted(); {
	case ctx.Err() != nil:
		return out, nil, ctx.Err()
	case !ok && q.last.died != "":
		out, err = q.endUnmade(spent)
		return out, nil, err
	case why != "":
		out, err = q.endFor(pipeline.CostCapExceeded, spent, "the phase %s used up the budget: %s", phase, why)
		return out, nil, err
	case !ok:
		out.Note, q.last.reason = q.last.reason, ""
	default:
		said = map[pipeline.Phase]*session.Change{pipeline.Expand: q.last.emission.Expansion, pipeline.Plan: q.last.emission.Plan}[phase]
	}
	if s := q.last; len(s.emission.Atoms)+len(s.left.edits.Files) > 0 || s.emission.Change != nil {
		q.d.say(fmt.Sprintf("%s: in this step the agent only answers; odd drops the changes that it made (%s)", q.c.task.ID, phase))
	}
	if said == nil {
		out.Note = cmp.Or(out.Note, none)
	}
	return out, said, nil
}
