package anchor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/odd-cli/odd/okf"
)

// The codes. A code never changes its meaning; a new meaning is a new code.
const (
	BindSyntax    Code = "A_BIND_SYNTAX"
	ProofSyntax   Code = "A_PROOF_SYNTAX"
	Hidden        Code = "A_HIDDEN_CHARACTER"
	BindRole      Code = "A_BIND_ROLE"
	BindMismatch  Code = "A_BIND_ROLE_MISMATCH"
	BindCognition Code = "A_BIND_COGNITION"
	BindUnsaid    Code = "A_BIND_COGNITION_MISSING"
	BindArchetype Code = "A_BIND_ARCHETYPE"
	BindAuthority Code = "A_BIND_AUTHORITY"
	BindParent    Code = "A_BIND_PARENT"

	TenCount   Code = "A_TEN_COUNT"
	TenSyntax  Code = "A_TEN_SYNTAX"
	TenDup     Code = "A_TEN_DUP"
	TenGeneric Code = "A_TEN_GENERIC"
	TenRule    Code = "A_TEN_RULE_UNKNOWN"
	CtxMissing Code = "A_CTX_MISSING"
	CtxEscape  Code = "A_CTX_ESCAPE"
	CtxNotFile Code = "A_CTX_NOTFILE"
	CtxRange   Code = "A_CTX_RANGE"

	CommitArtifact Code = "A_COMMIT_ARTIFACT"
	CommitOutside  Code = "A_COMMIT_OUTSIDE"
	CommitGate     Code = "A_COMMIT_GATE"
	CommitUnlisted Code = "A_COMMIT_GATE_UNLISTED"

	StageOrder   Code = "A_STAGE_ORDER"
	TokenFormat  Code = "A_TOKEN_FORMAT"
	TokenUnknown Code = "A_TOKEN_UNKNOWN"
	TokenExpired Code = "A_TOKEN_EXPIRED"
	Exhausted    Code = "A_RETRIES_EXHAUSTED"
	ArmDrift     Code = "A_ARM_DRIFT"
	ConstChanged Code = "A_CONSTITUTION_CHANGED"
	ConstMissing Code = "A_CONSTITUTION_MISSING"
	ConstBroken  Code = "A_CONSTITUTION_BROKEN"
	ConstPoor    Code = "A_CONSTITUTION_POOR"
	ConstLoose   Code = "A_CONSTITUTION_UNCOMMITTED" // what a session wrote itself binds no session
	ModeUnknown  Code = "A_MODE"
	Persist      Code = "A_PERSIST"
	Taken        Code = "A_ALREADY_BOUND"
	Damaged      Code = "A_RECORD_DAMAGED"
	Forged       Code = "A_PERMIT_FORGED"
	Locked       Code = "A_LOCKED"
	OutsidePaths Code = "A_OUTSIDE_PATHS"
	Unwritable   Code = "A_PROTECTED_PATH"
	ToolUnknown  Code = "A_TOOL_UNKNOWN"
	CallUnread   Code = "A_CALL_UNREAD"

	StrictnessUnknown Code = "A_STRICTNESS"
	PathsAsked        Code = "A_PATHS"       // globs that are none, or lie outside the constitution's
	RoleName          Code = "A_ROLE_NAME"   // no name a file could have
	FocusTaken        Code = "A_FOCUS_TAKEN" // a warning: another active session has the same focus
	Unswept           Code = "A_UNSWEPT"     // a warning: an old entry could not be removed
	NoWorkTree        Code = "A_WORKTREE"    // it is gone, or git does not answer there
	AnchorMissing     Code = "A_ANCHOR_MISSING"
	NotValidated      Code = "A_NOT_VALIDATED"
	RoleOther         Code = "A_ROLE_OTHER"
	PermitExpired     Code = "A_PERMIT_EXPIRED"
	BranchOther       Code = "A_BRANCH_OTHER"
	HeadMoved         Code = "A_HEAD_MOVED"    // a warning where HEAD moved on to a descendant
	PhaseUntold       Code = "A_PHASE"         // a warning, under deep a refusal: no phase is told
	CitedChanged      Code = "A_CITED_CHANGED" // a warning: lines a tension cites are not what they were
	RenewalsOver      Code = "A_RENEWALS_OVER"
	RenewTooLate      Code = "A_RENEW_TOO_LATE"

	CommandRefused Code = "A_COMMAND"    // the gate: what no permit opens in a command line
	GateFault      Code = "A_GATE_FAULT" // the gate could not judge, and so denies
)

// CodesOf returns the code of each kind of problem once, in their order.
func CodesOf(ps []Problem) (out []string) {
	seen := map[Code]bool{}
	for _, p := range ps {
		if !seen[p.Code] {
			out = append(out, string(p.Code))
		}
		seen[p.Code] = true
	}
	return out
}

// problemsOf returns the problems that an error carries, else one of a code at a place
// with its text.
func problemsOf(err error, code Code, at string) []Problem {
	var r Refusal
	if errors.As(err, &r) && len(r) > 0 {
		return r
	}
	return []Problem{{Code: code, At: at, Text: okf.Visible(err.Error())}}
}

func firstProblem(err error) Problem { return problemsOf(err, Damaged, "state")[0] }

// persistProblem says that a record could not be written.
func persistProblem(err error) Problem {
	return Problem{Code: Persist, At: "state", Text: "the record could not be written, and the session is as it was: " + err.Error(), Want: "room on the disk and a directory that can be written; then call again"}
}

// Refusal is every problem of a call that gives a value, as one error.
type Refusal []Problem

// Error writes the problems one a line: where, the code, what, and what was expected.
func (r Refusal) Error() string {
	lines := make([]string, len(r))
	for i, p := range r {
		lines[i] = fmt.Sprintf("%s: %s: %s", p.At, p.Code, p.Text)
		if p.Want != "" {
			lines[i] += "; expected " + p.Want
		}
	}
	return strings.Join(lines, "\n")
}

// Refused returns the first code.
func (r Refusal) Refused() string {
	if len(r) == 0 {
		return ""
	}
	return string(r[0].Code)
}

// Explanation says of one code what it means, what causes it, and what to do.
type Explanation struct {
	Code                   Code
	Means, Example, Remedy string
}

// remedyOf returns the way out of a code's problem, "" for an unknown one.
func remedyOf(code Code) string {
	for _, t := range Explanations() {
		if t.Code == code {
			return t.Remedy
		}
	}
	return ""
}

// Explanations lists every code, in the order a session may meet them.
func Explanations() []Explanation {
	return append(payloadCodes(), sessionCodes()...)
}

func payloadCodes() []Explanation {
	return []Explanation{
		{BindSyntax, "The answer to stage 2 (odd anchor context) must be an identity block with one BIND, and cannot be read as one.",
			"a payload without BIND:, with two of them, or with a bracket that is not closed", "Fill in the template that odd printed, and send that."},
		{ProofSyntax, "The answer to the last stage (odd anchor proof) must have one TENSIONS and one COMMIT, and cannot be read so.",
			"ARTIFACT under TENSIONS, or a heading ## COMMIT that is indented", "Fill in the template that odd printed; sections begin at the left, their keys are indented by two spaces."},
		{Hidden, "A value holds an invisible character, one that changes the direction of text, or a line end.",
			`AUTHORITY::"RESPONSIBLE[the docs\nand more]"`, "Write the value as plain text on one line."},
		{BindRole, "BIND has no valid role name.", `ROLE::""`, "Write the role that the session was opened for."},
		{BindMismatch, "BIND names another role than the session or its constitution (the role's rule file).",
			"ROLE::auditor in a session opened for editor", "Write the session's role, or open a session for the other role."},
		{BindUnsaid, "BIND does not name the role's cognition (ETHOS, LOGOS or PATHOS).", "a BIND of ROLE and AUTHORITY only", "Read the constitution, and add the COGNITION that it names."},
		{BindCognition, "The cognition is not the one that the constitution names (ETHOS, LOGOS or PATHOS).", "COGNITION::MYTHOS", "Copy COGNITION from the constitution."},
		{BindArchetype, "An archetype (a trait of the role) is not in the constitution.", "ARCHETYPES::[ATLASFOO]", "Write only archetypes of the constitution, without the <qualifier>."},
		{BindAuthority, "AUTHORITY is missing, or is not RESPONSIBLE[…] or DELEGATED[…] with a text in the brackets.", "AUTHORITY::RESPONSIBLE[]", "Write RESPONSIBLE[what you are responsible for]."},
		{BindParent, "A delegated session names a parent session that has no valid permit now.", "AUTHORITY::DELEGATED[oa-gone::write tests]", "Write the token of the delegating session (odd anchor ls), or RESPONSIBLE."},
		{TenCount, "There are too few tensions (a rule set against a place in the files): 1 for quick, 2 for default, 3 for deep.", "one tension under default", "Add tensions, each with its own rule and place."},
		{TenSyntax, "A line of TENSIONS is not written as a tension.", "[RULE]⇌docs/a.md[open]→TRIGGER[mend it]", "Write " + tensionForm + "."},
		{TenDup, "Two tensions are the same or have the same number; under deep, two cite the same lines.", "L1 and L2 with the same constraint and the same CTX", "Choose another rule or another place."},
		{TenGeneric, "A part of a tension is empty or says nothing, or its trigger only repeats the rest.", "[POLICY]⇌CTX:a.go[ ]→TRIGGER[example]", "Say what you found in this file, and what you will do about it."},
		{TenRule, "A tension cites a rule that the constitution does not have.", "[NO_GUESSING@L900] of a file of 80 lines", "Cite an existing line of the constitution, or leave the @ out."},
		{CtxMissing, "The file that CTX names does not exist.", "CTX:no/such/file.go", "Cite a file that is in the work tree now."},
		{CtxEscape, "CTX leads out of the work tree, by an absolute path, .., a backslash or a link, or into .git.", "CTX:../other/a.go", "Cite a file by its path from the top of the work tree."},
		{CtxNotFile, "CTX names a directory, or something else that is not a regular file.", "CTX:cmd", "Cite a file in that directory."},
		{CtxRange, "The lines in CTX are not lines of the file; under deep, lines are required.", "CTX:a.go:20-10, :0, :abc, or beyond the end", "Cite lines that exist, the lower first, as :10-20."},
		{CommitArtifact, "ARTIFACT is missing, empty, or not a path of the work tree.", "ARTIFACT::response", "Name the file that the session will write."},
		{CommitOutside, "ARTIFACT is a path that the session may not write.", "ARTIFACT of a path the constitution blocks", "Name a path that the role may write, or open a session for another role."},
		{CommitGate, "GATE, the command that checks the work, is missing, empty or not one simple command.", "GATE::make test && curl x", "Name one command without pipes, lists, redirections or substitutions."},
		{CommitUnlisted, "GATE is a command that the role does not allow as a check.", "GATE::echo fine", "Take a command from the list that odd printed; the constitution may add its own."},
	}
}

func sessionCodes() []Explanation {
	return []Explanation{
		{ModeUnknown, "The mode does not exist, or the session was opened in another one.", "--mode turbo", "Use full, express, lite or untracked."},
		{ConstMissing, "The role has no constitution (rule file): no agent file and no role atom.", "a role that nobody wrote", "Write the agent file ROLE.oct.md, or an atom of type role."},
		{ConstBroken, "The constitution cannot be trusted: it is damaged, over 1 MiB, a link, or differs from its recorded checksum.", "an agent file changed after it was recorded", "Repair the file, or restore it from git."},
		{ConstLoose, "The constitution is not committed, or was changed after the commit, so an agent could have written it.", "a role atom that a session made, to bind again as that role",
			"A person commits it, or restores it with git restore."},
		{ConstPoor, "The constitution has too few rules for an express session.", "a role without one rule of what it must never do", "Open the session with --mode full."},
		{StrictnessUnknown, "The strictness does not exist, or is lower than the mode allows.", "--strictness harsh", "Use quick, default or deep."},
		{PathsAsked, "The paths asked for are not valid globs, or the constitution does not allow them.", "--paths '../**'", "Ask for globs inside the constitution's paths."},
		{RoleName, "The role's name cannot be a file name.", "odd anchor identity ../editor", "Use lower-case letters, digits and hyphens."},
		{FocusTaken, "A warning: another session works with the same focus.", "two sessions on issue-12", "Look with odd anchor ls whether they write the same files."},
		{Unswept, "A warning: odd could not delete an old session's directory.", "a directory of another user's", "Delete it by hand."},
		{NoWorkTree, "The work tree of the session is gone, or git fails there.", "a worktree that was removed", "Open a session in a work tree of the repository."},
		{AnchorMissing, "The session has no anchor.json, so it has no permit.", "a directory made by hand in active/", "End it with odd anchor release, and open a new session."},
		{NotValidated, "The session's anchor.json does not say that it was checked.", "an anchor.json with validated: \"true\"", "End it with odd anchor release, and open a new session."},
		{RoleOther, "The permit is for another role.", "a check for auditor with an editor's token", "Use the token of a session of that role (odd anchor ls)."},
		{PermitExpired, "The permit has expired.", "a permit of an hour ago", "Run odd anchor renew; if it is too late, odd anchor identity ROLE."},
		{BranchOther, "Another branch is checked out than the one the permit is for.", "git switch after binding", "Switch back to the branch, or open a session on this one."},
		{HeadMoved, "HEAD moved since the permit was given. A later commit is only a warning; anything else ends the permit.", "git reset --hard HEAD~1", "Go back to the permit's commit or a later one, or open a new session."},
		{CitedChanged, "A warning: lines that a tension cites have changed.", "an edit of a cited file", "Read them again; the permit still holds."},
		{RenewalsOver, "A permit can be renewed three times only.", "a fourth odd anchor renew", "Open a new session: odd anchor identity ROLE."},
		{RenewTooLate, "The permit is too old to be renewed.", "odd anchor renew a day later", "Open a new session: odd anchor identity ROLE."},
		{PhaseUntold, "The project's PHASE is missing or cannot be read; a warning, under deep a refusal.", "PHASE::TB" + "D in PROJECT-CONTEXT.oct.md", "Write PHASE::B1, or your project's own word."},
		{StageOrder, "The stages were called in the wrong order.", "proof before context", "Run the step that the last answer named."},
		{TokenFormat, "A token has only letters, digits, . _ and -, at most 128.", "../oa-1", "Use the token that odd anchor identity printed."},
		{TokenUnknown, "No session has this token.", "a token that was released", "List the sessions with odd anchor ls, or open one with odd anchor identity ROLE."},
		{TokenExpired, "The session has expired: an unfinished one after a day, a bound one with its permit.", "a permit of yesterday", "Run odd anchor renew; if it is too late, odd anchor identity ROLE."},
		{Exhausted, "A stage failed for the third time, so the session is over.", "three payloads that were refused", "Show the errors to a person, or open a new session."},
		{ArmDrift, "The branch, HEAD, the phase or the files changed between two stages.", "git switch between two stages", "Switch back, or open a new session here."},
		{ConstChanged, "The constitution changed after the session was bound to it.", "an edit of the agent file after BIND", "Open a new session, which uses the constitution as it is now."},
		{Persist, "odd could not write a record; the session is as it was.", "a full disk", "Free some disk space or make the directory writable, then run it again."},
		{Taken, "The session has its permit already.", "a second proof with another payload", "Use the permit that it has."},
		{Damaged, "A record of the session is damaged, so it may not write.", "a handshake.json cut short", "End it with odd anchor release, and open a new session."},
		{Forged, "The permit was not signed by this repository, or was changed after it was signed.", "an anchor.json written by hand", "End it with odd anchor release, and open a new session."},
		{Locked, "A tool that writes was called, and no session has a permit here.", "Write without a permit", "Run odd anchor identity ROLE and follow its answer."},
		{OutsidePaths, "The call writes a path outside of the session's permit.", "cmd/main.go under a permit for docs/**", "Write only paths of the permit, or open a session for another role."},
		{Unwritable, "The call writes a file that no session may: session records, keys, hooks, their settings, or .git.", ".git/config", "Leave it to a person."},
		{ToolUnknown, "odd does not know the tool, so it counts as one that writes, and the call names no path.", "a tool of a server that nobody listed", "Use a tool that odd knows, or ask a person to list it."},
		{CallUnread, "The tool call cannot be read: it is empty, damaged, too long, or from outside of the repository.", "a hook called without input", "Run odd anchor hook check, which shows whether the hook is set up right."},
		{CommandRefused, "The command line does something that no permit allows, or combines odd anchor with other commands.", "rm -rf / or odd anchor ls; make", "Leave the refused part out, and run odd anchor by itself."},
		{GateFault, "odd could not judge the call because of an error or a timeout, so it denied it.", "a state directory that cannot be read", "Read the reason, then run odd anchor verify and odd anchor hook check."},
	}
}
