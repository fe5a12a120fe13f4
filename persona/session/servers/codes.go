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
		lost("sandbox-unavailable", "the server cannot run in the sandbox that [sandbox] asks for"),
		lost("start-failed", "the server could not be started"),
		lost("start-timeout", "the server was not ready in time"),
		lost("no-token", "the environment variable that holds the server's token is not set"),
		lost("handshake", "the server does not answer, or does not speak MCP"),
		lost("bad-list", "the server's list of tools cannot be read, or is too long"),
		lost("changed-list", "the server's list of tools is not the one that odd.toml pins"),
		lost("garbage", "the server prints too much that is not MCP"),
		lost("too-large", "a message of the server is too large"),
		lost("flood", "the server sends far more than it was asked for"),
		lost("crashed", "the server ended or closed the connection"),
		lost("hung", "the server left too many calls in a row unanswered"),
		call("arguments_too_large", "the arguments of the call are too large"),
		call("secret_in_arguments", "the arguments of the call look like they hold a password, a key or a token"),
		call("server_lost", "the server was lost before or during the call"),
		call("server_error", "the server refused the call"),
		call("tool_error", "the tool reported an error"),
	}
}
