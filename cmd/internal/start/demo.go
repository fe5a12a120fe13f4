package start

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/tasks"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/knowledge"
)

// DemoVerb declares odd demo.
func DemoVerb(env console.Env) *cli.Command {
	return verb.New("demo [DIR]", "create a sample repository with a proposal to review",
		"odd demo\n"+
			"odd demo shop\n\n"+
			"DIR (default: odd-demo) must be new or empty. odd commits the handbook of an\n"+
			"invented company, then runs one task: a reader that works offline and costs\n"+
			"nothing proposes 15 notes. Go on with odd review and odd approve.",
		verb.Do(env, runDemo))
}

func runDemo(c *cli.Context, env console.Env) error {
	dir := cmp.Or(c.Args().First(), "odd-demo")
	at := env.AbsPath(dir)
	if entries, err := os.ReadDir(at); err == nil && len(entries) > 0 {
		return verb.Usage("demo: the folder %s is not empty; name another one: odd demo %[1]s-2", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	top, _, _ := workspace.FindConfig(filepath.Dir(at))
	if _, err := os.Lstat(filepath.Join(top, ".git")); top != "" && err == nil {
		return verb.Refuse("inside", "demo: %s is inside %s, which uses odd; make the sample elsewhere: odd demo %s", dir, top, console.QuoteWords([]string{filepath.Join(filepath.Dir(top), "odd-demo")})[0])
	}
	if err := createDemo(c.Context, env, at); err != nil {
		return err
	}
	console.Talk(env, "made a sample company in %s: a git repository with its handbook in docs/, its knowledge in knowledge/ and one task", at)
	console.Talk(env, "odd's offline reader, which calls no model, now works on the task: read the handbook")
	env.Dir = at
	if err := tasks.RunDrain(c.Context, env, 1, "", false, c.Bool("json")); err != nil {
		return err
	}
	console.Talk(env, "the offline reader has proposed new files for knowledge/; nothing is merged until you approve it. Type next, in this order:\n\n%s  cd %s\n  odd review read-the-handbook\n  odd approve read-the-handbook\n  odd log\n", exportPath(env), console.QuoteWords([]string{at})[0])
	console.Talk(env, "odd review shows the proposal; odd approve asks you to type read-the-handbook, then merges it; odd log shows who did what")
	return nil
}

// exportPath is the line with which a shell finds this odd, "" where it does already.
func exportPath(env console.Env) string {
	self, err := os.Executable()
	found, _ := filepath.EvalSymlinks(env.FindProgram("odd"))
	if err != nil || filepath.Base(self) != "odd" || found == self {
		return ""
	}
	return fmt.Sprintf("  export PATH=\"%s:$PATH\"\n", filepath.Dir(self))
}

// createDemo makes the company in a folder that is empty or not there. One that it made itself
// is gone again where that fails.
func createDemo(ctx context.Context, env console.Env, at string) (err error) {
	_, err = os.Lstat(at)
	made := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil && made {
			err = errors.Join(err, os.RemoveAll(at))
		}
	}()
	r, err := repo.Create(ctx, at, env.Environ)
	if err != nil {
		return err
	}
	return writeDemo(ctx, env, r)
}

// founderName and founderEmail are who commits the demo company where git knows no person.
const (
	founderName  = "Demo Person"
	founderEmail = "demo@example.org"
)

func writeDemo(ctx context.Context, env console.Env, r *repo.Repo) error {
	who, err := r.Identity(ctx)
	if err != nil {
		who = repo.Signature{Name: founderName, Email: founderEmail}
		if err := r.SetIdentity(ctx, founderName, founderEmail); err != nil {
			return err
		}
		console.Talk(env, "git has no user.name and user.email here; commits in this sample are made as %s <%s>", founderName, founderEmail)
	}
	ch := repo.Changes{"odd.toml": config.Template()}
	for _, f := range knowledge.Demo() {
		ch[f.Path] = f.Data
	}
	for _, f := range knowledge.Starter() {
		if path.Base(f.Path) == workspace.AttributesFile {
			ch[f.Path] = f.Data
		}
	}
	who.When = env.Now()
	oid, err := r.Make(ctx, nil, ch, who, "begin: a company, its handbook and its bundle\n")
	if err != nil {
		return err
	}
	head, err := r.Branch()
	if err != nil {
		return err
	}
	if err := r.Move(ctx, repo.RefUpdate{Name: "refs/heads/" + head, New: oid}); err != nil {
		return fmt.Errorf("%s: %w", head, err)
	}
	return nil
}
