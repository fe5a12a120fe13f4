package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/board/verify"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// missingApprovers returns the people that odd.toml asks to approve what p takes, beside who and those
// who endorsed the proposal of t. What a person edited nobody endorsed.
func (v *view) missingApprovers(ctx context.Context, t board.Task, p takenPart, who ...string) (out []risk.Missing, err error) {
	if len(v.cfg.Approvers) == 0 {
		return nil, nil
	}
	endorsed, err := v.listEndorsers(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Paths {
		by := who
		if _, edited := p.edits[w.Path]; !edited {
			by = append(slices.Clone(who), endorsed...)
		}
		var types []string
		if rel, in := strings.CutPrefix(w.Path, v.cfg.Root+"/"); in {
			after, _ := v.repo.Blob(repo.OID(w.Result))
			before, _ := v.repo.Blob(repo.OID(w.Base))
			for _, b := range [][]byte{before, after, p.edits[w.Path]} {
				if a, err := okf.Parse(rel, b); err == nil {
					types = append(types, a.Type)
				}
			}
		}
		out = append(out, risk.Approvers(v.cfg, w.Path, types, by)...)
	}
	return out, nil
}

// listEndorsers returns the addresses of who endorsed the proposal of t: where signatures are
// required, in a commit that carries theirs.
func (v *view) listEndorsers(ctx context.Context, t board.Task) ([]string, error) {
	all := t.Endorsers()
	if !v.cfg.RequireSigned || len(all) == 0 {
		return all, nil
	}
	signed := map[string]bool{}
	for c, err := range v.repo.PathLog(ctx, v.tip, v.repoPath(t.Path)) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.Trailer("Odd-Endorsed-By"), "human:"+c.Author.Email) || !slices.Contains(c.Trailer("Odd-Proposal"), t.Result.Commit) {
			continue
		}
		why, err := v.whyUnsigned(ctx, c.OID)
		if err != nil {
			return nil, err
		}
		signed[strings.ToLower(c.Author.Email)] = signed[strings.ToLower(c.Author.Email)] || why == ""
	}
	return slices.DeleteFunc(all, func(who string) bool { return !signed[strings.ToLower(who)] }), nil
}

func waitsFor(m []risk.Missing) string {
	s := fmt.Sprintf("%s must be approved by %s ([governance.approvers] %s)", m[0].Path, strings.Join(m[0].People, " or "), m[0].Of)
	if m[0].More > 1 {
		s = fmt.Sprintf("%s must be approved by %d of %s ([governance.approvers] %s)", m[0].Path, m[0].More, strings.Join(m[0].People, ", "), m[0].Of)
	}
	if n := len(m) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// checkApprovers reports that what the person approves waits for others too, who must approve as
// much; who may not approve it at all is refused.
func (v *view) checkApprovers(ctx context.Context, t board.Task, p takenPart, o approval) (others []risk.Missing, err error) {
	who, err := v.repo.Identity(ctx)
	if err != nil {
		return nil, err
	}
	without, err := v.missingApprovers(ctx, t, p)
	if err != nil {
		return nil, err
	}
	with, err := v.missingApprovers(ctx, t, p, who.Email)
	if err != nil {
		return nil, err
	}
	counts := func(m risk.Missing) bool {
		return slices.ContainsFunc(m.People, func(s string) bool { return strings.EqualFold(s, who.Email) })
	}
	switch {
	case len(with) == 0:
		return nil, nil
	case !slices.ContainsFunc(without, counts):
		return nil, refuse("approvers", "approve %s: %s, and you are %s; they run odd approve %[1]s, or you leave it out with --without ID", t.ID, waitsFor(with), who.Email)
	case len(p.left)+len(p.edits)+len(o.verify.Only) > 0 || o.verify.All:
		return nil, refuse("approvers", "approve %s: %s too, and who approves first approves all of it as it was proposed; run odd approve %[1]s --no-walk without other flags", t.ID, waitsFor(with))
	}
	return with, nil
}

// commitEndorsement commits the person's approval, which waits for others; the proposal stays in review.
func (v *view) commitEndorsement(ctx context.Context, t board.Task, p review.Proposal, h review.Human) (repo.OID, error) {
	b, err := review.Endorse(t, h, v.env.Now())
	if err != nil {
		return "", err
	}
	msg := commitMessage("endorse: "+or(t.Title, string(t.ID)), "", "Odd-Task", string(t.ID), "Odd-Proposal", p.Commit, "Odd-Endorsed-By", h.By())
	return v.commitFiles(ctx, repo.Changes{v.repoPath(t.Path): b}, msg)
}

// landsOn returns the branch that approved proposals land on, and where it is.
func (v *view) landsOn() (name string, tip repo.OID, err error) {
	target, elsewhere := v.targetBranch()
	if !elsewhere {
		return v.line.Name(), v.tip, nil
	}
	if tip, err = v.repo.Ref(v.line.Local(target)); err != nil {
		err = fmt.Errorf("target branch %s: %w; create it with git branch, or change [board] target in odd.toml", target, err)
	}
	return target, tip, err
}

// findUnapproved returns the commit that brought what t proposes, byte for byte, to the branch that
// it lands on, though no person approved it: by a merge by hand, or a rebase that left the
// approval out. It is the zero commit where none did.
func (v *view) findUnapproved(ctx context.Context, t board.Task) (repo.Commit, error) {
	none := repo.Commit{}
	p, err := v.readProposal(t)
	if err != nil {
		return none, nil // odd check says why
	}
	_, tip, err := v.landsOn()
	if err != nil {
		return none, err
	}
	by, err := verify.Unapproved(ctx, v.repo, tip, bytesOf(p))
	if err != nil || by == "" {
		return none, err
	}
	if o, err := v.landedBy(ctx, t); err != nil || o != nil {
		return none, err
	}
	if _, elsewhere := v.targetBranch(); elsewhere {
		if a, err := v.findApproval(ctx, p, tip); err != nil || a.OID != "" {
			return none, err
		}
	}
	return v.repo.Commit(by)
}

// bytesOf returns the blobs of what a proposal changes, by path.
func bytesOf(p review.Proposal) map[string]string {
	out := map[string]string{}
	for _, w := range p.Paths {
		if w.Base != w.Result {
			out[w.Path] = w.Result
		}
	}
	return out
}

// landedAnyway says of a task in review that its files are there without an approval, and
// the two ways out; "" where they are not.
func (v *view) landedAnyway(ctx context.Context, id okf.ID) (string, error) {
	t, err := v.taskOf(id)
	if err != nil {
		return "", nil // odd check says why
	}
	c, err := v.findUnapproved(ctx, t)
	if err != nil || c.OID == "" {
		return "", err
	}
	name, tip, err := v.landsOn()
	if err != nil {
		return "", err
	}
	where := fmt.Sprintf("its files are on %s without your approval, since %s by %s", name, shortID(c.OID), c.Committer.Email)
	if p, err := v.readProposal(t); err == nil && v.checkBasis(ctx, p, tip) != nil {
		return fmt.Sprintf("%s: odd's commits were rebased, which drops approvals with what they edited or left out; git reset --hard to where %s was (git reflog %[2]s shows it) and merge instead, or start again with odd review %s --refresh", where, name, t.ID), nil
	}
	return fmt.Sprintf("%s; odd approve %s approves them as proposed, %s takes them out; where a rebase dropped an approval, git reflog has it, with what was edited or left out", where, t.ID, verify.TakeOut(c)), nil
}

// tellUnapproved has a person told of every task in review whose files have landed.
func (w *workspace) tellUnapproved(ctx context.Context) {
	v, err := w.readCurrent(ctx)
	if err != nil {
		return
	}
	var waiting []board.Task
	for _, row := range v.inReview() {
		if t, err := v.taskOf(row.ID); err == nil {
			waiting = append(waiting, t)
		}
	}
	slices.SortStableFunc(waiting, func(a, b board.Task) int { return cmp.Compare(a.Result.Run, b.Result.Run) }) // reads each ledger once
	for _, t := range waiting {
		if says, err := v.landedAnyway(ctx, t.ID); err == nil && says != "" {
			talk(w.env, "%s: %s", t.ID, says)
		}
	}
}

// confirmHuman shows the person on the terminal what they decide about and asks there
// for the typed confirmation of the act.
func (w *workspace) confirmHuman(ctx context.Context, about, act, want string, signed bool) (review.Human, error) {
	at := w.personPlace()
	p, err := w.checkDecider(ctx, act, at)
	if err != nil {
		return review.Human{}, err
	}
	if signed {
		h, err := review.Signed(act, p, at, w.cfg.RequireSigned)
		if err == nil {
			talk(w.env, "%s, signed:\n%s", act, about)
		}
		return h, err
	}
	tty, err := w.env.TTY()
	if err != nil {
		return review.Human{}, refuse("unconfirmed", "%s: you must type a confirmation, and there is no terminal; run the command in a terminal", act)
	}
	defer tty.Close()
	if _, err := io.WriteString(tty, w.env.foldedLines(about)); err != nil {
		return review.Human{}, refuse("unconfirmed", "%s: the terminal cannot be written to: %v; run it in another terminal", act, err)
	}
	h, err := awaitAnswer(ctx, tty, func() (review.Human, error) { return review.Confirm(tty, act, want, p, at) })
	w.noteDecided(w.env.Now())
	return h, err
}

// awaitAnswer waits for what ask reads from a terminal, or for the person to call it off:
// the read itself goes on when Ctrl-C is pressed, and nobody waits for it then.
func awaitAnswer[T any](ctx context.Context, tty io.Writer, ask func() (T, error)) (T, error) {
	type answer struct {
		said T
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		said, err := ask()
		done <- answer{said, err}
	}()
	select {
	case <-ctx.Done():
		_, _ = io.WriteString(tty, "\n") // the prompt's line has not ended
		var none T
		return none, ctx.Err()
	case a := <-done:
		return a.said, a.err
	}
}

// checkDecider returns the person that git names, and refuses a place where no person decides.
func (w *workspace) checkDecider(ctx context.Context, act string, at review.Place) (review.Person, error) {
	who, err := w.repo.Identity(ctx)
	if err != nil {
		return review.Person{}, err
	}
	p := review.Person{Name: who.Name, Email: who.Email}
	return p, review.Allowed(act, p, at)
}

func (w *workspace) personPlace() review.Place {
	return review.Place{CI: w.env.inCI(), Session: w.env.agentSign(), Agent: review.Person{Name: w.cfg.AgentName, Email: w.cfg.AgentEmail}}
}
