package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/anchors"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/governance"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/tasks"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/okf/served"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/mcp"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/persona/session/servers"
	"github.com/odd-cli/odd/reconcile/policy"
)

// MCPVerb declares odd mcp.
func MCPVerb(env console.Env) *cli.Command {
	return verb.Declare(&cli.Command{
		Name:  "mcp",
		Usage: "serve the atoms to agents as an MCP server",
		Description: "odd mcp\n" +
			"odd mcp --at HEAD\n\n" +
			"MCP is the Model Context Protocol. Put this into the settings of an MCP\n" +
			"client; it talks to odd on stdin and stdout:\n" +
			"{\"mcpServers\": {\"odd\": {\"command\": \"odd\", \"args\": [\"mcp\"]}}}\n\n" +
			"The tools only read. With --session or the variable ODD_ANCHOR, and while the\n" +
			"permit of that session is valid (odd help anchor), the tool task_propose also\n" +
			"adds tasks to the backlog.",
		Subcommands: []*cli.Command{
			verb.New("servers [SERVER]", "list or test the MCP servers whose tools agents get",
				"odd mcp servers\n"+
					"odd mcp servers --check\n"+
					"odd mcp servers notes --call mcp_notes_search --args '{\"query\": \"tide\"}'\n\n"+
					"[[mcp]] in odd.toml configures a server. --check starts each one as an agent's\n"+
					"session would, lists its tools under their names in odd, and says which are\n"+
					"left out and why. Exit 1: a server does not work.",
				verb.On(env, workspace.Open, runServers),
				&cli.BoolFlag{Name: "check", Usage: "start the servers and list their tools"},
				&cli.StringFlag{Name: "call", Usage: "start the servers and call `TOOL`, by the name that --check lists"},
				&cli.StringFlag{Name: "args", Value: "{}", Usage: "with --call, pass this `JSON` object"})},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "serve the atoms from commit `REV` instead of the working tree"},
			verb.BundleFlag(),
			&cli.StringFlag{Name: "session", Usage: "let the anchor session `TOKEN` also add tasks, see above"},
		},
		Action: verb.Do(env, runMCP),
	})
}

func runMCP(c *cli.Context, env console.Env) error {
	src := workspace.SourceOf(c)
	if c.IsSet("session") && src.Rev != "" {
		return verb.Usage("mcp: --at serves a past commit, which cannot be changed; leave out --session")
	}
	session := cmp.Or(c.String("session"), env.Getenv("ODD_ANCHOR"))
	if src.Rev != "" {
		session = ""
	}
	k, err := openKnowledge(c.Context, env, src, session)
	if err != nil {
		return err
	}
	if env.Terminal {
		console.Talk(env, "mcp: waiting for JSON-RPC on stdin; an MCP client starts this command, and odd help mcp shows how to configure one")
	}
	return mcp.New(k.newWorld()).Run(c.Context, mcp.Stdio(env.Stdin, env.Stdout))
}

func runServers(c *cli.Context, env console.Env, w *workspace.Clone) error {
	if c.IsSet("args") && !c.IsSet("call") {
		return verb.Usage("mcp servers: --args is for --call")
	}
	only := c.Args().First()
	w.Config.Servers = slices.DeleteFunc(slices.Clone(w.Config.Servers), func(s config.Server) bool { return only != "" && s.Name != only })
	switch {
	case only != "" && len(w.Config.Servers) == 0:
		return fmt.Errorf("mcp servers: odd.toml has no [[mcp]] with name = %q; odd mcp servers lists them", only)
	case c.Bool("check") || c.String("call") != "":
		return tryServers(c, w)
	}
	nothing := "odd.toml names no MCP server; add one with an [[mcp]] table"
	return console.ShowList(env, c.Bool("json"), listServers(w.Config), nothing, func(s listedServer) []string {
		return []string{s.Name, s.At, s.When, s.Roles, strings.Join(s.Tools, " ")}
	})
}

type listedServer struct {
	Name     string   `json:"name"`
	At       string   `json:"at"`   // its command or its address
	When     string   `json:"when"` // operational, or for which tasks
	Roles    string   `json:"roles"`
	Tools    []string `json:"tools"`
	Required bool     `json:"required"`
}

func listServers(cfg config.Config) []listedServer {
	var out []listedServer
	for _, s := range cfg.Servers {
		one := listedServer{s.Name, cmp.Or(s.URL, strings.Join(s.Argv, " ")), s.When, "all but validator", s.Tools, s.Required}
		if len(s.Roles) > 0 {
			one.Roles = strings.ReplaceAll(console.JoinWords(s.Roles), ",", "")
		}
		if s.When == config.TaskRelevant {
			one.When = strings.Join(append([]string{s.When}, s.Kinds...), " ")
			for _, tag := range s.Tags {
				one.When += " #" + tag
			}
		}
		out = append(out, one)
	}
	return out
}

func tryServers(c *cli.Context, w *workspace.Clone) error {
	base, err := runs.Options(w)
	if err != nil {
		return err
	}
	head, err := w.Repo.Resolve(c.Context, "HEAD")
	if err != nil {
		return err
	}
	set, end, err := base.TryServers(c.Context, w.Repo, w.Config, head, agent.Specs(w.Config, w.Env.Cage.Home))
	if err != nil {
		return err
	}
	defer end()
	if c.String("call") != "" {
		return callTool(c, w.Env, set)
	}
	uses := set.Uses()
	var rows [][]string
	if !c.Bool("json") {
		rows = toolRows(w.Env, uses, set.Tools())
	}
	return verb.OrFault(console.Show(w.Env, c.Bool("json"), console.OrEmpty(uses), rows...), slices.ContainsFunc(uses, func(u servers.Use) bool { return u.Code != "" }))
}

func toolRows(env console.Env, uses []servers.Use, tools []session.Tool) [][]string {
	var rows [][]string
	for _, u := range uses {
		if u.Code != "" {
			rows = append(rows, []string{u.Name, "-", "lost", u.Detail + " [" + u.Code + "]"})
		}
		for _, t := range tools {
			if slices.Contains(u.Tools, t.Name) {
				does := "reads"
				if t.Mutates {
					does = "changes"
				}
				rows = append(rows, []string{u.Name, t.Name, does, u.Held})
			}
		}
		for _, n := range u.Notes {
			console.Talk(env, "mcp servers: %s: %s", u.Name, n)
		}
		if u.Hash != "" {
			console.Talk(env, "mcp servers: %s says it is %q; %s; list_sha256 %s", u.Name, u.Says, console.CountNoun(len(u.Tools), "tool"), u.Hash)
		}
	}
	return rows
}

func callTool(c *cli.Context, env console.Env, set *servers.Set) error {
	call := c.String("call")
	tools := set.Tools()
	i := slices.IndexFunc(tools, func(t session.Tool) bool { return t.Name == call })
	if i < 0 {
		for _, u := range set.Uses() {
			if u.Code != "" {
				console.Talk(env, "mcp servers: %s does not work: %s [%s]", u.Name, u.Detail, u.Code)
			}
		}
		return fmt.Errorf("mcp servers: there is no tool %q; odd mcp servers --check lists the tools there are", call)
	}
	text, err := tools[i].Run(c.Context, json.RawMessage(c.String("args")))
	var no *policy.Refusal
	switch {
	case errors.As(err, &no):
		return &policy.Refusal{Code: no.Code, Why: "mcp servers: " + call + ": " + no.Why, Remedy: no.Remedy}
	case err != nil:
		return fmt.Errorf("mcp servers: %s: %w", call, err)
	}
	_, err = fmt.Fprintln(env.Stdout, text)
	return err
}

// knowledgeServer is the one bundle that a server serves.
type knowledgeServer struct {
	env     console.Env
	src     workspace.Source // rev is a commit's id, or ""
	session string
}

// openKnowledge finds the bundle and reads no atom of it yet, so that a client
// waits for no more than its first question takes.
func openKnowledge(ctx context.Context, env console.Env, src workspace.Source, session string) (*knowledgeServer, error) {
	b, err := src.Locate(ctx, env)
	src.Rev = string(b.Commit)
	return &knowledgeServer{env: env, src: src, session: session}, err
}

func (k *knowledgeServer) newWorld() mcp.World {
	return mcp.World{
		Version: console.Version(),
		Graph: func(ctx context.Context) (*okf.Graph, error) {
			s, err := k.src.Load(ctx, k.env)
			return s.Graph, err
		},
		Compile: func(ctx context.Context, role string) (mcp.Compiled, error) {
			s, err := k.src.Load(ctx, k.env)
			if err != nil {
				return mcp.Compiled{}, err
			}
			p, err := atoms.CompileRole(s, role)
			return mcp.Compiled{Persona: p, Graph: s.Graph}, err
		},
		Profile: k.readProfile,
		Context: k.readContext,
		Board:   k.listBoard,
		Propose: k.proposeTask,
		Desk:    k.openDesk,
	}
}

// readProfile returns a persona profile with the text of its system prompt, where the
// bundle has that.
func (k *knowledgeServer) readProfile(ctx context.Context, ref string) (mcp.Profile, error) {
	s, err := k.src.Load(ctx, k.env)
	if err != nil {
		return mcp.Profile{}, err
	}
	p, err := contract.LoadRoster(s.Graph).Find(ref)
	if err != nil {
		return mcp.Profile{}, err
	}
	out := mcp.Profile{Name: p.Ref(), URI: p.SystemPromptURI}
	if a := s.Graph.ByPath(p.Path); a != nil {
		out.Fact = served.FactOf(a)
	}
	if at, err := s.Graph.Resolve(p.SystemPromptURI); err == nil && p.SystemPromptURI != "" && at.Atom != nil {
		out.Prompt = string(at.Atom.Body())
	}
	return out, nil
}

// openView returns the board of the served bundle: as a person sees it, or as a commit
// has it.
func (k *knowledgeServer) openView(ctx context.Context) (*workspace.Board, error) {
	if k.src.Dir != "" {
		return nil, verb.Refuse("no-board", "odd mcp --bundle %s serves files without tasks; start odd mcp without --bundle", k.src.Dir)
	}
	if k.src.Rev == "" {
		return workspace.OpenCurrent(ctx, k.env)
	}
	w, err := workspace.Open(ctx, k.env)
	if err != nil {
		return nil, err
	}
	v, err := w.OpenTip(ctx, false)
	if err != nil {
		return nil, err
	}
	v.Tip = repo.OID(k.src.Rev)
	return v, v.ReadTip()
}

func (k *knowledgeServer) readContext(ctx context.Context, task string) (any, string, error) {
	v, err := k.openView(ctx)
	if err != nil {
		return nil, "", err
	}
	c, err := governance.RememberContext(ctx, v, task)
	return c, c.Markdown(), err
}

func (k *knowledgeServer) listBoard(ctx context.Context, q mcp.BoardQuery) ([]mcp.BoardTask, error) {
	v, err := k.openView(ctx)
	if err != nil {
		return nil, err
	}
	var out []mcp.BoardTask
	list, row := tasks.ShownTasks(v, q.State, q.Done)
	for _, t := range list {
		r := row(t)
		out = append(out, mcp.BoardTask{Fact: served.FactOf(v.Graph.ByID(r.ID)), State: r.State, Priority: r.Priority, Kind: r.Kind, Role: r.Role, Waits: r.Waits})
	}
	return out, nil
}

// proposeTask files a task by the agent's identity, if the server's session holds a
// permit now.
func (k *knowledgeServer) proposeTask(ctx context.Context, f board.Filing) (mcp.Proposed, error) {
	f.By, f.At = "odd/"+console.Version(), k.env.Now()
	if err := board.CheckTitle(f.Title); err != nil {
		return mcp.Proposed{}, err
	}
	a, err := board.New(f)
	if err != nil {
		return mcp.Proposed{}, err
	}
	w, err := workspace.Open(ctx, k.env)
	if err != nil {
		return mcp.Proposed{}, err
	}
	file := filepath.ToSlash(filepath.Join(w.Config.Root, a.Path))
	role, err := k.permittedRole(ctx, file)
	if err != nil {
		return mcp.Proposed{}, err
	}
	build := func(v *workspace.Board) (repo.Changes, string, error) {
		return tasks.FileTask(v, "task_propose", a, "proposed by a session that is bound as "+role)
	}
	oid, err := land.Write(ctx, w, land.AsMachine, build)
	return mcp.Proposed{Task: a.ID, Path: file, State: string(board.Backlog), Commit: string(oid)}, err
}

// permittedRole asks whether the server's session is bound now, and as what. What
// the permit lets it write is about its own edits: a proposal is the board's. But
// a constitution that blocks the place blocks it here too.
func (k *knowledgeServer) permittedRole(ctx context.Context, file string) (role string, err error) {
	if k.session == "" {
		return "", verb.Refuse("read-only", "this MCP server is read-only; get write rights with odd anchor identity ROLE, and start odd mcp with --session TOKEN")
	}
	a, err := anchors.Open(ctx, k.env)
	if err != nil {
		return "", err
	}
	defer a.Close()
	v := a.Desk.HasValid(k.session, "")
	if !v.Valid || v.Permit == nil {
		return "", verb.Refuse("read-only", "the session of this MCP server is no longer valid [%s]; odd anchor verify says why", strings.Join(anchor.CodesOf(v.Errors), ", "))
	}
	p := *v.Permit
	p.Allow = nil
	if why, ok := p.Covers(file); !ok {
		return "", verb.Refuse("read-only", "%s", why)
	}
	return p.Role, nil
}

// openDesk returns the anchor's desk of the work tree that is served, and of no other.
func (k *knowledgeServer) openDesk(workingDir string) (anchor.Desk, func() error, error) {
	if !filepath.IsAbs(workingDir) {
		return anchor.Desk{}, nil, verb.Usage("working_dir: %s is not an absolute path", workingDir)
	}
	own, err := repo.Open(k.env.Dir, k.env.Environ)
	if err != nil {
		return anchor.Desk{}, nil, verb.Refuse("no-repository", "%s: not in the work tree of a git repository", k.env.Dir)
	}
	env := k.env
	env.Dir = workingDir
	a, err := anchors.Open(context.Background(), env)
	if err != nil {
		return anchor.Desk{}, nil, err
	}
	if a.Repo.Root() != own.Root() {
		_ = a.Close()
		return anchor.Desk{}, nil, verb.Refuse("other-tree", "working_dir: %s is not in the work tree that this server is for, %s", workingDir, own.Root())
	}
	return a.Desk, a.Close, nil
}
