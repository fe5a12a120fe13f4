package contract

// Reason is a reason code of a refusal.
type Reason struct {
	Code  string `json:"code"`
	About string `json:"about"`
}

// Reasons lists every code Resolve refuses with, in the order of its checks.
// Codes are stable: scripts and the ledger may rely on them.
func Reasons() []Reason {
	return []Reason{
		{"unknown-persona", "no profile has that name, uri or id"},
		{"unknown-version", "the profile has no such version"},
		{"persona-unreadable", "the profile's file is there and cannot be read"},
		{"unknown-role", "a role that is none, with the nearest"},
		{"role-missing", "no role, and nothing it could follow from"},
		{"unknown-mode", "a mode that is none"},
		{"mode-mismatch", "a mode that is not the role's"},
		{"unknown-surface", "a surface that is none"},
		{"schema-unmet", "the profile asks for output in a schema that a session cannot answer in"},
		{"unknown-engagement", "an engagement that is none"},
		{"surface-engagement", "a surface that cannot carry the engagement"},
		{"unknown-voice", "a voice that is none"},
		{"override-vague", "a reason nobody could audit later"},
		{"override-no-risks", "no risk is acknowledged"},
		{"override-modes", "fewer than two modes, or not the role's own"},
		{"override-role", "a role that no override can widen"},
		{"role-not-allowed", "the profile, or a participant's, does not list the role"},
		{"handoff-wrong-transition", "a handoff the role may not read, or of no transition"},
		{"handoff-incomplete", "minimum content that is not there"},
		{"journal-missing", "a handoff without the journal entry of its transition"},
		{"findings-collide", "two handoffs whose findings go by one name"},
		{"handoff-missing", "a downstream role without a handoff that it reads"},
		{"artifact-differs", "the call and the handoffs name different artifacts"},
		{"artifact-missing", "a validator or resolver without an artifact"},
		{"artifact-busy", "another session holds the artifact in another mode"},
		{"unknown-tool", "a tool that is none"},
		{"tool-mutates", "a tool that changes things, for a role that may not"},
		{"tool-not-allowed", "a tool that is not on the mode's list, or is a person's act"},
		{"unknown-server", "an MCP server nobody listed or configured"},
		{"server-not-listed", "an MCP server that no profile lists as task relevant"},
		{"server-not-configured", "an MCP server that is needed and not configured"},
	}
}
