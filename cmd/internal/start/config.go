package start

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/tasks"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
)

// ConfigVerb declares odd config.
func ConfigVerb(env console.Env) *cli.Command {
	return verb.Group("config", "list, explain, get and set the settings in odd.toml",
		"odd config list\n"+
			"odd config explain session.substrate\n"+
			"odd config set drain.max_tasks 3\n\n"+
			"These commands read and write odd.toml at the top of your work tree. odd works\n"+
			"by the odd.toml that is committed on the board branch: commit what you set.\n"+
			"odd config explain, without a key, prints every setting with its default.",
		verb.New("list", "list what odd.toml sets, or with --all every setting",
			"odd config list\nodd config list --all\n",
			verb.Do(env, runConfigList), &cli.BoolFlag{Name: "all", Usage: "list the settings that have their default too"}),
		verb.New("explain [KEY]", "say what a setting means; without KEY, print every setting",
			"odd config explain drain.lease\nodd config explain\n",
			verb.Do(env, runConfigExplain)),
		verb.New("get KEY", "print the value of a setting, or its default",
			"odd config get session.substrate\n\n"+
				"A text is printed without quotes, everything else as TOML. A setting that is\n"+
				"not set and has no default prints nothing; the exit code is then 1.",
			verb.Do(env, runConfigGet)),

		verb.New("set KEY VALUE...", "set a setting in odd.toml and change nothing else there",
			"odd config set session.max_usd 0.25\n"+
				"odd config set pipeline.validate make test\n"+
				"odd config set session.fallback claude openai\n"+
				"odd config set substrate.exec.argv -- ./agent.sh --fast\n\n"+
				"A text needs no quotes. The words of a list or a command follow each other, or\n"+
				"are one TOML list: '[\"a\", \"b\"]'. Put -- before words that begin with a dash.\n"+
				"odd reads the whole file before it writes and refuses a value that is wrong.\n"+
				"Not for sessions of agents.",
			verb.Do(env, runConfigEdit)),
		verb.New("unset KEY", "remove a setting from odd.toml, so that its default holds",
			"odd config unset drain.max_tasks\n",
			verb.Do(env, runConfigEdit)))
}

// setting is one setting as odd config --json tells it.
type setting struct {
	Key     string `json:"key"`
	Value   string `json:"value,omitempty"`   // as set
	Default string `json:"default,omitempty"` // in TOML
	Example string `json:"example,omitempty"` // of a setting without a default
	Line    int    `json:"line,omitempty"`    // of odd.toml, of one that is set
	Means   string `json:"means,omitempty"`
}

// settingsOf joins the settings of the reference with those that an odd.toml sets.
func settingsOf(docs []config.Doc, set []config.Setting) []setting {
	out := []setting{}
	for _, d := range docs {
		s := setting{Key: toml.Key(d.Path).String(), Means: d.Means}
		if d.Default {
			s.Default = d.Value
		} else {
			s.Example = d.Value
		}
		out = append(out, s)
	}
	for _, is := range set {
		i := slices.IndexFunc(out, func(s setting) bool { return s.Key == is.Key })
		if i < 0 {
			i, out = len(out), append(out, setting{Key: is.Key})
		}
		out[i].Value, out[i].Line = is.Value, is.Line
	}
	return out
}

func configFile(env console.Env) (*repo.Repo, []byte, error) {
	r, err := workspace.OpenRepo(env)
	if err != nil {
		return nil, nil, err
	}
	b, err := workspace.SettingsOfTree(r)
	return r, b, err
}

func runConfigList(c *cli.Context, env console.Env) error {
	_, b, err := configFile(env)
	if err != nil {
		return err
	}
	set, err := config.Settings("odd.toml", b)
	if err != nil {
		return err
	}
	var docs []config.Doc
	if c.Bool("all") {
		docs = config.Docs()
	}
	return console.ShowList(env, c.Bool("json"), settingsOf(docs, set), "", func(s setting) []string {
		where := "default"
		switch {
		case s.Line > 0:
			where = fmt.Sprintf("odd.toml:%d", s.Line)
		case s.Default == "":
			where = "not set; an example"
		}
		return []string{s.Key, cmp.Or(s.Value, s.Default+s.Example), where}
	})
}

func knownKey(name string) ([]string, config.Doc, error) {
	path, err := config.ParseKey(name)
	if err != nil {
		return nil, config.Doc{}, verb.Usage("config: %v", err)
	}
	d, ok := config.Explain(path)
	if !ok && len(config.Below(path)) > 0 {
		return nil, d, fmt.Errorf("config: %s is a section; odd config explain %[1]s lists its keys", name)
	}
	if !ok {
		return nil, d, fmt.Errorf("config: %s", config.Unknown(path))
	}
	return path, d, nil
}

func runConfigExplain(c *cli.Context, env console.Env) error {
	if c.NArg() == 0 {
		return console.ShowText(env, c.Bool("json"), settingsOf(config.Docs(), nil), config.Reference())
	}
	name := c.Args().First()
	table, _ := config.ParseKey(name)
	if docs := config.Below(table); table != nil && len(docs) > 0 {
		return console.ShowList(env, c.Bool("json"), settingsOf(docs, nil), "", func(s setting) []string { return []string{s.Key, s.Means} })
	}
	path, d, err := knownKey(name)
	if err != nil {
		return err
	}
	var set []config.Setting
	if _, b, err := configFile(env); err == nil { // the meaning of a key needs no repository
		set, _ = config.Settings("odd.toml", b)
	}
	key := toml.Key(path).String()
	set = slices.DeleteFunc(set, func(s config.Setting) bool { return s.Key != key })
	s := settingsOf([]config.Doc{d}, set)[0]
	page := fmt.Sprintf("%s: %s\n", key, d.Means)
	if d.About != "" {
		page += fmt.Sprintf("[%s] %s\n", toml.Key(path[:len(path)-1]), d.About)
	}
	page += map[bool]string{true: "default: " + s.Default, false: "example: " + s.Example}[s.Default != ""] + "\n"
	if s.Line > 0 {
		page += fmt.Sprintf("here:    %s (odd.toml:%d)\n", s.Value, s.Line)
	}
	return console.ShowPage(env, c.Bool("json"), s, page)
}

func runConfigGet(c *cli.Context, env console.Env) error {
	_, b, err := configFile(env)
	if err != nil {
		return err
	}
	set, err := config.Settings("odd.toml", b)
	if err != nil {
		return err
	}
	name := c.Args().First()
	path, bad := config.ParseKey(name)
	if i := slices.IndexFunc(set, func(s config.Setting) bool { return s.Key == name || bad == nil && toml.Key(path).String() == s.Key }); i >= 0 {
		return console.ShowText(env, c.Bool("json"), set[i], console.Cell(set[i].Plain())+"\n")
	}
	path, d, err := knownKey(name)
	if err != nil {
		return err
	}
	if !c.Bool("json") && !d.Default {
		console.Talk(env, "%s: not set, and it has no default; odd config explain %[1]s says what it is", toml.Key(path))
		return verb.ExitCode(verb.ExitFault)
	}
	return console.Show(env, c.Bool("json"), settingsOf([]config.Doc{d}, nil)[0], []string{strings.Trim(d.Value, `"`)})
}

// runConfigEdit sets the key to the value that the words behind it are, or unsets it.
func runConfigEdit(c *cli.Context, env console.Env) error {
	unset, words := c.Command.Name == "unset", c.Args().Tail()
	path, _, err := knownKey(c.Args().First())
	if err != nil {
		return err
	}
	if why := env.AgentSign(); why != "" {
		return verb.Refuse("not-a-person", "odd.toml: agents' sessions do not change it, and this looks like one (%s); a person sets %s", why, toml.Key(path))
	}
	if path[0] == "mcp" {
		return verb.Usage("config: the servers of [[mcp]] are edited in odd.toml itself; odd config explain %s says what a key means", toml.Key(path))
	}
	r, b, err := configFile(env)
	if err != nil {
		return err
	}
	var out []byte
	value := ""
	if unset {
		if set, err := config.Settings("odd.toml", b); err == nil && !slices.ContainsFunc(set, func(s config.Setting) bool { return s.Key == toml.Key(path).String() }) {
			return fmt.Errorf("odd.toml: %s is not set there, so there is nothing to remove", toml.Key(path))
		}
		out, err = config.Unset("odd.toml", b, path)
	} else {
		if config.ListsCommands(path) && len(words) == 1 && !strings.HasPrefix(words[0], "[[") {
			if words, err = tasks.SplitCommand("config set "+toml.Key(path).String(), words[0]); err != nil {
				return err
			}
		}
		value = config.Literal(path, words)
		out, err = config.Set("odd.toml", b, path, value)
	}
	if err != nil {
		return err
	}
	if err := r.Write(repo.Changes{"odd.toml": out}); err != nil {
		return err
	}
	key := toml.Key(path).String()
	if !c.Bool("json") {
		console.Talk(env, "odd works by what is committed on the board branch: git commit -m \"odd: %s\" odd.toml", key)
	}
	return console.Show(env, c.Bool("json"), setting{Key: key, Value: value}, []string{key, cmp.Or(value, "unset")})
}
