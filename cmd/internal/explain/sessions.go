package explain

import (
	"fmt"
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/persona/audit"
	"github.com/odd-cli/odd/persona/surface"
)

// leaseCodes say why the lease of the slow loop lets nothing run. odd drain prints
// them behind lease- and with - for _, odd gate lease check as they are.
func leaseCodes() []Code {
	restore := "Restore the governance files from git: `git log -- FILE` finds the last good version."
	gate := "A person prolongs it with `odd gate commitment --renew`, or ends it with `odd gate evaluation --release --reason WHY`."
	var out []Code
	for _, r := range [][3]string{
		{"unreadable", "The file of the lease is not valid TOML.", restore},
		{"schema", "A key of the lease file is missing or wrong.", restore},
		{"none", "There is no lease, and [governance] lease = \"required\" lets no task run without one.", "A person runs `odd gate framing`, then `odd gate commitment`."},
		{"draft", "The lease is only a draft, so only exploring tasks may run.", "A person runs `odd gate commitment` to activate it."},
		{"suspended", "An emergency suspended the lease.", "A person runs `odd gate framing` and `odd gate commitment`, or `odd gate evaluation --release`."},
		{"released", "The lease was given back.", "A person drafts the next one with `odd gate framing`."},
		{"not_yet_active", "The lease begins at a later time.", "Wait until then, or set the clock right."},
		{"time_expired", "The time of the lease is over.", gate},
		{"tasks_exhausted", "The lease allows no more tasks.", gate},
		{"milestone_reached", "Every task that the lease was made for is done.", "A person ends it with `odd gate evaluation --release --reason WHY`."},
		{"signal_raised", "A request is open whose signal the lease names under `signals`.", "A person runs `odd gate evaluation --because REQUEST`, or `odd gate proposals reject REQUEST`."},
		{"budget_exhausted", "The money of the lease is spent.", gate},
		{"stance_mismatch", "The lease file names another working phase than the log of the gates.", restore},
		{"chain_broken", "The log of the gates does not agree with the lease, or a row of it was changed.", restore},
		{"head_not_committed", "The governance files of the work tree are not the committed ones.", "Put them back with `git restore FILE`, or have a person commit them at a gate."},
		{"emergency_open", "Somebody proposed an emergency, and no person has decided about it.", "A person runs `odd gate emergency --because PROPOSAL`, or `odd gate proposals reject PROPOSAL`."},
		{"clock", "The clock is behind the last gate.", "Set the clock right (`date` shows it)."},
	} {
		out = append(out, Code{Code: "lease-" + strings.ReplaceAll(r[0], "_", "-"), Kind: "lease", Means: r[1], Fix: r[2], also: r[0]})
	}
	return out
}

// sessionCodes say why an agent's session failed, or why odd turned down its output.
func sessionCodes() []Code {
	again := "Read the task's reason (`odd task show TASK`), then `odd task ready TASK` makes it ready again."
	out := codeRows("failed session", "", [][]string{
		{"anchor-refused", "The session did not prove its role as [anchor] mode asks.", again},
		{"cancelled", "The drain was stopped while the session ran.", again},
		{"certifies", "A role that makes things handed over findings, and only a validator may judge.", "Have a validator do it: `odd agent audit BASE..HEAD`."},
		{"change-not-asked", "The agent changed files, and the task names none that may be changed.", "Set the task's `paths`: globs outside of the bundle."},
		{"declared", "The agent said that it failed and gave no name for it.", again},
		{"degenerate loop", "The model repeated the same tool call too often.", again},
		{"disk-full", "The agent wrote more than its scratch clone may hold.", "Raise [sandbox] disk_mb in odd.toml, or split the task."},
		{"exit", "The agent program ended with an error and gave no result.", again},
		{"handoff_insufficient", "The agent says that its handoff lacks something it needs.", "`odd agent handoff clarify` adds it; then `odd task ready TASK`."},
		{"lent-secret", "The output holds the value of a secret that the session was given, so odd kept nothing of it.", "Revoke the secret, then `odd task ready TASK`."},
		{"malformed", "A block of the output cannot be read; the detail names each place.", again},
		{"no declared outcome", "The agent ended without the block odd.finish.1, which says how it ended.", "`odd op prompt OP` shows what the agent was told to print, `odd review TASK --emission` what it printed."},
		{"no inputs", "The task names nothing that can be read.", "Set `inputs` of the task: paths, folders or globs of files in markdown or reStructuredText."},
		{"output too large", "The agent printed more than odd reads.", "Raise max_bytes of the agent in odd.toml, or split the task."},
		{"panic", "odd's own code for the agent failed; the task is blocked, and nothing else is lost.", "Report it with the task's inputs, then `odd task ready TASK`."},
		{"over budget", "The next call of the model could cost more than the session may spend.", "`odd task edit TASK --budget-usd USD` allows more; without a task, raise [session] max_usd in odd.toml."},
		{"read-only", "A role that may only read handed over atoms or a change of files.", "Give the task to a role that may write: `odd agent run --contract-role builder`."},
		{"refused", "The agent declined the task.", again},
		{"timeout", "The session took longer than it may.", "`odd op classify --limits` shows the limits and the lines of odd.toml that set them."},
		{"too many atoms", "The agent handed over more atoms than one session may.", "Raise [session] max_atoms in odd.toml, or split the task."},
		{"too-long", "A text was too long for its kind of output after every retry.", "Take a surface that allows more, or split the task."},
		{"transport", "The agent or its model could not be reached.", "`odd status` shows the agents; then `odd task ready TASK`."},
		{"turn limit", "The agent used all the turns that it may.", "`odd task edit TASK --max-turns N` allows more, or split the task."},
		{"turn refused", "odd did not let the session go on: time or a pause.", again},
		{"unread", "The stream that the observer watches could not be read any further.", "Read the cause in the detail, and start `odd agent observe` again."},
		{"untold", "What the observer said could not be printed or saved.", "Read the cause in the detail, and start `odd agent observe` again."},
		{"yielded", "The agent asked a question, and nobody answered.", "Answer it in the task's text, then `odd task ready TASK`."},
	})
	for _, d := range surface.Detectors() {
		c := Code{Code: d.Name, Kind: "failed session", Means: Sentence(d.Trips), Fix: again}
		if !d.Structural() {
			c.Kind, c.Fix = "hint", "Nothing has to be done; a hint fails no session."
		}
		out = append(out, c)
	}
	return out
}

// atomCodes say what is wrong with an atom that an agent handed over.
func atomCodes() []Code {
	return codeRows("agent's atom", "The agent corrects it and sends the whole output again; nothing of this one was saved.", [][]string{
		{"odd-atom", "The atom's file cannot be read."},
		{"odd-atoms", "There are more atoms than one output may have."},
		{"odd-confidence", "The confidence is not inferred or asserted."},
		{"odd-doubled", "Two atoms of the output have one id or one path."},
		{"odd-edge", "An edge leads out of the bundle."},
		{"odd-emission", "A block of the output is not written as it must be."},
		{"odd-id", "The id is not a short name of a-z, 0-9 and -."},
		{"odd-key", "A key of the front matter is empty, doubled or unreadable."},
		{"odd-owns", "There is no edge `owns`; a process names its role with `owner`."},
		{"odd-path", "The path belongs to another atom, or is not allowed."},
		{"odd-size", "The atom is larger than an atom may be."},
		{"odd-type", "The type has no letter, so no folder can be named after it."},
		{"odd-unprintable", "The atom holds something that cannot be written as text."},
	})
}

// toolCallCodes returns the codes of a session's tool calls that package toolbox does not list.
func toolCallCodes() []Code {
	out := codeRows("denied tool call", "", [][]string{
		{"bad_emission", "What the agent handed over cannot be read, so odd did not take it.", "odd tells the agent why, which hands it over again."},
		{"exec_error", "The call was allowed, and the tool failed.", "The agent reads the tool's error and goes on."},
		{"fault", "odd could not judge the call, and so denied it.", "Read the reason; if it is a fault of odd, report it."},
		{"not_judged", "odd could not judge the call, and so denied it.", "Read the reason; if it is a fault of odd, report it."},
		{"not_once", "The agent asked for permission for more than this one call.", "The agent asks for each call."},
	})
	out = append(out, codeRows("failed tool call", "odd tells the agent, which goes on.", [][]string{
		{"cancelled", "The session ended before the call did."},
		{"exit", "The command ended with an error."},
		{"failed", "The tool failed in a way that has no code of its own."},
		{"history", "git could not answer the question about history."},
		{"http_status", "The web server answered with an error."},
		{"missing", "The file or atom is not there."},
		{"no_answer", "The person gave no answer."},
		{"not_a_file", "The path is not a regular file."},
		{"not_a_folder", "The path is not a folder."},
		{"not_deleted", "The file is still there after it was deleted."},
		{"not_fetched", "The web page could not be fetched."},
		{"not_once", "The text to replace is not in the file exactly once."},
		{"not_run", "The command could not be run, or was stopped."},
		{"not_text", "The file or web page is not text."},
		{"not_written", "The file could not be written as asked."},
		{"timeout", "The tool took longer than [toolbox] tool_timeout, or a command longer than command_timeout."},
		{"too_many_redirects", "The web page redirects too often."},
		{"unreadable", "The file cannot be read."},
	})...)
	return out
}

// laneCodes say why a change is worked sooner or later, and on which budget.
func laneCodes() []Code {
	return codeRows("lane of a change", "`odd task edit TASK --priority p1` or --signal changes it.", [][]string{
		{"critical_urgency", "Immediate lane: the task's priority is p0."},
		{"person_waiting", "Immediate lane: a person waits for the change."},
		{"high_urgency_immediate", "Immediate lane: the priority is p1, and something is broken."},
		{"cross_repo", "Immediate lane: the change reaches into another repository."},
		{"speculative_source", "Speculative lane: the task is a guess, so little is spent on it."},
		{"background_low_urgency", "Background lane: routine work of low priority."},
		{"background_source", "Background lane: routine work."},
		{"complex_task", "Complex lane: the task is large, so it gets more time and money."},
		{"multi_file", "Complex lane: the task names three files or more."},
		{"standard", "Standard lane: nothing else applies."},
	})
}

// reportCodes returns the codes of reports, but for those of odd check on atoms.
func reportCodes() []Code {
	out := codeRows("finding of odd check", "", [][]string{
		{"odd-budget-team", "The budgets of teams in odd.toml and the tasks do not fit together.", "Correct [budget.teams] in odd.toml, or `team` in the task."},
		{"odd-preference-unverified", "No session is told the preference, because its file has no line of a person who verified it.", "Read it, then add `confidence: verified` and a `verified` line with your address and the date."},
		{"odd-task-", "The key of a task that the code names has a wrong value.", "Correct that key in the task's file; the finding says how."},
	})
	out = append(out, codeRows("finding of odd agent handoff check", "Correct the handoff's file; the finding names the key.", [][]string{
		{"odd-handoff", "The handoff's file cannot be read."},
		{"odd-handoff-bound", "A repair in the handoff does not match the findings that it answers."},
		{"odd-handoff-dead", "The handoff cites something that does not exist."},
		{"odd-handoff-missing", "The handoff lacks content that it must have, or its journal entry."},
	})...)
	for _, r := range audit.Codes() {
		out = append(out, Code{Code: r.Name, Kind: "finding of odd agent audit", Means: Sentence(r.About)})
	}
	for _, r := range rules.Table() {
		out = append(out, Code{Code: r.Rule(), Kind: "invariant", Means: r.Broken,
			Fix: "The finding says what to do; `odd check --all --explain` shows what is compared.", also: fmt.Sprintf("invariant %d", r.N)})
	}
	return out
}

// Sentence returns a text as a sentence. A key, a file or the name of a program stays as it is.
func Sentence(s string) string {
	first, _, _ := strings.Cut(s, " ")
	switch {
	case s == "":
		return ""
	case first == "odd" || first == "go" || strings.ContainsAny(first, "_./"):
		return strings.TrimSuffix(s, ".") + "."
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

// codeRows returns codes of one kind: a row has the code, what it means, and what to do, which is
// fix where it has none.
func codeRows(kind, fix string, rows [][]string) []Code {
	out := make([]Code, len(rows))
	for i, r := range rows {
		out[i] = Code{Code: r[0], Kind: kind, Means: r[1], Fix: append(r, fix)[2]}
	}
	return out
}
