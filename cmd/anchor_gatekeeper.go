package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/session/claude"
)

// gateTime is how long a decision may take. It is less than the timeout of the
// hook, because a harness may let a tool pass whose hook was too slow.
const gateTime = 3 * time.Second

// decideInTime judges the call on stdin, or fails when time is over: also when
// stdin never ends, or a disk does not answer.
func decideInTime(ctx context.Context, env Env, g gating) (d anchor.Decision, err error) {
	type answer struct {
		d   anchor.Decision
		err error
	}
	answers := make(chan answer, 2)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				answers <- answer{err: fmt.Errorf("a fault of odd: %v", p)}
			}
		}()
		d, err := decideCall(ctx, env, g)
		answers <- answer{d, err}
	}()
	if env.After != nil {
		defer env.After(gateTime, func() { answers <- answer{err: fmt.Errorf("no decision within %v", gateTime)} })()
	}
	select {
	case a := <-answers:
		return a.d, a.err
	case <-ctx.Done():
		return anchor.Decision{}, ctx.Err()
	}
}

func decideCall(ctx context.Context, env Env, g gating) (anchor.Decision, error) {
	b, err := io.ReadAll(io.LimitReader(env.Stdin, anchor.MaxCall+1))
	if err != nil {
		return anchor.Decision{}, fmt.Errorf("stdin: %w", err)
	}
	if g.ask != "" {
		return askSession(ctx, g.ask, b)
	}
	read := anchor.ReadCall
	if g.hook {
		read = anchor.ReadHook
	}
	call, err := read(b)
	if err != nil {
		return anchor.Decision{}, err
	}
	if call.Cwd == "" {
		call.Cwd = env.Dir
	}
	env.Dir = call.Cwd
	a, err := openAnchor(ctx, env)
	if err != nil {
		return anchor.Decision{}, err
	}
	defer a.Close()
	return anchor.Decide(call, a.gatekeeper()), nil
}

// askSession has the odd that holds the session decide: what it allows is allowed.
func askSession(ctx context.Context, socket string, call []byte) (anchor.Decision, error) {
	a, err := claude.Ask(ctx, socket, call)
	if err != nil || a.Allow {
		return anchor.Decision{Allow: err == nil}, err
	}
	code := anchor.Code(a.Code)
	return anchor.Decision{Code: code, Reasons: []anchor.Problem{{Code: code, At: "tool", Text: a.Text}}, Way: "work within what the session may do, and say in the emission what it could not"}, nil
}

// gatekeeper asks git for no more than where HEAD is, and reads no bundle for the
// file of one role.
func (a *anchorage) gatekeeper() anchor.Gatekeeper {
	a.desk.World.Facts, a.desk.World.Constitution = a.headFacts, a.nearConstitution
	return anchor.Gatekeeper{
		WorkTree:  a.repo.Root(),
		Files:     a.tree.FS(),
		Disk:      os.DirFS("/"),
		Secret:    []string{filepath.Join(a.repo.CommonDir(), "odd")},
		Token:     a.env.Getenv("ODD_ANCHOR"),
		Protected: a.desk.World.Protected,
		Permits:   a.desk.Permits,
		Valid:     a.desk.HasValid,
	}
}

// headFacts are the branch and HEAD, spelled as Facts spells them.
func (a *anchorage) headFacts() (anchor.Facts, error) {
	branch, err := a.repo.Branch()
	if err != nil {
		return anchor.Facts{}, err
	}
	head, err := a.repo.Ref("HEAD")
	switch {
	case errors.Is(err, repo.ErrNoRef) && branch != "":
		head = repo.Initial
	case err != nil:
		return anchor.Facts{}, err
	}
	if branch == "" {
		branch = "detached[" + string(head[:min(8, len(head))]) + "]"
	}
	return anchor.Facts{OK: true, Head: string(head), Branch: branch}, nil
}

// nearConstitution is constitution, which takes a role's atom from where odd init
// puts it, when it is there, without looking for others.
func (a *anchorage) nearConstitution(role string) (anchor.Constitution, error) {
	name := path.Join("roles", role+".md")
	if b, err := a.tree.ReadFile(path.Join(a.cfg.Root, name)); err == nil {
		if atom, err := okf.Parse(name, b); err == nil {
			where := anchor.Charters{Files: a.tree.FS(), Places: a.cfg.Anchor.Constitutions, Bundle: a.cfg.Root, Atoms: []*okf.Atom{&atom}}
			if c, err := where.Find(role); err == nil {
				return c, nil
			}
		}
	}
	return a.constitution(role)
}
