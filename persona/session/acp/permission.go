package acp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// RequestPermission implements the protocol's client: yes is once, and so is no.
func (c *client) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	c.acting.Lock()
	defer c.acting.Unlock()
	c.mu.Lock()
	u := mergeUpdate(c.calls[p.ToolCall.ToolCallId], p.ToolCall)
	c.mu.Unlock()
	err := c.judgeCall(u)
	path := ""
	if len(u.Locations) > 0 {
		path = c.belowTree(u.Locations[0].Path)
	}
	kind := sdk.ToolKindOther
	if u.Kind != nil {
		kind = *u.Kind
	}
	offered := func(want sdk.PermissionOptionKind) int {
		return slices.IndexFunc(p.Options, func(o sdk.PermissionOption) bool { return o.Kind == want })
	}
	i := -1
	if err == nil {
		if i = offered(sdk.PermissionOptionKindAllowOnce); i < 0 {
			err = policy.Refuse("not_once", "the agent asks for more than one act at once, and is let no more than that")
		}
	}
	for _, no := range []sdk.PermissionOptionKind{sdk.PermissionOptionKindRejectOnce, sdk.PermissionOptionKindRejectAlways} {
		if err != nil && i < 0 {
			i = offered(no) // a cancelled request ends the turn of most agents; a rejected one does not
		}
	}
	c.recordAct(session.Shown(string(kind)), path, u.RawInput, err)
	if err != nil {
		c.keepDenial(strings.TrimSpace(session.Shown(string(kind))+" "+path), err)
	}
	if i < 0 {
		return sdk.RequestPermissionResponse{Outcome: sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{Outcome: "cancelled"}}}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.RequestPermissionOutcome{Selected: &sdk.RequestPermissionOutcomeSelected{Outcome: "selected", OptionId: p.Options[i].OptionId}}}, nil
}

// mostDenied bounds the denials of a turn that are told.
const mostDenied = 10

// keepDenial remembers why a call was denied: the protocol's answer to a request for
// permission has no place for a reason, and the next prompt does.
func (c *client) keepDenial(what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.denied) < mostDenied {
		c.denied = append(c.denied, "- "+what+": "+session.Shown(err.Error())+"\n")
	}
}
