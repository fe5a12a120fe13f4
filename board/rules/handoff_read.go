package rules

import (
	"strings"

	"github.com/odd-cli/odd/journal"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
	"github.com/odd-cli/odd/persona/handoff"
)

// storedHandoff is a handoff as a commit holds it.
type storedHandoff struct {
	handoff.Handoff
	path  string // below the bundle root
	at    repo.OID
	fault error // why it does not read
}

func (h storedHandoff) isJournaledBy(e journal.Entry) bool {
	return e.Type == "H" && h.Vouches() && handoff.Tells(e.Content, string(h.From), string(h.To), h.path)
}

func (h *storedHandoff) decode(a *okf.Atom, fault error) {
	if h.fault = fault; fault == nil {
		h.Handoff, h.fault = handoff.Read(a)
	}
}

// readGivenHandoff reads a handoff that a session names, from the commit of its claim. ok is false unless that commit
// has it with the named blob.
func (j *judge) readGivenHandoff(b boundSession, named [2]string) (storedHandoff, bool) {
	c, ok := j.FindClaim(j.Commit, b.run, b.task)
	if !ok || named[1] == "" {
		return storedHandoff{}, false
	}
	return j.readHandoff(c.OID, named[0], named[1])
}

// readHandoff reads a handoff in a commit. With want it must be that blob.
func (j *judge) readHandoff(at repo.OID, name, want string) (storedHandoff, bool) {
	law := j.LawAt(at)
	h := storedHandoff{path: strings.TrimPrefix(name, law.Root+"/"), at: at}
	blob, mode := j.Find(at, law.Root+"/"+h.path)
	if !strings.HasPrefix(mode, "100") || want != "" && want != string(blob) {
		return h, false
	}
	a, fault := ParseAtom(h.path, j.Blob(blob))
	h.decode(a, fault)
	return h, true
}

// isTainted reports a handoff that was made under an override, or from such a handoff.
func (j *judge) isTainted(h storedHandoff, seen map[string]bool) bool {
	if h.Tainted != "" || seen[h.path] {
		return h.Tainted != ""
	}
	seen[h.path] = true
	for _, id := range h.Derives {
		up, ok := j.readHandoff(h.at, strings.TrimSuffix(id, ".md")+".md", "")
		if !ok {
			continue
		}
		if is := j.isTainted(up, seen); is {
			return is
		}
	}
	return false
}

// whyTainted returns how an override taints the work of a session, "" if none does.
func (j *judge) whyTainted(b boundSession) string {
	if b.override != nil {
		return "under an override"
	}
	for _, named := range b.handoffs {
		h, ok := j.readGivenHandoff(b, named)
		if !ok {
			continue
		}
		if j.isTainted(h, map[string]bool{}) {
			return "from " + h.path + ", which an override produced"
		}
	}
	return ""
}
