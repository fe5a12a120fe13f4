package pipeline

import "slices"

// Held is why a change that configuration and its tier would let land by itself
// waits for a person like every other.
type Held string

// The codes, as the fact FactHeld has them.
const (
	HeldAtoms    Held = "carries_atoms"
	HeldUnseen   Held = "nobody_to_see_it"
	HeldDeclined Held = "preview_declined"
	HeldMoved    Held = "target_moved"
	HeldActive   Held = "human_active_on_target"
	HeldRefused  Held = "landing_refused"
)

// heldRow says what a code means.
type heldRow struct {
	held    Held
	explain string
}

// held is the closed list. Nothing changes it.
var held = []heldRow{
	{HeldAtoms, "its session emitted atoms too, and what agents know becomes known by a person's approval alone"},
	{HeldUnseen, "its tier is NOTIFY_APPLY and no person was at a terminal to see it first, as in CI"},
	{HeldDeclined, "a person saw it on the terminal before it landed and did not let it"},
	{HeldMoved, "the target moved since the base it was made on, so that what would have landed is not what was verified"},
	{HeldActive, "a person is at work on a file it writes: edited and not committed, open in an editor, or saved within the last three minutes, in a checkout of the target"},
	{HeldRefused, "the target did not take it: a push that was refused, a checkout in the way, or a board that is paused"},
}

// Helds lists the codes.
func Helds() []Held {
	out := make([]Held, len(held))
	for i, r := range held {
		out[i] = r.held
	}
	return out
}

// ExplainHeld says what a code means, "" for a word that is none.
func ExplainHeld(h Held) string {
	i := slices.IndexFunc(held, func(r heldRow) bool { return r.held == h })
	if i < 0 {
		return ""
	}
	return held[i].explain
}

// MayLand reports a tier that configuration may let land without a person, the
// preview of NOTIFY_APPLY aside.
func MayLand(tier string) bool { return landsAlone(tier) }
