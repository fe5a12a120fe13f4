package approval

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/budget"
	"github.com/odd-cli/odd/board/drain"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/runs"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/reconcile/policy"
)

// ReviewVerb declares odd review.
func ReviewVerb(env console.Env) *cli.Command {
	return verb.New("review [TASK [ATOM]]", "list proposals that wait for you, or show one with its diff",
		"odd review\n"+
			"odd review read-the-handbook\n"+
			"odd review read-the-handbook --stat\n"+
			"odd review read-the-handbook skeg\n"+
			"odd review read-the-handbook --each\n"+
			"odd review --refresh read-the-handbook\n"+
			"odd review read-the-handbook --notes\n"+
			"odd review read-the-handbook --emission\n\n"+
			"A proposal is an agent's commit on the branch odd/review/TASK.N. Nothing of it\n"+
			"is on your branch until a person runs odd approve TASK. With an atom's id, odd\n"+
			"shows that atom and the lines of the documents that it comes from.\n\n"+
			"--each shows one atom after another and asks whether you take it, verify it,\n"+
			"leave it out or edit it, in your git editor. You may quit and go on\n"+
			"later; what you decided stays in this clone. odd approve TASK then does it.\n"+
			"Atoms that change are asked again. A text that an atom and its sources have\n"+
			"word for word is shown once.",
		verb.Do(env, runReview),
		&cli.BoolFlag{Name: "each", Usage: "decide on one atom after another in a terminal; only a person can"},
		&cli.BoolFlag{Name: "refresh", Usage: "rebuild the proposal on the current board from the same agent output; runs no agent"},
		&cli.BoolFlag{Name: "emission", Usage: "print what the agent printed in the last attempt, also of a task that is blocked"},
		&cli.BoolFlag{Name: "notes", Usage: "print the agent's notes of the last attempt in full: what it left out, and what it asks"},
		&cli.BoolFlag{Name: "stat", Usage: "print the summary without the diff"},
		&cli.BoolFlag{Name: "pr", Usage: "open a GitHub pull request for the proposal with gh; without gh or GitHub, print its text"})
}

func runReview(c *cli.Context, env console.Env) error {
	act, err := verb.OneFlag(c, "each", "refresh", "pr", "emission", "notes", "stat")
	ctx, task, asJSON := c.Context, c.Args().First(), c.Bool("json")
	switch {
	case err != nil:
		return err
	case c.NArg() == 2 && act != "":
		return verb.Usage("review: --%s is about the whole proposal; run odd review %s --%[1]s", act, task)
	case act == "each" && asJSON:
		return verb.Usage("review: --each has no --json; odd review %s --json prints the proposal", task)
	case c.NArg() == 0 && act != "":
		return verb.Usage("review: --%s needs a task, like odd review --%[1]s TASK; odd review lists the tasks", act)
	case c.NArg() == 0:
		return runQueue(ctx, env, asJSON)
	case act == "refresh":
		return runRefresh(ctx, env, task, asJSON)
	case act == "emission" || act == "notes":
		e, err := readEmission(ctx, env, task, "--"+act)
		switch {
		case err != nil:
			return err
		case act == "notes":
			return printNotes(env, task, e, asJSON)
		case asJSON:
			return console.PrintJSON(env, e)
		}
		return console.PrintText(env, e.Text) // as it is for a pipe
	case act == "pr" && env.AgentSign() != "":
		return verb.Refuse("not-a-person", "review --pr %s: an agent may not open pull requests (%s); a person runs this", task, env.AgentSign())
	}
	v, t, p, err := workspace.Options{}.OpenProposal(ctx, env, task)
	switch {
	case err != nil:
		return err
	case c.NArg() == 2:
		return reviewAtom(ctx, v, p, c.Args().Get(1), asJSON)
	case act == "each":
		return reviewEach(ctx, v, p)
	case act == "pr":
		return openPullRequest(ctx, v, t, p, asJSON)
	}
	return showProposal(ctx, v, t, p, act == "stat", asJSON)
}

func runQueue(ctx context.Context, env console.Env, asJSON bool) error {
	v, err := workspace.Options{Tasks: true}.OpenBoard(ctx, env)
	if err != nil {
		return err
	}
	list, rows, waiting := []review.Proposal{}, [][]string{}, v.InReview()
	for _, row := range waiting {
		t, err := v.TaskOf(row.ID)
		if err != nil {
			return err
		}
		p, err := v.ReadProposal(t)
		if err != nil {
			console.Talk(env, "%v", err)
			continue
		}
		list = append(list, p)
		has := runs.DescribeCounts(p.Counts, len(p.Paths)-len(p.Atoms(v.Config.Root)))
		if w, _, err := readWalk(v.Repo, p); err == nil && w.Count("") > 0 {
			has += fmt.Sprintf("; %d of %d decided", w.Count(""), len(p.Atoms(v.Config.Root)))
		}
		rows = append(rows, []string{string(t.ID), has, "$" + budget.MicroUSD(p.Cost).String(), p.Branch, console.TitleCell(t.Title)})
	}
	if len(waiting) == 0 && !asJSON {
		console.Talk(env, "review: no proposal waits for you; odd task list shows the tasks")
	}
	return console.Show(env, asJSON, list, rows...)
}

func showProposal(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, stat, asJSON bool) error {
	env := v.Env
	at, bound := BindProposal(ctx, v, t, p)
	if bound == nil {
		_, bound = findDecidable(ctx, v, t, p, at)
	}
	if asJSON {
		why := ""
		if bound != nil {
			why = bound.Error()
		}
		return console.PrintJSON(env, struct {
			review.Proposal
			Change *changeCard `json:"change,omitempty"`
			Read   []string    `json:"read_and_moved,omitempty"`
			Broken []string    `json:"broken_preferences,omitempty"`
			Bound  string      `json:"not_approvable,omitempty"`
		}{p, at.change, at.read, brokenPreferences(v, p), why})
	}
	card, err := ProposalCard(ctx, v, t, p, at, len(p.Paths))
	if err != nil {
		return err
	}
	if err := console.PrintPage(env, card); err != nil {
		return err
	}
	if bound != nil {
		console.Talk(env, "%v", bound)
	}
	if stat {
		return nil
	}
	diff, err := v.Repo.Patch(ctx, repo.OID(p.Base), repo.OID(p.Commit))
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, console.DiffText(env, "\n"+string(diff)+heldBack(v, t, p)))
	return err
}

// brokenPreferences returns a line for each file of a proposal that a preference in force
// forbids to change.
func brokenPreferences(v *workspace.Board, p review.Proposal) (out []string) {
	all, _ := board.Preferences(v.Graph)
	for _, a := range all {
		globs := board.ForbiddenPaths(a.Title+"\n"+string(a.Body()), v.Files, v.Config.Root)
		for _, w := range p.Paths {
			if policy.MatchAnyGlob(globs, w.Path) {
				out = append(out, fmt.Sprintf("%s changes, which the preference %s forbids", w.Path, a.ID))
			}
		}
	}
	return out
}

// The summary names so many files where it has to fit one screen, and so many atoms that
// were kept out.
const (
	FewFiles = 5
	mostHeld = 20
)

// ProposalCard returns the summary that a person decides from. It names at most so many files.
func ProposalCard(ctx context.Context, v *workspace.Board, t board.Task, p review.Proposal, at LandingSite, most int) (string, error) {
	proposed := ProposedAtoms(v, p)
	for i, a := range proposed {
		d, _ := at.walk.Of(a.At)
		if d.Take != "" {
			proposed[i].Mark = ", " + string(d.Take)
		}
		if edited, err := okf.Parse(a.Path, d.Edited); d.Edited != nil && err == nil {
			proposed[i].Atom = edited
		}
	}
	if err := readHands(ctx, v, p, proposed); err != nil {
		return "", err
	}
	files, err := fileList(ctx, v.Repo, p, proposed)
	if err != nil {
		return "", err
	}
	was, err := DescribeTakenBack(ctx, v, t.ID)
	if err != nil {
		return "", err
	}
	b := &console.Card{Wide: 12}
	b.Line("task", "%s  %s", t.ID, t.Title)
	b.Line("was", "%s", was)
	b.Line("proposes", "%s", inWords(p, v.Config.Root))
	atoms := atomList(proposed)
	for _, l := range atoms[:min(most, len(atoms))] {
		b.Line(l[0], "%s", l[1])
	}
	if n := len(atoms) - most; n > 0 {
		b.Line("", "… and %d more; odd review %s --stat lists them", n, t.ID)
	}
	b.List("files", files, most, "")
	var held []string
	for _, h := range p.Held {
		held = append(held, fmt.Sprintf("%s: %s (%s)", h.ID, h.Reason, h.Effect))
	}
	b.List("kept out", held, mostHeld, fmt.Sprintf("; odd review %s --json lists them", t.ID))
	b.List("notes", p.Notes, len(p.Notes), "")
	if len(p.Notes) > 0 {
		b.Line("", "odd review %s --notes prints them in full", t.ID)
	}
	at.change.addLines(b)
	for _, s := range brokenPreferences(v, p) {
		b.Line("warning", "%s", s)
	}
	var hands []string
	for _, a := range proposed {
		if a.Hand != "" {
			hands = append(hands, fmt.Sprintf("%s: %s; odd review %s %[1]s shows what the proposal takes out", a.ID, a.Hand, t.ID))
		}
	}
	b.List("warning", hands, FewFiles, "")
	if merged, err := isMerged(v, p, at); err != nil {
		return "", err
	} else if merged {
		onto, _ := v.TargetBranch()
		b.Line("warning", "the merge changes no file: %s has all of it already", onto)
	}
	if len(at.read) > 0 {
		b.Line("warning", "inputs changed since the agent read them: %s", strings.Join(at.read, ", "))
	}
	if p.Judged == "" {
		b.Line("made by", "%s, role %s, %s", MadeBy(p.Substrate), p.Role, console.CountNoun(int(p.Turns), "turn"))
	} else {
		b.Line("made by", "%s, role %s; odd judged the result again, without an agent", p.Judged, p.Role)
	}
	if v.Config.Session.Substrate == "extract" && p.Substrate == "extract" {
		b.Line("", "it cannot follow the reason of an odd reject")
	}
	b.Line("sandbox", "%s", DescribeSandbox(p.Sandbox))
	addSession(b, p.Contract)
	b.Line("cost", "$%s", budget.MicroUSD(p.Cost))
	b.Line("done when", "%s", strings.Join(t.Acceptance, "; "))
	endorsed, err := listEndorsers(ctx, v, t)
	if err != nil {
		return "", err
	}
	for _, who := range endorsed {
		b.Line("endorsed", "by %s", who)
	}
	if m, err := missingApprovers(ctx, v, t, review.Part{Proposal: p}); err != nil {
		return "", err
	} else if len(m) > 0 {
		b.Line("approvers", "%s", waitsFor(m))
	}
	b.Line("commit", "%s on branch %s, made from %s", console.ShortID(repo.OID(p.Commit)), p.Branch, console.ShortID(repo.OID(p.Base)))
	b.Line("trace", "%s", p.Trace)
	return b.String(), nil
}

// MadeBy names what made a proposal, by the substrate of its session.
func MadeBy(substrate string) string {
	switch substrate {
	case "":
		return "no agent"
	case "extract":
		return "the built-in offline reader (extract)"
	case "replay":
		return "a recorded session (replay)"
	}
	return "an agent (" + substrate + ")"
}

// DescribeSandbox says in words what the kernel held a program to, as the ledger keeps it.
func DescribeSandbox(held string) string {
	switch held {
	case "":
		return ""
	case "none":
		return "off; the program could read and write what the user can"
	}
	words := map[string]string{"landlock": "files restricted (Linux Landlock)", "sockets": "local sockets closed", "reaper": "leftover processes killed", "limits": "resource limits"}
	var on []string
	for _, w := range strings.Fields(held) {
		name, value, _ := strings.Cut(w, ":")
		if name == "net" {
			w = "network " + value
		}
		on = append(on, cmp.Or(words[name], w))
	}
	return "on: " + strings.Join(on, ", ")
}

// addSession adds what is to say of the contract a proposal was made under: as whom, from
// what, and what was put aside for it.
func addSession(b *console.Card, c *review.Contract) {
	if c == nil {
		return
	}
	as := c.Role
	if c.Mode != "" {
		as += ", mode " + c.Mode
	}
	if c.Persona != "" {
		as += ", profile " + strings.Join(append([]string{c.Persona}, c.Others...), " with ")
	}
	if as != c.Role {
		b.Line("worked as", "%s", as)
	}
	b.Line("used", "%s", strings.Join(c.From, ", "))
	b.Line("handed on", "%s", c.To)
	why := strings.TrimPrefix(c.Tainted, "override of ")
	if c.Tainted != "" && c.Override != "" {
		why += "; by " + c.Override + "; risks accepted: " + strings.Join(c.Risks, "; ")
	}
	b.Line("override", "%s", why)
}

// fileList returns the proposal's files but for its atoms, a line each: how many lines each
// gains and loses, the kind of change, the path. Those with the most changed lines come
// first.
func fileList(ctx context.Context, r *repo.Repo, p review.Proposal, atoms []review.Atom) ([]string, error) {
	all, err := r.ChangedLines(ctx, repo.OID(p.Base), repo.OID(p.Commit))
	if err != nil {
		return nil, err
	}
	kinds := map[string]string{}
	for _, w := range p.Paths {
		switch {
		case w.Base == "":
			kinds[w.Path] = "new"
		case w.Result == "":
			kinds[w.Path] = "deleted"
		}
	}
	all = slices.DeleteFunc(all, func(l repo.Lines) bool {
		return slices.ContainsFunc(atoms, func(a review.Atom) bool { return a.At.Path == l.Path })
	})
	slices.SortStableFunc(all, func(a, b repo.Lines) int { return b.Added + b.Removed - a.Added - a.Removed })
	var out []string
	for _, l := range all {
		lines := "binary"
		if l.Added >= 0 {
			lines = fmt.Sprintf("+%d -%d", l.Added, l.Removed)
		}
		out = append(out, fmt.Sprintf("%-9s  %-7s  %s", lines, cmp.Or(kinds[l.Path], "changed"), console.Cell(l.Path)))
	}
	return out, nil
}

// runRefresh judges the kept emission of a task again.
func runRefresh(ctx context.Context, env console.Env, name string, asJSON bool) error {
	w, o, p, err := runs.Open(ctx, env)
	if err != nil {
		return err
	}
	o.Task = name
	out, err := drain.Refresh(ctx, w.Repo, o)
	p.ClearLine()
	if err != nil {
		return err
	}
	if asJSON {
		return console.PrintJSON(env, out)
	}
	return runs.PrintReport(env, drain.Report{Tasks: []drain.Outcome{out}})
}

// inWords is runs.DescribeCounts for the card, where the reader does not know yet what is counted.
func inWords(p review.Proposal, root string) string {
	var parts []string
	for _, e := range slices.Sorted(maps.Keys(p.Counts)) {
		atoms := map[string]string{"added": "new atom", "updated": "changed atom", "unchanged": "unchanged atom"}[e]
		if e == "declined" {
			parts = append(parts, fmt.Sprintf("%d declined before", p.Counts[e]))
			continue
		}
		if atoms == "" {
			parts = append(parts, fmt.Sprintf("%d kept out (%s)", p.Counts[e], e))
			continue
		}
		parts = append(parts, console.CountNoun(p.Counts[e], atoms))
	}
	if files := len(p.Paths) - len(p.Atoms(root)); files > 0 {
		parts = append(parts, console.CountNoun(files, "changed file"))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing")
}
