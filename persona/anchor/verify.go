package anchor

import (
	"fmt"
	"io/fs"
	"slices"
)

// Verify is HasValid, and adds as warnings what has changed since the session was
// bound: the members of the ARM, its files among them, and the lines that its
// tensions cite. A session's own edits are such changes, so none of them locks.
func (d Desk) Verify(token string) Verdict {
	v := d.newPermitCheck().checkToken(token, "")
	if !v.Valid {
		return v
	}
	v.Warnings = append(v.Warnings, d.movedMembers(*v.Anchor)...)
	for i, t := range v.Anchor.Tensions {
		if why := d.checkCitation(t); why != "" {
			v.Warnings = append(v.Warnings, Problem{Code: CitedChanged, At: tensionAt(t.N, i+1), Text: why, Found: t.Path, Want: t.RangeSHA256})
		}
	}
	return v
}

// movedMembers lists the members of the ARM that changed, except HEAD, which was judged
// before.
func (d Desk) movedMembers(a Anchor) []Problem {
	topic := ""
	if a.Arm.FocusSource == FocusTopic {
		topic = a.Arm.Focus
	}
	now, _, ps := d.World.computeArm(topic, Quick, Constitution{SHA256: a.Arm.Constitution})
	if len(ps) > 0 {
		return ps
	}
	moved := slices.DeleteFunc(compareArms(a.Arm, now), func(m armChange) bool { return m.Name == "head_oid" })
	return driftProblems(moved, "the session was bound")
}

// checkCitation says why a tension's lines are not those it cited, "" if they are.
func (d Desk) checkCitation(t Tension) string {
	b, err := fs.ReadFile(d.World.Files, t.Path)
	if err != nil {
		return "the file it cites does not read now"
	}
	cited, lines, ok := cutLines(b, t.Start, t.End)
	switch {
	case !ok:
		return fmt.Sprintf("the file it cites has only %d lines now", lines)
	case hexSum(cited) != t.RangeSHA256:
		return "the lines it cites changed"
	}
	return ""
}
