package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
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

func completionVerb(env Env) *cli.Command {
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

// completionFlag, behind a command line whose last word is not typed to its end, asks
// what that word may be. The answer is a line each: the word, a tab, what it is.
const completionFlag = "--generate-bash-completion"

// completionRequest is a command line that asks for a completion.
type completionRequest struct {
	path  []string // the verbs that are there
	given []string // and the arguments
	word  string   // what is there of the last word
	value bool     // which is that of a flag
	help  bool     // and the page of help is asked for
}

// unfinishedLine reads the words in front of completionFlag, and gives the values of -C too.
func unfinishedLine(a *cli.App, words []string) commandLine {
	u := &completionRequest{}
	if len(words) > 0 {
		u.word, words = words[len(words)-1], words[:len(words)-1]
	}
	if u.help = len(words) > 0 && words[0] == "help"; u.help {
		words = words[1:]
	}
	r := reader{cmds: a.Commands, left: words}
	for len(r.left) > 0 {
		t := r.nextToken()
		u.value = len(r.left) == 0 && (t == "-C" || strings.HasPrefix(t, "-") && takesValue(r.cur, r.cmds, t))
		_ = r.readToken(t) // a -C without its directory is the word that is asked for
	}
	u.path, u.given = r.path, r.rest
	r.line.open = u
	return r.line
}

// printOffers prints every word that may stand where the last one is, each once.
func (u *completionRequest) printOffers(ctx context.Context, env Env) error {
	var all bytes.Buffer
	out := env.Stdout
	env.Stdout = &all
	u.offerWords(ctx, env, newApp(env))
	told := map[string]bool{}
	for line := range strings.Lines(all.String()) {
		word, _, _ := strings.Cut(line, "\t")
		if told[word] || !strings.HasPrefix(word, u.word) {
			continue
		}
		told[word] = true
		if _, err := io.WriteString(out, line); err != nil {
			return err
		}
	}
	return nil
}

func (u *completionRequest) offerWords(ctx context.Context, env Env, a *cli.App) {
	var cur *cli.Command
	cmds, flags := a.Commands, a.Flags
	for _, name := range u.path {
		cur = commandNamed(cmds, name)
		cmds, flags = cur.Subcommands, cur.Flags
	}
	switch {
	case u.value: // the shell offers files
	case strings.HasPrefix(u.word, "-"):
		offerFlags(env, flags)
	case len(u.given) == 0:
		for _, c := range cmds {
			if !c.Hidden {
				printOffer(env, c.Name, c.Usage)
			}
		}
		if u.help && cur == nil {
			printOffer(env, "all", "list every command")
		}
	}
	if cur == nil || u.value || u.help || strings.HasPrefix(u.word, "-") || !u.takesMore(cur.ArgsUsage) {
		return
	}
	for _, word := range fixed.FindAllString(cur.ArgsUsage, -1) {
		for word := range strings.SplitSeq(word, "|") {
			printOffer(env, word, "")
		}
	}
	if cur.BashComplete != nil {
		c := cli.NewContext(a, nil, nil)
		c.Context = ctx
		cur.BashComplete(c)
	}
}

func offerFlags(env Env, flags []cli.Flag) {
	for _, f := range flags {
		name, what, _ := strings.Cut(fmt.Sprint(f), "\t")
		if name, _, _ = strings.Cut(name, " "); strings.HasPrefix(name, "-") {
			printOffer(env, name, what)
		}
	}
	printOffer(env, "--help", "show help")
}

// fixed are the words of a usage that are typed as they stand: bash|zsh|fish.
var fixed = regexp.MustCompile(`\b[a-z-]+(\|[a-z-]+)+\b`)

// takesMore reports that a verb of this usage takes another argument.
func (u *completionRequest) takesMore(usage string) bool {
	return len(u.given) < len(strings.Fields(usage)) || strings.Contains(usage, "…") || strings.Contains(usage, "...")
}

// printOffer tells a word that may come next, and what it is.
func printOffer(env Env, word, what string) { fmt.Fprintf(env.Stdout, "%s\t%s\n", word, cell(what)) }

// completeTasks completes an argument with the tasks in any of states, or with all.
func completeTasks(env Env, states ...board.State) cli.BashCompleteFunc {
	return func(c *cli.Context) {
		v, err := openTasks(c.Context, env)
		if err != nil {
			return // a completion has nobody to tell
		}
		for _, t := range v.taskRows() {
			if len(states) == 0 || slices.Contains(states, t.State) {
				printOffer(env, string(t.ID), t.Title)
			}
		}
	}
}
