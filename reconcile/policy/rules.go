package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Rule is one thing that is judged, by the code its findings carry.
type Rule struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Meaning  string   `json:"meaning"`
	Fix      string   `json:"fix,omitempty"` // the way out, where it is one for all its findings
}

// Rules lists the rules of paths, protected files and commands.
func Rules() []Rule { return slices.Concat(pathRules(), commandRules()) }

// Details lists what the rules look for beside their rows, so that a hash of it shows
// that they changed.
func Details() []string {
	out := []string{fmt.Sprintf("path %d, name %d, command %d bytes and %d deep", maxPath, maxName, maxCommand, maxNesting)}
	for _, s := range surfaces {
		out = append(out, s.code+" "+strings.Join(s.globs, " "))
	}
	return append(out, gatePackages...)
}

// byHand is the way out for a protected file.
const byHand = "leave it out of the change; if it must change, a person does that"

// pathRules are the rules of paths and protected files. Their findings bring their
// own way out.
func pathRules() []Rule {
	out := []Rule{
		{"path_clash", Hard, "two paths differ only in upper and lower case", ""},
		{"path_below_file", Hard, "a path lies below another path of the change that is a file", ""},
		{"path_repository", Hard, "a folder would become a git repository, and git would obey its config", ""},
		{"protected_short_name", Hard, "a short name (PROGRA~1) can stand for a protected file", byHand},
		{"protected_config", Hard, "[pipeline] protected in odd.toml names the file, a check runs it, or it is a rule of odd's own", byHand + "; for a file that agents may change, take its line out of [pipeline] protected"},
	}
	for _, r := range letterRules {
		out = append(out, Rule{r.code, Hard, "a path " + r.text, r.fix})
	}
	for _, s := range surfaces {
		out = append(out, Rule{s.code, Hard, "a file is protected: " + s.why, byHand})
	}
	return out
}

// commandRules are the rules of [JudgeCommand] and [JudgeArgv].
func commandRules() []Rule {
	return []Rule{
		{"command_unparsed", Hard, "the command is not valid bash", ""},
		{"command_too_deep", Hard, "programs and shells start each other too many levels deep to be checked", ""},
		{"command_too_long", Hard, "the command has too many programs to be checked", ""},
		{"command_dynamic", Hard, "the command line does not show which program it runs", ""},
		{"command_evaluated", Hard, "the command runs a text that cannot be checked", ""},
		{"command_inline_code", Hard, "the command gives an interpreter its program as text, as python -c does", ""},
		{"command_piped_to_shell", Hard, "the command pipes a program's output into a shell", ""},
		{"command_runs_program", Hard, "the command makes a program run another one that its arguments name", ""},
		{"command_redefines", Hard, "the command gives a name another meaning, as an alias does", ""},
		{"command_environment", Hard, "the command sets a variable that changes what programs do", ""},
		{"command_background", Soft, "the command leaves a program running in the background", ""},
		{"command_fork_bomb", Hard, "the command is a fork bomb", ""},
		{"command_privilege", Hard, "the command takes the rights of another user, as sudo does", ""},
		{"command_permission", Hard, "the command lets everyone write a file, or a program run with its owner's rights", ""},
		{"command_device", Hard, "the command works on a disk or another device", ""},
		{"command_destroys", Hard, "the command destroys files for good, or all of them", ""},
		{"command_find_delete", Hard, "the command deletes everything that find finds", ""},
		{"command_link", Hard, "the command links a file, so that rules do not recognise it", ""},
		{"command_outside", Hard, "the command writes a file outside of the repository", ""},
		{"command_reads_secret", Hard, "the command reads a file with credentials", ""},
		{"command_schedule", Hard, "the command schedules a program for later", ""},
		{"command_power", Hard, "the command shuts the machine down", ""},
		{"command_terminal", Hard, "the command gives a program a terminal of its own, where odd would ask a person", ""},
		{"command_debugger", Hard, "the command steers a running program, as a debugger does", ""},
		{"command_kills", Hard, "the command kills programs by name", ""},
		{"command_installer", Hard, "the command downloads code and runs it", ""},
		{"command_publish", Hard, "the command publishes something", ""},
		{"command_human_act", Hard, "only a person may run this command", ""},
		{"command_network", Soft, "the command uses the network", ""},
		{"command_git_push", Hard, "the git command contacts other machines in a person's name", ""},
		{"command_git_discard", Hard, "the git command discards work", ""},
		{"command_git_history", Hard, "the git command rewrites history, or removes what could undo a mistake", ""},
		{"command_git_config", Hard, "the command changes what git runs or where it works", ""},
	}
}
