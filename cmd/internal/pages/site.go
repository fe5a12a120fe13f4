// Package pages has the verbs site and serve, which draw the board as web pages.
package pages

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/site"
	"github.com/odd-cli/odd/cmd/internal/approval"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/history"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// SiteVerb declares odd site.
func SiteVerb(env console.Env) *cli.Command {
	return verb.NewText("site", "write the board and the knowledge as web pages into a folder",
		"odd site --out public\n\n"+
			"The pages show the committed board: tasks, proposals with their diffs,\n"+
			"knowledge with search, what happened and what it cost. They open from the\n"+
			"folder, without a server or a network. They are read-only: approval stays in\n"+
			"the terminal, and a page shows the command. odd serve shows the same, live.",
		verb.Do(env, runSite),
		&cli.StringFlag{Name: "out", Usage: "write into `DIR` (required), which must be new, empty, or written by odd site before"})
}

// siteMark is a file that odd site leaves in its folder: where it is, what lies there
// may be replaced.
const siteMark = ".odd-site"

func runSite(c *cli.Context, env console.Env) error {
	if c.String("out") == "" {
		return verb.Usage("site: name a folder, like odd site --out public")
	}
	out := c.String("out")
	dir := env.AbsPath(out)
	if err := siteFolder(dir, out); err != nil {
		return err
	}
	pages, err := drawSite(c.Context, env, false)
	if err != nil {
		return err
	}
	// The new pages are written beside the old ones and take their place at once.
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".odd-site-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	n, err := writeSite(c.Context, pages, tmp)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(tmp, 0o755), os.Rename(tmp, dir)); err != nil {
		return err
	}
	console.Talk(env, "site: %s written; open %s", console.CountNoun(n, "file"), filepath.Join(out, "index.html"))
	return nil
}

// siteFolder refuses a folder with files that odd site did not write.
func siteFolder(dir, typed string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return os.MkdirAll(filepath.Dir(dir), 0o755)
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, siteMark)); err != nil {
		return verb.Refuse("exists", "site: %s holds files that odd site did not write; choose another folder, or empty it", typed)
	}
	return nil
}

func writeSite(ctx context.Context, pages *site.Pages, dir string) (int, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return 0, err
	}
	defer top.Close()
	n := 0
	for name := range pages.Paths() {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		content, _, err := pages.File(name)
		if err != nil {
			return n, err
		}
		if d := filepath.Dir(name); d != "." {
			if err := top.MkdirAll(d, 0o755); err != nil {
				return n, err
			}
		}
		if err := top.WriteFile(name, content, 0o644); err != nil {
			return n, err
		}
		n++
	}
	return n, top.WriteFile(siteMark, nil, 0o644)
}

func drawSite(ctx context.Context, env console.Env, live bool) (*site.Pages, error) {
	v, err := workspace.OpenCommitted(ctx, env)
	if err != nil {
		return nil, err
	}
	c, err := v.Repo.Commit(v.Tip)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(v.Repo.Root())
	if v.Repo.Root() == "" {
		name = strings.TrimSuffix(filepath.Base(v.Repo.CommonDir()), ".git")
	}
	b := &site.Board{
		Name: name, Branch: v.Line.Name(), Commit: console.ShortID(v.Tip), At: c.Committer.When,
		Graph: v.Graph, Tasks: v.TaskRows(), Proposal: map[okf.ID]site.Proposal{}, Live: live,
	}
	b.Paused, _ = board.ReadPause(v.Bundle, "pause.toml")
	for _, r := range rules.Table() {
		b.Promises = append(b.Promises, site.Promise{Number: r.N, Name: r.Name, Proved: r.Compares, Attested: r.Attested})
	}
	events, damaged, err := history.ReadEvents(ctx, v, history.Filter{})
	if err != nil {
		return nil, err
	}
	if damaged != nil {
		console.Talk(env, "site: %v", damaged)
	}
	for _, e := range events {
		if e.Kind == string(event.Op) {
			continue
		}
		b.Events = append(b.Events, site.Event{At: e.At, Who: e.ActorName(), Task: okf.ID(e.Task), Text: secrets.RedactText(e.Text), Cost: budget.MicroUSD(e.Cost)})
	}
	if b.Months, err = monthlyCosts(v); err != nil {
		return nil, err
	}
	for _, row := range v.InReview() {
		p, err := siteProposal(ctx, v, row.ID)
		if err != nil {
			console.Talk(env, "site: %s: %v", row.ID, err)
			continue
		}
		b.Proposal[row.ID] = p
	}
	return site.New(b)
}

// monthlyCosts returns what each month cost, oldest first.
func monthlyCosts(v *workspace.Board) ([]site.Month, error) {
	receipts, err := v.State.Receipts("", "")
	if err != nil {
		return nil, fmt.Errorf("%s/%w", v.Config.Root, err)
	}
	var out []site.Month
	for _, r := range receipts {
		i := slices.IndexFunc(out, func(m site.Month) bool { return m.Name == r.Month })
		if i < 0 {
			i, out = len(out), append(out, site.Month{Name: r.Month})
		}
		out[i].Spent += budget.MicroUSD(r.Cost)
		out[i].Runs++
	}
	slices.SortFunc(out, func(a, b site.Month) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func siteProposal(ctx context.Context, v *workspace.Board, id okf.ID) (site.Proposal, error) {
	var out site.Proposal
	t, err := v.TaskOf(id)
	if err != nil {
		return out, err
	}
	p, err := v.ReadProposal(t)
	if err != nil {
		return out, err
	}
	at, bound := approval.BindProposal(ctx, v, t, p)
	out.Branch = p.Branch
	if out.Card, err = approval.ProposalCard(ctx, v, t, p, at, approval.FewFiles); err != nil {
		return out, err
	}
	if bound != nil {
		out.Card += "\n" + bound.Error() + "\n"
	}
	diff, err := v.Repo.Patch(ctx, repo.OID(p.Base), repo.OID(p.Commit))
	if err != nil {
		return out, err
	}
	out.Card, out.Diff = secrets.RedactText(out.Card), secrets.RedactText(string(diff))
	for _, a := range approval.ProposedAtoms(v, p) {
		if !board.IsTask(&a.Atom) {
			out.Atoms = append(out.Atoms, a.Atom)
		}
	}
	return out, nil
}

// ServeVerb declares odd serve.
func ServeVerb(env console.Env) *cli.Command {
	return verb.NewText("serve", "show the pages of odd site in a browser, live, on this machine only",
		"odd serve\n"+
			"odd serve --port 8080\n\n"+
			"Open the address that it prints; the token in it keeps other users and web\n"+
			"pages out. A page reloads when the board changes, so it can be watched while\n"+
			"a drain runs. Nothing can be changed through it. Ctrl-C ends it.",
		verb.Do(env, func(c *cli.Context, env console.Env) error { return runServe(c.Context, env, c.Int("port")) }),
		&cli.IntFlag{Name: "port", Usage: "listen on `PORT` of 127.0.0.1; 0 takes a free one"})
}

func runServe(ctx context.Context, env console.Env, port int) error {
	if port < 0 || port > 65535 {
		return verb.Usage("serve: --port %d is no port; want 0 to 65535", port)
	}
	token := make([]byte, 32)
	if err := env.ReadRandom(token); err != nil {
		return err
	}
	now := &livePages{env: env}
	if _, _, err := now.currentPages(ctx); err != nil { // what is wrong with the board is told here, once
		return err
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("--port %d: %w; choose another port, or 0 for a free one", port, err)
	}
	// The address goes to stdout: talk would take the token out of it.
	if _, err := fmt.Fprintf(env.Stdout, "http://%s/?token=%x\n", l.Addr(), token); err != nil {
		return errors.Join(err, l.Close())
	}
	console.Talk(env, "serve: open that address in a browser; Ctrl-C ends it")
	server := site.Server(l.Addr().String(), hex.EncodeToString(token), now.currentPages)
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return ctx.Err()
}

// livePages are drawn anew when the tip of the board has moved.
type livePages struct {
	env console.Env

	mu    sync.Mutex
	tip   repo.OID
	pages *site.Pages
}

func (p *livePages) currentPages(ctx context.Context) (*site.Pages, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := workspace.Open(ctx, p.env)
	if err != nil {
		return nil, "", err
	}
	ref, err := w.BoardRef()
	if err != nil {
		return nil, "", err
	}
	tip, err := w.Repo.Ref(ref)
	if err != nil && !errors.Is(err, repo.ErrNoRef) {
		return nil, "", err
	}
	if p.pages == nil || tip != p.tip {
		pages, err := drawSite(ctx, p.env, true)
		if err != nil {
			return nil, "", err
		}
		p.pages, p.tip = pages, tip
	}
	return p.pages, console.ShortID(tip), nil
}
