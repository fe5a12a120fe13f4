package verify

import (
	"bytes"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// lookBack is how many commits before a person's are searched for a version that the person puts back. Older versions
// are believed.
const lookBack = 1000

// FindPutBack returns the version of an append-only file that a person's commit puts back, and may append to, after the
// file was rewritten or deleted; "" for none. It is the last version that only grew. The rewrite has its own finding,
// which asks a person to put the file back. If the file grew after the rewrite, putting it back would lose records, and
// the result is "".
func (h *history) FindPutBack(c repo.Commit, rel string, is repo.Change) (good repo.OID) {
	if h.machines[c.OID] || len(c.Parents) != 1 || !strings.HasPrefix(is.NewMode, "100") {
		return ""
	}
	all := h.ReadVersions(c.Parents[0])
	var last repo.OID
	lost := false
	for _, v := range slices.Backward(all[rel]) {
		onGood := h.IsExtension(good, v)
		onLast := h.IsExtension(last, v)
		switch {
		case v == "":
		case onGood:
			good, lost = v, false
		case last != "" && onLast:
			lost = true
		}
		last = v
	}
	if good == "" || lost {
		return ""
	}
	if !h.IsExtension(good, is.New) {
		return ""
	}
	return good
}

// ReadVersions returns the versions of all append-only files in a commit and along its first parents, by path below the
// bundle, newest first; "" where a file was missing. Files that did not change are left out. The result for the last
// commit is cached.
func (h *history) ReadVersions(at repo.OID) map[string][]repo.OID {
	if h.grew.at == at {
		return h.grew.versions
	}
	out := map[string][]repo.OID{}
	for next, n := at, 0; next != "" && n < lookBack; n++ {
		c := h.ReadCommit(next)
		if next = ""; len(c.Parents) > 0 {
			next = c.Parents[0]
		}
		h.noteVersions(out, next, c.OID)
	}
	h.grew.at, h.grew.versions = at, out
	return out
}

// noteVersions adds the append-only files that a commit changed, by path below the bundle, wherever that was.
func (h *history) noteVersions(out map[string][]repo.OID, before, after repo.OID) {
	file := func(blob repo.OID, mode string) repo.OID {
		if strings.HasPrefix(mode, "100") {
			return blob
		}
		return ""
	}
	bundle := func(at repo.OID) repo.OID {
		if at == "" {
			return ""
		}
		tree, mode := h.Find(at, h.LawAt(at).Root)
		if mode != rules.Folder {
			return ""
		}
		return tree
	}
	for _, ch := range h.Diff(bundle(before), bundle(after)) {
		old, now := file(ch.Old, ch.OldMode), file(ch.New, ch.NewMode)
		if !rules.IsAppendOnly(ch.Path) || old == now {
			continue
		}
		if len(out[ch.Path]) == 0 {
			out[ch.Path] = []repo.OID{now}
		}
		out[ch.Path] = append(out[ch.Path], old)
	}
}

// versionCache is what ReadVersions read last.
type versionCache struct {
	at       repo.OID
	versions map[string][]repo.OID
}

// IsExtension reports whether now begins with the bytes of was. A missing was is a prefix of any file.
func (h *history) IsExtension(was, now repo.OID) bool {
	if was == "" || was == now {
		return true
	}
	if now == "" {
		return false
	}
	return bytes.HasPrefix(h.Blob(now), h.Blob(was))
}
