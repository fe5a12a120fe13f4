package servers

// Code is a word under which a server is lost, or a call of one of its tools comes
// to nothing.
type Code struct {
	Code, Means string
	Lost        bool // of a server; else of a call
}

// Codes are all of them.
func Codes() []Code {
	lost := func(code, means string) Code { return Code{code, means, true} }
	call := func(code, means string) Code { return Code{code, means, false} }
	return []Code{
		lost("sandbox-unavailable", "it cannot be held as [sandbox] demands"),
		lost("start-failed", "it could not be started"),
		lost("start-timeout", "it was not ready in time"),
		lost("no-token", "the variable with its token is not set"),
		lost("handshake", "it does not answer, or not in the protocol"),
		lost("bad-list", "its list of tools cannot be read, or has too many"),
		lost("changed-list", "its list of tools is not the one that a person pinned"),
		lost("garbage", "too much of what it says is no message"),
		lost("too-large", "one of its messages is over the limit"),
		lost("flood", "it sends far more than it is asked for"),
		lost("crashed", "it ended, or hung up"),
		lost("hung", "it left too many calls in a row unanswered"),
		call("arguments_too_large", "its arguments are more than may be sent to a server"),
		call("secret_in_arguments", "its arguments hold what looks like a credential"),
		call("server_lost", "the server was lost before or during the call"),
		call("server_error", "the server refused it"),
		call("tool_error", "the tool failed, and says so"),
	}
}
