package cmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board/site"
	"github.com/odd-cli/odd/journal/repo"
)

func serveVerb(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "serve",
		Usage: "show the pages of odd site in a browser, live, on this machine only",
		Description: "odd serve\n" +
			"odd serve --port 8080\n\n" +
			"Open the address that it prints; the token in it keeps other users and web\n" +
			"pages out. A page reloads when the board changes, so it can be watched while\n" +
			"a drain runs. Nothing can be changed through it. Ctrl-C ends it.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "port", Usage: "listen on `PORT` of 127.0.0.1; 0 takes a free one"},
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			if p := c.Int("port"); p < 0 || p > 65535 {
				return usage("serve: --port %d is no port; want 0 to 65535", p)
			}
			return runServe(c.Context, env, c.Int("port"))
		},
	})
}

func runServe(ctx context.Context, env Env, port int) error {
	token, err := httpToken(env, "")
	if err != nil {
		return err
	}
	now := &livePages{env: env}
	if _, _, err := now.current(ctx); err != nil { // what is wrong with the board is told here, once
		return err
	}
	l, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("--port %d: %w; choose another port, or 0 for a free one", port, err)
	}
	// The address goes to stdout: talk would take the token out of it.
	if _, err := fmt.Fprintf(env.Stdout, "http://%s/?token=%s\n", l.Addr(), token); err != nil {
		return errors.Join(err, l.Close())
	}
	talk(env, "serve: open that address in a browser; Ctrl-C ends it")
	return serveUntil(ctx, site.Server(l.Addr().String(), token, now.current), l, 0)
}

// livePages are drawn anew when the tip of the board has moved.
type livePages struct {
	env Env

	mu    sync.Mutex
	tip   repo.OID
	pages *site.Pages
}

func (p *livePages) current(ctx context.Context) (*site.Pages, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w, err := openWorkspace(ctx, p.env)
	if err != nil {
		return nil, "", err
	}
	ref, err := w.board()
	if err != nil {
		return nil, "", err
	}
	tip, err := w.repo.Ref(ref)
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
	return p.pages, short(tip), nil
}
