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
	{HeldAtoms, "the agent delivered atoms too, and only a person's approval adds those"},
	{HeldUnseen, "its tier is NOTIFY_APPLY, and no person was at a terminal to look at it"},
	{HeldDeclined, "a person saw it at the terminal and did not let it land"},
	{HeldMoved, "the target branch moved after the change was made, so what would land was not checked"},
	{HeldActive, "a person is working on a file that it writes: uncommitted, open in an editor, or saved in the last three minutes"},
	{HeldRefused, "it could not land: the push was refused, a checkout was in the way, or the board was paused"},
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
