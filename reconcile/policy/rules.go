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
	Fix      string   `json:"fix"` // the way out; a finding may say it more closely
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

// pathRules are the rules of paths and protected files.
func pathRules() []Rule {
	out := []Rule{
		{"path_clash", Hard, "two paths differ only in upper and lower case", "name each file once, with names that differ by more than case"},
		{"path_below_file", Hard, "a path lies below another path of the change that is a file", "choose one of the two"},
		{"path_repository", Hard, "a folder would become a git repository, and git would obey its config", "keep test repositories in an archive and unpack them in the test"},
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
		{"command_unparsed", Hard, "the command is not valid bash", "write the command in plain bash"},
		{"command_too_deep", Hard, "programs and shells start each other too many levels deep to be checked", "run the inner command itself"},
		{"command_too_long", Hard, "the command has too many programs to be checked", "run its programs one after another, each by a call of its own"},
		{"command_dynamic", Hard, "the command line does not show which program it runs", "write the name of the program out"},
		{"command_evaluated", Hard, "the command runs a text that cannot be checked", "run the command itself, or write a script into the repository and run that"},
		{"command_inline_code", Hard, "the command gives an interpreter its program as text, as python -c does", "write the program into a file of the repository and run the file"},
		{"command_piped_to_shell", Hard, "the command pipes a program's output into a shell", "write the script into the repository, where it can be read before it runs"},
		{"command_runs_program", Hard, "the command makes a program run another one that its arguments name", "run the other program itself"},
		{"command_redefines", Hard, "the command gives a name another meaning, as an alias does", "call the program by its own name"},
		{"command_environment", Hard, "the command sets a variable that changes what programs do", "leave the variable as it is"},
		{"command_background", Soft, "the command leaves a program running in the background", "run the program in the foreground"},
		{"command_fork_bomb", Hard, "the command is a fork bomb", "leave it out"},
		{"command_privilege", Hard, "the command takes the rights of another user, as sudo does", "run the command as the present user, or leave it to a person"},
		{"command_permission", Hard, "the command lets everyone write a file, or a program run with its owner's rights", "give the file no more rights than it needs"},
		{"command_device", Hard, "the command works on a disk or another device", "work on files of the repository"},
		{"command_destroys", Hard, "the command destroys files for good, or all of them", "delete the files by their names"},
		{"command_find_delete", Hard, "the command deletes everything that find finds", "have find print the files, then delete them by their names"},
		{"command_link", Hard, "the command links a file, so that rules do not recognise it", "copy the file"},
		{"command_outside", Hard, "the command writes a file outside of the repository", "write inside the repository"},
		{"command_reads_secret", Hard, "the command reads a file with credentials", "leave it out, or ask a person"},
		{"command_schedule", Hard, "the command schedules a program for later", "run the program now, or leave it to a person"},
		{"command_power", Hard, "the command shuts the machine down", "leave it out"},
		{"command_terminal", Hard, "the command gives a program a terminal of its own, where odd would ask a person", "run the program itself"},
		{"command_debugger", Hard, "the command steers a running program, as a debugger does", "leave it to a person"},
		{"command_kills", Hard, "the command kills programs by name", "end only what the session started, by its number"},
		{"command_installer", Hard, "the command downloads code and runs it", "name the program and its version to a person, who installs it"},
		{"command_publish", Hard, "the command publishes something", "leave it to a person"},
		{"command_human_act", Hard, "only a person may run this command", "leave it to a person"},
		{"command_network", Soft, "the command uses the network", "work with what the repository holds, or ask a person"},
		{"command_git_push", Hard, "the git command contacts other machines in a person's name", "leave it to a person; odd puts the result on a branch"},
		{"command_git_discard", Hard, "the git command discards work", "keep the work: commit it, or ask a person"},
		{"command_git_history", Hard, "the git command rewrites history, or removes what could undo a mistake", "make a new commit in place of the old one's change"},
		{"command_git_config", Hard, "the command changes what git runs or where it works", "leave the setting as it is, or ask a person"},
	}
}
