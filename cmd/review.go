package cmd

import (
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
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/reconcile/policy"
)

func reviewVerb(env Env) *cli.Command {
	return verb("review [TASK [ATOM]]", "list proposals that wait for you, or show one with its diff",
		"odd review\n"+
			"odd review read-the-handbook\n"+
			"odd review read-the-handbook --stat\n"+
			"odd review read-the-handbook skeg\n"+
			"odd review read-the-handbook --each\n"+
			"odd review --refresh read-the-handbook\n"+
			"odd review read-the-handbook --emission\n\n"+
			"A proposal is an agent's commit on the branch odd/review/TASK.N. Nothing of it\n"+
			"is on your branch until a person runs odd approve TASK. With an atom's id, odd\n"+
			"shows that atom and the lines of the documents that it comes from.\n\n"+
			"--each shows one atom after another and asks whether you take it, verify it,\n"+
			"leave it out or edit it, in the editor that git takes. You may quit and go on\n"+
			"later; what you decided stays in this clone. odd approve TASK then does it.\n"+
			"Atoms that change are asked again. Where an atom has the text of its source\n"+
			"word for word, it is shown once.",
		do(env, runReview),
		&cli.BoolFlag{Name: "each", Usage: "decide on one atom after another in a terminal; only a person can"},
		&cli.BoolFlag{Name: "refresh", Usage: "rebuild the proposal on the current board from the same agent output; runs no agent"},
		&cli.BoolFlag{Name: "emission", Usage: "print what the agent printed in the last attempt, also of a task that is blocked"},
		&cli.BoolFlag{Name: "stat", Usage: "print the summary without the diff"},
		&cli.BoolFlag{Name: "pr", Usage: "open a GitHub pull request for the proposal with gh; without gh or GitHub, print its text"})
}

func runReview(c *cli.Context, env Env) error {
	act, err := oneFlag(c, "each", "refresh", "pr", "emission", "stat")
	ctx, task, asJSON := c.Context, c.Args().First(), c.Bool("json")
	switch {
	case err != nil:
		return err
	case c.NArg() == 2 && act != "":
		return usage("review: --%s is about the whole proposal; run odd review %s --%[1]s", act, task)
	case act == "each" && asJSON:
		return usage("review: --each has no --json; odd review %s --json prints the proposal", task)
	case c.NArg() == 2:
		return runReviewAtom(ctx, env, task, c.Args().Get(1), asJSON)
	case c.NArg() == 0 && act != "":
		return usage("review: --%s needs a task, like odd review --%[1]s TASK; odd review lists the tasks", act)
	case c.NArg() == 0:
		return runQueue(ctx, env, asJSON)
	case act == "each":
		return runReviewEach(ctx, env, task)
	case act == "refresh":
		return runRefresh(ctx, env, task, asJSON)
	case act == "emission":
		return runEmission(ctx, env, task, asJSON)
	case act == "pr":
		return runReviewPR(ctx, env, task, asJSON)
	}
	return showProposal(ctx, env, task, act == "stat", asJSON)
}

func runQueue(ctx context.Context, env Env, asJSON bool) error {
	v, err := opening{tasks: true}.open(ctx, env)
	if err != nil {
		return err
	}
	list, rows, waiting := []review.Proposal{}, [][]string{}, v.inReview()
	for _, row := range waiting {
		t, err := v.taskOf(row.ID)
		if err != nil {
			return err
		}
		p, err := v.readProposal(t)
		if err != nil {
			talk(env, "%v", err)
			continue
		}
		list = append(list, p)
		has := describeCounts(p.Counts, len(p.Paths)-len(p.Atoms(v.cfg.Root)))
		if w, _, err := v.readWalk(p); err == nil && w.Count("") > 0 {
			has += fmt.Sprintf("; %d of %d decided", w.Count(""), len(p.Atoms(v.cfg.Root)))
		}
		rows = append(rows, []string{string(t.ID), has, "$" + budget.MicroUSD(p.Cost).String(), p.Branch, titleCell(t.Title)})
	}
	if len(waiting) == 0 && !asJSON {
		talk(env, "review: no proposal waits for you; odd task list shows the tasks")
	}
	return show(env, asJSON, list, rows...)
}

func showProposal(ctx context.Context, env Env, name string, stat, asJSON bool) error {
	v, t, p, err := opening{}.openProposal(ctx, env, name)
	if err != nil {
		return err
	}
	at, bound := v.bindProposal(ctx, t, p)
	if at.change, err = v.readJudgement(t, at.landed); err != nil {
		return err
	}
	if bound == nil {
		_, bound = v.findDecidable(ctx, t, p, at)
	}
	if asJSON {
		why := ""
		if bound != nil {
			why = bound.Error()
		}
		return printJSON(env, struct {
			review.Proposal
			Change *changeCard `json:"change,omitempty"`
			Read   []string    `json:"read_and_moved,omitempty"`
			Broken []string    `json:"broken_preferences,omitempty"`
			Bound  string      `json:"not_approvable,omitempty"`
		}{p, at.change, at.read, v.brokenPreferences(p), why})
	}
	card, err := v.proposalCard(ctx, t, p, at, len(p.Paths))
	if err != nil {
		return err
	}
	if err := printPage(env, card); err != nil {
		return err
	}
	if bound != nil {
		talk(env, "%v", bound)
	}
	if stat {
		return nil
	}
	diff, err := v.repo.Patch(ctx, repo.OID(p.Base), repo.OID(p.Commit))
	if err != nil {
		return err
	}
	_, err = io.WriteString(env.Stdout, diffText(env, "\n"+string(diff)+v.heldBack(t, p)))
	return err
}

// brokenPreferences returns a line for each file of a proposal that a preference in force
// forbids to change.
func (v *view) brokenPreferences(p review.Proposal) (out []string) {
	all, _ := board.Preferences(v.graph)
	for _, a := range all {
		globs := board.ForbiddenPaths(a.Title+"\n"+string(a.Body()), v.files, v.cfg.Root)
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
	fewFiles = 5
	mostHeld = 20
)

// proposalCard returns the summary that a person decides from. It names at most so many files.
func (v *view) proposalCard(ctx context.Context, t board.Task, p review.Proposal, at landingSite, most int) (string, error) {
	proposed := v.proposedAtoms(p)
	for i, a := range proposed {
		if d, _ := at.walk.Of(a.at); d.Take != "" {
			proposed[i].mark = ", " + string(d.Take)
		}
	}
	if err := v.readHands(ctx, p, proposed); err != nil {
		return "", err
	}
	files, err := v.fileList(ctx, p, proposed)
	if err != nil {
		return "", err
	}
	b := &card{wide: 12}
	b.line("task", "%s  %s", t.ID, t.Title)
	b.line("proposes", "%s", inWords(p, v.cfg.Root))
	atoms := atomList(proposed)
	for _, l := range atoms[:min(most, len(atoms))] {
		b.line(l[0], "%s", l[1])
	}
	if n := len(atoms) - most; n > 0 {
		b.line("", "… and %d more; odd review %s --stat lists them", n, t.ID)
	}
	b.list("files", files, most, "")
	var held []string
	for _, h := range p.Held {
		held = append(held, fmt.Sprintf("%s: %s (%s)", h.ID, h.Reason, h.Effect))
	}
	b.list("kept out", held, mostHeld, fmt.Sprintf("; odd review %s --json lists them", t.ID))
	b.list("notes", p.Notes, len(p.Notes), "")
	at.change.addLines(b)
	for _, s := range v.brokenPreferences(p) {
		b.line("warning", "%s", s)
	}
	var hands []string
	for _, a := range proposed {
		if a.hand != "" {
			hands = append(hands, fmt.Sprintf("%s: %s; odd review %s %[1]s shows what the proposal takes out", a.ID, a.hand, t.ID))
		}
	}
	b.list("warning", hands, fewFiles, "")
	if len(at.read) > 0 {
		b.line("warning", "inputs changed since the agent read them: %s", strings.Join(at.read, ", "))
	}
	if p.Judged == "" {
		b.line("made by", "%s, role %s, %s", madeBy(p.Substrate), p.Role, countNoun(int(p.Turns), "turn"))
	} else {
		b.line("made by", "%s, role %s; odd judged the result again, without an agent", p.Judged, p.Role)
	}
	b.line("sandbox", "%s", describeSandbox(p.Sandbox))
	addSession(b, p.Contract)
	b.line("cost", "$%s", budget.MicroUSD(p.Cost))
	b.line("done when", "%s", strings.Join(t.Acceptance, "; "))
	endorsed, err := v.listEndorsers(ctx, t)
	if err != nil {
		return "", err
	}
	for _, who := range endorsed {
		b.line("endorsed", "by %s", who)
	}
	if m, err := v.missingApprovers(ctx, t, takenPart{Proposal: p}); err != nil {
		return "", err
	} else if len(m) > 0 {
		b.line("approvers", "%s", waitsFor(m))
	}
	b.line("commit", "%s on branch %s, made from %s", shortID(repo.OID(p.Commit)), p.Branch, shortID(repo.OID(p.Base)))
	b.line("trace", "%s", p.Trace)
	return b.String(), nil
}

// madeBy names what made a proposal, by the substrate of its session.
func madeBy(substrate string) string {
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

// inWords is describeCounts for the card, where the reader does not know yet what is counted.
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
		parts = append(parts, countNoun(p.Counts[e], atoms))
	}
	if files := len(p.Paths) - len(p.Atoms(root)); files > 0 {
		parts = append(parts, countNoun(files, "changed file"))
	}
	return or(strings.Join(parts, ", "), "nothing")
}

// describeSandbox says in words what the kernel held a program to, as the ledger keeps it.
func describeSandbox(held string) string {
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
		on = append(on, or(words[name], w))
	}
	return "on: " + strings.Join(on, ", ")
}

// addSession adds what is to say of the contract a proposal was made under: as whom, from
// what, and what was put aside for it.
func addSession(b *card, c *review.Contract) {
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
		b.line("worked as", "%s", as)
	}
	b.line("used", "%s", strings.Join(c.From, ", "))
	b.line("handed on", "%s", c.To)
	why := strings.TrimPrefix(c.Tainted, "override of ")
	if c.Tainted != "" && c.Override != "" {
		why += "; by " + c.Override + "; risks accepted: " + strings.Join(c.Risks, "; ")
	}
	b.line("override", "%s", why)
}

// fileList returns the proposal's files but for its atoms, a line each: how many lines each
// gains and loses, the kind of change, the path. Those with the most changed lines come
// first.
func (v *view) fileList(ctx context.Context, p review.Proposal, atoms []proposedAtom) ([]string, error) {
	all, err := v.repo.ChangedLines(ctx, repo.OID(p.Base), repo.OID(p.Commit))
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
		return slices.ContainsFunc(atoms, func(a proposedAtom) bool { return a.at.Path == l.Path })
	})
	slices.SortStableFunc(all, func(a, b repo.Lines) int { return b.Added + b.Removed - a.Added - a.Removed })
	var out []string
	for _, l := range all {
		lines := "binary"
		if l.Added >= 0 {
			lines = fmt.Sprintf("+%d -%d", l.Added, l.Removed)
		}
		out = append(out, fmt.Sprintf("%-9s  %-7s  %s", lines, or(kinds[l.Path], "changed"), cell(l.Path)))
	}
	return out, nil
}

// describeCounts returns "3 added, 1 updated, 2 files changed".
func describeCounts[E ~string](atoms map[E]int, files int) string {
	var parts []string
	for _, e := range slices.Sorted(maps.Keys(atoms)) {
		parts = append(parts, fmt.Sprintf("%d %s", atoms[e], e))
	}
	if files > 0 {
		parts = append(parts, countNoun(files, "file")+" changed")
	}
	return or(strings.Join(parts, ", "), "no result")
}

// runRefresh judges the kept emission of a task again.
func runRefresh(ctx context.Context, env Env, name string, asJSON bool) error {
	w, o, p, err := openDrain(ctx, env)
	if err != nil {
		return err
	}
	o.Task = name
	out, err := drain.Refresh(ctx, w.repo, o)
	p.clearLine()
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env, out)
	}
	return printReport(env, drain.Report{Tasks: []drain.Outcome{out}})
}
