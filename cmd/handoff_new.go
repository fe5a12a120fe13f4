package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffNew(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "new",
		Usage: "write a handoff and its journal entry: a template to fill in, or a whole one from JSON",
		Description: "odd handoff new --from planning --to execution --artifact knowledge/terms/slack-water.md\n" +
			"odd handoff new --from validation --from-json findings.json --derives review-a",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "the `MODE` that hands over"},
			&cli.StringFlag{Name: "to", Usage: "the `MODE` that receives (default: the one that follows)"},
			&cli.StringFlag{Name: "artifact", Usage: "what it is about: a path, id, uri or commit, as `REF`"},
			&cli.StringFlag{Name: "title", Usage: "its `TITLE`; the file is named by it"},
			&cli.StringFlag{Name: "from-json", Usage: "take the deliverable in `FILE` (- for stdin), whole"},
			&cli.StringSliceFlag{Name: "derives", Usage: "a handoff `ID` it was made from; repeatable"},
			&cli.BoolFlag{Name: "no-commit", Usage: "write and stage only"},
			jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c); err != nil {
				return err
			}
			o := newHandoff{noCommit: c.Bool("no-commit"), json: c.Bool("json"), derives: c.StringSlice("derives")}
			from, to, err := transition("handoff new", c.String("from"), c.String("to"))
			if err != nil {
				return err
			}
			o.meta = handoff.Meta{From: from, To: to, Artifact: c.String("artifact"), Title: c.String("title"), Slug: c.String("title")}
			if o.deliverable, err = deliverableFrom(env, o.meta, c.String("from-json")); err != nil {
				return err
			}
			if o.deliverable == nil && o.meta.Artifact == "" {
				return usage("handoff new: want --artifact, what it is about; see odd help handoff new")
			}
			return runHandoffNew(c.Context, env, o)
		},
	})
}

type newHandoff struct {
	meta           handoff.Meta
	deliverable    *deliver.Deliverable // nil for a template
	derives        []string
	noCommit, json bool
}

// mode reads a mode however it is spelled.
func mode(verb, flag, s string) (contract.Mode, error) {
	m, err := contract.Named(s, contract.ModeNames())
	if err != nil {
		return "", usage("%s: --%s: %v", verb, flag, err)
	}
	return m, nil
}

// transition reads two modes that a handoff joins.
func transition(verb, from, to string) (a, b contract.Mode, err error) {
	if a, err = mode(verb, "from", from); err != nil {
		return "", "", err
	}
	if to == "" {
		t, _ := handoff.After(a)
		return a, t.To, nil
	}
	if b, err = mode(verb, "to", to); err != nil {
		return "", "", err
	}
	if _, ok := handoff.Find(a, b); !ok {
		t, _ := handoff.After(a)
		return "", "", refuse("transition", "%s: %s → %s is no transition; %s hands over to %s, going back is odd handoff revert and leaving out odd handoff skip", verb, a, b, a, t.To)
	}
	return a, b, nil
}

// deliverableFrom reads a deliverable that holds its whole minimum.
func deliverableFrom(env Env, m handoff.Meta, file string) (*deliver.Deliverable, error) {
	if file == "" {
		return nil, nil
	}
	var b []byte
	var err error
	if file == "-" {
		b, err = io.ReadAll(env.Stdin)
	} else {
		b, err = os.ReadFile(env.path(file))
	}
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
		return nil, usage("handoff new: --artifact %s, and the deliverable is about %s", m.Artifact, a)
	}
	var lacks []string
	for _, key := range d.Missing() {
		lacks = append(lacks, fmt.Sprintf("%s: no %s: %s", file, key, deliver.Ask(t.Schema, key)))
	}
	if len(lacks) > 0 {
		return nil, refuse("incomplete", "%s", strings.Join(lacks, "\n"))
	}
	return &d, nil
}

func runHandoffNew(ctx context.Context, env Env, o newHandoff) error {
	w, err := openWorkspace(ctx, env)
	if err != nil {
		return err
	}
	name, by, err := w.actor(ctx)
	if err != nil {
		return err
	}
	o.meta.By, o.meta.At, o.meta.Journal = by, w.instant(), w.day(name)
	var made handoff.Handoff
	oid, err := w.tell(ctx, o.meta.Journal, o.noCommit, func(v *view) (act handoffAct, err error) {
		m := o.meta
		for _, ref := range o.derives {
			src, err := v.handoff(ref)
			if err != nil {
				return act, err
			}
			m.Derives = append(m.Derives, src.ID)
			m.Tainted = or(m.Tainted, src.Tainted)
		}
		made, act, err = v.handOver(m, o.deliverable)
		return act, err
	})
	if err != nil {
		return err
	}
	file := w.cfg.Root + "/" + made.Path
	if o.json {
		return printJSON(env, map[string]any{"handoff": made.ID, "file": file, "missing": orEmpty(made.Missing), "commit": string(oid)})
	}
	return printRows(env, [][]string{{file, handoffState(made), short(oid)}})
}

// instant is the present time as files have it.
func (w *workspace) instant() string { return w.env.Now().UTC().Format(time.RFC3339) }

// handOver makes the handoff's file, a template where there is no deliverable,
// and the journal's entry about it.
func (v *view) handOver(m handoff.Meta, d *deliver.Deliverable) (handoff.Handoff, handoffAct, error) {
	name, text, err := handoff.Template(m)
	if d != nil {
		name, text, err = handoff.Make(m, *d)
	}
	if err != nil {
		return handoff.Handoff{}, handoffAct{}, err
	}
	if _, err := fs.Stat(v.bundle, name); !errors.Is(err, fs.ErrNotExist) {
		return handoff.Handoff{}, handoffAct{}, refuse("exists", "%s is there already; choose another --title", v.file(name))
	}
	a, err := okf.Parse(name, text)
	if err != nil {
		return handoff.Handoff{}, handoffAct{}, err
	}
	h, err := handoff.Read(&a)
	if err != nil {
		return h, handoffAct{}, err
	}
	title, content := handoff.Entry(h, v.file(name), m.At)
	return h, handoffAct{repo.Changes{v.file(name): text}, "handoff: " + h.Title, journal.Entry{Type: "H", TypeName: journal.TypeName("H", ""), Title: title, Content: content, More: owner(h.To)}}, nil
}

// owner says in the journal who is next.
func owner(m contract.Mode) []journal.Field {
	return []journal.Field{{Name: "owner", Value: string(handoff.Worker(m))}}
}

// handoffState is whether a handoff holds its minimum, in words.
func handoffState(h handoff.Handoff) string {
	if len(h.Missing) == 0 {
		return "complete"
	}
	return "missing " + strings.Join(h.Missing, ", ")
}
