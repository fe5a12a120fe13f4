package testscripts

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/odd-cli/odd/cmd"
	"github.com/odd-cli/odd/reconcile/policy"
)

// personsActs are odd's verbs that only a person may run, with an example that would work
// in the repository of personsWorld for a person.
var personsActs = map[string]string{
	"approve": "approve read-the-handbook", "reject": "reject read-the-handbook --reason no", "review --pr": "review read-the-handbook --pr", "review --each": "review read-the-handbook --each",
	"task ready": "task ready count-the-crates", "task edit": "task edit count-the-crates --priority p1", "drain resume": "drain resume", "undo": "undo",
	"knowledge confirm": "knowledge confirm tide", "config set": "config set session.max_turns 7", "config unset": "config unset governance.lease", "gate lease edit": "gate lease edit",
	"op cancel":    "op cancel WAITS --reason no",
	"gate framing": "gate framing --reason words", "gate commitment": "gate commitment --extend 2d", "gate evaluation": "gate evaluation --enter", "gate emergency": "gate emergency --reason fire",
	"gate decide":        "gate decide Times --rationale r --tradeoffs t --confidence low",
	"gate proposals add": "gate proposals add drift --gate framing", "gate proposals reject": "gate proposals reject P-01 --reason no",
	"agent handoff revert": "agent handoff revert shore-lead --from execution --to planning --reason REASON", "agent handoff skip": "agent handoff skip shore-lead --mode planning --reason REASON --risk few",
	"agent handoff clarify": "agent handoff clarify shore-lead assumptions None",
	"agent run --override":  "agent run --contract-role planner --override exploration,planning --reason REASON --risk few --task Plan",
	"hook install":          "hook install", "hook uninstall": "hook uninstall", "anchor hook install": "anchor hook install", "anchor hook uninstall": "anchor hook uninstall",
}

// anyones are the verbs that agents may run too: they read, file what a person decides
// about later, or keep a record in the agent's own name.
var anyones = strings.Fields(`init demo status search get check log explain compile-persona reconcile completion sync review drain mcp help doctor site serve sense`)

// anyonesBelow are the same below a noun.
var anyonesBelow = map[string]string{
	"task": "add list show permissions", "drain": "pause", "knowledge": "related backlinks expand path graph index canon", "journal": "add list opens tensions types lint",
	"agent": "run audit observe context", "agent handoff": "new check show list merge", "agent persona": "list show", "mcp": "servers", "knowledge canon": "resolve", "gate lease": "show check draft", "config": "list explain get",
	"anchor": "identity context proof express verify renew release ls gate", "anchor hook": "check", "op": "list show diff prompt classify",
	"gate": "lease decay", "gate proposals": "list show", "hook": "run",
}

var verbLine = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) +\S`)

// verbsBelow are the verbs that help lists below one.
func verbsBelow(t *testing.T, noun string) (verbs []string) {
	page := said(t, append([]string{"help"}, strings.Fields(noun)...)...)
	_, rest, ok := strings.Cut(page, "\nCommands\n")
	if !ok {
		return nil
	}
	list, _, _ := strings.Cut(rest, "\n\n")
	for _, m := range verbLine.FindAllStringSubmatch(list, -1) {
		verbs = append(verbs, noun+" "+m[1])
	}
	return verbs
}

// TestEveryVerbIsSomebodys: each verb is a person's or anyone's, so that a new one is not
// forgotten by the test below.
func TestEveryVerbIsSomebodys(t *testing.T) {
	t.Parallel()
	var all []string
	for _, m := range verbLine.FindAllStringSubmatch(said(t, "help", "all"), -1) {
		all = append(all, m[1])
	}
	if len(all) < 25 {
		t.Fatalf("help lists %q", all)
	}
	for i := 0; i < len(all); i++ {
		under := verbsBelow(t, all[i])
		all = append(all, under...)
		noun, verb := "", all[i]
		if at := strings.LastIndex(verb, " "); at >= 0 {
			noun, verb = verb[:at], verb[at+1:]
		}
		persons := personsActs[all[i]] != ""
		anyones := noun == "" && slices.Contains(anyones, verb) || noun != "" && slices.Contains(strings.Fields(anyonesBelow[noun]), verb)
		if persons == anyones && len(under) == 0 || persons && anyones {
			t.Errorf("odd %s: say whether only a person may run it", all[i])
		}
	}
}

// TestOnlyPeopleAct: each act of a person is refused where an agent asks, approve under each sign
// of one, and to a session by the gate of its commands.
func TestOnlyPeopleAct(t *testing.T) {
	t.Parallel()
	dir := personsWorld(t)
	run := func(getenv map[string]string, above []string, args ...string) (code int, out, talk string) {
		var stdout, stderr bytes.Buffer
		env := cmd.OS()
		env.Stdin, env.Stdout, env.Stderr, env.Dir, env.Temp = strings.NewReader(""), &stdout, &stderr, dir, t.TempDir()
		env.Now = func() time.Time { return time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC) }
		env.Getenv, env.Above = func(name string) string { return cmp.Or(getenv[name], map[string]string{"EDITOR": "true"}[name]) }, func() []string { return above }
		env.TTY = func() (io.ReadWriteCloser, error) { return &confirmer{terminal: io.Discard}, nil }
		env.Terminal, env.Live, env.Keyboard = false, false, false
		code = cmd.Main(env, append([]string{"odd"}, args...)...)
		return code, stdout.String(), stderr.String()
	}
	_, ops, _ := run(nil, nil, "op", "list", "--all")
	waits, failed := regexp.MustCompile(`(?m)^(op-\S+)\t.*tide-names.*$`).FindStringSubmatch(ops), regexp.MustCompile(`(?m)^(op-\S+)\t.*no-venv.*$`).FindStringSubmatch(ops)
	if waits == nil || failed == nil {
		t.Fatalf("ops: %s", ops)
	}
	fill := strings.NewReplacer("WAITS", waits[1], "FAILED", failed[1])
	refused := regexp.MustCompile(`\[(not-a-person|in-session)\]\n$`)
	all, agents := cmd.AgentVars(), []string{"claude", "codex", "gemini", "opencode", "aider", "cursor-agent"}
	for i, verb := range slices.Sorted(maps.Keys(personsActs)) {
		line, signs, programs := personsActs[verb], all[i%len(all):][:1], agents[i%len(agents):][:1]
		if verb == "approve" {
			signs, programs = all, agents
		}
		args := strings.Fields(fill.Replace(line))
		for i, a := range args {
			args[i] = strings.ReplaceAll(a, "REASON", "The stock list is a year old and nobody has counted since; is it right?")
		}
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			for _, sign := range signs {
				if code, out, talk := run(map[string]string{sign: "1"}, nil, args...); code != 3 || out != "" || !refused.MatchString(talk) {
					t.Errorf("with %s: exit %d, %s%s", sign, code, out, talk)
				}
			}
			for _, above := range programs {
				if code, out, talk := run(nil, []string{"bash", above, "sh"}, args...); code != 3 || out != "" || !refused.MatchString(talk) {
					t.Errorf("below %s: exit %d, %s%s", above, code, out, talk)
				}
			}
			if !policy.JudgeArgv(append([]string{"odd"}, args...), policy.CommandPolicy{}).Refused() {
				t.Error("a session's gate lets it through")
			}
		})
	}
}

// personsWorld is a demo with a task to make ready, a paused board, a change that waits
// and one that failed.
func personsWorld(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	script := `set -e
mkdir -p home && odd demo shop && cd shop && mkdir -p tool agent
git config user.name Ann && git config user.email ann@example.org
printf '%s\n' 'session = {substrate = "replay"}' 'substrate.replay.file = "agent"' 'governance.lease = "off"' > odd.toml
printf 'package tool\n\nfunc tide() string { return "spring" }\n' > tool/tide.go
`
	for task, file := range map[string]string{"tide-names": "tool/name.go", "no-venv": "tool/venv/b.go"} {
		answer := "```change\n" + `{"schema_version": "2b.1", "candidates": [{"candidate_id": "c1", "rationale": "one place for names", "files": [{"file_path": "` + file +
			`", "full_content": "package tool\n\n// Name is the tide.\nfunc Name() string { return tide() }\n"}]}]}` + "\n```\n\n```json\n" + `{"schema": "odd.finish.1", "outcome": "completed"}` + "\n```\n"
		script += "cat > agent/" + task + ".md <<'E'\n" + answer + "E\nodd task add " + task + " --role shore-lead --kind implement --path 'tool/**'\nodd task ready " + task + "\n"
	}
	exampleRun(t, dir, script+`git add -A && git commit -qm 'a tool of ours'
odd drain --max-tasks 2
odd task add 'Count the crates' --role shore-lead --kind extract --input docs
odd drain pause 'the handbook is being rewritten'
odd agent handoff new --from planning --artifact knowledge/roles/shore-lead.md --title Crates
`)
	return filepath.Join(dir, "shop")
}
