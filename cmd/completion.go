package cmd

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
)

const bashScript = `# odd completion for bash: source <(odd completion bash)
_odd_complete() {
  local cur=${COMP_WORDS[COMP_CWORD]} flag=() word
  [[ $cur == -* ]] && flag=${cur#-} && flag=("-${flag#-}")
  COMPREPLY=()
  while IFS= read -r word; do # compgen -W would run the words that say $(…)
    printf -v word %q "$word"
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done < <("${COMP_WORDS[@]:0:$COMP_CWORD}" "${flag[@]}" --generate-bash-completion 2>/dev/null)
}
complete -o bashdefault -o default -F _odd_complete odd
`

const zshScript = `#compdef odd
# odd completion for zsh: source <(odd completion zsh)
_odd() {
  local -a words_so_far opts
  words_so_far=("${(@)words[1,CURRENT-1]}")
  [[ $words[CURRENT] == -* ]] && words_so_far+=("-${${words[CURRENT]#-}#-}")
  opts=("${(@f)$(${words_so_far} --generate-bash-completion 2>/dev/null)}")
  _describe 'odd' opts
}
compdef _odd odd
`

// completeTasks completes an argument with the tasks in any of states, or with all.
func completeTasks(env Env, states ...board.State) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		cli.DefaultCompleteWithFlags(c.Command)(c)
		v, err := openTasks(c.Context, env)
		if err != nil {
			return // a completion has nobody to tell
		}
		for _, t := range v.rows() {
			if len(states) == 0 || slices.Contains(states, t.State) {
				fmt.Fprintln(env.Stdout, t.ID)
			}
		}
	}
}

func completion(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "completion",
		Usage:       "print a completion script for bash, zsh or fish",
		ArgsUsage:   "bash|zsh|fish",
		Description: "source <(odd completion bash)",
		Action: func(c *cli.Context) error {
			shell, err := oneArg(c, "a shell")
			if err != nil {
				return err
			}
			return runCompletion(env, c.App, shell)
		},
	})
}

func runCompletion(env Env, app *cli.App, shell string) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript}[shell]
	if shell == "fish" {
		s, err := app.ToFishCompletion()
		if err != nil {
			return err
		}
		script = s
	}
	if script == "" {
		return usage("completion: unknown shell %q; one of bash, zsh, fish", shell)
	}
	_, err := fmt.Fprint(env.Stdout, script)
	return err
}

func versionVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "version",
		Usage:       "print odd's version",
		Description: "odd version",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			if c.Bool("json") {
				return printJSON(env, map[string]string{"version": version()})
			}
			_, err := fmt.Fprintln(env.Stdout, "odd", version())
			return err
		},
	})
}
