package anchor

// Desk is where an agent is bound: the state directory, and the world at one
// moment. Make a new one for each call; it keeps nothing.
type Desk struct {
	Store *Store
	World World
}

// IdentityRequest asks for a session. Only Role is required.
type IdentityRequest struct {
	Role           string
	Mode           Mode       // "" is full
	Strictness     Strictness // "" is default, under lite quick
	Topic          string     // "" takes the focus from the branch
	HarnessSession string     // the harness's own id of the session, for its hook
	Parent         string     // the token a DELEGATED session answers to
	Paths          []string   // globs; they only narrow the constitution's
	By             string     // "" is "hand"
}

// Identity opens a session, or under untracked only reads the constitution.
func (d Desk) Identity(q IdentityRequest) Result { return refused("LOBBY", "") }

// Context judges BIND and answers with the ARM. The payload that was accepted
// may be sent again and gets the same answer.
func (d Desk) Context(token string, payload []byte) Result { return refused("LOBBY", token) }

// Proof judges TENSIONS and COMMIT and binds the session. The payload that won
// may be sent again and gets the same anchor.
func (d Desk) Proof(token string, payload []byte) Result { return refused("LOBBY", token) }

// Express judges a COMMIT, makes the tensions itself and binds the session.
func (d Desk) Express(token string, payload []byte) Result { return refused("LOBBY", token) }

// Renew gives a bound session a new permit with a later end.
func (d Desk) Renew(token string) Result { return refused("LOBBY", token) }

// refused is the answer of what does not bind.
func refused(stage, token string) Result {
	return Result{Stage: stage, Token: token, Errors: []Problem{{Code: Locked, At: "token", Text: "the session is locked"}}}
}
