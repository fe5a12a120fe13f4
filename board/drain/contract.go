package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/agent"
	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/contract"
	"github.com/odd-cli/odd/persona/handoff"
)

// bound is a session's contract and what it was resolved from.
type bound struct {
	contract.Contract
	handoffs []handoff.Handoff
	built    *Made // the proposal that the handoffs are about; nil for none
}

// contracts resolves what sessions are bound to, by the board at one commit and what the
// caller asks for.
type contracts struct {
	Options
	repo  *repo.Repo
	at    *snapshot
	given *Given // nil for none
}

func (d *drain) contracts() contracts { return contracts{d.Options, d.repo, d.at, d.given} }

// contractCall returns the call for a session of t. Options.Call wins over the task, and the
// task over odd.toml.
func (cs contracts) contractCall(t board.Task) contract.Call {
	own, cfg := cs.Call, cs.at.cfg.Contract
	role := own.Role
	if role == "" && !isOffBoard(t) {
		role = t.Contracted(cfg.Roles)
	}
	c := contract.Call{
		Persona:  cmp.Or(own.Persona, t.Persona, cfg.Profile),
		WorkRole: t.Role, Role: role, Mode: own.Mode,
		Surface:      cmp.Or(own.Surface, t.Surface, cfg.Surface),
		Engagement:   cmp.Or(own.Engagement, t.Engagement, cfg.Engagement),
		Voice:        cmp.Or(own.Voice, t.Voice, cfg.Voice),
		Participants: own.Participants, Tools: own.Tools, MCP: own.MCP, Override: own.Override,
		Artifact: cmp.Or(own.Artifact, t.Artifact),
	}
	if c.Engagement == "" && cs.Reply == nil {
		c.Engagement = contract.Agent // nobody is there to answer
	}
	return c
}

// resolveContract resolves t's contract, or lists everything that speaks against it.
func (cs contracts) resolveContract(t board.Task) (b bound, no contract.Refusals) {
	c := cs.contractCall(t)
	for _, name := range slices.Concat(t.Handoffs, cs.Handoffs) {
		h, refused := cs.findHandoff(name, &b)
		no = append(no, refused...)
		if h.Path != "" {
			h.Artifact = cs.at.artifactName(h.Artifact)
			b.handoffs = append(b.handoffs, h)
			c.Handoffs = append(c.Handoffs, h.Handoff)
		}
	}
	rules := cs.at.graph
	if cs.given != nil {
		rules, b.handoffs, c.Handoffs = cs.given.Rules, []handoff.Handoff{cs.given.Claims}, []contract.Handoff{cs.given.Claims.Handoff}
	}
	c.Artifact = cs.at.artifactName(cmp.Or(c.Artifact, artifactOf(b.handoffs)))
	world := contract.World{Roster: contract.LoadRoster(rules), Servers: cs.at.cfg.ServerNames(), Granted: agent.Granted(cs.at.cfg, t)}
	if c.Artifact != "" || len(c.Handoffs) > 0 { // else nobody can be in its way
		world.Busy = cs.listBusy(t)
	}
	resolved, more := contract.Resolve(c, world)
	b.Contract = resolved
	no = append(no, more...)
	if isOffBoard(t) && resolved.Mutates {
		no = append(no, contract.Refusal{Code: "needs-task", Message: fmt.Sprintf("a session in the role %s makes atoms, and atoms are merged only through the review of a task", resolved.Role),
			Way: "add one with odd task add, then odd agent run --task ID"})
	}
	if resolved.Engagement == contract.Assistant && cs.Reply == nil {
		no = append(no, contract.Refusal{Code: "no-turn-channel", Message: "the session may ask questions (engagement assistant), and there is no terminal to answer on",
			Way: "run it in a terminal, or set --engagement agent"})
	}
	return b, append(no, cs.at.checkBinding(resolved)...)
}

// artifactOf is what the handoffs are about, "" where they do not agree.
func artifactOf(list []handoff.Handoff) string {
	var out string
	for _, h := range list {
		if out != "" && h.Artifact != out {
			return ""
		}
		out = h.Artifact
	}
	return out
}

// artifactName returns the one name of an artifact: an atom's path in the repository,
// however it was named, and anything else as it is.
func (s *snapshot) artifactName(name string) string {
	for _, one := range []string{name, s.pathBelow(name)} {
		if a, err := s.graph.Find(one); one != "" && err == nil {
			return s.pathOf(a.Path)
		}
	}
	return name
}

// findHandoff finds and reads one handoff and holds its claims against the files,
// commits and atoms it names.
func (cs contracts) findHandoff(name string, b *bound) (handoff.Handoff, contract.Refusals) {
	a, err := cs.at.graph.Find(cs.at.pathBelow(name))
	if err != nil {
		return handoff.Handoff{}, contract.Refusals{{Code: "handoff-unknown", Message: "handoff " + err.Error(), Way: "odd agent handoff list shows them"}}
	}
	h, err := handoff.Read(a)
	if err != nil {
		return handoff.Handoff{}, contract.Refusals{{Code: "handoff-unreadable", Message: err.Error(), Way: "fix the file, or have the role before make a new one"}}
	}
	h.Tainted = cs.overrideBehind(h, map[string]bool{})
	no := cs.fellShort(h)
	made, err := recordsOf(cs.repo, cs.at).Proposal(h)
	if err != nil {
		no = append(no, contract.Refusal{Code: "proposal-missing", Message: fmt.Sprintf("handoff %s: %v", h.Path, err), Way: "run git fetch, which brings its review branch"})
	}
	if made != nil {
		b.built = made
	}
	if h.Journal != "" && !cs.journalTells(h.Journal, h) {
		h.Journal = "" // it names an entry that is not there
	}
	for _, p := range handoff.Check(h, cs.handoffWorld(made, nil)) {
		if p.Code != handoff.CodeMissing { // Resolve tells those by the role
			no = append(no, contract.Refusal{Code: "handoff-unresolved", Message: p.Error(), Way: "correct the handoff; every file it cites must exist"})
		}
	}
	return h, no
}

// fellShort refuses a handoff that a session could not work from, as long as it is what
// it was: another would come to the same end. An override of its transition goes on.
func (cs contracts) fellShort(h handoff.Handoff) contract.Refusals {
	if o := cs.Call.Override; o != nil && slices.Contains(o.Modes, h.From) && slices.Contains(o.Modes, h.To) {
		return nil
	}
	all, err := FellShort(cs.at.files, cs.at.cfg.Root)
	if err != nil {
		return contract.Refusals{{Code: "handoff-unreadable", Message: err.Error(), Way: "restore the journal from git history"}}
	}
	if !slices.Contains(all, handoff.Short{From: h.From, To: h.To, File: cs.at.pathOf(h.Path), Blob: h.Blob}) {
		return nil
	}
	var ways []string
	for _, w := range handoff.Insufficient(h, nil).Ways {
		ways = append(ways, w.Says+": "+w.Command)
	}
	return contract.Refusals{{Code: "handoff-insufficient", Message: "a session could not work from the handoff " + h.Path + ", and it has not changed since", Way: strings.Join(ways, "; ")}}
}

// FellShort are the entries of all journals of the bundle at root that tell of handoffs
// which could not be worked from.
func FellShort(files fs.FS, root string) (out []handoff.Short, err error) {
	names, err := fs.Glob(files, root+"/journal/*.tsv")
	for _, name := range names {
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		out = append(out, handoff.FellShort(b)...)
	}
	return out, err
}

// overrideBehind returns the override that the handoff h, or any it derives from, was made
// under: a tag that somebody left out on the way is not lost by it.
func (cs contracts) overrideBehind(h handoff.Handoff, seen map[string]bool) string {
	if h.Tainted != "" || seen[h.Path] {
		return h.Tainted
	}
	seen[h.Path] = true
	for _, id := range h.Derives {
		a, err := cs.at.graph.Find(cs.at.pathBelow(id))
		if err != nil {
			continue // handoff.Check tells
		}
		up, _ := handoff.Read(a) // as far as it reads
		if t := cs.overrideBehind(up, seen); t != "" {
			return t
		}
	}
	return ""
}

// handoffWorld returns what a handoff's claims are compared with: the board, the proposal
// it is about, and what the same run is about to write.
func (cs contracts) handoffWorld(made *Made, own repo.Changes, more ...string) handoff.World {
	trees := []fs.FS{cs.at.files}
	if made != nil {
		trees = append(trees, made.Files)
	}
	find := func(name string) (b []byte, there bool) {
		for _, name := range []string{path.Clean(name), cs.at.pathOf(name)} {
			if b, ok := own[name]; ok || slices.Contains(more, name) {
				return b, true
			}
			for _, files := range trees {
				if _, err := fs.Stat(files, name); err == nil {
					b, err := fs.ReadFile(files, name)
					if err != nil {
						b = nil // a folder
					}
					return b, true
				}
			}
		}
		return nil, false
	}
	return HandoffWorld(cs.repo, cs.at.graph, cs.at.cfg.Root, find, cs.journalTells)
}

// HandoffWorld returns what a handoff's claims are compared with: the files that find reads, nil for
// a folder, the atoms of the bundle at root, and the journal.
func HandoffWorld(r *repo.Repo, g *okf.Graph, root string, find func(name string) (b []byte, there bool), tells func(name string, h handoff.Handoff) bool) handoff.World {
	return handoff.World{
		Path: func(name string) bool { _, ok := find(name); return ok },
		Lines: func(name string) int {
			b, _ := find(name)
			if b == nil {
				return -1
			}
			return handoff.LineCount(b)
		},
		Commit: func(oid string) bool {
			found, err := r.Resolve(context.Background(), oid)
			return err == nil && strings.HasPrefix(string(found), oid) // and no branch of that name
		},
		Ref: func(name string) error {
			_, err := g.Resolve(name)
			if errors.Is(err, okf.ErrExternal) {
				return nil
			}
			return err
		},
		Tells: tells,
		Source: func(name string) (handoff.Handoff, bool) {
			a, err := g.Find(strings.TrimPrefix(name, root+"/"))
			if err != nil {
				return handoff.Handoff{}, false
			}
			h, err := handoff.Read(a)
			return h, err == nil
		},
	}
}

func (cs contracts) journalTells(name string, h handoff.Handoff) bool {
	return JournalTells(cs.at.files, cs.at.pathOf(cs.at.pathBelow(name)), h)
}

// JournalTells reports that a journal file has the entry of a handoff's transition.
func JournalTells(files fs.FS, name string, h handoff.Handoff) bool {
	b, err := fs.ReadFile(files, name)
	if err != nil {
		return false
	}
	entries, _, err := journal.Parse(b)
	return err == nil && h.Vouches() && slices.ContainsFunc(entries, func(e journal.Entry) bool {
		return e.Type == "H" && handoff.Tells(e.Content, string(h.From), string(h.To), h.Path)
	})
}

// listBusy is what other sessions work on: tasks in progress, and open sessions
// without a task. A claim whose time is over keeps nothing busy.
func (cs contracts) listBusy(own board.Task) []contract.Busy {
	var out []contract.Busy
	add := func(artifact string, mode contract.Mode, session string) {
		if artifact = cs.at.artifactName(artifact); artifact != "" && mode != "" {
			out = append(out, contract.Busy{Artifact: artifact, Mode: mode, Session: session})
		}
	}
	for _, t := range cs.at.tasks() {
		if t.State == board.InProgress && t.ID != own.ID && !t.Expired(cs.Now()) {
			add(cmp.Or(t.Artifact, cs.firstArtifact(t.Handoffs)), modeOf(t.Contracted(cs.at.cfg.Contract.Roles)), string(t.ID))
		}
	}
	o := recordsOf(cs.repo, cs.at)
	for _, c := range cs.at.spend.Open {
		if c.Task == c.Run && c.Run != cs.Run && o.isAlive(c, cs.Now()) {
			claim := o.wholeClaim(c).Claim()
			add(claim.Artifact, contract.Mode(claim.Mode), c.Run)
		}
	}
	return out
}

// firstArtifact returns the artifact of the first of the handoffs that can be read.
func (cs contracts) firstArtifact(handoffs []string) string {
	for _, name := range handoffs {
		if a, err := cs.at.graph.Find(cs.at.pathBelow(name)); err == nil {
			if h, err := handoff.Read(a); err == nil {
				return h.Artifact
			}
		}
	}
	return ""
}

func modeOf(role contract.Role) contract.Mode {
	for _, r := range contract.Roles() {
		if r.Role == role {
			return r.Mode
		}
	}
	return ""
}

// describeRefusals returns every refusal of a contract in one line, each with its code and way out.
func describeRefusals(no contract.Refusals) string {
	var s []string
	for _, r := range no {
		line := r.Message
		if r.Way != "" {
			line += "; " + r.Way
		}
		s = append(s, fmt.Sprintf("%s [%s]", line, r.Code))
	}
	return strings.Join(s, "; ")
}

// checkSpawnable resolves t's contract and adds why an agent of its chain cannot run it.
func (cs contracts) checkSpawnable(t board.Task) (bound, contract.Refusals) {
	b, no := cs.resolveContract(t)
	for _, cfg := range cs.at.agentChain(t) {
		no = append(no, agent.Speechless(cfg, b.Role)...)
	}
	return b, no
}

// bindPersona resolves the contract and adds what is missing in the persona of t's role.
func (cs contracts) bindPersona(t board.Task) (bound, contract.Refusals) {
	b, no := cs.resolveContract(t)
	if t.Role == "" {
		return b, no
	}
	if _, why := cs.at.compilePersona(t.Role); why != nil {
		no = append(no, contract.Refusal{Code: "floor", Message: why.Error()})
	}
	return b, no
}
