package toolbox

import (
	"context"

	"github.com/odd-cli/odd/persona/contract"
)

// askers is the tool that turns to a person.
func askers() []entry {
	return []entry{{Tool: Tool{Name: "ask_human", Description: "Asks the person who is here, and waits for the answer."}, patient: true, lone: true, do: askHuman,
		params: []param{{name: "question", kind: isText, must: true, about: "one question that can be answered in a few words"}}}}
}

// mute says why nobody may be asked, "" where somebody may.
func (b *Box) mute() string {
	k := b.o.Request.Contract
	switch {
	case k.Strict:
		return "a session with a fresh context is not answered: say in its handoff what it lacks"
	case k.Role != "" && k.Engagement != contract.Assistant:
		return "under the engagement " + string(k.Engagement) + " nobody is asked: decide, or finish with what is missing"
	case b.o.Request.Ask == nil:
		return "nobody is here to answer"
	}
	return ""
}

func askHuman(ctx context.Context, c *call) (string, error) {
	reply, err := c.b.o.Request.Ask(ctx, showText(c.args.text("question")))
	if err != nil {
		return "", failf("no_answer", "%s", err.Error())
	}
	if reply == "" {
		return "", failf("no_answer", "the answer was empty")
	}
	return reply, nil
}
