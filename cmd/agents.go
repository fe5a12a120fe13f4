package cmd

import (
	"path"
	"slices"
	"strings"
)

// AgentVars are the variables by which a command learns that an agent's harness
// started it. Only those are listed that a harness sets for what it runs: a person who
// has a harness's settings in their profile, or works in a terminal of an editor with
// an agent in it (CURSOR_TRACE_ID, CLAUDE_CODE_SSE_PORT), still decides.
//
// Sources: the environment pages of Claude Code, Gemini CLI, Codex, opencode, Cursor,
// Augment and Goose, and the tables of @vercel/detect-agent, unjs/std-env and
// huggingface_hub, which other programs use for the same question.
func AgentVars() []string {
	return []string{
		"ODD_RUN", "ODD_ANCHOR", // a session of odd drain, and one that holds a permit
		"AI_AGENT", "AGENT", // proposed for all of them
		"CLAUDECODE", "CLAUDE_CODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_IS_COWORK", "CLAUDE_CODE_REMOTE",
		"GEMINI_CLI", "ANTIGRAVITY_AGENT", "QWEN_CODE",
		"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "CODEX_CI",
		"OPENCODE", "OPENCODE_CLIENT", "OPENCODE_PID", "OPENCODE_SESSION_ID",
		"CURSOR_AGENT", "CURSOR_CLI",
		"AMP_CURRENT_THREAD_ID", "AUGMENT_AGENT", "CLINE_ACTIVE", "COPILOT_CLI", "CRUSH", "GOOSE_TERMINAL", "HERMES_SESSION_ID",
		"OPENCLAW_SHELL", "PI_CODING_AGENT", "ROO_ACTIVE", "TRAE_AI_SHELL_ID",
	}
}

// agentPrograms are the programs of those harnesses that run in a terminal, by name.
// Editors are none of them: people type in their terminals too.
var agentPrograms = []string{
	"aider", "amp", "auggie", "claude", "cline", "codex", "copilot", "crush", "cursor-agent", "droid", "gemini", "goose", "kiro-cli", "opencode", "openhands", "qwen",
}

// agent says what shows that an agent asks and not a person, "" where nothing does. It
// is the one answer for every act that only a person may take. A process that clears
// its variables and leaves its parents is not known by it.
func (e Env) agent() string {
	for _, name := range AgentVars() {
		if e.Getenv(name) != "" {
			return name + " is set"
		}
	}
	if e.Above == nil {
		return ""
	}
	for _, name := range e.Above() {
		if slices.Contains(agentPrograms, name) {
			return name + " started this command"
		}
	}
	return ""
}

// programNames are the names that a process goes by: that of its program, and of the
// script that an interpreter was given.
func programNames(comm string, argv []string) []string {
	names := []string{comm}
	for i, arg := range argv {
		if i == 0 || !strings.HasPrefix(arg, "-") {
			name := path.Base(arg)
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), "-cli"), name)
		}
		if i > 0 && !strings.HasPrefix(arg, "-") || !slices.Contains([]string{"node", "bun", "deno", "python", "python3"}, path.Base(argv[0])) {
			break
		}
	}
	return names
}
