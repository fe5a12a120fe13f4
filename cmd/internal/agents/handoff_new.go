package agents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/journals"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffNew(env console.Env) *cli.Command {
	return verb.New("new", "write a handoff and its journal entry, as a template or from JSON",
		"odd agent handoff new --from planning --to execution \\\n"+
			"  --artifact knowledge/terms/slack-water.md --title \"Slack water\"\n"+
			"odd agent handoff new --from validation --from-json findings.json \\\n"+
			"  --title \"Review a\"\n\n"+
			"Without --from-json, odd writes a template: fill in its parts and commit it.\n"+
			"odd help agent handoff lists the modes.",
		verb.Do(env, runHandoffNew),
		&cli.StringFlag{Name: "from", Usage: "`MODE` that hands over: exploration, planning, execution, validation or resolution"},
		&cli.StringFlag{Name: "to", Usage: "`MODE` that receives (default: the next one)"},
		&cli.StringFlag{Name: "artifact", Usage: "say what is handed over, `REF`: a path, id, uri or commit"},
		&cli.StringFlag{Name: "title", Usage: "set the title to `TITLE`; it also makes the file name"},
		&cli.StringFlag{Name: "from-json", Usage: "take the content from the JSON in `FILE` (- for stdin)"},
		&cli.StringSliceFlag{Name: "derives", Usage: "name a handoff `ID` that it is made from; repeatable"},
		verb.NoCommitFlag())
}

func runHandoffNew(c *cli.Context, env console.Env) error {
	from, to, err := readTransition("handoff new", c.String("from"), c.String("to"))
	if err != nil {
		return err
	}
	meta := handoff.Meta{From: from, To: to, Artifact: c.String("artifact"), Title: c.String("title"), Slug: c.String("title")}
	deliverable, err := deliverableFrom(env, meta, c.String("from-json"))
	if err != nil {
		return err
	}
	if deliverable == nil && meta.Artifact == "" {
		return verb.Usage("agent handoff new: want --artifact, what it is about; see odd help agent handoff new")
	}
	var made handoff.Handoff
	var file string
	oid, _, err := journals.CommitEntry(c, env, "handoff new", false, func(v *workspace.Board, who journals.Writer) (act journals.Change, err error) {
		m, d := meta, deliverable
		m.By, m.At, m.Journal, m.Artifact = who.By, who.At, who.Day, artifactName(v, m.Artifact)
		if d != nil {
			whole := d.Clone()
			d = &whole
			d.Set("artifact", artifactName(v, d.Artifact()), nil)
		}
		for _, ref := range c.StringSlice("derives") {
			src, err := findHandoff(v, ref)
			if err != nil {
				return act, err
			}
			m.Derives = append(m.Derives, src.ID)
			m.Tainted = cmp.Or(m.Tainted, src.Tainted)
		}
		made, act, err = handOver(v, m, d)
		file = v.RepoPath(made.Path)
		return act, err
	})
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]any{"handoff": made.ID, "file": file, "missing": console.OrEmpty(made.Missing), "commit": string(oid)}, []string{file, describeMissing(made.Missing), console.ShortID(oid)})
}

func readMode(verbName, flag, s string) (contract.Mode, error) {
	m, err := contract.Named(s, contract.ModeNames())
	if err != nil {
		return "", verb.Usage("%s: --%s: %v", verbName, flag, err)
	}
	return m, nil
}

func readTransition(verbName, from, to string) (a, b contract.Mode, err error) {
	if a, err = readMode(verbName, "from", from); err != nil {
		return "", "", err
	}
	if to == "" {
		t, _ := handoff.After(a)
		return a, t.To, nil
	}
	if b, err = readMode(verbName, "to", to); err != nil {
		return "", "", err
	}
	if _, ok := handoff.Find(a, b); !ok {
		t, _ := handoff.After(a)
		return "", "", verb.Refuse("transition", "%s: %s → %s is no transition; %s hands over to %s, going back is odd agent handoff revert and leaving out odd agent handoff skip", verbName, a, b, a, t.To)
	}
	return a, b, nil
}

// deliverableFrom reads a deliverable that holds its whole minimum.
func deliverableFrom(env console.Env, m handoff.Meta, file string) (*deliver.Deliverable, error) {
	if file == "" {
		return nil, nil
	}
	b, err := console.ReadInput(env, file, math.MaxInt64-1)
	if err != nil {
		return nil, err
	}
	t, _ := handoff.Find(m.From, m.To)
	d, err := deliver.Decode(t.Schema, b)
	var ps deliver.Problems
	if errors.As(err, &ps) {
		lines := make([]string, len(ps))
		for i, p := range ps {
			lines[i] = fmt.Sprintf("%s: %s", file, p.Error())
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	if a := d.Artifact(); a == "" && m.Artifact != "" {
		d.Set("artifact", m.Artifact, nil)
	} else if m.Artifact != "" && a != m.Artifact {
		return nil, verb.Usage("agent handoff new: --artifact %s, and the deliverable is about %s", m.Artifact, a)
	}
	var lacks []string
	for _, key := range d.Missing() {
		lacks = append(lacks, fmt.Sprintf("%s: no %s: %s", file, key, deliver.Ask(t.Schema, key)))
	}
	if len(lacks) > 0 {
		return nil, verb.Refuse("incomplete", "%s", strings.Join(lacks, "\n"))
	}
	return &d, nil
}

// handOver makes the handoff's file, a template where there is no deliverable,
// and the journal's entry about it.
func handOver(v *workspace.Board, m handoff.Meta, d *deliver.Deliverable) (handoff.Handoff, journals.Change, error) {
	name, text, err := handoff.Template(m)
	if d != nil {
		name, text, err = handoff.Make(m, *d)
	}
	if err != nil {
		return handoff.Handoff{}, journals.Change{}, err
	}
	if _, err := fs.Stat(v.Bundle, name); !errors.Is(err, fs.ErrNotExist) {
		return handoff.Handoff{}, journals.Change{}, verb.Refuse("exists", "%s is there already; choose another --title", v.RepoPath(name))
	}
	a, err := okf.Parse(name, text)
	if err != nil {
		return handoff.Handoff{}, journals.Change{}, err
	}
	h, err := handoff.Read(&a)
	if err != nil {
		return h, journals.Change{}, err
	}
	title, content := handoff.Entry(h, v.RepoPath(name), m.At)
	return h, journals.Change{Changes: repo.Changes{v.RepoPath(name): text}, Subject: "handoff: " + h.Title, Entry: journal.Entry{Type: "H", TypeName: journal.TypeName("H", ""), Title: title, Content: content, More: ownerField(h.To)}}, nil
}

func ownerField(m contract.Mode) []journal.Field {
	return []journal.Field{{Name: "owner", Value: string(handoff.Worker(m))}}
}

func describeMissing(missing []string) string {
	if len(missing) == 0 {
		return "complete"
	}
	return "missing " + strings.Join(missing, ", ")
}

func runHandoffMerge(c *cli.Context, env console.Env) error {
	var made handoff.Handoff
	var file string
	oid, _, err := journals.CommitEntry(c, env, "handoff merge", false, func(v *workspace.Board, who journals.Writer) (act journals.Change, err error) {
		var list []handoff.Handoff
		var bad []error
		for _, id := range c.Args().Slice() {
			h, err := findHandoff(v, id)
			h.Artifact = artifactName(v, h.Artifact)
			list, bad = append(list, h), append(bad, err)
		}
		if err := errors.Join(bad...); err != nil {
			return act, err
		}
		m, d, err := handoff.Merge(list)
		if err != nil {
			return act, err
		}
		m.By, m.At, m.Journal = who.By, who.At, who.Day
		m.Title, m.Slug = c.String("title"), cmp.Or(c.String("title"), "merged-"+string(m.From)+"-to-"+string(m.To))
		made, act, err = handOver(v, m, &d)
		file = v.RepoPath(made.Path)
		return act, err
	})
	if err != nil {
		return err
	}
	rows := [][]string{{file, describeMissing(made.Missing), strings.Join(made.Derives, " ")}}
	for _, s := range made.Disagreements {
		rows = append(rows, []string{"disagreement", s})
	}
	answer := map[string]any{"handoff": made.ID, "file": file, "sources": made.Derives, "disagreements": console.OrEmpty(made.Disagreements), "commit": string(oid)}
	return console.Show(env, c.Bool("json"), answer, rows...)
}

func runHandoffClarify(c *cli.Context, env console.Env) error {
	args := c.Args().Slice()
	file := ""
	oid, _, err := journals.CommitEntry(c, env, "handoff clarify "+args[0], true, func(v *workspace.Board, who journals.Writer) (journals.Change, error) {
		h, err := findHandoff(v, args[0])
		if err != nil {
			return journals.Change{}, err
		}
		b, err := handoff.Clarify(h, args[1], args[2])
		if err != nil {
			return journals.Change{}, err
		}
		file = v.RepoPath(h.Path)
		e := journal.Entry{Type: "H", More: ownerField(h.To), Title: "Clarified: " + h.Title, Content: fmt.Sprintf("CLARIFICATION: %s → %s: %s now says under %s, by %s at %s: %s",
			h.From, h.To, file, args[1], who.By, who.At, args[2])}
		return journals.Change{Changes: repo.Changes{file: b}, Subject: "journal: Clarified: " + h.Title, Entry: e}, nil
	})
	if err != nil {
		return err
	}
	return console.Show(env, c.Bool("json"), map[string]string{"file": file, "key": args[1], "commit": string(oid)}, []string{file, args[1], console.ShortID(oid)})
}
