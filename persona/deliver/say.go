package deliver

import (
	"fmt"
	"slices"
	"strings"
)

// Say is one emission of a session: something said while it worked, or one turn
// of a dialogue. Kind is the mode's word for it: in exploration question,
// possibility, tension, frame, synthesis-ledger-entry, and decision or
// recommendation, which count against it; in execution assertion, reversion,
// tool_call_request, progress. Marker is the turn control under the engagement
// assistant: holding, yielding or done.
type Say struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"`
	Marker string `json:"marker,omitempty"`
}

// Kinds lists every kind a say may have, exploration's first.
func Kinds() []string {
	return []string{"question", "possibility", "tension", "frame", "synthesis-ledger-entry", "decision", "recommendation",
		"assertion", "reversion", "tool_call_request", "progress"}
}

// Markers lists the turn controls.
func Markers() []string { return []string{"holding", "yielding", "done"} }

// Check says what is wrong with the say, nil when nothing is.
func (s Say) Check() error {
	switch {
	case !slices.Contains(Kinds(), s.Kind):
		return fmt.Errorf("unknown kind %q; the kinds are %s", s.Kind, strings.Join(Kinds(), ", "))
	case s.Marker != "" && !slices.Contains(Markers(), s.Marker):
		return fmt.Errorf("unknown marker %q; the markers are %s", s.Marker, strings.Join(Markers(), ", "))
	case Blank(s.Text):
		return fmt.Errorf("a say of kind %s without a text", s.Kind)
	}
	return nil
}
