package cmd

import (
	"fmt"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffList(env Env) *cli.Command {
	return command(&cli.Command{
		Name:  "list",
		Usage: "list the handoffs",
		Description: "odd agent handoff list\n" +
			"odd agent handoff list --artifact knowledge/terms/slack-water.md",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "artifact", Usage: "list only those about `REF`: a path, id, uri or commit"},
			jsonFlag(),
		},
		Action: on(env, openHandoffs, runHandoffList),
	})
}

func runHandoffList(c *cli.Context, env Env, v *view) error {
	list, nothing := []handoffJSON{}, "no handoff is here"
	artifact := c.String("artifact")
	if artifact != "" {
		nothing = "no handoff is about " + artifact
	}
	for _, h := range handoff.All(v.graph) {
		if artifact == "" || v.same(artifact, h.Artifact) {
			j := v.handoffJSON(h)
			j.Deliverable = nil
			list = append(list, j)
		}
	}
	if n := len(handoff.Unreadable(v.graph)); n > 0 {
		talk(env, "handoff list: %s in handoffs that cannot be read; odd agent handoff check lists them", count(n, "problem"))
	}
	return showList(env, c.Bool("json"), list, nothing, func(j handoffJSON) []string {
		if env.Terminal {
			return j.brief(v.cfg.Root)
		}
		told := "no journal entry"
		if j.Told {
			told = j.Journal
		}
		return []string{j.ID, j.From + " → " + j.To, j.Artifact, lacking(j.Missing), told, j.By}
	})
}

// brief is a handoff in a terminal's width: its id without the folder, which
// odd agent handoff show takes, its transition, its artifact and what is amiss.
func (j handoffJSON) brief(root string) []string {
	about := []rune(strings.TrimPrefix(j.Artifact, root+"/"))
	if over := len(about) - 28; over > 0 {
		about = append([]rune("…"), about[over+1:]...)
	}
	var marks []string
	if n := len(j.Missing); n > 0 {
		marks = append(marks, fmt.Sprintf("%d missing", n))
	}
	if !j.Told {
		marks = append(marks, "no entry")
	}
	return []string{path.Base(j.ID), j.From + " → " + j.To, string(about), or(strings.Join(marks, ", "), "complete")}
}

// same reports whether two references mean one artifact: the same text, or two
// names of one atom.
func (v *view) same(a, b string) bool {
	atom := func(s string) *okf.Atom {
		found, err := v.graph.Find(strings.TrimPrefix(s, v.cfg.Root+"/"))
		if err != nil {
			return nil
		}
		return found
	}
	return a == b || atom(a) != nil && atom(a) == atom(b)
}
