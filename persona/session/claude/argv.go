package claude

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/exec"
	"github.com/odd-cli/odd/persona/session/servers"
)

// The files that odd writes for the program.
const (
	settingsFile = "settings.json"
	serversFile  = "mcp.json"
	socketFile   = "gate"
)

// openTalk makes ready what every invocation needs: the desk, the gate and the files.
func (s Substrate) openTalk(ctx context.Context, r session.Request) (*talk, error) {
	if len(s.Argv) == 0 {
		s.Argv = []string{"claude"}
	}
	if s.Odd == "" {
		var err error
		if s.Odd, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	t := &talk{s: s, r: r, thread: r.Thread, kept: r.Desk != nil}
	t.handed, _ = servers.Handed(servers.For(s.Servers, r.Contract), servers.Agent{Env: s.Env, Network: s.Network})
	t.s.Argv, t.read = exec.Words(s.Argv, s.Dir)
	var err error
	if t.desk, t.clear, err = exec.Place(ctx, r); err != nil {
		return nil, err
	}
	if err := t.writeFiles(); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// writeFiles makes the gate and the files beside the desk.
func (t *talk) writeFiles() (err error) {
	if t.dir, err = os.MkdirTemp(filepath.Dir(t.desk.Tree), "odd-"); err != nil {
		return err
	}
	if t.gate, err = openGate(filepath.Join(t.dir, socketFile), judge{Hands: session.Hands{Desk: t.desk, Permits: t.r.Permits}, own: t.ownServer().Callable(), servers: t.handed}); err != nil {
		return err
	}
	for name, v := range map[string]any{settingsFile: t.hookSettings(), serversFile: map[string]any{"mcpServers": t.serverConfigs()}} {
		b, err := json.MarshalIndent(v, "", "  ")
		if err == nil {
			err = os.WriteFile(filepath.Join(t.dir, name), append(b, '\n'), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *talk) close() {
	if t.gate != nil {
		t.gate.close()
	}
	if t.dir != "" {
		os.RemoveAll(t.dir)
	}
	t.clear()
}

// buildArgv returns one invocation's, with what is left after spent; no says that nothing is.
func (t *talk) buildArgv(spent session.Usage) (argv []string, no *session.Emission) {
	argv = append(slices.Clone(t.s.Argv), "-p", "--output-format", "stream-json", "--verbose", "--input-format", "text")
	if t.thread == "" {
		t.thread = conversationID(t.r)
		argv = append(argv, "--session-id", t.thread)
	} else {
		argv = append(argv, "--resume="+t.thread)
	}
	if most := t.r.MaxTurns; most > 0 {
		left := most - spent.Turns
		if left <= 0 {
			e := session.Fail(session.TurnLimit, fmt.Sprintf("all %d turns are used", most))
			return nil, &e
		}
		argv = append(argv, "--max-turns", strconv.Itoa(left))
	}
	if most := t.r.MaxCost; most > 0 && !t.s.Free {
		left := max(most-spent.Cost, 1)
		argv = append(argv, "--max-budget-usd", fmt.Sprintf("%d.%06d", left/1e6, left%1e6))
	}
	if t.s.Model != "" {
		argv = append(argv, "--model", t.s.Model)
	}
	tools, allowed := t.listTools()
	return append(argv, "--permission-mode", "dontAsk",
		"--tools", strings.Join(tools, ","), "--allowedTools", strings.Join(allowed, ","), "--disallowedTools", strings.Join(refusedTools(tools), ","),
		"--settings", filepath.Join(t.dir, settingsFile), "--setting-sources", "",
		"--mcp-config", filepath.Join(t.dir, serversFile), "--strict-mcp-config", "--disable-slash-commands"), nil
}

// listTools returns the program's own that the session has, and what of them and of the
// servers runs without being asked for.
func (t *talk) listTools() (tools, allowed []string) {
	tools = []string{"Read", "Grep", "Glob"}
	if c := t.r.Contract; c.Role == "" || c.Mutates {
		tools = append(tools, "Edit", "Write")
		allowed = slices.Clone(tools)
		if len(t.s.Commands) > 0 {
			tools = append(tools, "Bash")
		}
		for _, c := range t.s.Commands {
			if line := strings.Join(c, " "); !strings.ContainsAny(line, "(),:*\"'\\") {
				allowed = append(allowed, "Bash("+line+")", "Bash("+line+":*)")
			}
		}
	} else {
		allowed = slices.Clone(tools)
	}
	for _, s := range t.handed {
		allowed = append(allowed, s.Callable()...)
	}
	if t.r.Graph != nil {
		allowed = append(allowed, "mcp__"+t.ownServer().Name)
	}
	return tools, allowed
}

// refusedTools returns the tools of the program that a session does not have, by name, for
// versions that have more than they are asked for.
func refusedTools(tools []string) []string {
	all := strings.Fields("Bash Edit MultiEdit NotebookEdit Write WebFetch WebSearch Task Agent Workflow Skill SlashCommand ExitPlanMode EnterPlanMode " +
		"EnterWorktree ExitWorktree AskUserQuestion CronCreate CronDelete CronList RemoteTrigger Monitor SendMessage PowerShell")
	return slices.DeleteFunc(all, func(name string) bool { return slices.Contains(tools, name) })
}

// hookSettings have nothing but the hook, and keep nothing that the session does not need.
func (t *talk) hookSettings() map[string]any {
	type object = map[string]any
	command := quoteWord(t.s.Odd) + " anchor gate --hook claude --ask " + quoteWord(t.gate.socket)
	hook := object{"type": "command", "command": command, "timeout": hookSeconds, "onFailure": "block"}
	return object{
		"hooks":                      object{"PreToolUse": []any{object{"matcher": "*", "hooks": []any{hook}}}},
		"permissions":                object{"defaultMode": "dontAsk", "disableBypassPermissionsMode": "disable"},
		"includeCoAuthoredBy":        false,
		"autoMemoryEnabled":          false,
		"enableAllProjectMcpServers": false,
	}
}

// hookSeconds is how long the program waits for its hook; odd's own answers sooner.
const hookSeconds = 5

// ownServer is odd's server over the bundle as the desk has it.
func (t *talk) ownServer() servers.Spec { return servers.Own(t.s.Odd, t.desk.Tree) }

// serverConfigs are the contract's, and the bundle as the desk has it.
func (t *talk) serverConfigs() map[string]any {
	out := map[string]any{}
	all := slices.Clone(t.handed)
	if t.r.Graph != nil {
		all = append(all, t.ownServer())
	}
	for _, s := range all {
		one := map[string]any{"type": "http", "url": s.URL}
		if len(s.Argv) > 0 {
			env := map[string]string{}
			for _, kv := range s.Values(t.s.Environ) {
				name, v, _ := strings.Cut(kv, "=")
				env[name] = v
			}
			one = map[string]any{"type": "stdio", "command": s.Argv[0], "args": append([]string{}, s.Argv[1:]...), "env": env}
		} else if token := s.Token(t.s.Environ); token != "" {
			one["headers"] = map[string]string{"Authorization": "Bearer " + token}
		}
		out[s.Name] = one
	}
	return out
}

// buildEnv returns all that the program sees of one: it is told to speak to nobody but
// its model.
func (t *talk) buildEnv() []string {
	return append(exec.Surroundings(t.s.Environ, t.s.Env, t.desk, t.r),
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
}

// readablePlaces are the places beside the desk that the program needs.
func (t *talk) readablePlaces() []string {
	return append(slices.Clip(t.read), t.dir, t.s.Odd)
}

// quoteWord returns a word as every shell takes it whole.
func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// conversationID names a conversation by what the session is, so that two are never one.
func conversationID(r session.Request) string {
	s := sha256.Sum256(fmt.Appendf(nil, "odd conversation\x00%s\x00%s\x00%s\x00%d\x00%d\x00%s", r.Run, r.Task, r.Role, r.Member, r.Try, r.Step))
	s[6], s[8] = s[6]&0x0f|0x80, s[8]&0x3f|0x80 // RFC 9562: a form of our own
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[:4], s[4:6], s[6:8], s[8:10], s[10:16])
}
