package verify

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/journal/repo"
)

// readAhead is how many commits are read before they are judged.
const readAhead = 8

// readCommit has the changes of one commit against each parent.
type readCommit struct {
	parents []repo.OID
	diffs   [][]repo.Change
}

// startReading reads what the commits of the range change in the bundle, beside the judging, because a machine has
// several cores. Each call of next makes the changes of the next commit known, whose files the repository then
// remembers. It leaves out what cannot be read: who asks for that again gets the error. stop ends the reading and
// waits for its end.
func (h *history) startReading() (next, stop func()) {
	read, done := make(chan readCommit, readAhead), make(chan struct{})
	var roots []string // of the bundle; the other files are large, many, and not asked for
	for _, law := range h.laws {
		roots = append(roots, law.Root+"/")
	}
	slices.Sort(roots)
	roots = slices.Compact(roots)
	isJudged := func(ch repo.Change) bool {
		return strings.HasPrefix(ch.NewMode, "100") && slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(ch.Path, root) })
	}
	go func() {
		defer close(read)
		for _, c := range h.commits {
			r := readCommit{parents: c.Parents}
			for _, p := range c.Parents {
				all, err := h.repo.Diff(h.ctx, p, c.OID)
				if err != nil {
					return
				}
				r.diffs = append(r.diffs, all)
				for _, ch := range all {
					if h.ctx.Err() == nil && isJudged(ch) {
						_, _ = h.repo.Blob(ch.New)
					}
				}
			}
			select {
			case read <- r:
			case <-done:
				return
			}
		}
	}()
	n := 0
	next = func() {
		c := h.commits[n]
		n++
		r := <-read // none is left after an error
		for i, p := range r.parents {
			h.diffs.put(diffKey(p, c.OID), r.diffs[i])
		}
	}
	return next, func() {
		close(done)
		for range read {
		}
	}
}
