package cmd

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffRevert(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "revert",
		Usage:     "record that work goes back to an earlier mode, and why",
		ArgsUsage: "ARTIFACT",
		Description: "odd agent handoff revert slack-water --from execution --to planning \\\n" +
			"  --reason \"The plan takes the almanac for this year's; is it?\"\n\n" +
			"odd help agent handoff lists the modes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`MODE` the work is in"},
			&cli.StringFlag{Name: "to", Usage: "earlier `MODE` it goes back to"},
			&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`: one unknown, at most one question"},
			noCommitFlag(),
			jsonFlag(),
		},
		Action: one("an artifact", do(env, runHandoffRevert)),
	})
}

func handoffSkip(env Env) *cli.Command {
	return command(&cli.Command{
		Name:      "skip",
		Usage:     "record that a mode is left out, with reason and risks",
		ArgsUsage: "ARTIFACT",
		Description: "odd agent handoff skip slack-water --mode validation \\\n" +
			"  --reason \"The page is thrown away after the fair\" --risk \"wrong tides\"\n\n" +
			"odd help agent handoff lists the modes.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "mode", Usage: "`MODE` that is left out"},
			&cli.StringFlag{Name: "reason", Usage: "reason in one `SENTENCE`"},
			&cli.StringSliceFlag{Name: "risk", Usage: "name a `RISK` that you accept; repeatable"},
			noCommitFlag(),
			jsonFlag(),
		},
		Action: one("an artifact", do(env, runHandoffSkip)),
	})
}

func runHandoffRevert(c *cli.Context, env Env) (err error) {
	var a handoff.Act
	if a.From, err = mode("handoff revert", "from", c.String("from")); err != nil {
		return err
	}
	if a.To, err = mode("handoff revert", "to", c.String("to")); err != nil {
		return err
	}
	return journalAct(c, env, a, handoff.Act.Reversion)
}

func runHandoffSkip(c *cli.Context, env Env) (err error) {
	a := handoff.Act{Risks: c.StringSlice("risk")}
	if a.Mode, err = mode("handoff skip", "mode", c.String("mode")); err != nil {
		return err
	}
	return journalAct(c, env, a, handoff.Act.Skip)
}

// journalAct journals an act of a person about an artifact.
func journalAct(c *cli.Context, env Env, a handoff.Act, say func(handoff.Act) (handoff.Told, error)) error {
	w, err := openWorkspace(c.Context, env)
	if err != nil {
		return err
	}
	a.Artifact, a.Reason = c.Args().First(), oneLine(c.String("reason"))
	name, by, err := w.person(c.Context, "handoff "+c.Command.Name+" "+a.Artifact)
	if err != nil {
		return err
	}
	a.By, a.At = by, w.instant()
	day, told := w.day(name), handoff.Told{}
	oid, err := w.tell(c, day, func(v *view) (act handoffAct, err error) {
		b := a
		if b.Received, err = v.received(a.Artifact); err != nil {
			return act, err
		}
		if told, err = say(b); err != nil {
			return act, err
		}
		e := journal.Entry{Type: "D", TypeName: journal.TypeName("D", ""), Title: told.Title, Content: told.Content, More: []journal.Field{
			{Name: "rationale", Value: told.Rationale}, {Name: "alternatives", Value: told.Alternatives}, {Name: "reversibility", Value: told.Reversibility}}}
		return handoffAct{nil, "journal: " + told.Title, e}, nil
	})
	if err != nil {
		return err
	}
	return show(env, c.Bool("json"), map[string]string{"file": w.cfg.Root + "/" + day, "title": told.Title, "content": told.Content, "rationale": told.Rationale, "commit": string(oid)}, []string{w.cfg.Root + "/" + day, "D", told.Title})
}

// received are the handoffs about an artifact, by path. An artifact that is
// neither there nor handed over is refused: the name is likely a slip.
func (v *view) received(artifact string) ([]string, error) {
	var out []string
	for _, h := range handoff.All(v.graph) {
		if v.same(artifact, h.Artifact) {
			out = append(out, v.file(h.Path))
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	_, errAtom := v.graph.Find(strings.TrimPrefix(artifact, v.cfg.Root+"/"))
	if _, err := fs.Stat(v.files, artifact); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		if errAtom != nil {
			return nil, refuse("artifact", "%s: no handoff is about it, and %v", artifact, errAtom)
		}
	}
	return nil, nil
}
