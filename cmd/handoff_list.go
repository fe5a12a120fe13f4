package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func runHandoffList(c *cli.Context, env Env, v *view) error {
	list, nothing := []handoffJSON{}, "no handoff is here"
	artifact := c.String("artifact")
	if artifact != "" {
		nothing = "no handoff is about " + artifact
	}
	for _, h := range handoff.All(v.graph) {
		if artifact == "" || v.sameArtifact(artifact, h.Artifact) {
			j := v.handoffJSON(h)
			j.Deliverable = nil
			list = append(list, j)
		}
	}
	if n := len(handoff.Unreadable(v.graph)); n > 0 {
		talk(env, "handoff list: %s in handoffs that cannot be read; odd agent handoff check lists them", countNoun(n, "problem"))
	}
	return showList(env, c.Bool("json"), list, nothing, func(j handoffJSON) []string {
		told := "no journal entry"
		if j.Told {
			told = j.Journal
		}
		return []string{j.ID, j.From + " → " + j.To, j.Artifact, describeMissing(j.Missing), told, j.By}
	})
}

// sameArtifact reports whether two references mean one artifact: the same text, or two
// names of one atom.
func (v *view) sameArtifact(a, b string) bool {
	atom := func(s string) *okf.Atom {
		found, err := v.graph.Find(strings.TrimPrefix(s, v.cfg.Root+"/"))
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

func (v *view) handoffJSON(h handoff.Handoff) handoffJSON {
	j := handoffJSON{ID: h.ID, File: v.repoPath(h.Path), Blob: h.Blob, Title: h.Title, From: string(h.From), To: string(h.To), Artifact: h.Artifact,
		By: h.Atom.Generated.By, At: h.Atom.Generated.At, Persona: h.Persona, Run: h.Run, Journal: h.Journal, Told: v.hasEntry(h.Journal, h),
		Override: h.Tainted, Derives: h.Derives, Disagreements: h.Disagreements, Missing: orEmpty(h.Missing), Deliverable: &h.Deliverable}
	if f := h.Deliverable.Findings; f != nil && f.Findings != nil {
		s := deliver.Summarize(f.Findings)
		j.Summary = &s
	}
	return j
}

func runHandoffShow(c *cli.Context, env Env, v *view) error {
	h, err := v.findHandoff(c.Args().First())
	if err != nil {
		return err
	}
	j := v.handoffJSON(h)
	rows := fieldRows("handoff", j.ID, "title", j.Title, "transition", j.From+" → "+j.To, "artifact", j.Artifact, "by", strings.TrimSpace(j.By+" "+j.At),
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
			rows = append(rows, fieldRows(t.At, *t.S)...)
		}
	}
	return show(env, c.Bool("json"), j, rows...)
}

func runHandoffCheck(c *cli.Context, env Env, v *view) error {
	list, found, err := v.readHandoffs(c.Args().Slice())
	if err != nil {
		return err
	}
	for _, h := range list {
		found = append(found, handoff.Check(h, v.newHandoffWorld(h))...)
	}
	slices.SortStableFunc(found, func(a, b okf.Problem) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	for i := range found {
		found[i].Path = v.repoPath(found[i].Path)
	}
	if c.Bool("json") {
		err = printJSON(env, map[string]any{"status": statusOf(len(found)), "handoffs": len(list), "findings": orEmpty(found)})
	} else {
		for _, p := range found {
			if _, err := fmt.Fprintf(env.Stdout, "%s:%d: %s [%s]\n", p.Path, p.Line, okf.Visible(oneLine(p.Message+"; "+p.Hint)), p.Code); err != nil {
				return err
			}
		}
	}
	return orFault(err, len(found) > 0)
}

// readHandoffs returns those named, or all of the bundle; what cannot be read is a finding.
func (v *view) readHandoffs(ids []string) (list []handoff.Handoff, bad []okf.Problem, err error) {
	if len(ids) == 0 {
		return handoff.All(v.graph), handoff.Unreadable(v.graph), nil
	}
	for _, id := range ids {
		h, err := v.findHandoff(id)
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
