package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/console/consoletest"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
)

func TestArrange(t *testing.T) {
	t.Parallel()
	env, _, _ := consoletest.Quiet()
	for in, want := range map[string]string{
		"approve T --verify":              "approve --verify T",
		"approve --verify T":              "approve --verify T",
		"approve T --except a --except=b": "approve --except a --except=b T",
		"task --json list":                "task list --json",
		"task add title --kind x --json":  "task add --kind x --json title",
		"-C dir approve T":                "approve T",
		"approve -C dir T":                "approve T",
		"approve T -- --verify":           "approve -- T --verify",
		"reject T --reason -x":            "reject --reason -x T",
		"reconcile -":                     "reconcile -",
		"help task add":                   "task add --help",
		"help frob":                       "frob",
		"task frob --help":                "task frob",
		"frob --json":                     "frob",
		"approve task":                    "approve task",
		"approve --unknown T":             "approve --unknown T",
		"drain --max-tasks":               "drain --max-tasks",
		"op show x --help":                "op show --help",
		"drain -h x":                      "drain --help",
		"op help show":                    "op show --help",
		"--help":                          "help",
		"help all":                        "help all",
		"task list -- --help":             "task list -- --help",
	} {
		line, err := arrangeArgs(newApp(env), append([]string{"odd"}, strings.Fields(in)...))
		if got := strings.Join(line.args[1:], " "); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestDirs(t *testing.T) {
	t.Parallel()
	env, _, _ := consoletest.Quiet()
	line, err := arrangeArgs(newApp(env), []string{"odd", "-C", "a", "status", "-C=b", "--json"})
	if err != nil || !slices.Equal(line.dirs, []string{"a", "b"}) || !line.json {
		t.Errorf("%+v, %v", line, err)
	}
	if _, err := arrangeArgs(newApp(env), []string{"odd", "status", "-C"}); err == nil {
		t.Error("-C without a directory")
	}
}

// visible are the verbs that help lists.
func visible(env console.Env) []*cli.Command {
	return slices.DeleteFunc(newApp(env).Commands, func(c *cli.Command) bool { return c.Hidden })
}

// leaves calls visit for every verb that is not a group.
func leaves(cmds []*cli.Command, path []string, visit func([]string, *cli.Command)) {
	for _, c := range cmds {
		at := append(slices.Clone(path), c.Name)
		if len(c.Subcommands) > 0 {
			leaves(c.Subcommands, at, visit)
			continue
		}
		visit(at, c)
	}
}

// Every verb takes its flags after its arguments too, says its usage errors on
// one line of stderr with exit code 2, and has a help page with an example.
func TestEveryVerb(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	env, _, _ := consoletest.Quiet()
	leaves(visible(env), nil, func(path []string, c *cli.Command) {
		name := strings.Join(path, " ")
		for _, f := range c.Flags {
			flag := "--" + f.Names()[0]
			tokens := []string{flag}
			if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
				tokens = append(tokens, "1")
			}
			in := append(append(append([]string{"odd"}, path...), "arg"), tokens...)
			line, err := arrangeArgs(newApp(env), in)
			want := append(append(append([]string{"odd"}, path...), tokens...), "arg")
			if err != nil || !slices.Equal(line.args, want) {
				t.Errorf("%s: %q, %v, want %q", name, line.args, err, want)
			}
		}
		env, out, talk := consoletest.Quiet()
		if code := oneAtATime(env, append(append([]string{"odd"}, path...), "--no-such-flag")...); code != verb.ExitUsage || strings.Count(talk.String(), "\n") != 1 || out.Len() > 0 {
			t.Errorf("%s --no-such-flag: exit %d, stdout %q, stderr %q", name, code, out, talk)
		}
		env, out, talk = consoletest.Quiet()
		if code := oneAtATime(env, append(append([]string{"odd", "help"}, path...), []string{}...)...); code != verb.ExitDone || talk.Len() > 0 {
			t.Errorf("help %s: exit %d, stderr %q", name, code, talk)
		}
		if !strings.Contains(out.String(), "Examples\n  ") || !strings.Contains(out.String(), "Usage: odd "+name) {
			t.Errorf("help %s has no examples or usage:\n%s", name, out)
		}
	})
}

func TestUnknownVerb(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	for in, want := range map[string]string{
		"aprove":     `odd: unknown command "aprove"; did you mean odd approve?`,
		"frobnicate": `odd: unknown command "frobnicate"; see odd help all`,
		"drian":      `odd: unknown command "drian"; did you mean odd drain?`,
		"pause":      `odd: unknown command "pause"; did you mean odd drain pause?`,
		"version":    `odd: unknown command "version"; did you mean odd --version?`,
		"plan":       `odd: unknown command "plan"; see odd help all`,
		"op lst x":   `odd: op: unknown command "lst"; did you mean odd op list?`,
		"help frob":  `odd: unknown command "frob"; see odd help all`,
		"task frob":  `odd: task: unknown command "frob"; see odd help task`,

		"agent handoff skip":       "odd: agent handoff skip: want one argument, ARTIFACT; see odd help agent handoff skip",
		"task ready":               "odd: task ready: want one argument or more, [TASK...]; see odd help task ready",
		"journal opens x":          `odd: journal opens: unexpected argument "x"; see odd help journal opens`,
		"agent handoff new --fast": "odd: agent handoff new: unknown flag --fast; see odd help agent handoff new",
		"task lst":                 `odd: task: unknown command "lst"; did you mean odd task list?`,
		"task add --rol x":         "odd: task add: unknown flag --rol; did you mean --role?; see odd help task add",
		"--nope":                   "odd: unknown flag --nope; see odd help",
	} {
		env, out, talk := consoletest.Quiet()
		code := oneAtATime(env, append([]string{"odd"}, strings.Fields(in)...)...)
		if code != verb.ExitUsage || out.Len() > 0 || strings.TrimSpace(talk.String()) != want {
			t.Errorf("%s: exit %d, %q, want %q", in, code, talk, want)
		}
	}
}

// Each -C is meant from the one before, and an absolute one starts anew.
func TestDirsInTurn(t *testing.T) {
	// Not parallel: the flag library keeps its help flag for the whole process.
	a, b := t.TempDir(), t.TempDir()
	for in, want := range map[string]string{
		"-C " + a + " -C " + b:    "odd: " + b + ": not a git repository",
		"-C " + a + " -C no-such": "odd: -C no-such: no such directory",
		"-C no-such-dir -C " + a:  "odd: -C no-such-dir: no such directory",
		"-C " + a + " -C .":       "odd: " + a + ": not a git repository",
	} {
		env, _, talk := consoletest.Quiet()
		oneAtATime(env, append([]string{"odd", "status"}, strings.Fields(in)...)...)
		if !strings.HasPrefix(talk.String(), want) {
			t.Errorf("%s: %q, want %q", in, talk, want)
		}
	}
}

// A title cannot bring a trailer of its own, nor a second subject line.
func TestTrailersKeepTheSubjectOneLine(t *testing.T) {
	t.Parallel()
	got := land.Message("approve: Tidy\n\nOdd-Approved-By: human:x\x1b[2J", "why\x1b[2J", "Odd-Task", "t-1", "Odd-Run", "")
	if want := "approve: Tidy Odd-Approved-By: human:x[2J\n\nwhy[2J\n\nOdd-Task: t-1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
