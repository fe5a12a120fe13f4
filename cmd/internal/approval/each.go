package approval

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/land"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona"
)

// walkFile returns where this clone keeps what its user decided about the proposals of a task.
func walkFile(r *repo.Repo, t okf.ID) (string, error) {
	dir, err := r.Room("review")
	return filepath.Join(dir, fmt.Sprintf("%x.json", sha256.Sum256([]byte(t)))), err
}

// readWalk returns what this clone's user saw and decided about p, and how many decisions about an
// older proposal no longer count.
func readWalk(r *repo.Repo, p review.Proposal) (w review.Walk, dropped int, err error) {
	name, err := walkFile(r, p.Task)
	if err != nil {
		return w, 0, err
	}
	b, err := os.ReadFile(name)
	if err == nil {
		w, err = review.ReadWalk(b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w, 0, fmt.Errorf("%s: odd cannot read what you decided about %s: %w; delete the file and run odd review %[2]s --each again", name, p.Task, err)
	}
	w, dropped = w.About(p)
	return w, dropped, nil
}

// CountDecided returns about how many atoms of a task's proposal this clone's user decided, and how many there are. It
// reads the proposal only where something is kept, and says nothing of what it cannot read.
func CountDecided(v *workspace.Board, id okf.ID) (decided, atoms int) {
	name, err := walkFile(v.Repo, id)
	if err == nil {
		_, err = os.Stat(name)
	}
	if err != nil {
		return 0, 0
	}
	t, err := v.TaskOf(id)
	if err != nil {
		return 0, 0
	}
	p, err := v.ReadProposal(t)
	if err != nil {
		return 0, 0
	}
	w, _, err := readWalk(v.Repo, p)
	if err != nil {
		return 0, 0
	}
	return w.Count(""), len(p.Atoms(v.Config.Root))
}

// keepWalk keeps what was decided, so that the person may go on later.
func keepWalk(r *repo.Repo, t okf.ID, w review.Walk) error {
	name, err := walkFile(r, t)
	if err != nil {
		return err
	}
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	return renameio.WriteFile(name, b, 0o600)
}

// forgetWalk drops what was decided, which an approval has done.
func forgetWalk(r *repo.Repo, t okf.ID) {
	if name, err := walkFile(r, t); err == nil {
		_ = os.Remove(name)
	}
}

// takeWalk puts what the person decided in odd review --each into o and at, and is the line that
// says so before they confirm, or that it is forgotten; "" where they decided nothing. What is
// undecided is refused, and so are flags that decide the same again.
func takeWalk(v *workspace.Board, p review.Proposal, o *approval, at *LandingSite) (string, error) {
	w, dropped, err := readWalk(v.Repo, p)
	n, all := w.Count(""), len(ProposedAtoms(v, p))
	switch {
	case o.noWalk && n > 0:
		return fmt.Sprintf("%-10s  what you decided in odd review --each: %s\n", "forgets", w), nil
	case o.noWalk:
		return "", nil
	case err != nil || n+dropped == 0:
		return "", err
	case n < all:
		return "", verb.Refuse("state", "approve %s: odd review --each left %s undecided; to go on, run odd review %[1]s --each, where t takes all that are left; odd approve %[1]s --no-walk forgets what you decided and takes all %[3]d", p.Task, console.CountNoun(all-n, "atom"), all)
	case o.verify.All || len(o.verify.Only)+len(o.without) > 0:
		return "", verb.Refuse("state", "approve %s: odd review --each decided about every atom; leave the flags out, or add --no-walk to forget what was decided there", p.Task)
	}
	o.without, o.verify, o.edits, at.walk = w.LeftOut(), w.Verify(), w.Edits(), w
	return fmt.Sprintf("%-10s  %s, as you decided in odd review --each\n", "takes", w), nil
}

// walker is a person at a terminal who goes through the atoms of a proposal.
type walker struct {
	*workspace.Board
	review.Proposal
	tty   io.ReadWriter
	in    *bufio.Reader // of tty
	atoms []review.Atom
	walk  review.Walk
	owner string // that was named last
}

// reviewEach shows the atoms of a proposal one after another and keeps what the person
// decides about each.
func reviewEach(ctx context.Context, v *workspace.Board, p review.Proposal) error {
	act := fmt.Sprintf("review %s --each", p.Task)
	if err := land.MayDecide(ctx, v.Clone, act); err != nil {
		return err
	}
	w := walker{Board: v, Proposal: p, atoms: inReadingOrder(ProposedAtoms(v, p))}
	if err := readHands(ctx, v, p, w.atoms); err != nil {
		return err
	}
	if len(w.atoms) == 0 {
		return verb.Refuse("state", "%s: the proposal has no atoms; odd review %s shows its files", act, p.Task)
	}
	tty, err := v.Env.TTY()
	if err != nil {
		return verb.Refuse("unconfirmed", "%s: you answer for each atom, and there is no terminal; run the command in a terminal", act)
	}
	defer tty.Close()
	w.tty, w.in = tty, bufio.NewReader(tty)
	var dropped int
	if w.walk, dropped, err = readWalk(v.Repo, p); err != nil {
		return err
	}
	if dropped > 0 {
		w.writeTTY("%s changed since you decided; decide again\n", console.CountNoun(dropped, "atom"))
	}
	if err = w.askAll(ctx); err == nil || errors.Is(err, context.Canceled) {
		console.Talk(v.Env, "review %s: %s", p.Task, w.summaryLine())
	}
	return err
}

// inReadingOrder sorts atoms by the document and the line that they come from.
func inReadingOrder(atoms []review.Atom) []review.Atom {
	place := func(a review.Atom) (string, int) {
		if len(a.Sources) == 0 {
			return "", 0
		}
		if at := okf.ReadPlaces(a.Sources[0].Title); len(at) > 0 {
			return a.Sources[0].Resource, at[0][0]
		}
		return a.Sources[0].Resource, 0
	}
	slices.SortStableFunc(atoms, func(a, b review.Atom) int {
		file, line := place(a)
		other, below := place(b)
		return cmp.Or(strings.Compare(file, other), cmp.Compare(line, below))
	})
	return atoms
}

// isOpen reports an atom that the person did not decide about.
func (w *walker) isOpen(a review.Atom) bool {
	d, _ := w.walk.Of(a.At)
	return d.Take == ""
}

// nextOpen returns the first undecided atom from i on, all of them if there is none.
func (w *walker) nextOpen(i int) int {
	n := slices.IndexFunc(w.atoms[i:], w.isOpen)
	if n < 0 {
		return len(w.atoms)
	}
	return i + n
}

// takeRest accepts the atoms that are undecided, except those with an edit that has an error, and
// those that a person edited since they were approved.
func (w *walker) takeRest() error {
	for _, a := range w.atoms {
		d, _ := w.walk.Of(a.At)
		if d.Draft != nil || d.Take != "" || a.Hand != "" {
			continue
		}
		d.ID, d.Take = a.ID, review.Accept
		w.walk = w.walk.With(d)
	}
	return keepWalk(w.Board.Repo, w.Task, w.walk)
}

// askAll asks about the undecided atoms; where all are decided, about all again. It ends when
// the person quits or has decided the last.
func (w *walker) askAll(ctx context.Context) error {
	keys := "accept, owner, verify, leave out, edit, take the rest, next, back, quit " // told once
	said := false                                                                      // what was printed last is help or an error, which the atom again would push off the screen
	i := w.nextOpen(0)
	round := i == len(w.atoms)
	if round {
		i = 0
	}
	for i < len(w.atoms) {
		if !said {
			if err := w.showAtom(i); err != nil {
				return err
			}
		}
		said = false
		d, _ := w.walk.Of(w.atoms[i].At)
		revert := ""
		if d.Edited != nil || d.Draft != nil {
			revert = "r,"
		}
		key, err := w.askLine(ctx, fmt.Sprintf("(%d/%d) %s%s[a,o,v,l,e,%st,n,b,q,?]? ", i+1, len(w.atoms), soFar(d), keys, revert))
		if err != nil {
			return err
		}
		d.Reason, keys = "", ""
		if d.Draft != nil && slices.Contains([]string{"a", "accept", "o", "owner", "v", "verify"}, key) {
			w.writeTTY(draftSays)
			said = true
			continue
		}
		switch key {
		case "a", "accept", "v", "verify":
			if d.Take = review.Accept; key[0] == 'v' {
				d.Take = review.Verified
			}
		case "r", "revert":
			if err := w.keepDecision(review.Decided{Path: d.Path, ID: d.ID}); err != nil {
				return err
			}
			continue
		case "o", "owner":
			if d, err = w.giveToRole(ctx, w.atoms[i], d); err != nil {
				w.writeTTY("%v\n", err)
				said = true
				continue
			}
		case "l", "leave", "leave out":
			d.Take = review.Leave
			if d.Reason, err = w.askLine(ctx, "why (Enter for no reason)? "); err != nil {
				return err
			}
		case "e", "edit":
			if err := w.editAtom(ctx, w.atoms[i], d); err != nil {
				w.writeTTY("\n%v\n", err)
				said = true
			}
			continue
		case "t", "take", "take the rest":
			if err := w.takeRest(); err != nil {
				return err
			}
			i = w.nextOpen(0)
			continue
		case "n", "next":
			i++
			continue
		case "b", "back":
			i = max(0, i-1)
			continue
		case "q", "quit":
			return nil
		case "?", "help":
			w.writeTTY("%s", eachKeys)
			said = true
			continue
		default:
			w.writeTTY("%q is no key here; ? lists them\n", key)
			said = true
			continue
		}
		again := round || !w.isOpen(w.atoms[i])
		if err := w.keepDecision(d); err != nil {
			return err
		}
		if i++; !again {
			i = w.nextOpen(i)
		}
	}
	return nil
}

// draftSays is what is said of an atom with a draft.
const draftSays = "your edit has an error, so it would not be taken; e opens it again, r drops it\n"

const eachKeys = "a  accept: take it as it is\n" +
	"o  owner: take it and name the role that it belongs to, whose agents are always told it\n" +
	"v  verify: take it and vouch for it; odd records that you checked it against its sources\n" +
	"l  leave out: do not take it; odd asks for a reason\n" +
	"e  edit: change its file in your editor, and decide then; the change is yours\n" +
	"r  revert: drop your edit\n" +
	"t  take the rest: accept every atom that is still undecided, but one that a person edited\n" +
	"n  next: go on, and change nothing here\n" +
	"b  back: go to the one before\n" +
	"q  quit: stop here; the same command goes on later\n" +
	"?  help: print this list\n"

func soFar(d review.Decided) string {
	if d.Take == "" {
		return ""
	}
	return "now: " + string(d.Take) + console.ReasonSuffix(d.Reason) + "; "
}

// showAtom shows an atom beside its sources, and notes that it was shown.
func (w *walker) showAtom(i int) error {
	a := w.atoms[i]
	texts, err := citedBy(w.Board.Repo, a, repo.OID(w.Base))
	if err != nil {
		return err
	}
	shown := atomBeside(w.Board.Repo, a, texts)
	w.writeTTY("\n%s\n", shown)
	d, _ := w.walk.Of(a.At)
	if d.Edited != nil {
		w.writeTTY("your edit:\n%s\n", diff.Diff("proposed", a.Bytes(), "edited", d.Edited))
	}
	if d.Draft != nil {
		w.writeTTY(draftSays)
	}
	if strings.Count(shown, "\n") > tallAtom {
		w.writeTTY("%s\n", atomHeading(a))
	}
	d.ID = a.ID
	return w.keepDecision(d)
}

// tallAtom is the number of lines from which on an atom may have left the screen once it is asked about.
const tallAtom = 18

// keepDecision keeps what the person saw or decided.
func (w *walker) keepDecision(d review.Decided) error {
	w.walk = w.walk.With(d)
	return keepWalk(w.Board.Repo, w.Task, w.walk)
}

// editAtom has the person change the file of an atom; what it was decided counts no more.
func (w *walker) editAtom(ctx context.Context, a review.Atom, d review.Decided) error {
	before := a.Bytes()
	if edit := slices.Concat(d.Edited, d.Draft); edit != nil {
		before = edit // there is one of them at most
	}
	b, err := land.EditText(ctx, w.Board, path.Base(a.At.Path), before)
	if err != nil {
		return err
	}
	is, err := okf.Parse(a.Atom.Path, b)
	if err == nil && is.ID != a.ID {
		err = fmt.Errorf("%s: the id is %s, and must stay %s", a.At.Path, is.ID, a.ID)
	}
	if err == nil {
		err = w.checkEdit(ctx, a, b)
	}
	d.Take, d.Reason, d.Edited, d.Owned, d.Draft = "", "", b, d.Owned && bytes.Equal(b, before), nil
	if err != nil {
		d.Edited, d.Draft = nil, b
		err = fmt.Errorf("%w; the edit is not taken, and e opens it again", err)
	} else if bytes.Equal(b, a.Bytes()) {
		d.Edited = nil
	}
	return cmp.Or(w.keepDecision(d), err)
}

// fewRoles are asked for by name.
const fewRoles = 8

// giveToRole accepts an atom as the person last had it, with the role that they name as its owner.
func (w *walker) giveToRole(ctx context.Context, a review.Atom, d review.Decided) (review.Decided, error) {
	before := a.Bytes()
	if d.Edited != nil {
		before = d.Edited
	}
	g, _, err := w.loadEdited(ctx, a, before)
	if err != nil {
		return d, err
	}
	prompt := "which role? "
	switch roles := persona.Roles(g); {
	case w.owner != "":
		prompt = fmt.Sprintf("which role [%s]? ", w.owner)
	case len(roles) > 0 && len(roles) <= fewRoles:
		prompt = fmt.Sprintf("which role (%s)? ", strings.Join(roles, ", "))
	}
	role, why := "", "?"
	for why != "" {
		if role, err = w.askLine(ctx, prompt); err != nil {
			return d, err
		}
		role = cmp.Or(role, w.owner)
		if why = persona.WhyNoRole(g, role); why != "" && role == "q" { // also where the terminal ended
			return d, errors.New("no role is named, so nothing is decided")
		} else if why != "" {
			w.writeTTY("%s; q goes back\n", why)
		}
	}
	b, err := okf.Edit(before, okf.Set{Key: string(okf.Owner), Value: role})
	if err != nil {
		return d, err
	}
	d.Owned = d.Owned || d.Edited == nil
	w.owner, d.Edited, d.Take = role, b, review.Accept
	return d, nil
}

// loadEdited loads the bundle of the proposal with b in place of an atom's file.
func (w *walker) loadEdited(ctx context.Context, a review.Atom, b []byte) (*okf.Graph, []okf.Problem, error) {
	files, err := land.TreeWith(ctx, w.Board.Repo, repo.OID(w.Commit), repo.Changes{a.At.Path: b})
	if err != nil {
		return nil, nil, err
	}
	root, err := fs.Sub(files, w.Config.Root)
	if err != nil {
		return nil, nil, err
	}
	return okf.Load(root)
}

// checkEdit refuses an edit of which odd check would say that it is an error.
func (w *walker) checkEdit(ctx context.Context, a review.Atom, b []byte) error {
	g, found, err := w.loadEdited(ctx, a, b)
	if err != nil {
		return err
	}
	for _, p := range append(found, okf.Check(g, w.Env.Now())...) {
		if p.Path == a.Path && p.Severity == okf.Error {
			return p
		}
	}
	return nil
}

// writeTTY writes to the terminal, which obeys nothing that an agent wrote.
func (w *walker) writeTTY(format string, args ...any) {
	at := w.Env
	at.Terminal = true
	_, _ = io.WriteString(w.tty, console.DiffText(at, w.Env.FoldedProse(fmt.Sprintf(format, args...))))
}

// askLine returns a line that the person types; where the terminal ends, they quit.
func (w *walker) askLine(ctx context.Context, prompt string) (string, error) {
	w.writeTTY("%s", prompt)
	return console.AwaitAnswer(ctx, w.tty, func() (string, error) {
		line, err := w.in.ReadString('\n')
		if line = console.OneLine(line); err != nil && line == "" {
			return "q", nil
		}
		return line, nil
	})
}

func (w *walker) summaryLine() string {
	n := w.walk.Count("")
	out := fmt.Sprintf("%d of %s decided: %s", n, console.CountNoun(len(w.atoms), "atom"), w.walk)
	if n < len(w.atoms) {
		return out + fmt.Sprintf("; odd review %s --each goes on", w.Task)
	}
	return out + fmt.Sprintf("; odd approve %s does this", w.Task)
}
