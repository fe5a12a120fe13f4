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

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
)

// commandLine is what a person typed, put in the order the flag library needs.
type commandLine struct {
	args    []string // program, verb path, flags, "--", arguments
	verb    string   // the verb path, blanks between
	dirs    []string // the values of -C, in order
	json    bool
	noPager bool
	open    *completionRequest // asks for a completion, and for nothing else
}

// arrangeArgs moves flags in front of arguments, because urfave/cli v2 takes every
// flag after the first argument for an argument, silently. "--" ends flags.
func arrangeArgs(a *cli.App, args []string) (commandLine, error) {
	if last := len(args) - 1; last > 0 && args[last] == completionFlag {
		return unfinishedLine(a, args[1:last]), nil
	}
	args = helpFlag(args)
	r := reader{cmds: a.Commands, left: args[1:]}
	for len(r.left) > 0 {
		if err := r.readToken(r.nextToken()); err != nil {
			return r.line, err
		}
	}
	r.line.args, r.line.verb = append(args[:1:1], r.orderArguments()...), strings.Join(r.path, " ")
	return r.line, nil
}

// reader sorts the tokens of a command line.
type reader struct {
	left              []string // not read yet
	path, flags, rest []string
	cur               *cli.Command   // the verb so far
	cmds              []*cli.Command // the verbs that may follow
	line              commandLine
}

func (r *reader) nextToken() string {
	t := r.left[0]
	r.left = r.left[1:]
	return t
}

func (r *reader) readToken(t string) error {
	switch {
	case t == "--":
		r.rest, r.left = append(r.rest, r.left...), nil
	case t == "-C" || strings.HasPrefix(t, "-C="):
		v, ok := strings.CutPrefix(t, "-C=")
		if !ok && len(r.left) == 0 {
			return usage("-C needs a directory; see odd help")
		}
		if !ok {
			v = r.nextToken()
		}
		r.line.dirs = append(r.line.dirs, v)
		return nil
	case t == "--no-pager":
		r.line.noPager = true
	case len(t) > 1 && t[0] == '-':
		r.flags = append(r.flags, t)
		r.line.json = r.line.json || t == "--json" || t == "-json"
		if takesValue(r.cur, r.cmds, t) && len(r.left) > 0 {
			r.flags = append(r.flags, r.nextToken())
		}
	default:
		r.readWord(t)
	}
	return nil
}

func (r *reader) readWord(t string) {
	if t == "help" && len(r.cmds) > 0 && len(r.path) > 0 && len(r.rest) == 0 { // odd task help add
		r.flags = append(r.flags, "--help")
		return
	}
	if c := commandNamed(r.cmds, t); c != nil && len(r.rest) == 0 {
		r.path, r.cur, r.cmds = append(r.path, t), c, c.Subcommands
		return
	}
	r.rest = append(r.rest, t)
}

// orderArguments returns the verb, its flags, its arguments. Where no verb was named right,
// flags give way to the message that says so.
func (r *reader) orderArguments() []string {
	if slices.ContainsFunc(r.flags, func(f string) bool { return f == "--help" || f == "-help" || f == "-h" }) {
		switch {
		case r.cur == nil && len(r.rest) == 0:
			return []string{"help"}
		case r.cur != nil && (len(r.rest) == 0 || len(r.cmds) == 0 || r.cur.UsageText != ""):
			return append(r.path, "--help") // whatever arguments were typed
		}
	}
	if own := r.cur != nil && r.cur.ArgsUsage != ""; len(r.rest) > 0 && len(r.cmds) > 0 && !own {
		r.flags = nil
	}
	out := append(r.path, r.flags...)
	if slices.ContainsFunc(r.rest, func(s string) bool { return strings.HasPrefix(s, "-") && s != "-" }) {
		out = append(out, "--")
	}
	return append(out, r.rest...)
}

// helpFlag turns "help task add" into "task add --help", so that help has one
// page a verb and an unknown verb one message.
func helpFlag(args []string) []string {
	if len(args) < 3 || args[1] != "help" || args[2] == "all" || args[2] == "help" {
		return args
	}
	return append(append([]string{args[0]}, args[2:]...), "--help")
}

func commandNamed(cmds []*cli.Command, name string) *cli.Command {
	for _, c := range cmds {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// takesValue reports whether the flag token t consumes the next token: a
// non-boolean flag of the verb so far, or of a verb that may still follow.
func takesValue(cur *cli.Command, cmds []*cli.Command, t string) bool {
	name := strings.TrimLeft(t, "-")
	if strings.Contains(name, "=") {
		return false
	}
	var flags []cli.Flag
	if cur != nil {
		flags = append(flags, cur.Flags...)
	}
	for _, c := range cmds {
		flags = append(flags, c.Flags...)
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}

// unknownVerb names a verb that is not among cmds, and the ones a person may have
// meant: the nearest there, or the only one of that name elsewhere in the tree. Behind is
// the verb above it, "" for none.
func unknownVerb(a *cli.App, name string, cmds []*cli.Command, behind string) error {
	var names []string
	for _, c := range cmds {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	where := ""
	if behind != "" {
		where = behind + ": "
	}
	text := fmt.Sprintf("%sunknown command %q", where, name)
	if near := okf.Nearest(name, names); near != "" {
		return usage("%s; did you mean odd %s?", text, strings.TrimLeft(behind+" "+near, " "))
	}
	if same := verbsNamed(a.Commands, "", name); len(same) == 1 {
		return usage("%s; did you mean odd %s?", text, same[0])
	}
	if behind == "drain" {
		return usage("%s; to run one task: odd drain --task %s", text, name)
	}
	if behind == "" && slices.ContainsFunc(a.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) && len(name) > 1 }) {
		return usage("%s; did you mean odd --%s?", text, name)
	}
	if behind == "" {
		behind = "all"
	}
	return usage("%s; see odd help %s", text, behind)
}

// verbsNamed returns the verbs of one name below cmds, as a person types them behind odd.
func verbsNamed(cmds []*cli.Command, above, name string) []string {
	var out []string
	for _, c := range cmds {
		if c.Name == name {
			out = append(out, above+c.Name)
		}
		out = append(out, verbsNamed(c.Subcommands, above+c.Name+" ", name)...)
	}
	return out
}

// unknownFlag returns what to say of a flag that c does not have.
func unknownFlag(c *cli.Context, typed string) string {
	var names []string
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			names = append(names, f.Names()...)
		}
	}
	if near := okf.Nearest(strings.TrimLeft(typed, "-"), names); near != "" {
		return "unknown flag " + typed + "; did you mean --" + near + "?"
	}
	if c.Command != nil && strings.HasSuffix(c.Command.ArgsUsage, "...") {
		return "unknown flag " + typed + "; if it is a value, put -- before the values"
	}
	return "unknown flag " + typed
}

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
	return textVerb("completion bash|zsh|fish", "print a completion script for bash, zsh or fish",
		"source <(odd completion bash)    # in ~/.bashrc\n"+
			"source <(odd completion zsh)     # in ~/.zshrc, after compinit\n"+
			"odd completion fish | source     # in ~/.config/fish/config.fish",
		do(env, runCompletion))
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
		for _, f := range flags {
			name, what, _ := strings.Cut(fmt.Sprint(f), "\t")
			if name, _, _ = strings.Cut(name, " "); strings.HasPrefix(name, "-") {
				printOffer(env, name, what)
			}
		}
		printOffer(env, "--help", "show help")
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
	for _, word := range fixedWords.FindAllString(cur.ArgsUsage, -1) {
		for word := range strings.SplitSeq(word, "|") {
			printOffer(env, word, "")
		}
	}
	offerNames(ctx, env, cur)
}

// offerNames offers what the argument of a verb may name, by the word for it in the usage. A
// completion has nobody to tell what is wrong.
func offerNames(ctx context.Context, env Env, verb *cli.Command) {
	word := strings.Trim(verb.ArgsUsage, "[].")
	word, _, _ = strings.Cut(word, " ")
	switch word {
	case "TASK":
		v, err := openTasks(ctx, env)
		if err != nil {
			return
		}
		for _, t := range v.taskRows() {
			if takesTask(verb.Name, t.State) {
				printOffer(env, string(t.ID), t.Title)
			}
		}
	case "ATOM", "REF", "ROLE", "NAME[@VERSION":
		b, err := source{}.loadBundle(ctx, env)
		if err != nil {
			return
		}
		if word == "NAME[@VERSION" {
			for _, p := range contract.LoadRoster(b.graph).Profiles {
				printOffer(env, p.Ref(), "")
			}
			return
		}
		for _, a := range b.graph.Atoms() {
			if word != "ROLE" || strings.EqualFold(a.Type, "role") {
				printOffer(env, string(a.ID), a.Title)
			}
		}
	}
}

// fixedWords are the words of a usage that are typed as they stand: bash|zsh|fish.
var fixedWords = regexp.MustCompile(`\b[a-z-]+(\|[a-z-]+)+\b`)

// takesMore reports that a verb of this usage takes another argument.
func (u *completionRequest) takesMore(usage string) bool {
	return len(u.given) < len(strings.Fields(usage)) || strings.Contains(usage, "…") || strings.Contains(usage, "...")
}

func printOffer(env Env, word, what string) { fmt.Fprintf(env.Stdout, "%s\t%s\n", word, cell(what)) }
