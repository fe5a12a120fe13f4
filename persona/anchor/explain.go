package anchor

// Explanation says of one code what it means, what causes it, and what to do.
type Explanation struct {
	Code                   Code
	Means, Example, Remedy string
}

// wayOut is the way out of a code's problem, "" for an unknown one.
func wayOut(code Code) string {
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
		{BindSyntax, "The payload of the second stage cannot be read as an identity block with one BIND.",
			"a payload without BIND:, with two of them, or with a bracket that is not closed", "Send the template of the answer, filled in."},
		{ProofSyntax, "The payload of the last stage cannot be read as TENSIONS and COMMIT, one of each.",
			"ARTIFACT under TENSIONS, or a heading ## COMMIT that is indented", "Send the template of the answer, filled in; each section at the left, its keys indented by two."},
		{Hidden, "A value holds a character that nobody sees: a control character, a zero-width one, one that turns the direction of text, or a line end.",
			`AUTHORITY::"RESPONSIBLE[the docs\nand more]"`, "Write the value as plain text on one line."},
		{BindRole, "BIND has no role, or what it has is not a role's name.", `ROLE::""`, "Name the role the session was opened for."},
		{BindMismatch, "BIND names another role than the session was opened for, or than the constitution is of.",
			"ROLE::auditor in a session opened for editor", "Name the session's role, or open a session for the other one."},
		{BindUnsaid, "BIND has no cognition.", "a BIND of ROLE and AUTHORITY only", "Read the constitution and add COGNITION."},
		{BindCognition, "The cognition is none of ETHOS, LOGOS and PATHOS, or not the constitution's.", "COGNITION::MYTHOS", "Read the constitution; it names its cognition."},
		{BindArchetype, "An archetype is not one that the constitution declares.", "ARCHETYPES::[ATLASFOO]", "Name only what the constitution declares, without its qualifiers."},
		{BindAuthority, "The authority is missing, is neither RESPONSIBLE nor DELEGATED, or says nothing in its brackets.", "AUTHORITY::RESPONSIBLE[]", "Write RESPONSIBLE[what you answer for]."},
		{BindParent, "A delegated session names a parent that is not bound now.", "AUTHORITY::DELEGATED[oa-gone::write tests]", "Name the token of the session that delegates, while it is bound; or write RESPONSIBLE."},
		{TenCount, "There are fewer tensions than the strictness asks for: 1 for quick, 2 for default, 3 for deep.", "one tension under default", "Add tensions, each of a constraint and a place of its own."},
		{TenSyntax, "A line was meant as a tension and is not one.", "[RULE]⇌docs/a.md[open]→TRIGGER[mend it]", "Write " + tensionForm + "."},
		{TenDup, "A tension stands twice, its number does, or under deep its lines do.", "L1 and L2 with the same constraint and the same CTX", "Find another constraint or another place."},
		{TenGeneric, "A constraint, state or trigger says nothing, or the trigger only repeats the others.", "[POLICY]⇌CTX:a.go[ ]→TRIGGER[example]", "Say what is so in this file and what you will do about it."},
		{TenRule, "A constraint cites a rule of the constitution that is not there.", "[NO_GUESSING@L900] of a file of 80 lines", "Cite the line as the constitution has it, or leave the @ out."},
		{CtxMissing, "CTX names no file that is there.", "CTX:no/such/file.go", "Cite a file of the work tree as it is now."},
		{CtxEscape, "CTX leads out of the work tree: absolute, with .., with a backslash, over a link, or into git's own directory.", "CTX:../other/a.go", "Cite a file by its path from the top of the work tree."},
		{CtxNotFile, "CTX names a directory or something else that is not a regular file.", "CTX:cmd", "Cite a file in it."},
		{CtxRange, "The lines of a CTX are no lines of the file, or missing under deep.", "CTX:a.go:20-10, :0, :abc, or beyond the end", "Cite lines from 1 to the last, the lower first, as :10-20."},
		{CommitArtifact, "The artifact is missing, says nothing, or is no path of the work tree.", "ARTIFACT::response", "Name the file that the session will have made or changed."},
		{CommitOutside, "The artifact is a path that the session may not write.", "ARTIFACT of a path the constitution blocks", "Name a path inside those of the role, or open a session for another role."},
		{CommitGate, "The gate is missing, says nothing, or is not one simple command.", "GATE::make test && curl x", "Name one command without pipes, lists, redirections or substitutions."},
		{CommitUnlisted, "The gate is a command that may not judge a session of this role.", "GATE::echo fine", "Begin with a command of the list; a constitution may name its own."},
	}
}

func sessionCodes() []Explanation {
	return []Explanation{
		{ModeUnknown, "The mode is not one there is, or the session is of another one.", "--mode turbo", "Use full, express, lite or untracked."},
		{ConstMissing, "There is no constitution for the role: no agent file and no role atom.", "a role that nobody wrote", "Write ROLE.oct.md where agents live, or an atom of type role."},
		{ConstBroken, "The constitution is there and cannot be trusted: damaged, over 1 MiB, a link, or not what its record of integrity says.", "an agent file changed after it was recorded", "Mend or restore the file; a session never falls back to another."},
		{ConstLoose, "The constitution is not what HEAD holds: nobody committed it, or it was changed since. A session could have written it for itself.", "a role atom that a session made, to bind again as that role",
			"A person commits it, or puts it back with git restore."},
		{ConstPoor, "An express session needs more rules than the constitution has.", "a role without one rule of what it must never do", "Open the session with --mode full."},
		{StrictnessUnknown, "The strictness is not one there is, or is lower than the mode allows.", "--strictness harsh", "Use quick, default or deep."},
		{PathsAsked, "The paths asked for are no globs, or lie outside of those of the constitution.", "--paths '../**'", "Ask for globs inside the constitution's paths; they only narrow them."},
		{RoleName, "The role is no name that a file could have.", "odd anchor identity ../editor", "Use lower-case letters, digits and hyphens."},
		{FocusTaken, "A warning: another session that is bound has the same focus.", "two sessions on issue-12", "Look with odd anchor ls whether they would meet."},
		{Unswept, "A warning: an old entry of the state directory could not be removed.", "a directory of another user's", "Remove it by hand, or call odd anchor gc again."},
		{Released, "The session was released, and its records are in the archive.", "proof after release", "Open a new session."},
		{NoWorkTree, "The work tree of the session is gone, or git does not answer there.", "a worktree that was removed", "Go to a work tree of the repository and open a session there."},
		{AnchorMissing, "The session has no anchor.json, and so no permit.", "a directory made by hand in active/", "Release it, and open a session."},
		{NotValidated, "The anchor does not say that it was validated.", "an anchor.json with validated: \"true\"", "Release it, and open a session."},
		{RoleOther, "The permit is of another role than the one asked for.", "a check for auditor with an editor's token", "Use the token of a session of that role."},
		{PermitExpired, "The permit's time is over.", "a permit of an hour ago", "odd anchor renew while it may be, else odd anchor identity."},
		{BranchOther, "The work tree is on another branch than the permit was given for.", "git switch after binding", "Go back to the branch, or open a session on this one."},
		{HeadMoved, "HEAD is not the commit that the permit was given at. A descendant is a warning, anything else ends the permit.", "git reset --hard HEAD~1", "Go back to the permit's commit or one above it, or open a new session."},
		{CitedChanged, "A warning: lines that a tension cites are not what they were.", "an edit of a cited file", "Read them again; the session goes on."},
		{RenewalsOver, "A permit is renewed three times at most.", "a fourth odd anchor renew", "Open a new session."},
		{RenewTooLate, "The permit is too old to be renewed.", "odd anchor renew a day later", "Open a new session."},
		{PhaseUntold, "The project keeps a phase and does not say it, or says it in a way that does not read. A warning; under deep a refusal.", "PHASE::TB" + "D in PROJECT-CONTEXT.oct.md", "Write PHASE::B1, or the word your project has for it."},
		{StageOrder, "The stage was called before the one in front of it, or after it was passed.", "proof before context", "Take the next step that the last answer named."},
		{TokenFormat, "This is no token: letters, digits, . _ and - only, at most 128.", "../oa-1", "Use the token as the identity stage gave it."},
		{TokenUnknown, "There is no session of this token.", "a token that was released", "Look with odd anchor ls, or open a session with odd anchor identity."},
		{TokenExpired, "The session's time is over: a pending one after a day, a permit at its end.", "a permit of yesterday", "odd anchor renew while it may be, else odd anchor identity."},
		{Exhausted, "A stage failed for the third time, and the session is over.", "three payloads that were refused", "Show a person the errors, or open a new session."},
		{ArmDrift, "What the server found of the place of work has changed since: the branch, HEAD, the phase or the files.", "git switch between two stages", "Go back to the branch, or open a new session here."},
		{ConstChanged, "The constitution is another one than the session was bound to.", "an edit of the agent file after BIND", "Open a new session under the constitution as it is now."},
		{Persist, "A record could not be written whole; the session is as it was.", "a full disk", "Make room, or the directory writable, and call again."},
		{Taken, "The session is bound already.", "a second proof with another payload", "Go on with the permit it has."},
		{Damaged, "A record of the session cannot be read as what it should be, and it stays locked.", "a handshake.json cut short", "Release it with odd anchor release, and open a new one."},
		{Forged, "The permit was not signed by this repository, or was changed after it was.", "an anchor.json written by hand", "Release it, and open a session."},
		{Locked, "A tool that writes was called and no session is bound.", "Write without a permit", "odd anchor identity ROLE begins a session."},
		{OutsidePaths, "The call writes a path that the session's permit does not cover.", "cmd/main.go under a permit for docs/**", "Stay inside the permit's paths, or open a session for another role."},
		{Unwritable, "The call writes what no session may: records of sessions, keys, hooks and their settings, git's own files.", ".git/config", "Leave it to a person."},
		{ToolUnknown, "The tool is not known to be one that only reads, so it is taken for one that writes, and names no path to judge.", "a tool of a server that nobody listed", "Use a known tool, or have a person list it."},
		{CallUnread, "The call cannot be read: empty, damaged, too long, or from outside of the repository.", "a hook called without input", "Call it as the harness does; odd anchor hook check shows how."},
		{CommandRefused, "A command line does what no permit opens, or runs odd anchor in company.", "rm -rf / or odd anchor ls; make", "Leave the refused part out; run odd anchor alone."},
		{GateFault, "The gate could not judge the call: a fault of odd or of the machine, or no answer in time. What is not judged is denied.", "a state directory that cannot be read", "Read the reason; odd anchor verify and odd anchor hook check help."},
	}
}
