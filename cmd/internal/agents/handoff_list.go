package agents

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/cmd/internal/console"
	"github.com/odd-cli/odd/cmd/internal/report"
	"github.com/odd-cli/odd/cmd/internal/verb"
	"github.com/odd-cli/odd/cmd/internal/workspace"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func runHandoffList(c *cli.Context, env console.Env, v *workspace.Board) error {
	list, nothing := []handoffJSON{}, "no handoff is here"
	artifact := c.String("artifact")
	if artifact != "" {
		nothing = "no handoff is about " + artifact
	}
	for _, h := range handoff.All(v.Graph) {
		if artifact == "" || sameArtifact(v, artifact, h.Artifact) {
			j := newHandoffJSON(v, h)
			j.Deliverable = nil
			list = append(list, j)
		}
	}
	if n := len(handoff.Unreadable(v.Graph)); n > 0 {
		console.Talk(env, "handoff list: %s in handoffs that cannot be read; odd agent handoff check lists them", console.CountNoun(n, "problem"))
	}
	return console.ShowList(env, c.Bool("json"), list, nothing, func(j handoffJSON) []string {
		told := "no journal entry"
		if j.Told {
			told = j.Journal
		}
		return []string{j.ID, j.From + " → " + j.To, j.Artifact, describeMissing(j.Missing), told, j.By}
	})
}

// sameArtifact reports whether two references mean one artifact: the same text, or two
// names of one atom.
func sameArtifact(v *workspace.Board, a, b string) bool {
	atom := func(s string) *okf.Atom {
		found, err := v.Graph.Find(strings.TrimPrefix(s, v.Config.Root+"/"))
		if err != nil {
			return nil
		}
		return found
	}
	return a == b || atom(a) != nil && atom(a) == atom(b)
}

type handoffJSON struct {
	ID            string               `json:"id"`
	File          string               `json:"file"`
	Blob          string               `json:"blob"`
	Title         string               `json:"title"`
	From          string               `json:"from"`
	To            string               `json:"to"`
	Artifact      string               `json:"artifact,omitempty"`
	By            string               `json:"by,omitempty"`
	At            string               `json:"at,omitempty"`
	Persona       string               `json:"persona,omitempty"`
	Run           string               `json:"run,omitempty"`
	Journal       string               `json:"journal,omitempty"`
	Told          bool                 `json:"told"` // the journal has the entry
	Override      string               `json:"override,omitempty"`
	Derives       []string             `json:"derives_from,omitempty"`
	Disagreements []string             `json:"disagreements,omitempty"`
	Missing       []string             `json:"missing"`
	Summary       *deliver.Summary     `json:"summary,omitempty"` // of findings
	Deliverable   *deliver.Deliverable `json:"deliverable,omitempty"`
}

func newHandoffJSON(v *workspace.Board, h handoff.Handoff) handoffJSON {
	j := handoffJSON{ID: h.ID, File: v.RepoPath(h.Path), Blob: h.Blob, Title: h.Title, From: string(h.From), To: string(h.To), Artifact: h.Artifact,
		By: h.Atom.Generated.By, At: h.Atom.Generated.At, Persona: h.Persona, Run: h.Run, Journal: h.Journal, Told: hasEntry(v, h.Journal, h),
		Override: h.Tainted, Derives: h.Derives, Disagreements: h.Disagreements, Missing: console.OrEmpty(h.Missing), Deliverable: &h.Deliverable}
	if f := h.Deliverable.Findings; f != nil && f.Findings != nil {
		s := deliver.Summarize(f.Findings)
		j.Summary = &s
	}
	return j
}

func runHandoffShow(c *cli.Context, env console.Env, v *workspace.Board) error {
	h, err := findHandoff(v, c.Args().First())
	if err != nil {
		return err
	}
	j := newHandoffJSON(v, h)
	rows := console.FieldRows("handoff", j.ID, "title", j.Title, "transition", j.From+" → "+j.To, "artifact", j.Artifact, "by", strings.TrimSpace(j.By+" "+j.At),
		"persona", j.Persona, "run", j.Run, "override", j.Override, "journal", j.Journal)
	for _, id := range j.Derives {
		rows = append(rows, []string{"derives from", id})
	}
	rows = append(rows, []string{"state", describeMissing(h.Missing)})
	for _, s := range j.Disagreements {
		rows = append(rows, []string{"disagreement", s})
	}
	if j.Summary != nil {
		rows = append(rows, []string{"verdict", fmt.Sprintf("%s: %s", j.Summary.Verdict, j.Summary)})
	}
	for _, t := range h.Deliverable.Texts() {
		if t.At != "artifact" {
			rows = append(rows, console.FieldRows(t.At, *t.S)...)
		}
	}
	return console.Show(env, c.Bool("json"), j, rows...)
}

func runHandoffCheck(c *cli.Context, env console.Env, v *workspace.Board) error {
	list, found, err := readHandoffs(v, c.Args().Slice())
	if err != nil {
		return err
	}
	for _, h := range list {
		found = append(found, handoff.Check(h, newHandoffWorld(v, h))...)
	}
	slices.SortStableFunc(found, func(a, b okf.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	for i := range found {
		found[i].Path = v.RepoPath(found[i].Path)
	}
	if c.Bool("json") {
		err = console.PrintJSON(env, map[string]any{"status": report.Status(len(found)), "handoffs": len(list), "findings": console.OrEmpty(found)})
	} else {
		out := console.FoldedOutput(env)
		for _, p := range found {
			if _, err := fmt.Fprintf(out, "%s:%d: %s [%s]\n", p.Path, p.Line, okf.Visible(console.OneLine(p.Message+"; "+p.Hint)), p.Code); err != nil {
				return err
			}
		}
	}
	return verb.OrFault(err, len(found) > 0)
}

// readHandoffs returns those named, or all of the bundle; what cannot be read is a finding.
func readHandoffs(v *workspace.Board, ids []string) (list []handoff.Handoff, bad []okf.Problem, err error) {
	if len(ids) == 0 {
		return handoff.All(v.Graph), handoff.Unreadable(v.Graph), nil
	}
	for _, id := range ids {
		h, err := findHandoff(v, id)
		var ps handoff.Problems
		switch {
		case errors.As(err, &ps):
			bad = append(bad, ps...)
		case err != nil:
			return nil, nil, err
		default:
			list = append(list, h)
		}
	}
	return list, bad, nil
}
