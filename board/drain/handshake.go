package drain

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/gate"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/anchor"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/invoke"
	"github.com/odd-cli/odd/persona/session"
	"github.com/odd-cli/odd/reconcile/policy"
)

// handshake is how one session is bound, and what it came to. All its stages are judged by the board as
// the claim left it. It lives in the drain alone; the run's ledger records what it came to.
type handshake struct {
	d       *drain
	session *anchor.Session
	head    repo.OID // the board's commit it stands on
	files   fs.FS    // of that commit
	law     anchor.Constitution
	task    board.Task
	passed  anchor.Result // what the last stage that was passed answered
	live    anchor.Live   // once it is bound
	read    time.Time     // when what the session emitted had been read
	ended   time.Time     // when the permit was released
	why     string        // it was released
}

func (s *snapshot) bindsSessions() bool { return s.cfg.Anchor.Mode != string(anchor.Untracked) }

// checkBinding lists what the anchor's mode has against a session under c.
func (s *snapshot) checkBinding(c contract.Contract) contract.Refusals {
	mode := s.cfg.Anchor.Mode
	switch {
	case c.Role == "":
		return nil
	case !s.bindsSessions() && c.Mutates:
		return contract.Refusals{{Code: "anchor-untracked", Message: fmt.Sprintf("a session in the role %s may write, but [anchor] mode untracked gives no write permit", c.Role),
			Way: "set [anchor] mode = \"express\" in odd.toml"}}
	case slices.Contains([]string{string(anchor.Full), string(anchor.Lite)}, mode) && s.cfg.Session.Substrate == "extract":
		return contract.Refusals{{Code: "anchor-unanswerable", Message: "under [anchor] mode " + mode + " an agent must state its role first, and the built-in offline reader (extract) cannot",
			Way: "set [anchor] mode = \"express\" in odd.toml, or use an agent, like [session] substrate = \"exec\""}}
	}
	return nil
}

// beginHandshake begins the handshake of a session of t under c and, where odd itself
// proves for it, ends it. nil is a mode that binds nothing.
func (d *drain) beginHandshake(t board.Task, c contract.Contract, mode anchor.Mode) (*handshake, error) {
	if mode == anchor.Untracked {
		return nil, nil
	}
	h := &handshake{d: d, head: d.at.tip, files: d.at.files, task: t}
	var err error
	if h.law, err = d.at.findConstitution(t, c); err != nil {
		return nil, err
	}
	ask := anchor.IdentityRequest{Role: h.law.Role, Mode: mode, Strictness: anchor.Strictness(d.at.cfg.Anchor.Strictness), Topic: string(t.ID)}
	if h.session, h.passed = anchor.Begin(h.anchorWorld(), ask); h.session != nil && mode == anchor.Express {
		commit := anchor.Commit{Artifact: h.chooseArtifact(c), Gate: h.law.GateCommand[0]} // what the session will have made, and the command that judges it
		h.passed = h.session.Send(h.anchorWorld(), commit.Payload())                       // odd proves out of the constitution
		h.live = h.session.Live()
	}
	if !h.passed.Success {
		return nil, anchor.Refusal(h.passed.Errors)
	}
	return h, nil
}

// livePermit returns the session's permit; without one, a permit that covers nothing.
func (h *handshake) livePermit() anchor.Live {
	if h == nil || !h.ended.IsZero() {
		return anchor.Live{}
	}
	return h.live
}

// anchorWorld returns what the handshake may know: the board's commit that it stands on, of
// which nothing is edited, and of the constitution what the board has now.
func (h *handshake) anchorWorld() anchor.World {
	d := h.d
	root := d.repo.Root()
	if root == "" {
		root = d.repo.CommonDir()
	}
	return anchor.World{
		Now: d.Now().UTC(), Random: d.Random, WorkTree: root, Files: h.files, TTL: d.at.cfg.Anchor.TTL,
		Facts: func() (anchor.Facts, error) {
			return anchor.Facts{Head: string(h.head), Branch: d.line.Name()}, nil
		},
		Descends:     func(head, from string) (bool, error) { return head == from, nil },
		Constitution: func(string) (anchor.Constitution, error) { return readConstitution(d.at.files, h.law) },
		Protected:    protectedPath,
		Phase:        func() (phase, problem string) { return anchor.Phase(h.files) },
	}
}

// readConstitution is c as the board has its file now.
func readConstitution(files fs.FS, c anchor.Constitution) (anchor.Constitution, error) {
	b, err := fs.ReadFile(files, c.Path)
	if err != nil {
		return c, anchor.Refusal{{Code: anchor.ConstMissing, At: c.Path, Text: "the file is no longer on the board branch"}}
	}
	c.SHA256 = hashBytes(b)
	return c, nil
}

// protectedPath tells a path that no session writes, whatever its permit says, and why.
func protectedPath(p string) (why string, yes bool) {
	if gate.Guarded(p) {
		return "it governs, or is odd's own record", true
	}
	return "", false
}

// chooseArtifact returns what the session will have made: what its contract names, where it
// may write that, or else a file of its own name where it may write.
func (h *handshake) chooseArtifact(c contract.Contract) string {
	first := h.law.Paths[0]
	if h.mayMake(c.Artifact) {
		return c.Artifact
	}
	for _, g := range h.law.Paths {
		if name := fillGlob(g, board.Slug(h.task.ID)); h.mayMake(name) {
			return name
		}
	}
	return first // the handshake says what is wrong with it
}

// fillGlob returns a path that the glob g means: what is open in it is named slug.
func fillGlob(g, slug string) string {
	parts := strings.Split(g, "/")
	ext := path.Ext(g)
	for i, p := range parts {
		if strings.ContainsAny(p, "*?[") {
			parts[i] = slug
		}
	}
	if last := len(parts) - 1; parts[last] == slug {
		if ext == "" || strings.ContainsAny(ext, "*?[") {
			ext = ".md"
		}
		parts[last] += ext
	}
	return strings.Join(parts, "/")
}

// mayMake reports a path that may be a session's artifact: a file, or none yet,
// that its permit will cover.
func (h *handshake) mayMake(name string) bool {
	if name == "" || !fs.ValidPath(name) || path.Ext(name) == "" {
		return false
	}
	info, err := fs.Lstat(h.files, name)
	_, guarded := protectedPath(name)
	return (err != nil || info.Mode().IsRegular()) && !guarded && policy.MatchAnyGlob(h.law.Paths, name) && !policy.MatchAnyGlob(h.law.BlockedPath, name)
}

// whyLapsed says why the permit would not let the work land at s: its time is over,
// or its constitution is another. "" is nothing.
func (h *handshake) whyLapsed(s *snapshot) string {
	if h == nil || h.live.Anchor().Token == "" {
		return ""
	}
	p := h.live.Anchor().Permit
	if now := h.d.Now(); !now.Before(p.ExpiresAt) {
		return fmt.Sprintf("anchor expired: the session's write permit ended at %s; raise [anchor] ttl in odd.toml", p.ExpiresAt.UTC().Format(time.RFC3339))
	}
	b, err := fs.ReadFile(s.files, h.law.Path)
	if err != nil || hashBytes(b) != p.Constitution {
		return fmt.Sprintf("anchor void: %s changed while the session worked; odd task ready puts the task back", h.law.Path)
	}
	return ""
}

// releasePermit ends the permit, if there is one. It is called at the end of every session.
func (h *handshake) releasePermit(reason string) {
	if h != nil && h.ended.IsZero() && h.live.Anchor().Token != "" {
		h.ended, h.why = h.d.Now().UTC(), reason
	}
}

// hashBytes returns the hash constitutions go by.
func hashBytes(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// markRead notes when what the session emitted had been read.
func (h *handshake) markRead() {
	if h != nil {
		h.read = h.d.Now().UTC()
	}
}

func releaseReason(s lastSession) string {
	switch {
	case s.emission.Failure == invoke.Yielded:
		return "the session yielded"
	case s.reason != "":
		return "the session ended, and is blocked"
	}
	return "the session is over"
}

func (h *handshake) anchorRecord() *event.SessionAnchor {
	if h == nil || h.live.Anchor().Token == "" {
		return nil
	}
	a := h.live.Anchor()
	return &event.SessionAnchor{Token: a.Token, SHA256: a.SHA256, Mode: string(a.Mode), Tier: string(a.Tier), EmissionAt: formatTime(h.read)}
}

func tellAnchor(p *draft, h *handshake) {
	if h == nil || h.ended.IsZero() {
		return
	}
	a, permit := h.live.Anchor(), h.live.Anchor().Permit
	arm := a.Arm
	data := event.AnchorData{
		Token: a.Token, Tier: string(a.Tier), Mode: string(a.Mode), BoundAt: formatTime(a.Timestamp), ReleasedAt: formatTime(h.ended), Reason: h.why,
		ContextHash: arm.Hash, PayloadSHA256: permit.Payload, AnchorSHA256: a.SHA256, GeneratedBy: a.GeneratedBy, ExpiresAt: formatTime(permit.ExpiresAt),
		Allow: permit.Allow, Deny: permit.Deny, Artifact: permit.Artifact, Gate: permit.Gate,
		// Nothing of a drain's is ever edited, and it has no upstream, so that the rest of an ARM is zero.
		Arm:          &event.Arm{Head: arm.Head, Branch: arm.Branch, Phase: arm.Phase, Focus: arm.Focus, FocusSource: arm.FocusSource},
		Constitution: &event.Constitution{Path: h.law.Path, SHA256: arm.Constitution},
	}
	if b, err := fs.ReadFile(h.files, h.law.Path); err == nil {
		data.Constitution.Blob = okf.BlobID(b)
	}
	p.record(event.Record{Kind: event.Anchor, Task: string(h.task.ID), Role: a.Role, Data: data})
}

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
	fence := session.Fence([]byte(h.passed.Template))
	next := fmt.Sprintf("%s\n\n%soctave\n%s\n%s\n\n", h.passed.Guidance, fence, strings.TrimRight(h.passed.Template, "\n"), fence)
	law := fmt.Sprintf("Your constitution, %s:\n\n%s\n", h.law.Path, h.law.Excerpt)
	if h.passed.ServerArm == nil {
		return "Before anything you emit counts you prove who you are. Begin your answer with an octave block that is BIND. What comes\nafter it you are told when it holds.\n\n" +
			"BIND. " + next + law
	}
	return "TENSIONS and COMMIT. " + next + "Your work may follow below that block in the same answer, or come when you are asked again.\n\n" +
		fmt.Sprintf("Where you stand, as odd sees it:\n\n%s\n", anchor.ArmText(*h.passed.ServerArm)) + law + h.describeBounds()
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
	for _, r := range slices.Concat(h.law.Gates, h.law.MustNever) {
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
	late, all := "", len(ps)
	if ps = slices.DeleteFunc(slices.Clone(ps), func(p session.Payload) bool { return p.Late }); len(ps) < all {
		late = "A block below your work counts for nothing: who you are comes first.\n"
	}
	if h.passed.ServerArm == nil {
		res := h.session.Send(h.anchorWorld(), payloadAt(ps, 0))
		if !res.Success {
			return h.askAgain(late, res)
		}
		if h.passed = res; len(ps) == 1 && !bytes.Contains(ps[0].Text, []byte("COMMIT")) {
			return invoke.Answered{Say: late + "Your BIND holds. Now begin your answer with one octave block of TENSIONS and COMMIT.\n\n" + h.briefPart()}
		}
	}
	res := h.session.Send(h.anchorWorld(), payloadAt(ps, len(ps)-1))
	if !res.Success {
		return h.askAgain(late, res)
	}
	h.live = h.session.Live()
	return invoke.Answered{Bound: true, Say: h.describePermit()}
}

func payloadAt(ps []session.Payload, i int) []byte {
	if i < 0 || i >= len(ps) {
		return nil
	}
	return ps[i].Text
}

// askAgain tells the session what was wrong, and what it must prove next. Where a stage has no
// further try, or its answer was not what was wrong, the session is over.
func (h *handshake) askAgain(late string, res anchor.Result) invoke.Answered {
	if res.Terminal || res.Guidance == "" {
		return invoke.Answered{Final: "the agent did not state its role and task correctly: " + oneLine(anchor.Refusal(res.Errors).Error())}
	}
	return invoke.Answered{Say: late + res.Guidance + "\n\n" + h.briefPart()}
}
