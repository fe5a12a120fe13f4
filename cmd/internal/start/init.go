// Package start has the verbs for a new or an unknown repository: init, demo, status, doctor
// and config. NextStep is the line of odd help about what to do next.
package start

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/history"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/session/extract"
)

// InitVerb declares odd init.
func InitVerb(env console.Env) *cli.Command {
	return verb.New("init [DIR]", "set odd up here: odd.toml, a knowledge folder and a first task",
		"odd init\n"+
			"odd init --role \"Shore lead\" --docs docs --ci github\n\n"+
			"At a terminal, odd asks for roles, documents and agent that no flag names.\n"+
			"If the folder is not a git repository, odd runs git init. Files that exist\n"+
			"stay as they are. DIR is another folder to start in. Commit what odd wrote;\n"+
			"then odd drain runs the first task, which reads your documents.",
		verb.Do(env, runInit),
		&cli.StringSliceFlag{Name: "role", Usage: "add the role `NAME`; repeatable, default keeper"},
		&cli.StringSliceFlag{Name: "docs", Usage: "where documents are, `PATH`: a folder, a file or \"*.md\"; repeatable"},
		&cli.StringFlag{Name: "agent", Usage: "the agent, `NAME`: extract (offline, free), claude, acp, anthropic, openai, exec or replay"},
		&cli.StringFlag{Name: "monthly-usd", Usage: "what agents may spend in a month, `USD`; for an agent that can cost money"},
		&cli.StringFlag{Name: "ci", Usage: "add workflows for `FORGE`, which is github: check, and once you turn them on drain, sync, audit and pages"},
		&cli.BoolFlag{Name: "pr-template", Usage: "add a pull request template with the fields of a handoff"})
}

type initOptions struct {
	roles, docs    []string
	agent, monthly string
	remote         string // that the board is shared through, "" for none
	told           bool   // of documents that the built-in reader cannot read
	ci, template   bool
	json           bool
}

func runInit(c *cli.Context, env console.Env) error {
	ci := c.String("ci")
	if ci != "" && ci != "github" {
		return verb.Usage("init: --ci %s is not known; odd has workflows for github", ci)
	}
	o := initOptions{roles: c.StringSlice("role"), docs: c.StringSlice("docs"), agent: c.String("agent"), monthly: c.String("monthly-usd"),
		ci: ci != "", template: c.Bool("pr-template"), json: c.Bool("json")}
	at := env.AbsPath(c.Args().First())
	if err := ownTop(env, at, c.Args().First()); err != nil {
		return err
	}
	_, err := os.Lstat(at)
	absent := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	files, paths := os.DirFS(at), []string(nil)
	r, err := repo.Open(at, env.Environ)
	if err == nil && r.Root() != "" {
		files = os.DirFS(r.Root())
		if paths, err = r.WorkFiles(c.Context); err != nil {
			return err
		}
		if _, err := keepIgnored(c.Context, r, bundleRoot(r), []string{"odd.toml"}); err != nil { // before anybody answers questions
			return err
		}
	} else { // no repository yet
		if errors.Is(err, repo.ErrNotRepo) && !o.json {
			console.Talk(env, "no git repository is here: odd will run git init in %s", at)
		}
		top, _ := fs.Glob(files, "*")
		below, _ := fs.Glob(files, "*/*")
		paths = append(top, below...)
	}
	fresh := true
	if _, err := fs.Stat(files, "odd.toml"); err == nil {
		fresh = false
	}
	if err = o.askMissing(c.Context, env, files, paths, fresh); err != nil {
		if absent {
			err = errors.Join(err, os.Remove(at))
		}
		return err
	}
	return o.layOut(c.Context, env, at)
}

// layOut writes what there is to begin with at a folder, and says what comes next.
func (o initOptions) layOut(ctx context.Context, env console.Env, at string) error {
	r, err := repo.Open(at, env.Environ)
	made := errors.Is(err, repo.ErrNotRepo)
	if made {
		r, err = repo.Init(ctx, at, env.Environ)
	}
	if err != nil {
		return err
	}
	if r.Root() == "" {
		return verb.Refuse("bare", "%s: is a bare repository, which has no files to work on; make a clone with git clone %[1]s work, then odd init work", at)
	}
	if err := freeNames(r); err != nil {
		return err
	}
	paths, err := r.WorkFiles(ctx)
	if err != nil {
		return err
	}
	if len(o.docs) == 0 {
		o.docs = findDocuments(paths)
	}
	ch, err := starterFiles(ctx, r, o)
	if err != nil {
		return err
	}
	wrote, err := writeMissing(r, ch)
	if err != nil {
		return err
	}
	if err := foreignAttributes(ctx, env, r); err != nil {
		return err
	}
	if o.json {
		return console.PrintJSON(env, map[string]any{"root": r.Root(), "wrote": wrote, "git_init": made})
	}
	for _, name := range wrote {
		if _, err := fmt.Fprintln(env.Stdout, name); err != nil {
			return err
		}
	}
	if len(wrote) == 0 {
		console.Talk(env, "every file of odd init is here already; odd status shows what to do next")
		return nil
	}
	if slices.Contains(wrote, path.Join(bundleRoot(r), "tasks", firstTask)) {
		o.tellUnread(env, os.DirFS(r.Root()), paths)
		if others := describeOthers(paths, o.docs); others != "" {
			console.Talk(env, "the first task does not read %s; name what it shall read under inputs in %s, \"**/*.md\" for all", others, path.Join(bundleRoot(r), "tasks", firstTask))
		}
	}
	o.sayNext(env, r, wrote, ch)
	return nil
}

// sayNext tells a person what init wrote and which commands come next, in order.
func (o initOptions) sayNext(env console.Env, r *repo.Repo, wrote []string, ch repo.Changes) {
	root := bundleRoot(r)
	var add []string
	for _, name := range wrote {
		if top, _, _ := strings.Cut(name, "/"); !slices.Contains(add, top) {
			add = append(add, top)
		}
	}
	commit := "git add " + strings.Join(add, " ") + " && git commit -m \"odd: begin\""
	first := path.Join(root, "tasks", firstTask)
	if !slices.Contains(wrote, first) {
		if slices.ContainsFunc(wrote, func(name string) bool { return strings.HasPrefix(name, path.Join(root, "roles")+"/") }) {
			commit = "odd knowledge index && " + commit // it lists the new roles
		}
		console.Talk(env, "wrote the files above; commit them: %s; then odd status shows what to do next", commit)
		if slices.ContainsFunc(wrote, func(name string) bool { return strings.HasPrefix(name, ".github/workflows/") }) {
			console.Talk(env, "the first lines of each workflow say what it does and how it is turned on")
		}
		return
	}
	console.Talk(env, "wrote the files above: settings in odd.toml, knowledge and tasks as markdown in %s/. No file of yours was changed.", root)
	n := 0
	step := func(format string, args ...any) {
		n++
		console.Talk(env, "%d. %s", n, fmt.Sprintf(format, args...))
	}
	e := &examination{env: env, repo: r, cfg: configIn(os.DirFS(r.Root()))}
	e.checkAgents()
	for _, d := range e.all {
		if d.Level == faultLevel {
			step("%s; %s", d.Found, d.Mend)
		}
	}
	if len(o.docs) == 0 {
		step("in %s, set \"inputs\" to a file or folder of your documents", first)
	}
	if e.cfg.Remote != "" && slices.Contains(wrote, "odd.toml") {
		console.Talk(env, "odd.toml sets [board] remote = %q, because jobs must share the tasks: odd then pushes what it commits; odd config unset board.remote tries it in this clone alone", e.cfg.Remote)
		commit += " && git push " + e.cfg.Remote + " HEAD"
	}
	step("commit them:  %s", commit)
	run := "odd drain"
	if !bytes.Contains(ch[first], []byte("\nstate: ready\n")) {
		run = "odd task ready read-our-documents, then " + run
	}
	step("run the first task, which reads your documents: %s", run)
	console.Talk(env, "then look at what it proposes, and merge it: odd review read-our-documents, then odd approve read-our-documents")
	console.Talk(env, "any program under your account could type the confirmation; before agents run unattended, require signed approvals: odd config explain governance.require_signed says how")
	console.Talk(env, "the notes in %s/ are examples: rewrite them rather than delete them, because a role works only with 5 notes, among them a process and a policy or term. odd doctor says what is missing here, odd config explain what can be set.", root)
}

// ownTop refuses a directory that a person named and that lies below the top of a
// repository: what odd init lays out would not be in it.
func ownTop(env console.Env, at, dir string) error {
	above := at
	for dir != "" {
		if _, err := os.Stat(above); err == nil || filepath.Dir(above) == above {
			break
		}
		above = filepath.Dir(above)
	}
	r, err := repo.Open(above, env.Environ)
	if dir == "" || err != nil || r.Root() == "" {
		return nil // what is wrong there is told below
	}
	top, err := os.Stat(r.Root())
	if err != nil {
		return err
	}
	if st, err := os.Stat(at); err == nil && os.SameFile(st, top) {
		return nil
	}
	return verb.Refuse("inside", "%s: is a folder inside the git repository %s; set odd up there with odd -C %[2]s init, or run git init %[1]s first", dir, r.Root())
}

// freeNames refuses branches that stand where review branches must: git cannot
// keep odd beside odd/review/x.
func freeNames(r *repo.Repo) error {
	refs, err := r.Refs("refs/heads/odd")
	if err != nil {
		return err
	}
	for _, u := range refs {
		if n := strings.TrimPrefix(u.Name, "refs/heads/"); n == "odd" || n == "odd/review" {
			return verb.Refuse("branch", "branch %s: odd keeps proposals on branches named odd/review/…, and git allows none of these beside it; rename it with git branch -m %[1]s %[1]s-old", n)
		}
	}
	return nil
}

// foreignAttributes says which lines the .gitattributes of the bundle lacks because it was there
// before, and which attributes keep odd from writing.
func foreignAttributes(ctx context.Context, env console.Env, r *repo.Repo) error {
	root := bundleRoot(r)
	lines, err := history.MissingUnions(ctx, r, root)
	if err != nil {
		return err
	}
	converted, err := history.FindConverted(ctx, r, root)
	for _, c := range converted {
		console.Talk(env, "%s", c.Error())
	}
	for _, line := range lines {
		console.Talk(env, "%s: the line %q is missing, and without it a merge of two clones that both added there conflicts; add the line", path.Join(root, workspace.AttributesFile), line)
	}
	return err
}

// askMissing asks a person for what the flags did not say, where there is something to
// begin, and checks all of it before anything is written.
func (o *initOptions) askMissing(ctx context.Context, env console.Env, files fs.FS, paths []string, fresh bool) error {
	if !fresh && (o.agent != "" || o.monthly != "") {
		return verb.Usage("init: odd.toml is here already; set the agent with odd config set session.substrate NAME, a budget with odd config set budget.monthly_usd USD")
	}
	if fresh && env.CanAsk() && !o.json {
		q := env.NewQuestions()
		if len(o.roles) == 0 {
			if err := q.AskUntil(ctx, "which jobs do agents do here? one or more names with commas, such as Maintainer", "Keeper", o.takeRoles); err != nil {
				return err
			}
		}
		if o.agent == "" {
			if err := q.AskUntil(ctx, "which agent? extract reads documents, offline and free; or claude, acp, anthropic, openai, exec", "extract", o.takeAgent); err != nil {
				return err
			}
		}
		o.tellUnread(env, files, paths)
		if len(o.docs) == 0 {
			usual := strings.Join(findDocuments(paths), ", ")
			if err := q.AskUntil(ctx, "where are your documents? a folder, a file or *.md; several with commas", usual, func(s string) error { return o.takeDocs(files, s) }); err != nil {
				return err
			}
		}
		if o.monthly == "" && o.costsMoney() {
			return q.AskUntil(ctx, "what may agents spend in a month, in USD?", "20", o.takeBudget)
		}
		return nil
	}
	for _, err := range []error{o.takeRoles(strings.Join(o.roles, ",")), o.takeDocs(files, strings.Join(o.docs, ",")), o.takeAgent(o.agent), o.takeBudget(o.monthly)} {
		if err != nil {
			return verb.Usage("init: %v", err)
		}
	}
	return nil
}

func (o *initOptions) costsMoney() bool {
	return o.agent != "" && o.agent != "extract" && o.agent != "replay"
}

func (o *initOptions) takeRoles(s string) error {
	o.roles = nil
	for name := range strings.SplitSeq(s, ",") {
		name = strings.Join(strings.Fields(name), " ")
		if name == "" {
			continue
		}
		if len(name) > 60 || !regexp.MustCompile(`^\pL[\pL\pM\pN _-]*$`).MatchString(name) || roleID(name) == "" {
			return fmt.Errorf("role %q: want a name of letters, digits and spaces, at most 60, like Shore lead", name)
		}
		_, first := utf8.DecodeRuneInString(name)
		name = strings.ToUpper(name[:first]) + name[first:]
		for _, other := range o.roles {
			if roleID(other) == roleID(name) {
				return fmt.Errorf("role %q is named twice", name)
			}
		}
		o.roles = append(o.roles, name)
	}
	return nil
}

func (o *initOptions) takeDocs(files fs.FS, s string) error {
	o.docs = nil
	for p := range strings.SplitSeq(s, ",") {
		p = strings.TrimPrefix(strings.TrimSpace(p), "./")
		if p == "" {
			continue
		}
		clean := strings.TrimSuffix(p, "/")
		if !fs.ValidPath(clean) || clean == "." {
			return fmt.Errorf("documents %q: want a path below the top of the repository, like docs/ or *.md", p)
		}
		found, err := fs.Glob(files, clean)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("documents %q: nothing is there; want a folder, a file or a pattern such as *.md, several with commas", p)
		}
		if st, err := fs.Stat(files, clean); err == nil && st.IsDir() {
			clean += "/"
		}
		if o.usesReader(files) && extract.Lacking(files, []string{clean}, configIn(files).Root, nil) != nil {
			return fmt.Errorf("documents %q: no file there is in markdown or reStructuredText, which the built-in reader (extract) reads; name another place, or an agent that reads other formats with --agent", p)
		}
		o.docs = append(o.docs, clean)
	}
	return nil
}

func (o *initOptions) usesReader(files fs.FS) bool {
	return cmp.Or(o.agent, configIn(files).Session.Substrate) == "extract"
}

// tellUnread says once which documents the built-in reader cannot read.
func (o *initOptions) tellUnread(env console.Env, files fs.FS, paths []string) {
	if unread := findUnread(paths); unread != "" && !o.told && o.usesReader(files) {
		o.told = true
		console.Talk(env, "documents that the built-in reader (extract) cannot read: %s; convert them to markdown, or name another agent with odd config set session.substrate NAME", unread)
	}
}

func (o *initOptions) takeAgent(s string) error {
	o.agent = s
	if s == "" {
		return nil
	}
	if _, err := config.Set("odd.toml", config.Template(), []string{"session", "substrate"}, config.Literal([]string{"session", "substrate"}, []string{s})); err != nil {
		return fmt.Errorf("agent %q: want extract, claude, acp, anthropic, openai, exec or replay", s)
	}
	return nil
}

func (o *initOptions) takeBudget(s string) error {
	o.monthly = s
	if _, err := o.newConfig(); s != "" && err != nil {
		return fmt.Errorf("%q is no amount of dollars; want one like 20 or 12.50", s)
	}
	return nil
}
