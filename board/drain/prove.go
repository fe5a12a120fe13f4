package drain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
)

// maxProofs bounds the answers of one handshake: three tries at each of two
// stages, and one more each that was only begun.
const maxProofs = 8

// briefPart returns the brief's part about the anchor: what binds the session, or what it
// must prove next before its work counts, and nothing of what comes after that.
// An answer may hold more than it was asked for.
func (h *handshake) briefPart() string {
	switch {
	case h == nil:
		return ""
	case h.live.Anchor().Token != "":
		return h.describePermit()
	}
	var b strings.Builder
	if !h.bind {
		b.WriteString("Before anything you emit counts you prove who you are. Begin your answer with an octave block that is BIND. What comes\nafter it you are told when it holds.\n\n")
		b.WriteString(h.describeStage("BIND", anchor.AtContext))
		fmt.Fprintf(&b, "Your constitution, %s:\n\n%s\n", h.law.Path, h.identity.ConstitutionExcerpt)
		return b.String()
	}
	b.WriteString(h.describeStage("TENSIONS and COMMIT", anchor.AtBound))
	b.WriteString("Your work may follow below that block in the same answer, or come when you are asked again.\n\n")
	fmt.Fprintf(&b, "Where you stand, as odd sees it:\n\n%s\n", anchor.ArmText(h.readArm()))
	fmt.Fprintf(&b, "Your constitution, %s:\n\n%s\n", h.law.Path, h.identity.ConstitutionExcerpt)
	b.WriteString(h.describeBounds())
	return b.String()
}

// describeStage is how a stage is passed, with its template.
func (h *handshake) describeStage(what string, stage anchor.Stage) string {
	say, template := anchor.Guide(stage, nil, anchor.Given{Mode: h.ask.Mode, Strictness: h.ask.Strictness, Role: h.law.Role, Constitution: h.law})
	fence := session.Fence([]byte(template))
	return fmt.Sprintf("%s. %s\n\n%soctave\n%s\n%s\n\n", what, say, fence, strings.TrimRight(template, "\n"), fence)
}

// readArm is where the session stands, as the handshake will find it.
func (h *handshake) readArm() anchor.Arm {
	w := h.anchorWorld()
	facts, _ := w.Facts()
	phase, _ := w.Phase()
	focus, source := anchor.Focus(h.ask.Topic, facts.Branch)
	return anchor.NewArm(facts, phase, focus, source, h.law.SHA256)
}

func (h *handshake) describePermit() string {
	a := h.live.Anchor()
	proved := ""
	if a.GeneratedBy == "agent" {
		proved = ", as you proved"
	}
	return fmt.Sprintf("You are bound by the rules of the role %s in %s%s.\n", a.Role, h.law.Path, proved) + h.describeBounds()
}

func (h *handshake) describeBounds() string {
	var b strings.Builder
	fmt.Fprintf(&b, "You may write: %s; below the bundle's folder by atoms alone. Never: %s.\n", strings.Join(h.law.Paths, ", "), strings.Join(h.law.BlockedPath, ", "))
	b.WriteString("If one atom or file is outside of that, nothing of your emission is kept.\n")
	for _, r := range h.law.Gates {
		fmt.Fprintf(&b, "- Never: %s\n", r.Text)
	}
	for _, r := range h.law.MustNever {
		fmt.Fprintf(&b, "- Never: %s\n", r.Text)
	}
	for _, r := range h.law.MustAlways {
		fmt.Fprintf(&b, "- Always: %s\n", r.Text)
	}
	return b.String()
}

// newProver takes the answers of the session to the anchor, nil where it is bound
// already or nothing binds it.
func (h *handshake) newProver() func([]session.Payload) invoke.Answered {
	if h == nil || h.live.Anchor().Token != "" {
		return nil
	}
	return h.prove
}

// prove walks as far as one answer leads. A stage that was passed stays passed.
func (h *handshake) prove(ps []session.Payload) invoke.Answered {
	if h.tries++; h.tries > maxProofs {
		return invoke.Answered{Final: "the agent answered too often without stating its role"}
	}
	late := ""
	if slices.ContainsFunc(ps, func(p session.Payload) bool { return p.Late }) {
		late = "A block below your work counts for nothing: who you are comes first.\n"
		ps = slices.DeleteFunc(slices.Clone(ps), func(p session.Payload) bool { return p.Late })
	}
	if !h.bind {
		res := h.on.Context(h.anchorWorld(), payloadAt(ps, 0))
		if !res.Success {
			return h.askAgain(late, res)
		}
		if h.bind = true; len(ps) == 1 && !bytes.Contains(ps[0].Text, []byte("COMMIT")) {
			return invoke.Answered{Say: late + "Your BIND holds. Now begin your answer with one octave block of TENSIONS and COMMIT.\n\n" + h.briefPart()}
		}
	}
	res := h.on.Proof(h.anchorWorld(), payloadAt(ps, len(ps)-1))
	if !res.Success {
		return h.askAgain(late, res)
	}
	h.live = h.on.Live()
	return invoke.Answered{Bound: true, Say: h.describePermit()}
}

func payloadAt(ps []session.Payload, i int) []byte {
	if i < 0 || i >= len(ps) {
		return nil
	}
	return ps[i].Text
}

// askAgain tells the session what was wrong, and what it must prove next.
func (h *handshake) askAgain(late string, res anchor.Result) invoke.Answered {
	if res.Terminal {
		return invoke.Answered{Final: "the agent did not state its role and task correctly: " + oneLine(anchor.Refusal(res.Errors).Error())}
	}
	return invoke.Answered{Say: late + res.Guidance + "\n\n" + h.briefPart()}
}
