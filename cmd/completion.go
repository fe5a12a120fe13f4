package cmd

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// The scripts ask odd itself what may come next, by completionFlag, and leave it to the
// shell to offer files where odd knows nothing.
const bashScript = `# odd completion for bash: source <(odd completion bash)
_odd_complete() {
  local cur=${COMP_WORDS[COMP_CWORD]} word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do # compgen -W would run the words that say $(…)
    printf -v word %q "$word"
    COMPREPLY+=("$word")
  done < <("${COMP_WORDS[@]:0:$COMP_CWORD}" "$cur" --generate-bash-completion 2>/dev/null)
}
complete -o bashdefault -o default -F _odd_complete odd
`

const zshScript = `#compdef odd
# odd completion for zsh, behind compinit: source <(odd completion zsh)
_odd() {
  local word what
  local -a offers
  while IFS=$'\t' read -r word what; do
    offers+=("${word//:/\\:}${what:+:$what}")
  done < <("${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" --generate-bash-completion 2>/dev/null)
  if (( $#offers )); then
    _describe odd offers
  else
    _files
  fi
}
if [[ $funcstack[1] == _odd ]]; then
  _odd "$@"
else
  compdef _odd odd
fi
`

const fishScript = `# odd completion for fish: odd completion fish | source
function __odd_complete
    set -l words (commandline -opc)
    set -l offers (command $words (commandline -ct) --generate-bash-completion 2>/dev/null)
    if set -q offers[1]
        printf '%s\n' $offers
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c odd -f -a '(__odd_complete)'
`

func completion(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "completion",
		Usage:     "print a completion script for bash, zsh or fish",
		ArgsUsage: "bash|zsh|fish",
		Description: "source <(odd completion bash)    # in ~/.bashrc\n" +
			"source <(odd completion zsh)     # in ~/.zshrc, after compinit\n" +
			"odd completion fish | source     # in ~/.config/fish/config.fish",
		Action: one("a shell", do(env, runCompletion)),
	})
}

func runCompletion(c *cli.Context, env Env) error {
	shell := c.Args().First()
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	if script == "" {
		return usage("completion: unknown shell %q; one of bash, zsh, fish", shell)
	}
	_, err := fmt.Fprint(env.Stdout, script)
	return err
}
