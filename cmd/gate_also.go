package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/okf"
)

// switchLeases turns leases on with an activation, and off where a release asks
// for it: one value in odd.toml.
func (p *plan) switchLeases(context.Context) error {
	want := p.cfg.Lease
	switch {
	case p.out.Row.Act == "activate":
		want = "required"
	case p.o.leasesOff && p.out.Row.Act != "release":
		return refuse("writes", "gate evaluation --leases-off: not possible with %s; add --release, which ends the lease", p.out.Row.Act)
	case p.o.leasesOff:
		want = "off"
	}
	if want == p.cfg.Lease {
		return nil
	}
	b, err := fs.ReadFile(p.files, "odd.toml")
	if err != nil {
		return err
	}
	if p.changes["odd.toml"], err = config.SetLease("odd.toml", b, want); err != nil {
		return err
	}
	p.also = append(p.also, gate.Change{Field: "odd.toml [governance] lease", Before: p.cfg.Lease, After: want})
	return nil
}

// alive reports a lease that may yet allow something.
func alive(s gate.State) bool {
	return s == gate.Draft || s == gate.Active || s == gate.Suspended
}

// principles takes the named principles as the person has them in the work tree.
func (p *plan) principles(context.Context) error {
	for _, name := range p.o.principles {
		file, b, err := p.principle(name)
		if err != nil {
			return err
		}
		p.changes[file], p.taken = b, append(p.taken, file)
		after := "removed"
		if b != nil {
			after = "as in the work tree"
		}
		p.also = append(p.also, gate.Change{Field: "principle " + file, Before: "as committed", After: after})
	}
	return nil
}

// principle is one of them by repository path, and nil where the person deleted it.
func (p *plan) principle(name string) (file string, b []byte, err error) {
	rel, err := filepath.Rel(p.repo.Root(), p.env.path(name))
	if err != nil {
		return "", nil, err
	}
	file = filepath.ToSlash(rel)
	inside, ok := strings.CutPrefix(file, p.cfg.Root+"/")
	if !ok || !strings.HasPrefix(inside, "canon/") || path.Ext(file) != ".md" {
		return "", nil, refuse("principle", "--principles %s: not a principle; want a principle's file below %s/canon/", name, p.cfg.Root)
	}
	old, err := fs.ReadFile(p.files, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	b, err = os.ReadFile(filepath.Join(p.repo.Root(), rel))
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && old != nil) {
		return "", nil, err
	}
	if old != nil && string(old) == string(b) {
		return "", nil, refuse("principle", "--principles %s: the file is unchanged; edit it first", name)
	}
	for _, src := range [][]byte{old, b} {
		if src == nil {
			continue
		}
		if err := p.wantPrinciple(name, inside, src); err != nil {
			return "", nil, err
		}
	}
	return file, b, nil
}

// wantPrinciple refuses a file of any other type; inside is its path in the bundle.
func (p *plan) wantPrinciple(name, inside string, src []byte) error {
	a, err := okf.Parse(inside, src)
	if err != nil {
		return fmt.Errorf("%s/%w", p.cfg.Root, err)
	}
	if a.Type != "principle" {
		return refuse("principle", "--principles %s: is a %s, not a principle; commit it with git commit", name, or(a.Type, "file without a type"))
	}
	return nil
}

// stop is what an emergency does to the board: it pauses, and names the tasks
// that runs hold.
func (p *plan) stop(context.Context) error {
	if p.o.act.Gate != gate.Emergency {
		return nil
	}
	if !p.has("pause.toml") {
		p.changes[p.file("pause.toml")] = board.PauseFile("emergency "+p.out.Row.ID+": "+p.o.act.Reason, p.o.act.By, p.o.act.Now)
		p.also = append(p.also, gate.Change{Field: "board", Before: "running", After: "paused"})
	}
	for _, t := range p.rows() {
		if t.State == board.InProgress {
			p.halts = append(p.halts, string(t.ID))
			p.also = append(p.also, gate.Change{Field: "task " + string(t.ID), Before: string(t.State), After: string(board.Blocked)})
		}
	}
	return nil
}

// halt takes the tasks that runs hold from them.
func (p *plan) halt(h review.Human) error {
	for _, id := range p.halts {
		t, err := p.taskOf(okf.ID(id))
		if err != nil {
			return err
		}
		b, err := review.Halt(t, "emergency "+p.out.Row.ID+": "+p.o.act.Reason, h)
		if err != nil {
			return err
		}
		p.changes[p.file(t.Path)] = b
	}
	return nil
}

// dispose writes down what the act makes of proposals: those it is because of
// are accepted, and those about a lease that ended are superseded.
func (p *plan) dispose(context.Context) error {
	row := p.out.Row
	var b []byte
	var err error
	add := func(id string) {
		if err == nil {
			b, err = p.slow.Buffer.AppendDisposition(b, gate.Disposition{ID: id, TS: row.TS, By: row.By, Decision: gate.Accepted, Act: row.ID, Reason: row.Reason})
		}
	}
	for _, id := range row.Proposals {
		add(id)
		p.also = append(p.also, gate.Change{Field: "proposal " + id, Before: "open", After: gate.Accepted})
	}
	if len(p.out.Superseded) > 0 && err == nil {
		b, err = p.slow.Buffer.Supersede(b, row.Lease, row.ID, row.By, row.TS)
	}
	for _, id := range p.out.Superseded {
		p.also = append(p.also, gate.Change{Field: "proposal " + id, Before: "open", After: gate.Superseded})
	}
	if len(b) > 0 {
		p.changes[p.file("proposals/"+strings.ToLower(row.ID)+".jsonl")] = b
	}
	return err
}

// locks binds the named tasks to the bytes they have, besides those that are
// bound already; nil where none is named.
func (p *plan) locks() (map[string]string, error) {
	if len(p.o.locks) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for task, sum := range p.slow.File.Lease.Scope.WorkOrders {
		out[task] = sum
	}
	for _, name := range p.o.locks {
		t, err := p.task(name)
		if err != nil {
			return nil, err
		}
		out[string(t.ID)] = gate.WorkOrder(t.Atom.Bytes())
	}
	return out, nil
}

// leaseFrom reads a lease a person wrote, strictly; - is stdin.
func leaseFrom(env Env, name string) (*gate.File, error) {
	b, err := readEmission(env, name)
	if err != nil {
		return nil, err
	}
	return parseLease(name, b)
}

// parseLease is gate.ParseLease of what a person wrote: a lease that breaks the
// rules of leases is refused.
func parseLease(name string, b []byte) (*gate.File, error) {
	f, err := gate.ParseLease(name, b)
	if err != nil {
		return nil, refuse("lease", "%v", err)
	}
	return &f, nil
}
