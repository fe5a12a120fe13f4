package console

import (
	"slices"
	"strings"
	"testing"
)

func TestWhoAsks(t *testing.T) {
	t.Parallel()
	env := func(set string, above ...string) Env {
		return Env{
			Getenv: func(name string) string {
				if name == set {
					return "1"
				}
				return ""
			},
			Above: func() []string { return above },
		}
	}
	for _, name := range AgentVars() {
		if got, want := env(name).AgentSign(), name+" is set"; got != want {
			t.Errorf("with %s: %q, want %q", name, got, want)
		}
	}
	// What stands in a person's profile, or in the terminal of their editor, makes nobody an agent.
	for _, name := range []string{"", "HOME", "CURSOR_TRACE_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "CODEX_HOME", "OPENCODE_CONFIG", "GEMINI_API_KEY"} {
		if got := env(name, "bash", "cursor", "code", "sshd", "systemd").AgentSign(); got != "" {
			t.Errorf("with %s: %q, want a person", name, got)
		}
	}
	for _, name := range agentPrograms {
		if got, want := env("", "sh", name, "bash").AgentSign(), name+" started this command"; got != want {
			t.Errorf("under %s: %q, want %q", name, got, want)
		}
	}
	if got := (Env{Getenv: func(string) string { return "" }}).AgentSign(); got != "" {
		t.Errorf("where nothing is known: %q", got)
	}
}

func TestProgramNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ comm, argv, want string }{
		{"claude", "claude --resume", "claude"},
		{"MainThread", "node --no-warnings /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js -p x", "gemini"},
		{"node", "node /usr/local/bin/codex", "codex"},
		{"python3", "python3 /home/ann/.local/bin/aider", "aider"},
		{"bash", "bash /home/ann/bin/claude", ""},
		{"vim", "vim claude", ""},
		{"node", "node server.js claude", ""},
		{"x", "", ""},
	} {
		got := ""
		for _, name := range programNames(c.comm, strings.Split(c.argv, " ")) {
			if got == "" && slices.Contains(agentPrograms, name) {
				got = name
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.argv, got, c.want)
		}
	}
}

func TestAboveNamesTheParent(t *testing.T) {
	t.Parallel()
	if len(parentPrograms()) == 0 {
		t.Error("no program started this test")
	}
}

func TestColor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ui, environ string
		pipe, want  bool
	}{
		{"", "", false, true}, {"auto", "", false, true}, {"true", "", false, true}, {"never", "", false, false}, {"False", "", false, false},
		{"", "TERM=dumb", false, false}, {"always", "TERM=dumb", false, true}, {"always", "NO_COLOR=1", false, false}, {"always", "", true, false},
	} {
		env := Env{Terminal: !c.pipe, ColorUI: c.ui, Getenv: func(name string) string {
			v, _ := strings.CutPrefix(c.environ, name+"=")
			return map[bool]string{true: v}[strings.HasPrefix(c.environ, name+"=")]
		}}
		if env.hasColor() != c.want {
			t.Errorf("color.ui %q, %s, pipe %t: %t", c.ui, c.environ, c.pipe, !c.want)
		}
	}
}
