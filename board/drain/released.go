package drain

import (
	"io/fs"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/invoke"
)

// markRead notes when what the session emitted had been read.
func (h *handshake) markRead() {
	if h != nil {
		h.read = h.d.Now().UTC()
	}
}

// releaseReason returns why a permit ends with its session.
func releaseReason(w *work) string {
	switch {
	case w.emission.Failure == invoke.Yielded:
		return "the session yielded"
	case w.verdict == board.ToBlocked:
		return "the session ended, and is blocked"
	}
	return "the session is over"
}

// anchorRecord returns what a session was bound by, as its record has it; nil for nothing.
func (h *handshake) anchorRecord() *event.SessionAnchor {
	if h == nil || h.live.Anchor().Token == "" {
		return nil
	}
	a := h.live.Anchor()
	return &event.SessionAnchor{Token: a.Token, SHA256: a.SHA256, Mode: string(a.Mode), Tier: string(a.Tier), EmissionAt: formatTime(h.read)}
}

// tellAnchor records what the permit was.
func tellAnchor(p *draft, h *handshake) error {
	if h == nil || h.ended.IsZero() {
		return nil
	}
	a, permit := h.live.Anchor(), h.live.Anchor().Permit
	data := event.AnchorData{
		Token: a.Token, Tier: string(a.Tier), Mode: string(a.Mode), BoundAt: formatTime(a.Timestamp), ReleasedAt: formatTime(h.ended), Reason: h.why,
		ContextHash: a.Arm.Hash, PayloadSHA256: permit.Payload, AnchorSHA256: a.SHA256,
	}
	// Nothing of a drain's is ever edited, and it has no upstream, so that the rest of an ARM is zero.
	arm := a.Arm
	data.Arm = &event.Arm{Head: arm.Head, Branch: arm.Branch, Phase: arm.Phase, Focus: arm.Focus, FocusSource: arm.FocusSource}
	data.Constitution = &event.Constitution{Path: h.law.Path, SHA256: a.Arm.Constitution}
	if b, err := fs.ReadFile(h.files, h.law.Path); err == nil {
		data.Constitution.Blob = okf.BlobID(b)
	}
	data.GeneratedBy, data.ExpiresAt, data.Allow, data.Deny, data.Artifact, data.Gate = a.GeneratedBy, formatTime(permit.ExpiresAt), permit.Allow, permit.Deny, permit.Artifact, permit.Gate
	return p.record(event.Record{Kind: event.Anchor, Task: string(h.task.ID), Role: a.Role, Data: data})
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }
