package proof

import (
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/ledger"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// gated is invariant 3: only an approval reaches done, and machines make only their own moves.
func gated(j *judge) error {
	for _, f := range j.files {
		if !isTask(f.old) && !isTask(f.new) || f.new == nil {
			continue
		}
		j.checked++
		why, err := j.move(f)
		if err != nil {
			return err
		}
		if why != "" {
			j.find(f.Path, f.new.Line("state"), "%s", why)
		}
	}
	return j.vouched(false)
}

// move says what is wrong with the step a task takes, "" when nothing is.
func (j *judge) move(f *file) (string, error) {
	if j.kind == person {
		if state(f.new) != board.Done {
			return "", nil
		}
		if done, err := j.wasDone(f); done || err != nil {
			return "", err
		}
		return j.approved(f)
	}
	from, to := state(f.old), state(f.new)
	switch {
	case from == to && (j.kind == boardCommit || j.kind == syncCommit) && !j.judgedAgain(f) && j.trespass(f) == "": // else row 2 says more
		return fmt.Sprintf("a machine's commit changes a task in %s, and moves it nowhere", from), nil
	case from == to:
		return "", nil
	case f.old == nil && to == board.Backlog && (j.kind == proposal || j.kind == stray):
		return "", nil
	case j.kind == syncCommit && from == board.Review && to == board.Done:
		return j.synced(f)
	case f.old == nil:
		return fmt.Sprintf("a machine's commit files a task in %s; only backlog is its to say", to), nil
	}
	return j.machineMove(f, from, to)
}

// judgedAgain reports a task in review that a run leaves there with a result of its own.
func (j *judge) judgedAgain(f *file) bool {
	return state(f.new) == board.Review && j.tells(f.new.ID, board.Review)
}

// tells reports an outcome in the act that gives a task its state.
func (j *judge) tells(task okf.ID, to board.State) bool {
	return slices.ContainsFunc(j.lines, func(l line) bool {
		return l.record.Kind == ledger.Outcome && l.record.Task == string(task) && text(&l.record, "verdict") == string(to)
	})
}

// wasDone reports a person's commit that only carries a done task along: from
// another parent, or from the path the task had before.
func (j *judge) wasDone(f *file) (bool, error) {
	for _, oid := range j.olds(f) {
		b, err := j.trees.Blob(oid)
		if err != nil {
			return false, err
		}
		if old, _ := atom(f.rel, b); state(old) == board.Done {
			return true, nil
		}
	}
	if slices.ContainsFunc(j.sides[0], func(ch repo.Change) bool { return ch.New == "" && ch.Old == f.New }) {
		return true, nil // moved as it was
	}
	for _, ch := range j.sides[0] {
		rel, ok := strings.CutPrefix(ch.Path, j.roots[0])
		if !ok || ch.New != "" || !strings.HasSuffix(rel, ".md") {
			continue
		}
		b, err := j.bytes(ch.Old, ch.OldMode)
		if err != nil {
			return false, err
		}
		old, _ := atom(rel, b)
		if state(old) == board.Done && old.ID == f.new.ID {
			return true, nil
		}
	}
	return false, nil
}

// approved says what a person's commit that writes done lacks to be an approval.
func (j *judge) approved(f *file) (string, error) {
	t, why := inReview(f.old)
	if why != "" {
		return why, nil
	}
	p := one(j.Commit, "Odd-Proposal")
	by := "human:" + j.Author.Email
	switch {
	case j.task != string(t.ID) || p == "":
		return "done without an approval: the commit has no Odd-Task and Odd-Proposal of it; odd approve writes them", nil
	case one(j.Commit, "Odd-Approved-By") != by:
		return fmt.Sprintf("done on the word of %s, in a commit by %s", or(one(j.Commit, "Odd-Approved-By"), "nobody"), j.Author.Email), nil
	case len(j.Parents) < 2 || !slices.Contains(j.Parents[1:], repo.OID(p)):
		return fmt.Sprintf("done without its proposal: %s is no parent of the commit", short(p)), nil
	case !slices.ContainsFunc(f.new.Verified, func(s okf.Stamp) bool { return s.By == by }):
		return "done without verified by " + by, nil
	}
	r, why, err := j.waited(t, p)
	if why != "" || err != nil {
		return why, err
	}
	if trace := one(j.Commit, "Odd-Trace"); trace != r.Trace {
		return fmt.Sprintf("the approval is of trace %s, the run recorded %s", or(short(trace), "none"), short(r.Trace)), nil
	}
	return j.brought(r)
}

// inReview reads the task an approval found, and says why it found none.
func inReview(old *okf.Atom) (board.Task, string) {
	if old == nil {
		return board.Task{}, "a task that begins as done; only an approval reaches done"
	}
	t, err := board.Parse(old)
	switch {
	case err != nil:
		return t, "done from a task that did not read: " + err.Error()
	case t.State != board.Review:
		return t, fmt.Sprintf("done from %s; only an approval of a task in review reaches done", t.State)
	}
	return t, ""
}

// waited is the record of the proposal that t waited in review with.
func (j *judge) waited(t board.Task, p string) (*ledger.Record, string, error) {
	if t.Result.Commit != p || t.Result.Run != j.run {
		return nil, fmt.Sprintf("done with proposal %s of %s, the task waited with %s of %s",
			or(short(p), "none"), or(j.run, "no run"), or(short(t.Result.Commit), "none"), or(t.Result.Run, "no run")), nil
	}
	all, err := j.outcomes(t.Result.Run, string(t.ID))
	for _, r := range all {
		if text(r.Record, "proposal") == p && text(r.Record, "verdict") == string(board.Review) {
			return r.Record, "", nil
		}
	}
	if err != nil {
		return nil, "", err
	}
	return nil, fmt.Sprintf("done with proposal %s, which no outcome of %s records", short(p), t.Result.Run), nil
}

// brought compares what the approval merged with what was recorded: bytes, modes,
// and no file outside of the bundle besides. With --verify the person's own entry
// changes the bytes of an atom, which must still be there.
func (j *judge) brought(r *ledger.Record) (string, error) {
	if before, err := j.bringsNothing(text(r, "proposal")); err != nil {
		return "", err
	} else if before {
		if name := j.besideBoard(); name != "" {
			return fmt.Sprintf("the approval changes %s, and its proposal had landed before", name), nil
		}
		return "", nil
	}
	for _, p := range pathsOf(r) {
		have, mode, err := j.trees.Find(j.OID, p[0])
		if err != nil {
			return "", err
		}
		_, said, err := j.trees.Find(repo.OID(text(r, "proposal")), p[0])
		if err != nil {
			return "", err
		}
		verified := len(j.Trailer("Odd-Verified")) > 0 && have != "" && p[2] != "" && strings.HasPrefix(p[0], j.root)
		switch {
		case string(have) != p[2] && !verified:
			return fmt.Sprintf("the approval brings %s as %s, recorded was %s", p[0], or(short(string(have)), "nothing"), short(p[2])), nil
		case mode != said:
			return fmt.Sprintf("the approval brings %s with mode %s, its proposal has %s", p[0], mode, or(said, "none")), nil
		}
	}
	if i := slices.IndexFunc(j.files, func(f *file) bool { return f.rel == "" }); i >= 0 {
		return fmt.Sprintf("the approval changes %s itself, which its proposal does not", j.files[i].Path), nil
	}
	return "", nil
}

// machineMove says why the run's commit may not take this step.
func (j *judge) machineMove(f *file, from, to board.State) (string, error) {
	old, err := board.Parse(f.old)
	if err != nil {
		return "a machine's commit moves a task that did not read: " + err.Error(), nil
	}
	if j.kind != boardCommit {
		return fmt.Sprintf("a machine's commit moves the task from %s to %s outside a run's claim, result or sweep", from, to), nil
	}
	if from == board.Review && to == board.Backlog && j.expires(string(old.ID)) {
		return "", nil // whether its time was over is row 15's
	}
	mover := board.Sweeper
	switch {
	case to == board.InProgress:
		mover = board.Claimer
	case old.ClaimedBy == j.run:
		mover = board.Session
	}
	if board.Can(mover, from, to) != nil {
		return fmt.Sprintf("a machine's commit moves the task from %s to %s; only a person does, if anybody", from, to), nil
	}
	switch {
	case mover == board.Sweeper && !old.Expired(j.Author.When):
		return fmt.Sprintf("%s sweeps a task that %s holds until %s", j.run, or(old.ClaimedBy, "a person"), old.LeaseExpires.UTC().Format("2006-01-02T15:04:05Z")), nil
	case mover == board.Session && !j.tells(f.new.ID, to):
		return fmt.Sprintf("%s moves the task to %s, and no outcome of the commit says so", j.run, to), nil
	case mover == board.Claimer && f.new.Text("claimed_by") != j.run:
		return fmt.Sprintf("%s claims the task for %s", j.run, or(f.new.Text("claimed_by"), "nobody")), nil
	}
	if why := j.counted(f, old, mover); why != "" || mover != board.Claimer {
		return why, nil
	}
	return j.eligible(old)
}

// eligible says why no drain would have taken the task that a run claims, as the board
// stood before: of what it depends on something was not done, or its kind is none.
func (j *judge) eligible(t board.Task) (string, error) {
	var behind board.Index
	if len(t.Dependencies) > 0 {
		g, err := j.bundleAt(j.Parents[0], j.law.Root)
		if err != nil {
			return "", err
		}
		if t, err = board.ReadTask(g, t.Atom); err != nil {
			return "", err
		}
		behind = board.Behind(g, t)
	}
	if why := board.Eligible(&t.Row, behind, j.Author.When); why != "" {
		return fmt.Sprintf("%s claims a task that no drain takes: %s", j.run, why), nil
	}
	return "", nil
}

// counted says why a run's step does not leave the task's attempts, or the end of its
// claim, as it may: a claim is one attempt more and ends in its time, other steps are none.
func (j *judge) counted(f *file, old board.Task, mover board.Mover) string {
	now, err := board.Parse(f.new)
	if err != nil {
		return "a machine's commit leaves a task that does not read: " + err.Error()
	}
	want := old.Attempts
	if mover == board.Claimer {
		want++
	}
	switch end := j.Author.When.Add(j.law.TaskLease + skew); {
	case now.Attempts != want:
		return fmt.Sprintf("%s says attempts %d, it is %d after %d", j.run, now.Attempts, want, old.Attempts)
	case mover == board.Claimer && now.LeaseExpires.After(end):
		return fmt.Sprintf("%s claims the task until %s, longer than [drain] lease allows", j.run, moment(now.LeaseExpires))
	}
	return ""
}

// synced says why the machine's done is not proven by the approval it names.
func (j *judge) synced(f *file) (string, error) {
	t, why := inReview(f.old)
	if why != "" {
		return why, nil
	}
	p := one(j.Commit, "Odd-Proposal")
	r, why, err := j.waited(t, p)
	if why != "" || err != nil {
		return why, err
	}
	name := one(j.Commit, "Odd-Approval")
	c, err := j.repo.Commit(repo.OID(name))
	if err != nil {
		return fmt.Sprintf("done by a machine on Odd-Approval %s, which is not in this clone; fetch %s to prove it", or(short(name), "nothing"), or(t.Result.Branch, "its branch")), nil
	}
	if why, err := j.approval(c, p); why != "" || err != nil {
		return why, err
	}
	by := "human:" + c.Author.Email
	for _, s := range humans(f.new) {
		if !slices.Contains(humans(f.old), s) && !strings.HasPrefix(s, by+" at ") {
			return fmt.Sprintf("the machine writes verified by %s, the approval is by %s", s, by), nil
		}
	}
	return j.landedBytes(c, r)
}

// approval says why c is not a person's empty commit upon the proposal p.
func (j *judge) approval(c repo.Commit, p string) (why string, err error) {
	name := short(string(c.OID))
	if one(c, "Odd-Proposal") != p || len(c.Parents) != 1 || string(c.Parents[0]) != p {
		return fmt.Sprintf("done by a machine on approval %s, which is not upon the proposal %s", name, short(p)), nil
	}
	law, err := j.lawAfter(c.Parents[0])
	if err != nil {
		return "", err
	}
	for _, email := range []string{law.AgentEmail, j.law.AgentEmail} {
		if strings.EqualFold(c.Author.Email, email) || strings.EqualFold(c.Committer.Email, email) {
			return fmt.Sprintf("done by a machine on approval %s, which the agent made", name), nil
		}
	}
	if one(c, "Odd-Approved-By") != "human:"+c.Author.Email {
		return fmt.Sprintf("done by a machine on approval %s, which does not say that its author %s approved", name, c.Author.Email), nil
	}
	tree, err := j.repo.TreeOID(c.Parents[0], "")
	if err == nil && tree != c.Tree {
		return fmt.Sprintf("done by a machine on approval %s, which changes what was proposed", name), nil
	}
	if err != nil {
		return "", err
	}
	if why, err = j.unsigned(c, j.law, j.Parents[0]); why != "" {
		why = fmt.Sprintf("done by a machine on approval %s, which %s", name, why)
	}
	return why, err
}

// landedBytes says why the board does not hold what the approval is of: it is no
// ancestor, the recorded bytes are not there, and no person's commit brought them.
func (j *judge) landedBytes(c repo.Commit, r *ledger.Record) (string, error) {
	in, err := j.ancestor(c.OID, j.OID)
	if in || err != nil {
		return "", err
	}
	if p, err := j.repo.Commit(c.Parents[0]); err == nil {
		if in, err = j.ancestor(p.OID, j.OID); err == nil && in {
			in, err = j.alone(p)
		}
		if in || err != nil {
			return "", err
		}
	}
	paths := pathsOf(r)
	for _, p := range paths {
		have, mode, err := j.trees.Find(j.OID, p[0])
		if err != nil {
			return "", err
		}
		if string(have) == p[2] || mode == folder && p[2] == "" {
			continue
		}
		if squashed, err := j.squashed(c, paths); squashed || err != nil {
			return "", err
		}
		return fmt.Sprintf("done on approval %s, and %s has not landed as approved", short(string(c.OID)), p[0]), nil
	}
	if len(paths) == 0 {
		return fmt.Sprintf("done on approval %s, which has not landed", short(string(c.OID))), nil
	}
	return "", nil
}

// squashed reports a commit on the way to the act that changed exactly the
// recorded paths, each from its base blob to its result blob, and that no machine
// committed: a squash or a rebase of what the approval is of.
func (j *judge) squashed(approval repo.Commit, paths [][3]string) (bool, error) {
	p, err := j.repo.Commit(approval.Parents[0])
	if err != nil || len(p.Parents) != 1 || len(paths) == 0 {
		return false, err
	}
	want := map[string][2]string{}
	for _, w := range paths {
		want[w[0]] = [2]string{w[1], w[2]}
	}
	for c, err := range j.repo.Log(j.ctx, p.Parents[0], j.OID) {
		if err != nil {
			return false, err
		}
		if ok, err := j.squashes(c, want); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// squashes reports that c changed exactly the paths wanted, each from its base
// blob to its result blob, and that no machine committed it.
func (j *judge) squashes(c repo.Commit, want map[string][2]string) (bool, error) {
	if len(c.Parents) != 1 {
		return false, nil
	}
	law, err := j.lawAfter(c.Parents[0])
	if err != nil {
		return false, err
	}
	if strings.EqualFold(c.Committer.Email, law.AgentEmail) || strings.EqualFold(c.Committer.Email, j.law.AgentEmail) {
		return false, nil
	}
	changes, err := j.trees.Diff(j.ctx, c.Parents[0], c.OID)
	if err != nil {
		return false, err
	}
	other := func(ch repo.Change) bool {
		w, ok := want[ch.Path]
		return !ok || w != [2]string{string(ch.Old), string(ch.New)} || ch.NewMode != "100644" && ch.NewMode != ch.OldMode
	}
	return len(changes) == len(want) && !slices.ContainsFunc(changes, other), nil
}

// landed reports a proposal that became part of the history without a person:
// of those who build on it at least one must be a person's commit, and on the
// line of the board itself that commit must be its approval. A commit that is not
// the recorded one was made again, by a forge or a person: they are its committer.
func (j *judge) landed(own, recorded bool) error {
	if !recorded && !strings.EqualFold(j.Committer.Email, j.law.AgentEmail) {
		return nil
	}
	j.ask(takenBy(j.Commit, own))
	if j.taken(j.Commit, own) {
		return nil
	}
	j.own = true
	if j.OID == j.to && !slices.Contains(j.tips, j.to) {
		return nil // what was built on it is outside the range
	}
	if waits, err := j.waits(j.OID); waits || err != nil {
		return err
	}
	if alone, err := j.landedAlone(); alone || err != nil {
		return err
	}
	j.found = append(j.found, Finding{Invariant: 3, Commit: j.OID, Path: j.anyPath(), Line: 1, Message: "a proposal that landed without a person: nobody merged it and nobody approved it"})
	return nil
}

// taken reports a person's commit upon the proposal p, or upon empty commits upon it.
func (h *history) taken(p repo.Commit, own bool) bool {
	seen := map[repo.OID]bool{p.OID: true}
	for todo := []repo.Commit{p}; len(todo) > 0; todo = todo[1:] {
		on := todo[0].OID
		for _, n := range h.children[on] {
			c := h.commits[n]
			strict := own && h.spine[on] && c.Parents[0] == on
			switch {
			case h.machines[c.OID]:
				if c.Tree == p.Tree && !seen[c.OID] {
					seen[c.OID], todo = true, append(todo, c)
				}
			case !strict || one(c, "Odd-Proposal") == string(p.OID):
				return true
			}
		}
	}
	return false
}
