package irongate

// inputRules are the rules of paths, protected surfaces, names, sizes,
// dependencies and credentials. Their findings bring their own way out.
func inputRules() []Rule {
	out := []Rule{
		{"path_clash", Hard, "two paths are one file where letter case does not count", ""},
		{"path_below_file", Hard, "a path lies below one that is written as a file", ""},
		{"path_repository", Hard, "a folder would become a git repository, whose config git obeys", ""},
		{"protected_short_name", Hard, "a short name can stand for a protected file", ""},
		{"protected_config", Hard, "[pipeline] protected in odd.toml names the file, a check runs it, or it is one of the gate in odd's own repository", ""},
		{"name_not_utf8", Hard, "a name is not UTF-8", ""},
		{"name_control", Hard, "a name holds a control character", ""},
		{"name_invisible", Hard, "a name holds a character that cannot be seen", ""},
		{"name_confusable", Hard, "a name is drawn like another one", ""},
		{"name_compatibility", Hard, "a name is another way to write a plain one", ""},
		{"name_punctuation", Hard, "a name holds a sign that only looks like one of ASCII", ""},
		{"text_direction", Hard, "code holds a character that turns the direction of writing", ""},
		{"text_hidden", Hard, "a file holds text that nobody sees", ""},
		{"size_files", Hard, "a change writes more files than a person reads", ""},
		{"size_file", Hard, "a file is larger than a person reads", ""},
		{"size_total", Hard, "a change is larger than a person reads", ""},
		{"size_line", Soft, "a line is longer than a person sees", ""},
		{"size_binary", Hard, "a file is not text", ""},
		{"dependency_unparsed", Hard, "a dependency file does not parse", ""},
		{"dependency_lookalike", Hard, "a package comes in under a name close to another's", ""},
		{"dependency_major", Soft, "a module gives way to another major version of it", ""},
		{"dependency_downgraded", Soft, "a package goes back to an older version", ""},
		{"dependency_loosened", Soft, "a package is held to its version less than before", ""},
		{"dependency_replace", Hard, "other code takes a package's place", ""},
		{"dependency_source", Hard, "a package comes from another place than the registry", ""},
		{"dependency_script", Hard, "a package manager runs a script by itself", ""},
		{"dependency_tool", Hard, "a tool that the go command runs is chosen", ""},
		{"dependency_sum", Hard, "a version has another checksum than before", ""},
		{"secret_introduced", Hard, "a credential comes in", "read it from the environment or a secret store, and revoke it if it is real"},
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
		{"command_unparsed", Hard, "a command does not read as bash", ""},
		{"command_too_deep", Hard, "programs and shells run one another deeper than is followed", ""},
		{"command_too_long", Hard, "a command has more programs than are judged", ""},
		{"command_dynamic", Hard, "the line does not tell which program is run", ""},
		{"command_evaluated", Hard, "text that nobody has read is run as a command", ""},
		{"command_inline_code", Hard, "a program is given as text", ""},
		{"command_piped_to_shell", Hard, "a shell runs what another program prints", ""},
		{"command_runs_program", Hard, "a program is made to run another that its words name", ""},
		{"command_redefines", Hard, "a name is given another meaning", ""},
		{"command_environment", Hard, "a variable is set that changes what programs do", ""},
		{"command_background", Soft, "a program is left running", ""},
		{"command_fork_bomb", Hard, "a function runs itself without end", ""},
		{"command_privilege", Hard, "the rights of another user are taken", ""},
		{"command_permission", Hard, "everyone may write a file, or a program lends its owner's rights", ""},
		{"command_device", Hard, "a whole disk or another device is worked on", ""},
		{"command_destroys", Hard, "files are destroyed beyond recovery, or all of them", ""},
		{"command_find_delete", Hard, "whatever find meets is removed", ""},
		{"command_link", Hard, "a file gets a second name, under which no rule knows it", ""},
		{"command_outside", Hard, "a file outside the repository is written", ""},
		{"command_reads_secret", Hard, "a file where credentials are kept is read", ""},
		{"command_schedule", Hard, "a program is started after the session has ended", ""},
		{"command_power", Hard, "the machine is stopped", ""},
		{"command_kills", Hard, "programs are ended by name", ""},
		{"command_installer", Hard, "other people's code is fetched and run", ""},
		{"command_publish", Hard, "something is published to other machines", ""},
		{"command_human_act", Hard, "a command is a person's act", ""},
		{"command_network", Soft, "a program speaks to other machines", ""},
		{"command_git_push", Hard, "git speaks to other machines in a person's name", ""},
		{"command_git_discard", Hard, "git throws work away", ""},
		{"command_git_history", Hard, "git rewrites history, or removes what could undo a mistake", ""},
		{"command_git_config", Hard, "what git runs, or where it works, is changed", ""},
	}
}
