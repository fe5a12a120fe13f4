package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
)

func runLeaseDraft(c *cli.Context, env Env, v *view, s drain.SlowLoop) error {
	if s.Facts.ChainErr != nil {
		return fmt.Errorf("%s: %w", v.file(gate.GatesPath), s.Facts.ChainErr)
	}
	b := gate.PrintLease(v.draft(s))
	if c.Bool("json") {
		return printJSON(env, map[string]string{"toml": string(b)})
	}
	_, err := env.Stdout.Write(b)
	return err
}

// draft is a draft as a whole lease.toml: the lease that is drafted or suspended,
// as it is, or else a prefilled one, of what people put on the board.
func (v *view) draft(s drain.SlowLoop) gate.File {
	c, f := s.Facts.Chain, s.File
	if st := f.Lease.State; s.Facts.Present && s.Facts.Unreadable == nil && (st == gate.Draft || st == gate.Suspended) {
		f.Lease.State, f.Lease.ActivatedAt = gate.Draft, time.Time{}
		return f
	}
	p := gate.Plan{ID: c.NextLease(), Paths: v.touched()}
	for _, t := range board.Order(v.rows(), board.IndexOf(v.rows())) {
		if t.State == board.Ready {
			p.Ready = append(p.Ready, gate.Work{ID: string(t.ID), Title: t.Title, Kind: t.Kind})
		}
	}
	f = gate.DraftOf(v.now(), p)
	if c.Stance() == gate.Discovery {
		f.Stance = gate.Discovery
	}
	return f
}

// touched is the bundle, and what else the tasks on the board may touch. A glob
// that no lease may hold is left out.
func (v *view) touched() []string {
	out := []string{v.cfg.Root + "/**"}
	for _, t := range v.tasks() {
		for _, p := range t.Paths {
			if folder, ok := strings.CutSuffix(p, "/"); ok {
				p = folder + "/**"
			}
			if t.State != board.Done && !slices.Contains(out, p) && !strings.HasPrefix(p, v.cfg.Root+"/") && holdable(p) {
				out = append(out, p)
			}
		}
	}
	slices.Sort(out[1:])
	return out
}

// holdable reports a path that a lease may have in its scope.
func holdable(p string) bool {
	l := gate.Lease{Scope: gate.Scope{Paths: []string{p}}}
	return !slices.ContainsFunc(l.Check(false), func(p gate.Problem) bool { return p.Field == "lease.scope.paths" })
}
