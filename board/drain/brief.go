package drain

import (
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

func (d *drain) brief(*claim, *work, session.Request) invoke.Input { return invoke.Input{} }
