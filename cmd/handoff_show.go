package cmd

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/odd-cli/odd/persona/deliver"
	"github.com/odd-cli/odd/persona/handoff"
)

func handoffShow(env Env) *cli.Command {
	return command(&cli.Command{
		Name:        "show",
		Usage:       "show one handoff",
		ArgsUsage:   "ID",
		Description: "odd agent handoff show 2026-03-02-slack-water --json",
		Flags:       []cli.Flag{jsonFlag()},
		Action:      one("a handoff", on(env, openHandoffs, runHandoffShow)),
	})
}

// handoffJSON is a handoff as --json prints it.
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
	j := handoffJSON{ID: h.ID, File: v.file(h.Path), Blob: h.Blob, Title: h.Title, From: string(h.From), To: string(h.To), Artifact: h.Artifact,
		By: h.Atom.Generated.By, At: h.Atom.Generated.At, Persona: h.Persona, Run: h.Run, Journal: h.Journal, Told: v.tells(h.Journal, h),
		Override: h.Tainted, Derives: h.Derives, Disagreements: h.Disagreements, Missing: orEmpty(h.Missing), Deliverable: &h.Deliverable}
	if f := h.Deliverable.Findings; f != nil && f.Findings != nil {
		s := deliver.Summarize(f.Findings)
		j.Summary = &s
	}
	return j
}

func runHandoffShow(c *cli.Context, env Env, v *view) error {
	h, err := v.handoff(c.Args().First())
	if err != nil {
		return err
	}
	j := v.handoffJSON(h)
	rows := fields("handoff", j.ID, "title", j.Title, "transition", j.From+" → "+j.To, "artifact", j.Artifact, "by", strings.TrimSpace(j.By+" "+j.At),
		"persona", j.Persona, "run", j.Run, "override", j.Override, "journal", j.Journal)
	for _, id := range j.Derives {
		rows = append(rows, []string{"derives from", id})
	}
	rows = append(rows, []string{"state", lacking(h.Missing)})
	for _, s := range j.Disagreements {
		rows = append(rows, []string{"disagreement", s})
	}
	if j.Summary != nil {
		rows = append(rows, []string{"verdict", fmt.Sprintf("%s: %s", j.Summary.Verdict, j.Summary)})
	}
	for _, t := range h.Deliverable.Texts() {
		if t.At != "artifact" {
			rows = append(rows, fields(t.At, *t.S)...)
		}
	}
	return show(env, c.Bool("json"), j, rows...)
}
