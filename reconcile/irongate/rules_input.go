package irongate

// inputRules are the rules of paths, protected surfaces, names, sizes,
// dependencies and credentials. Their findings bring their own way out.
func inputRules() []Rule {
	out := []Rule{
		{"path_clash", Hard, "two paths differ only in upper and lower case", ""},
		{"path_below_file", Hard, "a path lies below another path of the change that is a file", ""},
		{"path_repository", Hard, "a folder would become a git repository, and git would obey its config", ""},
		{"protected_short_name", Hard, "a short name (PROGRA~1) can stand for a protected file", ""},
		{"protected_config", Hard, "[pipeline] protected in odd.toml names the file, a check runs it, or it is a rule of odd's own", ""},
		{"name_not_utf8", Hard, "a name is not UTF-8", ""},
		{"name_control", Hard, "a name holds a control character", ""},
		{"name_invisible", Hard, "a name holds an invisible character", ""},
		{"name_confusable", Hard, "a name looks like another one", ""},
		{"name_compatibility", Hard, "a name uses Unicode variants of plain letters", ""},
		{"name_punctuation", Hard, "a name holds a sign that only looks like an ASCII one", ""},
		{"text_direction", Hard, "code holds a character that changes the direction of text", ""},
		{"text_hidden", Hard, "a file holds invisible text", ""},
		{"size_files", Hard, "the change has more files than a person can review", ""},
		{"size_file", Hard, "a file is larger than a person can review", ""},
		{"size_total", Hard, "the change is larger than a person can review", ""},
		{"size_line", Soft, "a line is too long to review", ""},
		{"size_binary", Hard, "a file is binary", ""},
		{"dependency_unparsed", Hard, "a dependency file does not parse", ""},
		{"dependency_lookalike", Hard, "a new package has a name close to another one's", ""},
		{"dependency_major", Soft, "a module changes to another major version", ""},
		{"dependency_downgraded", Soft, "a package goes back to an older version", ""},
		{"dependency_loosened", Soft, "the version of a package is pinned less strictly", ""},
		{"dependency_replace", Hard, "a package is replaced by other code", ""},
		{"dependency_source", Hard, "a package comes from elsewhere than its registry", ""},
		{"dependency_script", Hard, "a package manager would run a script by itself", ""},
		{"dependency_tool", Hard, "the change chooses a tool that the go command runs", ""},
		{"dependency_sum", Hard, "the checksum of a version changed", ""},
		{"secret_introduced", Hard, "the change adds a password, a key or a token", "read it from the environment or a secret store, and revoke it if it is real"},
		{"secret_in_test", Soft, "a test holds something that looks like a password, a key or a token", "make sure that it is made up"},
	}
	for _, r := range letterRules {
		out = append(out, Rule{r.code, Hard, "a path " + r.text, r.fix})
	}
	for _, s := range surfaces {
		out = append(out, Rule{s.code, Hard, "a file is protected: " + s.why, ""})
	}
	return out
}

// commandRules are the rules of [Command] and [Argv].
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
