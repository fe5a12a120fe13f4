package rules

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/config"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/reconcile/policy"
)

var permitRule = Rule{Row{
	N: 12, Name: "Permit before tools", Unit: "records",
	Promise:  "What a session made lands only under the write permit that it had.",
	Reads:    "the anchor in every session record; the anchor record of its token; the claim, its odd.toml and the constitution at its commit; the outcome and its paths",
	Compares: "A session's output is read while its permit is valid. A permit is recorded once, in its run's ledger. It has the mode, tier and time that odd.toml asks for, and the role of its claim. It names the file that was that role's constitution, and the context hash, in the commit of the claim. The permit of the claim allows, and does not deny, every path that an outcome proposes before it ends. After the first run with a permit, no run is without one.",
	Attested: "what the agent wrote in its proof; the times that a run recorded; that a run without a permit, where none before it had one, is from before permits existed",
	Remedy:   "send the result back with odd reject TASK, and let odd drain run the task again",
	Broken:   "A session wrote a file that no valid write permit covers.",
}, judgePermits, false}

// judgePermits asks no permit of runs from before odd had anchors. Once a history has an anchored run, every later run
// must be anchored.
func judgePermits(j *judge) {
	j.checkLines(func(l Line) string {
		switch l.Record.Kind {
		case event.Session:
			j.checked++
			return j.checkBinding(l)
		case event.Anchor:
			j.checked++
			return j.checkRelease(l)
		case event.Outcome:
			j.checked++
			return j.checkUnderPermit(l)
		}
		return ""
	})
}

// permit is what an anchor's record says.
type permit struct {
	*event.Record
	event.AnchorData
	arm                    event.Arm
	law                    event.Constitution
	bound, ended, released time.Time
	broken                 string // the first time that cannot be parsed
}

func readPermit(r *event.Record) permit {
	p := permit{Record: r, AnchorData: r.Anchor()}
	if p.Arm != nil {
		p.arm = *p.Arm
	}
	if p.Constitution != nil {
		p.law = *p.Constitution
	}
	for _, t := range []struct {
		key, said string
		at        *time.Time
	}{{"bound_at", p.BoundAt, &p.bound}, {"expires_at", p.ExpiresAt, &p.ended}, {"released_at", p.ReleasedAt, &p.released}} {
		var err error
		if *t.at, err = time.Parse(time.RFC3339, t.said); err != nil && p.broken == "" {
			p.broken = fmt.Sprintf("an anchor whose %s is no moment: %q", t.key, t.said)
		}
	}
	return p
}

// coversPath reports whether the session may write a path.
func (p permit) coversPath(name string) bool {
	return policy.MatchAnyGlob(nonEmpty(p.Allow), name) && !policy.MatchAnyGlob(nonEmpty(p.Deny), name)
}

func (j *judge) findAnchors(l Line, token string) []permit {
	records := j.ReadLedger(j.OID, l.Record.Run)
	var out []permit
	for i := range records {
		if r := &records[i]; r.Kind == event.Anchor && r.Anchor().Token == token {
			out = append(out, readPermit(r))
		}
	}
	return out
}

// checkBinding returns what is wrong with how a session was bound.
func (j *judge) checkBinding(l Line) string {
	of := l.Record.Session().Anchor
	if of == nil {
		return j.checkUnbound(l)
	}
	held := j.findAnchors(l, of.Token)
	if len(held) == 0 {
		return fmt.Sprintf("a session bound by %s, which its ledger has no permit for", cmp.Or(of.Token, "no token"))
	}
	if why := held[0].compareSession(*of, l.Record.Task); why != "" {
		return why
	}
	return j.checkReadTime(held[0], l, of.EmissionAt)
}

// checkUnbound returns what is wrong with a session that names no anchor.
func (j *judge) checkUnbound(l Line) string {
	made := l.Record.Session().Outcome == "completed" || l.Record.Session().Deliverable != ""
	if !made {
		return "" // nothing of it was used
	}
	law, _ := j.findTerms(l.Record.Run, l.Record.Task)
	if law.Anchor.Mode == string(anchor.Untracked) {
		return ""
	}
	return j.unlessUnanchored("a session completed without a write permit")
}

// compareSession returns how the permit differs from the one that a session of the task says it had.
func (p permit) compareSession(of event.SessionAnchor, task string) string {
	switch {
	case p.DeadRun != "" || p.Task != task:
		return fmt.Sprintf("a session bound by %s, which is another's", of.Token)
	case of.SHA256 != p.AnchorSHA256:
		return "a session bound by another anchor than its ledger holds: the hashes differ"
	case of.Mode != p.Mode || of.Tier != p.Tier:
		return "a session of another mode or tier than its anchor's"
	}
	return ""
}

// checkReadTime returns why the session was not read while it held the permit.
func (j *judge) checkReadTime(p permit, l Line, moment string) string {
	read, err := time.Parse(time.RFC3339, moment)
	switch {
	case err != nil:
		return fmt.Sprintf("a session whose emission_at is no moment: %q", moment)
	case read.Before(p.bound):
		return "a session that was read before it was bound"
	case p.released.Before(read):
		return "a session whose permit was released before it was read"
	case !read.Before(p.ended) && !j.isDropped(l):
		return "a session that was read after its permit had ended"
	}
	return ""
}

// isDropped reports a session whose result was read and not used: the same act blocks or loses its task, or it has no
// task and handed nothing over.
func (j *judge) isDropped(l Line) bool {
	return l.Record.Task == l.Record.Run && l.Record.Session().Handoff == "" || slices.ContainsFunc(j.Lines, func(o Line) bool {
		r := o.Record
		return r.Kind == event.Outcome && r.Run == l.Record.Run && r.Task == l.Record.Task &&
			slices.Contains([]string{string(board.Blocked), "lost"}, r.Outcome().Verdict)
	})
}

// checkRelease returns what is wrong with one anchor record.
func (j *judge) checkRelease(l Line) string {
	p := readPermit(&l.Record)
	same := j.findAnchors(l, p.Token)
	switch {
	case !anchor.IsToken(p.Token):
		return "an anchor without a token"
	case len(same) != 1:
		return fmt.Sprintf("the anchor %s stands %d times in its ledger; a permit is released once", p.Token, len(same))
	case p.DeadRun == p.Run:
		return "an anchor that its own run swept"
	case p.DeadRun != "":
		return "" // nothing of it landed
	case p.broken != "":
		return p.broken
	case p.released.Before(p.bound):
		return "an anchor that was released before it was bound"
	case l.Claim == nil:
		return "a permit record of no open claim"
	}
	law, base := j.findTerms(l.Record.Run, l.Record.Task)
	if base == "" {
		return ""
	}
	if why := p.checkTerms(l, law); why != "" {
		return why
	}
	if why := j.checkBase(p, l, base); why != "" {
		return why
	}
	return j.checkConstitution(p, l, law)
}

// checkTerms compares the record with odd.toml and with its claim.
func (p permit) checkTerms(l Line, law *config.Config) string {
	mode, by := law.Anchor.Mode, "agent"
	if l.Claim.Claim().RefreshOf != "" && mode != string(anchor.Untracked) {
		mode = string(anchor.Express)
	}
	if mode == string(anchor.Express) {
		by = "server"
	}
	switch {
	case p.Mode != mode:
		return fmt.Sprintf("an anchor of mode %s; odd.toml asks for %s", cmp.Or(p.Mode, "none"), mode)
	case p.Tier != law.Anchor.Strictness:
		return fmt.Sprintf("an anchor of tier %s; odd.toml asks for %s", cmp.Or(p.Tier, "none"), law.Anchor.Strictness)
	case p.GeneratedBy != by:
		return fmt.Sprintf("an anchor proven by %s; under %s the %s proves", cmp.Or(p.GeneratedBy, "nobody"), mode, by)
	case p.ended.Sub(p.bound) > law.Anchor.TTL:
		return fmt.Sprintf("a permit for %s; odd.toml gives %s", p.ended.Sub(p.bound), law.Anchor.TTL)
	case !p.bound.Before(p.ended):
		return "a permit that ended before it began"
	case len(nonEmpty(p.Allow)) == 0:
		return "a permit that names no path, and so every one"
	}
	for _, kept := range []string{"odd.toml", "governance/**", "ledger/**", "journal/**", "proposals/**", "pause.toml"} {
		if kept != "odd.toml" {
			kept = path.Join(law.Root, kept)
		}
		if !slices.Contains(p.Deny, kept) {
			return fmt.Sprintf("a permit that does not deny %s", kept)
		}
	}
	return ""
}

// checkBase checks the commit that the session stood on: the one of its claim, or for a refresh an ancestor of the
// result. The context hash must be that of this commit.
func (j *judge) checkBase(p permit, l Line, base repo.OID) (why string) {
	head := repo.OID(p.arm.Head)
	if l.Claim.Claim().RefreshOf != "" {
		_, known := j.FindCommit(head)
		in := false
		if known {
			in = j.IsAncestor(head, j.OID)
		}
		if !in {
			return fmt.Sprintf("an anchor at %s, which is not before it", cmp.Or(ShortID(string(head)), "no commit"))
		}
	} else if head != base {
		why := j.explainRewrite(base, l.Record.Run, l.Record.Task)
		return cmp.Or(why, fmt.Sprintf("an anchor at %s; its claim is %s", cmp.Or(ShortID(string(head)), "no commit"), ShortID(string(base))))
	}
	phase, _ := anchor.Phase(j.ReadTree(head))
	focus, source := anchor.Focus(p.Task, p.arm.Branch)
	facts := anchor.Facts{Head: string(head), Branch: p.arm.Branch}
	arm := anchor.NewArm(facts, phase, focus, source, p.law.SHA256)
	if arm.Hash != p.ContextHash {
		return fmt.Sprintf("an anchor whose context_hash is not that of its claim; it is %s", ShortID(strings.TrimPrefix(arm.Hash, "sha256:")))
	}
	return ""
}

// checkUnderPermit returns why an outcome proposes a path that no permit of its claim covers.
func (j *judge) checkUnderPermit(l Line) string {
	paths := PathsOf(&l.Record)
	if len(paths) == 0 || l.Claim == nil {
		return "" // nothing landed; invariant 5 reports a missing claim
	}
	held := j.findLastPermit(l)
	law, _ := j.findTerms(l.Record.Run, l.Record.Task)
	switch {
	case held == nil && law.Anchor.Mode == string(anchor.Untracked):
		return fmt.Sprintf("proposes %s under [anchor] mode untracked, where nobody has a permit", describeFiles(len(paths)))
	case held == nil:
		return j.unlessUnanchored(fmt.Sprintf("proposes %s without a permit", describeFiles(len(paths))))
	case !held.isHeldBy(l.Claim):
		return "proposes under a permit that no session of it had"
	case !l.Record.TS.Before(held.ended):
		return fmt.Sprintf("proposes at %s under a permit that ended at %s", l.Record.TS.Format(time.RFC3339), held.ExpiresAt)
	}
	for _, p := range paths {
		if !held.coversPath(p[0]) {
			return fmt.Sprintf("proposes %s, which its permit does not cover: %s", p[0], strings.Join(held.Allow, ", "))
		}
	}
	return ""
}

// findLastPermit returns the last permit of an outcome's claim, nil for none.
func (j *judge) findLastPermit(l Line) (held *permit) {
	records := j.ReadLedger(j.OID, l.Record.Run)
	for i := range records {
		r := &records[i]
		if r.Kind == event.Anchor && r.Task == l.Record.Task && r.DeadRun == "" && r.Seq > l.Claim.Seq && r.Seq < l.Record.Seq {
			p := readPermit(r)
			held = &p
		}
	}
	return held
}

// isHeldBy reports whether a session of the claim names the permit. A refresh has no session.
func (p permit) isHeldBy(c *Claim) bool {
	return c.Claim().RefreshOf != "" || slices.ContainsFunc(c.Sessions, func(r event.Record) bool { return sessionToken(r) == p.Token })
}

func sessionToken(session event.Record) string {
	if of := session.Session().Anchor; of != nil {
		return of.Token
	}
	return ""
}

func describeFiles(n int) string {
	if n == 1 {
		return "a file"
	}
	return fmt.Sprintf("%d files", n)
}
