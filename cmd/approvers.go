package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/odd-cli/odd/board"
	"github.com/odd-cli/odd/board/review"
	"github.com/odd-cli/odd/board/risk"
	"github.com/odd-cli/odd/journal/repo"
	"github.com/odd-cli/odd/okf"
)

// missingApprovers returns the people that odd.toml asks to approve what p takes, beside who and those
// who endorsed the proposal of t. What a person edited nobody endorsed.
func (v *view) missingApprovers(ctx context.Context, t board.Task, p takenPart, who ...string) (out []risk.Missing, err error) {
	if len(v.cfg.Approvers) == 0 {
		return nil, nil
	}
	endorsed, err := v.listEndorsers(ctx, t)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Paths {
		by := who
		if _, edited := p.edits[w.Path]; !edited {
			by = append(slices.Clone(who), endorsed...)
		}
		var types []string
		if rel, in := strings.CutPrefix(w.Path, v.cfg.Root+"/"); in {
			after, _ := v.repo.Blob(repo.OID(w.Result))
			before, _ := v.repo.Blob(repo.OID(w.Base))
			for _, b := range [][]byte{before, after, p.edits[w.Path]} {
				if a, err := okf.Parse(rel, b); err == nil {
					types = append(types, a.Type)
				}
			}
		}
		out = append(out, risk.Approvers(v.cfg, w.Path, types, by)...)
	}
	return out, nil
}

// listEndorsers returns the addresses of who endorsed the proposal of t: where signatures are
// required, in a commit that carries theirs.
func (v *view) listEndorsers(ctx context.Context, t board.Task) ([]string, error) {
	all := t.Endorsers()
	if !v.cfg.RequireSigned || len(all) == 0 {
		return all, nil
	}
	signed := map[string]bool{}
	for c, err := range v.repo.PathLog(ctx, v.tip, v.repoPath(t.Path)) {
		if err != nil {
			return nil, err
		}
		if !slices.Contains(c.Trailer("Odd-Endorsed-By"), "human:"+c.Author.Email) || !slices.Contains(c.Trailer("Odd-Proposal"), t.Result.Commit) {
			continue
		}
		why, err := v.whyUnsigned(ctx, c.OID)
		if err != nil {
			return nil, err
		}
		signed[strings.ToLower(c.Author.Email)] = signed[strings.ToLower(c.Author.Email)] || why == ""
	}
	return slices.DeleteFunc(all, func(who string) bool { return !signed[strings.ToLower(who)] }), nil
}

// waitsFor says whom an approval waits for.
func waitsFor(m []risk.Missing) string {
	s := fmt.Sprintf("%s must be approved by %s ([governance.approvers] %s)", m[0].Path, strings.Join(m[0].People, " or "), m[0].Of)
	if m[0].More > 1 {
		s = fmt.Sprintf("%s must be approved by %d of %s ([governance.approvers] %s)", m[0].Path, m[0].More, strings.Join(m[0].People, ", "), m[0].Of)
	}
	if n := len(m) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// checkApprovers reports that what the person approves waits for others too, who must approve as
// much; who may not approve it at all is refused.
func (v *view) checkApprovers(ctx context.Context, t board.Task, p takenPart, o approval) (others []risk.Missing, err error) {
	who, err := v.repo.Identity(ctx)
	if err != nil {
		return nil, err
	}
	without, err := v.missingApprovers(ctx, t, p)
	if err != nil {
		return nil, err
	}
	with, err := v.missingApprovers(ctx, t, p, who.Email)
	if err != nil {
		return nil, err
	}
	counts := func(m risk.Missing) bool {
		return slices.ContainsFunc(m.People, func(s string) bool { return strings.EqualFold(s, who.Email) })
	}
	switch {
	case len(with) == 0:
		return nil, nil
	case !slices.ContainsFunc(without, counts):
		return nil, refuse("approvers", "approve %s: %s, and you are %s; they run odd approve %[1]s, or you leave it out with --without ID", t.ID, waitsFor(with), who.Email)
	case len(p.left)+len(p.edits)+len(o.verify.Only) > 0 || o.verify.All:
		return nil, refuse("approvers", "approve %s: %s too, and who approves first approves all of it as it was proposed; run odd approve %[1]s --no-walk without other flags", t.ID, waitsFor(with))
	}
	return with, nil
}

// commitEndorsement commits the person's approval, which waits for others; the proposal stays in review.
func (v *view) commitEndorsement(ctx context.Context, t board.Task, p review.Proposal, h review.Human) (repo.OID, error) {
	b, err := review.Endorse(t, h, v.env.Now())
	if err != nil {
		return "", err
	}
	msg := commitMessage("endorse: "+or(t.Title, string(t.ID)), "", "Odd-Task", string(t.ID), "Odd-Proposal", p.Commit, "Odd-Endorsed-By", h.By())
	return v.commitFiles(ctx, repo.Changes{v.repoPath(t.Path): b}, msg)
}
