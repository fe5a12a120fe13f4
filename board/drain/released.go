package drain

import (
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/invoke"
)

// heard notes when what the session emitted had been read.
func (h *handshake) heard() {
	if h != nil {
		h.read = h.d.Now().UTC()
	}
}

// released is why a permit ends with its session.
func released(w *work) string {
	switch {
	case w.emission.Failure == invoke.Yielded:
		return "the session yielded"
	case w.verdict == board.ToBlocked:
		return "the session ended, and is blocked"
	}
	return "the session is over"
}

// named is what a session was bound by, as its record has it; nil for nothing.
func (h *handshake) named() *event.SessionAnchor {
	if h == nil || h.live.Anchor().Token == "" {
		return nil
	}
	a := h.live.Anchor()
	return &event.SessionAnchor{Token: a.Token, SHA256: a.SHA256, Mode: string(a.Mode), Tier: string(a.Tier), EmissionAt: stamp(h.read)}
}

// tellAnchor writes what the permit was into the run's ledger: one record.
func (d *drain) tellAnchor(h *handshake) error {
	if h == nil || h.left == nil {
		return nil
	}
	a, p := h.live.Anchor(), h.live.Anchor().Permit
	data := archived(*h.left)
	// Nothing of a drain's is ever edited, and it has no upstream, so that the rest of an ARM is zero.
	arm := a.Arm
	data.Arm = &event.Arm{Head: arm.Head, Branch: arm.Branch, Phase: arm.Phase, Focus: arm.Focus, FocusSource: arm.FocusSource}
	data.Constitution = &event.Constitution{Path: h.law.Path, SHA256: a.Arm.Constitution}
	if b, err := fs.ReadFile(h.files, h.law.Path); err == nil {
		data.Constitution.Blob = okf.BlobID(b)
	}
	data.GeneratedBy, data.ExpiresAt, data.Allow, data.Deny, data.Artifact, data.Gate = a.GeneratedBy, stamp(p.ExpiresAt), p.Allow, p.Deny, p.Artifact, p.Gate
	_, err := d.record(event.Record{Kind: event.Anchor, Task: string(h.task.ID), Role: a.Role, Data: data})
	return err
}

// archived is what a released session leaves behind, as the ledger has it.
func archived(a anchor.Archived) event.AnchorData {
	return event.AnchorData{
		Token: a.Token, Tier: string(a.Tier), Mode: string(a.Mode), BoundAt: stamp(a.BoundAt), ReleasedAt: stamp(a.ReleasedAt), Reason: a.Reason,
		ContextHash: a.ContextHash, PayloadSHA256: a.Payload, AnchorSHA256: a.Anchor,
	}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// releaseDead releases the permits that dead sessions of this clone had: under
// the drain lock there are no others. Its ledger tells of them, once.
func (d *drain) releaseDead(ch repo.Changes) error {
	if err := d.bury(); err != nil {
		return err
	}
	for _, a := range d.dead {
		name, err := d.record(event.Record{Kind: event.Anchor, DeadRun: a.By, Role: a.Role, Data: archived(a)})
		if err != nil {
			return err
		}
		ch[name] = d.own(name)
	}
	return nil
}

// bury releases what is active, and drops what was never bound.
func (d *drain) bury() error {
	desk, err := d.anchorage()
	if err != nil {
		return err
	}
	all, err := desk.Unreleased()
	if err != nil {
		return fmt.Errorf("the permits of earlier drains: %w", err)
	}
	pending := false
	for _, l := range all {
		switch {
		case l.State == "pending":
			pending = true
		case l.State == "active": // whether it still holds or not
			a, err := desk.Release(l.Token, "its session died")
			if err != nil {
				d.note(fmt.Sprintf("the write permit %s of a killed session was not withdrawn: %v", l.Token, err))
				continue
			}
			d.Progress(fmt.Sprintf("%s was killed while working as %s; its write permit is withdrawn", a.By, a.Role))
			d.dead = append(slices.Clip(d.dead), a)
		}
	}
	if pending {
		_, err = desk.GC(time.Nanosecond)
	}
	return err
}

// anchorage is where this clone's drains bind, for what concerns no one session.
func (d *drain) anchorage() (anchor.Desk, error) {
	store, err := d.anchors()
	if err != nil {
		return anchor.Desk{}, err
	}
	h := &handshake{d: d, store: store, head: d.at.tip, files: d.at.files, law: anchor.Constitution{Path: "odd.toml"}}
	return h.desk(), nil
}

// forget drops what a month has passed over of the permits there were; the
// ledger has them for good.
func (d *drain) forget() error {
	desk, err := d.anchorage()
	if err != nil {
		return err
	}
	swept, err := desk.GC(24 * time.Hour)
	for _, s := range swept {
		if s.Problem != nil {
			d.note(s.Problem.String())
		}
	}
	return err
}
