package governance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// switchLeases turns leases on with an activation, and off where a release asks
// for it: one value in odd.toml.
func (p *plan) switchLeases(context.Context) error {
	want := p.Config.Lease
	switch {
	case p.out.Row.Act == "activate":
		want = "required"
	case p.o.leasesOff && p.out.Row.Act != "release":
		return verb.Refuse("writes", "gate evaluation --leases-off: not possible with %s; add --release, which ends the lease", p.out.Row.Act)
	case p.o.leasesOff:
		want = "off"
	}
	if want == p.Config.Lease {
		return nil
	}
	b, err := fs.ReadFile(p.Files, "odd.toml")
	if err != nil {
		return err
	}
	if p.changes["odd.toml"], err = config.SetLease("odd.toml", b, want); err != nil {
		return err
	}
	p.also = append(p.also, gate.Change{Field: "odd.toml [governance] lease", Before: p.Config.Lease, After: want})
	return nil
}

// isAlive reports a lease that may yet allow something.
func isAlive(s gate.State) bool { return s == gate.Draft || s == gate.Active || s == gate.Suspended }

// addPrinciples takes the named principles as the person has them in the work tree.
func (p *plan) addPrinciples(context.Context) error {
	for _, name := range p.o.principles {
		file, b, err := p.readPrinciple(name)
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

// readPrinciple returns the repository path and the bytes of a principle, nil where the person deleted it.
func (p *plan) readPrinciple(name string) (file string, b []byte, err error) {
	rel, err := filepath.Rel(p.Repo.Root(), p.Env.AbsPath(name))
	if err != nil {
		return "", nil, err
	}
	file = filepath.ToSlash(rel)
	inside, ok := strings.CutPrefix(file, p.Config.Root+"/")
	if !ok || !strings.HasPrefix(inside, "canon/") || path.Ext(file) != ".md" {
		return "", nil, verb.Refuse("principle", "--principles %s: not a principle; want a principle's file below %s/canon/", name, p.Config.Root)
	}
	old, err := fs.ReadFile(p.Files, file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, err
	}
	b, err = os.ReadFile(filepath.Join(p.Repo.Root(), rel))
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && old != nil) {
		return "", nil, err
	}
	if a, err := okf.Parse(inside, b); b != nil && err == nil && strings.EqualFold(a.Status, "draft") {
		if b, err = okf.Edit(b, okf.Set{Key: "status"}); err != nil { // a candidate is ratified
			return "", nil, err
		}
	}
	if old != nil && string(old) == string(b) {
		return "", nil, verb.Refuse("principle", "--principles %s: the file is unchanged; edit it first", name)
	}
	for _, src := range [][]byte{old, b} {
		if src == nil {
			continue
		}
		switch a, err := okf.Parse(inside, src); {
		case err != nil:
			return "", nil, fmt.Errorf("%s/%w", p.Config.Root, err)
		case a.Type != "principle":
			return "", nil, verb.Refuse("principle", "--principles %s: is a %s, not a principle; commit it with git commit", name, cmp.Or(a.Type, "file without a type"))
		}
	}
	return file, b, nil
}

// stopBoard adds what an emergency does to the board: it pauses, and names the tasks
// that runs hold.
func (p *plan) stopBoard(context.Context) error {
	if p.o.act.Gate != gate.Emergency {
		return nil
	}
	if _, err := fs.Stat(p.Bundle, "pause.toml"); err != nil {
		p.changes[p.RepoPath("pause.toml")] = board.PauseFile("emergency "+p.out.Row.ID+": "+p.o.act.Reason, p.o.act.By, p.o.act.Now)
		p.also = append(p.also, gate.Change{Field: "board", Before: "running", After: "paused"})
	}
	for _, t := range p.TaskRows() {
		if t.State == board.InProgress {
			p.halts = append(p.halts, string(t.ID))
			p.also = append(p.also, gate.Change{Field: "task " + string(t.ID), Before: string(t.State), After: string(board.Blocked)})
		}
	}
	return nil
}

func (p *plan) blockTasks(h review.Human) error {
	for _, id := range p.halts {
		t, err := p.TaskOf(okf.ID(id))
		if err != nil {
			return err
		}
		b, err := review.Halt(t, "emergency "+p.out.Row.ID+": "+p.o.act.Reason, h)
		if err != nil {
			return err
		}
		p.changes[p.RepoPath(t.Path)] = b
	}
	return nil
}

// disposeProposals writes down what the act makes of proposals: those it is because of
// are accepted, those about a lease that ended are superseded, and those whose time has passed
// expire.
func (p *plan) disposeProposals(context.Context) (err error) {
	row := p.out.Row
	var b []byte
	for _, of := range []struct {
		ids           []string
		made, because string
	}{
		{row.Proposals, gate.Accepted, row.Reason},
		{p.out.Lapsed, gate.Lapsed, "nobody answered it for 30 days"},
		{p.out.Superseded, gate.Superseded, "lease " + row.Lease + " has ended"},
	} {
		for _, id := range of.ids {
			if b, err = p.slow.Buffer.AppendDisposition(b, gate.Disposition{ID: id, TS: row.TS, By: row.By, Decision: of.made, Act: row.ID, Reason: of.because}); err != nil {
				return err
			}
			p.also = append(p.also, gate.Change{Field: "proposal " + id, Before: "open", After: of.made})
		}
	}
	if len(b) > 0 {
		p.changes[p.RepoPath("proposals/"+strings.ToLower(row.ID)+".jsonl")] = b
	}
	return nil
}

// readLocks binds the named tasks to the bytes they have, besides those that are
// bound already; nil where none is named.
func (p *plan) readLocks() (map[string]string, error) {
	if len(p.o.locks) == 0 {
		return nil, nil
	}
	out := map[string]string{}
	for task, sum := range p.slow.File.Lease.Scope.WorkOrders {
		out[task] = sum
	}
	for _, name := range p.o.locks {
		t, err := p.FindTask(name)
		if err != nil {
			return nil, err
		}
		out[string(t.ID)] = gate.WorkOrder(t.Atom.Bytes())
	}
	return out, nil
}

// parseLease is gate.ParseLease for a file that a person wrote: a lease that breaks the
// rules of leases is refused.
func parseLease(name string, b []byte) (*gate.File, error) {
	f, err := gate.ParseLease(name, b)
	if err != nil {
		return nil, verb.Refuse("lease", "%v", err)
	}
	return &f, nil
}

// findAcknowledged returns the findings that the person acknowledges, as the gate's row names them: all that
// odd check finds in the commit by the invariant, and what it counts with them.
func (p *plan) findAcknowledged(ctx context.Context) ([]string, error) {
	if p.o.act.Kind != gate.Acknowledge {
		return nil, nil
	}
	commit, rule, _ := strings.Cut(p.o.known, ":")
	rule = strings.TrimLeft(strings.TrimPrefix(rule, "odd-invariant-"), "0")
	if len(commit) < 7 || rule == "" {
		return nil, verb.Usage("gate evaluation: --acknowledge %q; write it as COMMIT:INVARIANT, such as 1f0c2ab9d4:14, as odd check prints both", p.o.known)
	}
	report, err := verify.Check(ctx, p.Repo, "", p.Tip)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range report.Findings {
		if !strings.HasPrefix(string(f.Commit), commit) || fmt.Sprint(f.Invariant) != rule {
			continue
		}
		for _, f := range append([]rules.Finding{f}, f.Also...) {
			if slices.Contains(out, f.Key()) {
				continue
			}
			out = append(out, f.Key())
			p.also = append(p.also, gate.Change{Field: fmt.Sprintf("%s:%d [invariant %d, %s]", f.Path, f.Line, f.Invariant, console.ShortID(f.Commit)), Before: f.Message, After: "acknowledged"})
		}
	}
	if len(out) == 0 {
		return nil, verb.Refuse("no-finding", "gate evaluation: odd check --all finds nothing at %s on %s that is not acknowledged; it prints COMMIT and INVARIANT in brackets", p.o.known, p.Line.Name())
	}
	return out, nil
}

func (p *plan) commitAct(ctx context.Context, h review.Human) (repo.OID, error) {
	if err := p.blockTasks(h); err != nil {
		return "", err
	}
	for _, file := range p.taken { // without status: draft in the work tree too
		if b := p.changes[file]; b != nil {
			if err := os.WriteFile(filepath.Join(p.Repo.Root(), filepath.FromSlash(file)), b, 0o644); err != nil {
				return "", err
			}
		}
	}
	r := p.out.Row
	subject := strings.TrimSpace(fmt.Sprintf("gate: %s, %s %s", r.Gate, r.Act, r.Lease))
	msg := land.Message(subject, r.Reason, "Odd-Gate", string(r.Gate), "Odd-Lease", r.Lease, "Odd-By", h.By(), "Odd-Because", strings.Join(r.Proposals, ", "))
	return p.commitLocked(ctx, msg)
}

// commitLocked moves the board by compare-and-swap. No drain may run meanwhile, save
// for an emergency, which is how a running one is stopped.
func (p *plan) commitLocked(ctx context.Context, msg string) (repo.OID, error) {
	if !p.isEmergency() {
		release, err := p.lockDrain(ctx)
		if err != nil {
			return "", err
		}
		defer release()
	}
	return land.CommitFiles(ctx, p.Board, p.changes, msg)
}

func (p *plan) isEmergency() bool { return p.out.Row.Gate == gate.Emergency }

// lockDrain keeps drains away while the gate's commit lands.
func (p *plan) lockDrain(ctx context.Context) (release func(), err error) {
	name := "gate " + string(p.out.Row.Gate)
	local, err := p.Repo.LockDrainFor(name)
	if err != nil {
		return nil, drainRuns(err)
	}
	if p.Line.Remote == "" {
		return func() { _ = local() }, nil
	}
	shared, err := p.Repo.LockRemote(ctx, p.Line.Remote, p.Config.Tenant, name, p.Config.TaskLease, p.Env.Now())
	if err != nil {
		_ = local()
		return nil, drainRuns(err)
	}
	return func() {
		if err := shared.Release(context.WithoutCancel(ctx)); err != nil {
			console.Talk(p.Env, "the lock on the remote was not removed; it expires by itself: %v", err)
		}
		_ = local()
	}, nil
}

// checkReady refuses to ask the person for what could not land: over edits of theirs,
// or while a drain of this clone runs.
func (p *plan) checkReady(ctx context.Context) error {
	if head, err := p.Repo.Branch(); err != nil {
		return err
	} else if head == p.Line.Name() {
		var written []string
		for name := range p.changes {
			if !slices.Contains(p.taken, name) {
				written = append(written, name)
			}
		}
		dirty, err := p.Repo.Dirty(ctx, written...)
		if err != nil {
			return err
		}
		if len(dirty) > 0 {
			return verb.Refuse("dirty", "%s: has edits that are not committed, and the gate writes this file; drop them with git restore %[1]s, or commit them first", strings.Join(dirty, ", "))
		}
	}
	if p.isEmergency() {
		return nil
	}
	unlock, err := p.Repo.LockDrainFor("gate " + string(p.out.Row.Gate))
	if err != nil {
		return drainRuns(err)
	}
	return unlock()
}

func drainRuns(err error) error {
	if !errors.Is(err, repo.ErrBusy) {
		return err
	}
	return &drain.Busy{Code: "locked", Text: fmt.Sprintf("%v; wait until it ends, stop it after its task with odd drain pause, or stop it at once with odd gate emergency", err)}
}
