package proof

import "github.com/odd-cli/odd/journal/repo"

// addMovedRoots adds to what differs between two commits what their odd.toml make differ: where
// they name another folder as the bundle, every file of the one has left it and every file
// of the other has come, whether git has them in both commits or not. Otherwise whoever
// names a folder that was prepared before would be asked about nothing in it.
func (h *history) addMovedRoots(side []repo.Change, before repo.OID, was string, after repo.OID, is string) ([]repo.Change, error) {
	if was == is {
		return side, nil
	}
	all := map[string]repo.Change{}
	old, err := h.listFiles(before, was)
	if err != nil {
		return nil, err
	}
	for _, f := range old {
		all[f.Path] = repo.Change{Path: f.Path, Old: f.New, OldMode: f.NewMode}
	}
	now, err := h.listFiles(after, is)
	if err != nil {
		return nil, err
	}
	for _, f := range now {
		ch := all[f.Path]
		ch.Path, ch.New, ch.NewMode = f.Path, f.New, f.NewMode
		all[f.Path] = ch
	}
	for _, ch := range side {
		all[ch.Path] = ch
	}
	out := make([]repo.Change, 0, len(all))
	for _, name := range sortedKeys(all) {
		out = append(out, all[name])
	}
	return out, nil
}

// listFiles are the files of a folder of a commit, as if each were new.
func (h *history) listFiles(at repo.OID, dir string) ([]repo.Change, error) {
	tree, mode, err := h.trees.Find(at, dir)
	if err != nil || mode != folder {
		return nil, err
	}
	out, err := h.trees.Diff(h.ctx, "", tree)
	for i := range out {
		out[i].Path = dir + "/" + out[i].Path
	}
	return out, err
}
