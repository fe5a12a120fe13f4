package invoke

import (
	"slices"

	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// Turn is what a person is told when a session waits for an answer.
type Turn struct {
	Who   string        // who speaks: the persona's name, or the role
	Said  []deliver.Say // since the person's last answer
	Usage session.Usage // what the session cost so far
	Used  int           // turns of the session that are gone
	Turns int           // that it has in all, 0 unbounded
	Cost  int64         // micro-USD that it may cost, 0 where it costs nothing
	Aside bool          // asked by a tool in the middle of a turn: its Usage and Turns are not known
}

// Aside is the turn of a question that a tool asks.
func Aside(who, question string) Turn {
	return Turn{Who: who, Said: scrubSays([]deliver.Say{{Kind: "question", Text: question}}), Aside: true}
}

// Speaker is who a session under c speaks as.
func Speaker(c contract.Contract) string {
	if c.Persona != nil {
		return c.Persona.Name
	}
	return string(c.Role)
}

func scrubSays(list []deliver.Say) []deliver.Say {
	list = slices.Clone(list)
	for i := range list {
		list[i].Text = secrets.RedactText(list[i].Text)
	}
	return list
}
