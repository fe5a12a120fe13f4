package verify

import (
	"github.com/odd-cli/odd/board/rules"
	"github.com/odd-cli/odd/journal/repo"
)

// addMovedRoots adds the changes that a new bundle folder in odd.toml makes: every file of the old folder is deleted
// and every file of the new one is added, also where git has both unchanged. Without them nothing would check a folder
// that was filled before odd.toml named it.
func (h *history) addMovedRoots(side []repo.Change, before repo.OID, was string, after repo.OID, is string) []repo.Change {
	if was == is {
		return side
	}
	all := map[string]repo.Change{}
	for _, f := range h.ListFiles(before, was) {
		all[f.Path] = repo.Change{Path: f.Path, Old: f.New, OldMode: f.NewMode}
	}
	for _, f := range h.ListFiles(after, is) {
		ch := all[f.Path]
		ch.Path, ch.New, ch.NewMode = f.Path, f.New, f.NewMode
		all[f.Path] = ch
	}
	for _, ch := range side {
		all[ch.Path] = ch
	}
	out := make([]repo.Change, 0, len(all))
	for _, name := range rules.SortedKeys(all) {
		out = append(out, all[name])
	}
	return out
}

// ListFiles returns the files of a folder of a commit as added files.
func (h *history) ListFiles(at repo.OID, dir string) []repo.Change {
	tree, mode := h.Find(at, dir)
	if mode != rules.Folder {
		return nil
	}
	out := h.Diff("", tree)
	for i := range out {
		out[i].Path = dir + "/" + out[i].Path
	}
	return out
}
