// Package approval has the verbs by which a person decides on what agents propose: review shows a
// proposal, approve merges it, reject turns it down, undo takes back the last rejection or edit, and
// sync marks tasks done whose proposals were merged elsewhere. What a decision writes into a task
// is board/review's.
package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/bench"
	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/atoms"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/session"
)

// ApproveVerb declares odd approve.
func ApproveVerb(env console.Env) *cli.Command {
	return verb.New("approve TASK", "merge a reviewed proposal; only a person can",
		"odd approve read-the-handbook\n"+
			"odd approve read-the-handbook --verify-atom skeg\n"+
			"odd approve name-the-tides --verify\n"+
			"odd approve read-the-handbook --without skeg=\"no word of ours\"\n\n"+
			"odd merges odd/review/TASK.N into the board branch ([board] branch, by default\n"+
			"the one that is checked out) with a commit of yours, marks the task done, and\n"+
			"pushes if [board] remote is set. If [board] target names another branch, odd\n"+
			"adds your commit to the review branch instead; merge it there, then odd sync.\n"+
			"If files no longer fit, odd changes nothing and exits 3. Your commit also\n"+
			"brings the index.md of the folders up to date; after a merge elsewhere, run\n"+
			"odd knowledge index.\n\n"+
			"--without keeps an atom as it was before the proposal; your commit names it.\n"+
			"odd does not propose it again until its source text changes. The task's file\n"+
			"lists it under declined; take it out there to have it proposed.\n\n"+
			"After odd review TASK --each, odd does what you decided about each atom.\n"+
			"--no-walk forgets that, and takes what the other flags say.\n\n"+
			"Where [governance.approvers] in odd.toml asks for others too, the first yes is\n"+
			"kept on the task, which stays in review; the last person merges.\n\n"+
			verb.PersonNote,
		workspace.OnTask(env, func(c *cli.Context, env console.Env, name string) error {
			if _, err := verb.OneFlag(c, "verify", "verify-atom"); err != nil {
				return err
			}
			o := approval{name: name, yes: c.Bool("yes"), json: c.Bool("json"), noWalk: c.Bool("no-walk"), verify: review.Verify{All: c.Bool("verify")}}
			for _, s := range c.StringSlice("without") {
				id, reason, _ := strings.Cut(s, "=")
				o.without = append(o.without, review.LeftOut{ID: okf.ID(strings.TrimSpace(id)), Reason: console.OneLine(reason)})
			}
			for _, id := range c.StringSlice("except") {
				o.verify.Except = append(o.verify.Except, okf.ID(id))
			}
			for _, id := range c.StringSlice("verify-atom") {
				o.verify.Only = append(o.verify.Only, okf.ID(id))
			}
			if len(o.verify.Except) > 0 && !o.verify.All {
				return verb.Usage("approve: --except needs --verify; run odd approve %s --verify --except ID", name)
			}
			return runApprove(c.Context, env, o)
		}),
		&cli.BoolFlag{Name: "verify", Usage: fmt.Sprintf("also mark the proposed atoms as verified by you; first odd shows those that you have not seen, and refuses if they are more than %d", mostVerified)},
		&cli.StringSliceFlag{Name: "verify-atom", Usage: "mark only atom `ID` as verified by you; repeatable"},
		&cli.StringSliceFlag{Name: "except", Usage: "with --verify, do not mark atom `ID` as verified; repeatable"},
		&cli.StringSliceFlag{Name: "without", Usage: "do not take atom `ID`; ID=REASON also says why; repeatable"},
		&cli.BoolFlag{Name: "no-walk", Usage: "take all atoms as proposed, and forget what you decided about each in odd review TASK --each"},
		verb.YesFlag())
}

type approval struct {
	name      string
	verify    review.Verify
	without   []review.LeftOut
	edits     review.Files // of odd review --each
	noWalk    bool         // what odd review --each decided does not count
	yes, json bool
	op        *pipeline.Op  // that waits with the proposal, nil for none
	checked   bench.Checked // on what is there now
	landed    *pipeline.Op  // that landed it by itself, nil for none
}

func runApprove(ctx context.Context, env console.Env, o approval) error {
	v, t, p, err := workspace.Options{Fetch: true}.OpenProposal(ctx, env, o.name)
	if err != nil {
		return err
	}
	onto, err := BindProposal(ctx, v, t, p)
	if err != nil {
		return err
	}
	if o.op, err = findDecidable(ctx, v, t, p, onto); err != nil {
		return err
	}
	o.landed = onto.landed
	if o.checked, err = checkApproval(ctx, v, t, p, o.op, onto); err != nil {
		return err
	}
	for _, line := range o.checked.Ran {
		onto.change.Checks = append(onto.change.Checks, pipeline.Checked{Phase: "merged", Says: line, Passed: true})
	}
	walked, err := takeWalk(v, p, &o, &onto)
	if err != nil {
		return err
	}
	take, err := review.TakePart(p, ProposedAtoms(v, p), o.without, o.edits)
	if err != nil {
		return err
	}
	if len(o.verify.Except)+len(o.verify.Only) > 0 { // told before anybody types a confirmation
		tree, err := v.Repo.Tree(repo.OID(p.Commit))
		if err == nil {
			err = o.verify.Known(t, v.RepoPath(t.Path), atomsOf(v.Config, tree, take.Proposal))
		}
		if err != nil {
			return err
		}
	}
	others, err := checkApprovers(ctx, v, t, take, o)
	if err != nil {
		return err
	}
	taken := describeTaken(take, v.Config.Root)
	target, elsewhere := v.TargetBranch()
	act := fmt.Sprintf("approve %s into %s", t.ID, target)
	if taken != "" {
		act += " (" + taken + ")"
	} else if len(others) > 0 {
		act = "endorse " + string(t.ID)
	}
	texts, err := showUnseen(v, take, o)
	if err != nil {
		return err
	}
	files := FewFiles
	if o.verify.All || len(o.verify.Only) > 0 {
		files = len(p.Paths)
	}
	shown := p
	shown.Notes, shown.Trace = nil, "" // odd review shows them
	card, err := ProposalCard(ctx, v, t, shown, onto, files)
	if err != nil {
		return err
	}
	if !elsewhere && len(others) == 0 {
		var paths []string
		for _, w := range take.Paths {
			paths = append(paths, w.Path)
		}
		if err := land.CheckWorkTree(ctx, v, act, paths); err != nil {
			return err
		}
	}
	h, err := land.Confirm(ctx, v.Clone, texts+card+leftOutLines(take)+walked, act, string(t.ID), o.yes)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		oid, err := commitEndorsement(ctx, v, t, p, h)
		if err != nil {
			return err
		}
		console.Talk(env, "%s: %s", t.ID, waitsFor(others))
		return console.Show(env, o.json, map[string]string{"task": string(t.ID), "state": string(board.Review), "by": h.By(), "commit": string(oid)}, []string{string(t.ID), string(board.Review), h.By(), console.ShortID(oid), "endorsed"})
	}
	commit := approveHere
	if elsewhere {
		commit = approveForTarget
	}
	oid, err := commit(ctx, v, t, take, o, h)
	if err != nil {
		return err
	}
	forgetWalk(v.Repo, t.ID)
	tellOverLimit(v, t, p)
	if o.json {
		return console.PrintJSON(env, struct {
			Task    string           `json:"task"`
			By      string           `json:"by"`
			Commit  string           `json:"commit"`
			Checks  []string         `json:"checks,omitempty"` // that were run on the merged tree
			LeftOut []review.LeftOut `json:"left_out,omitempty"`
		}{string(t.ID), h.By(), string(oid), o.checked.Ran, take.Left})
	}
	row := []string{string(t.ID), string(board.Done), h.By(), console.ShortID(oid)}
	if elsewhere {
		row[1] = "approved; merge it into " + target + ", then run odd sync"
	}
	if taken != "" {
		row = append(row, taken)
	}
	err = console.PrintRows(env, [][]string{row})
	if slices.ContainsFunc(ProposedAtoms(v, take.Proposal), func(a review.Atom) bool { return a.At.Base == "" }) {
		console.Talk(env, "agents get a new note when their task uses its words; to give it to a role every time, add the line owner: ROLE to the note's file")
	}
	return err
}

// overLimit is where a proposal's message counts what its session left out for max_atoms, or as weaker.
var overLimit = regexp.MustCompile(`(?m)^` + session.LeftOut + `[0-9]+ \((?:([0-9]+) over max_atoms)?(?:, )?(?:([0-9]+) weaker)?`)

// tellOverLimit says how to get what the session of p found and left out for max_atoms. It does
// not count against the limit of the next what p proposes.
func tellOverLimit(v *workspace.Board, t board.Task, p review.Proposal) {
	c, err := v.Repo.Commit(repo.OID(p.Commit))
	m := overLimit.FindStringSubmatch(c.Message)
	if err != nil || m == nil || m[1]+m[2] == "" {
		return
	}
	n, _ := strconv.Atoi(cmp.Or(m[1], "0"))
	weaker, _ := strconv.Atoi(cmp.Or(m[2], "0"))
	n += weaker
	argv := []string{"odd", "task", "add", console.Cell(console.TitleCell(cmp.Or(t.Title, string(t.ID)))) + ", again", "--kind", t.Kind}
	if t.Role != "" {
		argv = append(argv, "--role", t.Role)
	}
	for _, in := range t.Inputs {
		argv = append(argv, "--input", in)
	}
	console.Talk(v.Env, "%s: the documents have %s; %s makes a task that proposes the next", t.ID, console.CountNoun(n, "more candidate"), strings.Join(console.QuoteWords(argv), " "))
}

// mostVerified is how many atoms --verify shows before it asks: their lines in the summary
// fill half of the smallest usual terminal, 24 lines. Whoever is asked about more at once
// scrolls past them.
const mostVerified = 12

// showUnseen returns the texts of the atoms that --verify would mark and that this clone did not
// show: a person sees each one before they say that they verified it.
func showUnseen(v *workspace.Board, p review.Part, o approval) (string, error) {
	if !o.verify.All {
		return "", nil
	}
	w, _, err := readWalk(v.Repo, p.Proposal)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n := 0
	for _, a := range ProposedAtoms(v, p.Proposal) {
		if _, shown := w.Of(a.At); shown || !o.verify.Marks(a.ID) {
			continue
		}
		if n++; n > mostVerified {
			continue
		}
		texts, err := citedBy(v.Repo, a, repo.OID(p.Base))
		if err != nil {
			return "", err
		}
		b.WriteString(console.NameHidden(atomBeside(v.Repo, a, texts)) + "\n")
	}
	if n > mostVerified || n > 0 && o.yes {
		return "", verb.Refuse("state", "approve %s: --verify would mark %s that you were not shown, and shows at most %d itself, in a terminal; odd review %[1]s --each shows one after another, or name what you have read with --verify-atom ID", p.Task, console.CountNoun(n, "atom"), mostVerified)
	}
	return b.String(), nil
}

// LandingSite is where a proposal would land and what moved there since.
type LandingSite struct {
	tip    repo.OID
	read   []string     // inputs of the task that changed since the session read them
	change *changeCard  // what the op that waits with it was judged on; nil for none
	landed *pipeline.Op // that landed it by itself; nil for none
	walk   review.Walk  // what the person decided who approves it
}

// BindProposal reads what the op of a proposal was judged on, and refuses a proposal that is not, byte for byte, what the
// run recorded and would be merged over.
func BindProposal(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal) (at LandingSite, err error) {
	if at.landed, err = landedBy(ctx, v, t); err != nil {
		return at, err
	}
	if at.change, err = readJudgement(v, t, at.landed); err != nil {
		return at, err
	}
	if _, at.tip, err = landsOn(v); err != nil {
		return at, err
	}
	if err := branchHolds(ctx, v, p); err != nil {
		return at, err
	}
	now, err := v.BlobReader(at.tip)
	if err != nil {
		return at, err
	}
	then, err := v.BlobReader(repo.OID(p.Commit))
	if err != nil {
		return at, verb.Refuse("branch", "%s: the proposal's commit %s is not in this clone; run git fetch, or odd reject %s --reason \"why\"", t.ID, console.ShortID(repo.OID(p.Commit)), t.ID)
	}
	if err := checkBasis(ctx, v.Repo, p, at.tip); err != nil {
		return at, err
	}
	changes, err := v.Repo.Diff(ctx, repo.OID(p.Base), repo.OID(p.Commit))
	if err != nil {
		return at, err
	}
	var changed []string
	for _, c := range changes {
		changed = append(changed, c.Path)
	}
	if at.landed != nil {
		now = then // it is there; what people made of it since is theirs
	}
	if moved := review.Bound(p, now, then, changed); len(moved) > 0 {
		way := wayOut(v.Repo, p)
		if _, conflicts, _ := bench.MergeProposal(ctx, v.Repo, at.tip, repo.OID(p.Commit)); len(conflicts) > 0 {
			way = makeAgain(v.Repo, p)
		}
		return at, review.Unbound(t.ID, moved, way)
	}
	at.read, err = readSince(ctx, v.Repo, t, p, at.tip)
	return at, err
}

// checkBasis refuses a proposal that would bring more history than its own commit:
// one that is not made on the recorded base, or whose base tip does not hold.
func checkBasis(ctx context.Context, r *repo.Repo, p review.Proposal, tip repo.OID) error {
	c, err := r.Commit(repo.OID(p.Commit))
	if err != nil {
		return err
	}
	if len(c.Parents) != 1 || string(c.Parents[0]) != p.Base {
		return verb.Refuse("branch", "%s: the proposal %s is not based on commit %s, from which the agent worked; odd reject %s --reason \"why\"", p.Task, console.ShortID(c.OID), console.ShortID(repo.OID(p.Base)), p.Task)
	}
	if in, err := r.Ancestor(ctx, c.Parents[0], tip); err != nil || in {
		return err
	}
	return verb.Refuse("moved", "%s: the commit it was made from, %s, is no longer in the target branch, so its history was rewritten; %s", p.Task, console.ShortID(repo.OID(p.Base)), wayOut(r, p))
}

// branchHolds refuses a review branch that carries anything but the recorded proposal.
func branchHolds(ctx context.Context, v *workspace.Board, p review.Proposal) error {
	tip, err := v.Repo.Ref(v.Line.Local(p.Branch))
	if err != nil {
		if tip, err = v.Repo.Ref("refs/heads/" + p.Branch); err != nil {
			if _, err := v.Repo.Commit(repo.OID(p.Commit)); err == nil {
				return nil // a forge deleted the branch after a merge; the proposal is here
			}
			return verb.Refuse("branch", "%s: the review branch %s is not in this clone; run git fetch, or where it was deleted fetch the pull request (git fetch origin pull/N/head), or odd reject %s --reason \"why\"", p.Task, p.Branch, p.Task)
		}
	}
	if string(tip) != p.Commit {
		if c, err := v.Repo.Commit(tip); err == nil && isApproval(ctx, v, c, p) {
			return verb.Refuse("state", "%s: %s already approved it; merge %s, then run odd sync", p.Task, c.Author.Email, p.Branch)
		}
		id := console.ShortID(repo.OID(p.Commit))
		back := fmt.Sprintf("git branch -f %s %s", p.Branch, id)
		if v.Line.Remote != "" {
			back = fmt.Sprintf("git push --force %s %s:refs/heads/%s", v.Line.Remote, id, p.Branch)
		}
		return verb.Refuse("branch", "%s: somebody moved the branch %s to %s after odd proposed %s; run %s to move it back, which drops what was added there, or odd reject %[1]s --reason \"why\"", p.Task, p.Branch, console.ShortID(tip), id, back)
	}
	return nil
}

// readSince lists the task's inputs that changed between the base and the tip.
func readSince(ctx context.Context, r *repo.Repo, t board.Task, p review.Proposal, tip repo.OID) ([]string, error) {
	if len(t.Inputs) == 0 {
		return nil, nil
	}
	changes, err := r.Diff(ctx, repo.OID(p.Base), tip)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range changes {
		if slices.ContainsFunc(t.Inputs, func(in string) bool {
			in = strings.Trim(in, "/")
			return c.Path == in || strings.HasPrefix(c.Path, in+"/")
		}) {
			out = append(out, c.Path)
		}
	}
	return out, nil
}

// approveHere merges what the person takes of the proposal into the board: one commit by
// the person.
func approveHere(ctx context.Context, v *workspace.Board, t board.Task, p review.Part, o approval, h review.Human) (repo.OID, error) {
	tree, conflicts, err := bench.MergeProposal(ctx, v.Repo, v.Tip, repo.OID(p.Commit))
	if err != nil {
		return "", fmt.Errorf("approve %s: the proposal cannot be merged into %s: %w: %s; %s", t.ID, v.Line.Name(), err, strings.Join(conflicts, ", "), wayOut(v.Repo, p.Proposal))
	}
	if is := o.checked.Tree; is != "" && is != tree {
		return "", verb.Refuse("moved", "approve %s: the board changed while the checks ran (tree %s, checked was %s); nothing was done, run odd approve %[1]s again", t.ID, console.ShortID(tree), console.ShortID(is))
	}
	if tree, err = restorePaths(ctx, v.Repo, tree, p.Out, v.Tip); err != nil {
		return "", err
	}
	if tree, err = v.Repo.WriteTree(ctx, tree, repo.Changes(p.Edits)); err != nil {
		return "", err
	}
	merged, err := v.Repo.Tree(tree)
	if err != nil {
		return "", err
	}
	files, err := approvedFiles(v, t, p, o.verify, h)
	if err != nil {
		return "", err
	}
	msg := approvalMessage(t, p, o, h, "", verifiedBlobs(v, p.Proposal, o.verify, files), files)
	ch := repo.Changes(files)
	if ch[v.RepoPath(t.Path)], err = review.Decline(ch[v.RepoPath(t.Path)], t, p.Declines, h, v.Env.Now()); err != nil {
		return "", err
	}
	var found []string
	for _, w := range p.Atoms(v.Config.Root) {
		found = append(found, w.Path)
	}
	if err := atoms.UpdateIndexes(ctx, v, ch, found, merged); err != nil {
		return "", err
	}
	if err := concludeOp(v, ch, o.op, pipeline.Merged, strings.Join(append([]string{"approved by " + h.By()}, o.checked.Ran...), "; ")); err != nil {
		return "", err
	}
	return land.CommitTree(ctx, v, []repo.OID{v.Tip, repo.OID(p.Commit)}, tree, ch, msg)
}

func approvalMessage(t board.Task, p review.Part, o approval, h review.Human, note string, verified map[string]string, files review.Files) string {
	var except []string
	for _, id := range o.verify.Except {
		except = append(except, string(id))
	}
	pairs := []string{"Odd-Task", string(t.ID), "Odd-Run", p.Run, "Odd-Proposal", p.Commit, "Odd-Trace", p.Trace, "Odd-Approved-By", h.By()}
	if by := cmp.Or(o.op, o.landed); by != nil {
		pairs = append(pairs, "Odd-Op", by.ID, "Odd-Tier", by.Fact(pipeline.FactTier))
	}
	for _, name := range slices.Sorted(maps.Keys(verified)) {
		pairs = append(pairs, "Odd-Verified", name+"@"+verified[name])
	}
	pairs = append(pairs, "Odd-Except", strings.Join(except, ", "))
	return land.Message("approve: "+cmp.Or(t.Title, string(t.ID)), note, append(pairs, p.Trailers(files)...)...)
}

// approveForTarget adds the person's commit to the review branch, which changes only what
// they leave out, edit or verify; a forge merges it and odd sync writes done.
func approveForTarget(ctx context.Context, v *workspace.Board, t board.Task, p review.Part, o approval, h review.Human) (repo.OID, error) {
	target, _ := v.TargetBranch()
	tree, err := approvedTree(ctx, v.Repo, p)
	if err != nil {
		return "", err
	}
	files, err := approvedFiles(v, t, p, o.verify, h)
	if err != nil {
		return "", err
	}
	delete(files, v.RepoPath(t.Path)) // odd sync writes it
	note := fmt.Sprintf("Merging this branch into %s lands the proposal as this commit has it.", target)
	msg := approvalMessage(t, p, o, h, note, verifiedBlobs(v, p.Proposal, o.verify, files), files)
	oid, err := land.AsPerson(ctx, v, []repo.OID{repo.OID(p.Commit)}, tree, repo.Changes(files), msg)
	if err != nil {
		return "", err
	}
	branch := &repo.Line{Repo: v.Repo, Ref: "refs/heads/" + p.Branch, Remote: v.Line.Remote, Note: v.Line.Note, Check: v.Line.Check}
	old := repo.OID(p.Commit)
	if branch.Remote != "" {
		old, err = v.Repo.RemoteRef(ctx, branch.Remote, branch.Ref)
	} else if _, none := v.Repo.Ref(branch.Ref); none != nil {
		old = "" // as where a forge deleted it after a merge
	}
	if err != nil {
		return "", err
	}
	kept := repo.RefUpdate{Name: review.KeptApproval(p.Branch), New: oid}
	if kept.Old, err = v.Repo.Ref(kept.Name); errors.Is(err, repo.ErrNoRef) {
		kept.Old, err = "", nil
	}
	if err != nil {
		return "", err
	}
	return oid, branch.Land(ctx, old, oid, kept)
}
