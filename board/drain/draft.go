package drain

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"
	"time"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// runLog is the run's own files: its ledger, its journal and its gate proposals. Nobody else
// writes them.
type runLog struct {
	id      string // of the run
	started time.Time
	now     func() time.Time
	book    event.Appender
	files   map[string][]byte // as last landed, by path below the bundle
}

func (l *runLog) slug() string { return strings.ToLower(l.id) }

func (l *runLog) ledgerPath() string    { return event.Path(l.id, l.started) }
func (l *runLog) journalPath() string   { return journal.Path(l.started, l.slug()) }
func (l *runLog) proposalsPath() string { return "proposals/" + l.id + ".jsonl" }

// boardWriter reads the board branch, plans commits for it and moves it.
type boardWriter struct {
	repo *repo.Repo
	line *repo.Line // the board branch, here or on a remote
	at   *snapshot  // the branch as it was last read or written
	log  *runLog
	wait func(time.Duration) // lets another program finish; nil does not wait

	leaseID string // id of the commitment lease that what comes next is done under; "" where none is required
}

// draft is a commit of the board's that is planned and that no ref names yet. What it adds
// to the run's own files counts once it has landed: a draft that lost its race is dropped,
// and nothing has to be undone.
type draft struct {
	run     *runLog
	changes repo.Changes      // besides the run's own files, by repository path
	own     map[string][]byte // the run's ledger, journal and proposals with this commit, by path below the bundle
	began   time.Time         // when its first record was made
	wrote   time.Time         // when its last record was made, but for those of ops
	message string
	onto    repo.OID         // the commit it is made on, "" for the board's tip
	refs    []repo.RefUpdate // that move with the board
	lands   bool             // a change lands with it without approval
	err     error            // what went wrong first as it was planned: it is never committed
	landed  bool             // the board has moved to it
}

// newDraft begins a draft on what the run has landed so far.
func (bw *boardWriter) newDraft() *draft {
	return &draft{run: bw.log, changes: repo.Changes{}, own: maps.Clone(bw.log.files)}
}

func (p *draft) clone() *draft {
	q := *p
	q.changes, q.own = maps.Clone(p.changes), maps.Clone(p.own)
	return &q
}

func (p *draft) ledger() []byte { return p.own[p.run.ledgerPath()] }

func (p *draft) trace() string { return event.Trace(p.ledger()) }

// fail keeps what went wrong first, for commit.
func (p *draft) fail(err error) { p.err = cmp.Or(p.err, err) }

// failIn keeps what went wrong first, with the file that it went wrong in.
func (p *draft) failIn(name string, err error) {
	if err != nil {
		p.fail(fmt.Errorf("%s: %w", name, err))
	}
}

// record appends one record to the run's ledger, now.
func (p *draft) record(r event.Record) {
	r.Run, r.TS = p.run.id, p.run.now().UTC()
	r, err := r.Redacted(secrets.RedactText)
	p.fail(err)
	p.wrote = r.TS
	p.appendRecord(r)
}

// recordOps appends the last record of each op to the run's ledger, at the op's own moment.
func (p *draft) recordOps(ops ...pipeline.Op) {
	for _, o := range ops {
		p.appendRecord(o.Record())
	}
}

func (p *draft) appendRecord(r event.Record) {
	name := p.run.ledgerPath()
	r.Seq = 1 + bytes.Count(p.own[name], []byte("\n"))
	b, err := p.run.book.Append(p.own[name], r)
	p.failIn(name, err)
	if p.own[name] = b; p.began.IsZero() {
		p.began = r.TS
	}
}

// tellJournal appends an entry of odd's own to the run's journal.
func (p *draft) tellJournal(letter, title, content string) {
	p.fail(p.addEntry(letter, "", title, content))
}

func (p *draft) addEntry(letter, facet, title, content string) error {
	name := p.run.journalPath()
	b, err := journal.Append(p.own[name], journal.Entry{
		Type: letter, TypeName: journal.TypeName(letter, facet), Facet: facet, Title: cleanText(title), Content: cleanText(content),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p.own[name] = b
	return nil
}

// isEmpty reports a draft with nothing to commit, and nothing to tell.
func (p *draft) isEmpty(root string) bool { return p.err == nil && len(p.all(root)) == 0 }

// all is what the commit changes, by repository path. root is the folder of the bundle, as the
// board has it now: a person may have moved it since the draft was begun.
func (p *draft) all(root string) repo.Changes {
	ch := maps.Clone(p.changes)
	for name, b := range p.own {
		if !bytes.Equal(b, p.run.files[name]) {
			ch[path.Join(root, name)] = b
		}
	}
	return ch
}

// commit makes the commit of p, on the board's tip if p names no other. The machine may
// have slept since the last record, so that the commit has its moment.
func (bw *boardWriter) commit(ctx context.Context, p *draft) (repo.OID, error) {
	if p.err != nil {
		return "", p.err
	}
	who := bw.agentSignature()
	if !p.wrote.IsZero() {
		who.When = p.wrote
	}
	return bw.makeCommit(ctx, cmp.Or(p.onto, bw.at.tip), p.all(bw.at.cfg.Root), who, p.message)
}

// land makes the draft's commit and moves the board to it.
func (bw *boardWriter) land(ctx context.Context, p *draft) error {
	next, err := bw.commit(ctx, p)
	if err != nil {
		return unwritten{err}
	}
	return bw.moveTo(ctx, p, next)
}

// moveTo moves the board to the commit of p, with all refs of p or not at all. If it moves, the run goes on
// with the files of the draft.
func (bw *boardWriter) moveTo(ctx context.Context, p *draft, next repo.OID) (err error) {
	if err := bw.line.Land(ctx, bw.at.tip, next, p.refs...); err != nil {
		if p.lands && bw.refusesLanding(ctx, next, err) {
			return landingRefusal{err} // planned again, without the landing
		}
		if errors.Is(err, repo.ErrDeclined) || errors.Is(err, repo.ErrForbidden) {
			return unwritten{err}
		}
		return err
	}
	bw.log.files, p.landed = p.own, true
	bw.at, err = readSnapshot(bw.repo, next, bw.at)
	return err
}

// landingRefusal is why a target does not take a change that was to land by itself with its result. It is a
// lost race: the result is planned again without.
type landingRefusal struct{ why error }

func (b landingRefusal) Error() string { return repo.ErrMoved.Error() + ": " + b.why.Error() }

// Unwrap is the lost race, and why it was lost.
func (b landingRefusal) Unwrap() []error { return []error{repo.ErrMoved, b.why} }

// refusesLanding reports a commit that did not land because the target refused the change
// that was to land with it by itself. What was pushed in spite of the error stays.
func (bw *boardWriter) refusesLanding(ctx context.Context, next repo.OID, err error) bool {
	if errors.Is(err, repo.ErrBusy) || errors.Is(err, repo.ErrMoved) || repo.Faulty(err) {
		return false // another try looks again where the target is
	}
	at, look := bw.line.Latest(ctx)
	return look == nil && at != next
}

// makeCommit makes a commit of the agent's on parent. Governance is written at gates,
// by people: a change to it is a fault of odd's own, whatever led to it.
func (bw *boardWriter) makeCommit(ctx context.Context, parent repo.OID, ch repo.Changes, who repo.Signature, msg string) (repo.OID, error) {
	for name := range ch {
		below, ok := strings.CutPrefix(path.Clean(name), bw.at.cfg.Root+"/")
		if name == "odd.toml" || ok && strings.HasPrefix(strings.ToLower(below), "governance/") {
			return "", fmt.Errorf("%s: odd drain must not write this file, so nothing was committed; this is a bug in odd, please report it", name)
		}
	}
	return bw.repo.Make(ctx, []repo.OID{parent}, ch, who, msg)
}

func (bw *boardWriter) agentSignature() repo.Signature {
	return repo.Signature{Name: bw.at.cfg.AgentName, Email: bw.at.cfg.AgentEmail, When: bw.log.now()}
}

// traced is what the trailers of a commit's message name besides the run; "" names nothing.
type traced struct {
	task             okf.ID
	lease, trace, op string
	tier             pipeline.Tier
}

// message returns the message of a commit of the run. The subject is one line, so that no title
// can bring a trailer of its own.
func (l *runLog) message(subject, body string, of traced) string {
	s := strings.Join(strings.Fields(cleanText(subject)), " ") + "\n"
	if body != "" {
		s += "\n" + cleanText(body) + "\n"
	}
	s += "\n"
	for _, t := range [][2]string{{"Run", l.id}, {"Task", string(of.task)}, {"Lease", of.lease}, {"Trace", of.trace}, {"Op", of.op}, {"Tier", string(of.tier)}} {
		if t[1] != "" {
			s += "Odd-" + t[0] + ": " + t[1] + "\n"
		}
	}
	return s
}
