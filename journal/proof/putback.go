package proof

import (
	"bytes"
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

// lookBack is how many commits before a person's are looked at for what a file was that
// they put back. What stood before those is believed.
const lookBack = 1000

// findPutBack is the version that a person's commit puts back of a file that only grows, below
// the bundle, which was rewritten or taken away before it: the last that had only grown,
// to which it may add; "" for none. Who rewrote it was told of there, and is told to put it
// back. What grew upon a version that was rewritten is not to be lost by that.
func (h *history) findPutBack(c repo.Commit, rel string, is repo.Change) (good repo.OID, err error) {
	if h.machines[c.OID] || len(c.Parents) != 1 || !strings.HasPrefix(is.NewMode, "100") {
		return "", nil
	}
	all, err := h.readVersions(c.Parents[0])
	if err != nil {
		return "", err
	}
	var last repo.OID
	lost := false
	for _, v := range slices.Backward(all[rel]) {
		onGood, err := h.isExtension(good, v)
		if err != nil {
			return "", err
		}
		onLast, err := h.isExtension(last, v)
		if err != nil {
			return "", err
		}
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
		return "", nil
	}
	if on, err := h.isExtension(good, is.New); !on {
		return "", err
	}
	return good, nil
}

// readVersions are what the files that only grow were along the first parents of a commit and
// in it, by their path below the bundle: the blobs, the last first, "" where there was none.
// A file that nobody changed there is left out. All are read at once, and kept for the next of them.
func (h *history) readVersions(at repo.OID) (map[string][]repo.OID, error) {
	if h.grew.at == at {
		return h.grew.versions, nil
	}
	out := map[string][]repo.OID{}
	for next, n := at, 0; next != "" && n < lookBack; n++ {
		c, err := h.readCommit(next)
		if err != nil {
			return nil, err
		}
		if next = ""; len(c.Parents) > 0 {
			next = c.Parents[0]
		}
		if err := h.noteVersions(out, next, c.OID); err != nil {
			return nil, err
		}
	}
	h.grew.at, h.grew.versions = at, out
	return out, nil
}

// noteVersions adds what a commit changed of the files that only grow.
func (h *history) noteVersions(out map[string][]repo.OID, before, after repo.OID) error {
	changes, err := h.trees.Diff(h.ctx, before, after)
	if err != nil {
		return err
	}
	law, err := h.lawAfter(after)
	if err != nil {
		return err
	}
	was := law
	if before != "" {
		if was, err = h.lawAfter(before); err != nil {
			return err
		}
		if changes, err = h.addMovedRoots(changes, before, was.Root, after, law.Root); err != nil {
			return err
		}
	}
	for rel, v := range pairVersions(changes, was.Root, law.Root) {
		if v.old == v.new {
			continue
		}
		if len(out[rel]) == 0 {
			out[rel] = []repo.OID{v.new}
		}
		out[rel] = append(out[rel], v.old)
	}
	return nil
}

// twoVersions are a file that only grows before a commit and after it, "" where it is not.
type twoVersions struct{ old, new repo.OID }

// pairVersions are the files that only grow and that changes concern, by their place in the
// bundle, which was below one folder and is below another: one that moves is its files,
// here and there.
func pairVersions(changes []repo.Change, was, now string) map[string]twoVersions {
	by := map[string]twoVersions{}
	for _, ch := range changes {
		if rel, in := strings.CutPrefix(ch.Path, was+"/"); in && appendOnly(rel) && strings.HasPrefix(ch.OldMode, "100") {
			by[rel] = twoVersions{ch.Old, by[rel].new}
		}
		if rel, in := strings.CutPrefix(ch.Path, now+"/"); in && appendOnly(rel) && strings.HasPrefix(ch.NewMode, "100") {
			by[rel] = twoVersions{by[rel].old, ch.New}
		}
	}
	return by
}

// versionCache is what versions read last.
type versionCache struct {
	at       repo.OID
	versions map[string][]repo.OID
}

// isExtension reports a version of a file that begins with another, as any does with none.
func (h *history) isExtension(was, now repo.OID) (bool, error) {
	if was == "" || was == now {
		return true, nil
	}
	if now == "" {
		return false, nil
	}
	old, err := h.trees.Blob(was)
	if err != nil {
		return false, err
	}
	b, err := h.trees.Blob(now)
	return bytes.HasPrefix(b, old), err
}
