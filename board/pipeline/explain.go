package pipeline

// Meaning is what a code means that a session's work is sent back or stopped for.
type Meaning struct{ Code, Text string }

// Stops says of every reason to stop a repair what it means, in their order.
func Stops() []Meaning {
	return []Meaning{
		{string(StopDeadline), "less time was left than a repair needs"},
		{string(StopTimebox), "the whole repair took as long as [pipeline] repair_timebox lets it; raise that where the checks alone take so long"},
		{string(StopIterations), "it was repaired as often as it may be"},
		{string(StopRuns), "its checks were run as often as they may be"},
		{string(StopGenerate), "the session that was to mend it came to nothing; what of stands behind the colon"},
		{string(StopEmpty), "the session that was to mend it delivered no file"},
		{string(StopLines), "the repair changes more lines than one may"},
		{string(StopFiles), "the repair changes more files than one may"},
		{string(StopUnusable), "the repair does not hold every file of the change, each once"},
		{string(StopSandbox), "the tree in which it is checked could not be made; odd's own fault or the machine's"},
		{string(StopEnv), "what failed is not the change: a command, a module, a right or a rule, named behind the colon; another try would meet it again"},
		{string(StopCircle), "the same change failed the same way as before"},
		{string(StopStreak), "try after try nothing got better"},
		{string(StopClass), "it failed the same way, named behind the colon, as often as it may"},
	}
}

// CheckFindings says what is found about the checks of a change, besides what they say.
func CheckFindings() []Meaning {
	return []Meaning{
		{"check_empty", "a command that is to check the change has no program"},
		{"check_edited", "the change writes what one of its checks reads"},
		{"check_skipped", "a part of the change is checked by nothing"},
	}
}

// Faults says of every code that a delivery of a session is sent back for what it
// means, sorted. The codes of paths and of files are those of the iron gate.
func Faults() []Meaning {
	return []Meaning{
		{"bad-name", "a name in the session's tree is none that every machine can have"},
		{"candidate_twice", "two candidates have one id"},
		{"case-collision", "two names in the session's tree are one where case does not count"},
		{"context_mismatch", "a diff does not fit the file it was made from; context is compared byte by byte"},
		{"converted", "git would store a file as other bytes than those that were judged: a filter, an encoding or line ends"},
		{"diff_empty", "a diff has no hunk"},
		{"diff_header", "what stands above the hunks of a diff is not about its file"},
		{"diff_hunk", "a hunk of a diff is not what its head says"},
		{"empty", "a member says nothing"},
		{"in_bundle", "a change writes into the bundle, which changes by atoms alone"},
		{"json", "what was delivered is not one JSON object"},
		{"missing_", "a member is missing, which the code names"},
		{"nested-repository", "the session's tree holds another repository"},
		{"no_candidates", "there is no candidate in it"},
		{"no_files", "there is no file in it"},
		{"noop_with_candidates", "it says that nothing is to be done, and delivers something"},
		{"noop_with_writes", "it says that nothing is to be done, and the session wrote files"},
		{"not-a-file", "something in the session's tree is neither a file nor a folder"},
		{"not_a_file", "something in the change is no plain file"},
		{"not_an_object", "a JSON object was to be delivered"},
		{"nothing_delivered", "the task asks for a change of files, and the session delivered none"},
		{"one_or_files", "a candidate has file_path and files, or neither"},
		{"path_clash", "one candidate writes a file twice"},
		{"path_taken", "a new file lies below a file, or under a name that another has but for case"},
		{"plan_cycle", "changes of a plan depend on each other in a circle"},
		{"plan_dangling", "a change of a plan depends on a file that is not in it"},
		{"plan_empty", "a plan changes nothing"},
		{"plan_no_overlap", "a plan changes none of the task's files"},
		{"plan_order", "a plan is not in the order of its own dependencies"},
		{"plan_path_twice", "a plan has a file twice"},
		{"query_short", "a search for more context is too short to find anything"},
		{"stale_source", "a diff was made from other bytes than are there"},
		{"submodule", "the session's tree holds a submodule"},
		{"symlink", "the session's tree holds a symbolic link; a change is made of files"},
		{"too-deep", "the session's tree has too many folders in each other"},
		{"too-large", "what differs in the session's tree is too large"},
		{"too-many-files", "too many files differ in the session's tree"},
		{"too_deep", "the JSON has too many levels"},
		{"too_long", "a text is longer than it may be"},
		{"too_many_", "there are more of what the code names than may be"},
		{"tree-gone", "the session took its own tree away"},
		{"unchanged", "a file is as it is at the base"},
		{"unexpected_candidate_key", "a candidate has a member that the schema does not have"},
		{"unexpected_key", "a member stands there that the schema does not have"},
		{"unknown_version", "schema_version is none that odd reads"},
		{"unreadable", "something in the session's tree cannot be read"},
		{"wrong_type", "a member has another type than the schema asks for"},
		{"wrong_word", "a member has none of the words it may have"},
	}
}
