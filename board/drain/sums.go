package drain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/event"
	"github.com/odd-cli/odd/journal/repo"
)

// summed is a ledger file's sum, and the blob that it is of.
type summed struct {
	Blob repo.OID
	Sum  event.FileSum
}

// sumsName is what the sums of ledger files are kept under from drain to drain: a
// ledger grows by a file a run, none of which ever changes again, and what they come
// to is asked for before every claim. A sum follows from the bytes of its file, so it
// is good for whatever board has that blob. With what a sum holds the name changes.
const sumsName = "ledger-sums-1"

// sumAll sums every ledger file of the bundle, and reads those that no drain has.
func (s *snapshot) sumAll(r *repo.Repo, root fs.FS) error {
	s.sums = map[string]summed{}
	names, err := fs.Glob(root, "ledger/*/*.jsonl")
	if err != nil || len(names) == 0 {
		return err
	}
	known := readSums(r.Cached(sumsName))
	at := r.Reader()
	for dir, below := range byFolder(names) {
		blobs, err := at.Files(s.tip, path.Join(s.cfg.Root, dir))
		if err != nil {
			return err
		}
		for _, name := range below {
			blob := blobs[path.Base(name)]
			if sum, ok := known[blob]; ok {
				s.sums[name] = summed{blob, sum}
			} else if err := s.sum(root, name, blob); err != nil {
				return err
			}
		}
	}
	return nil
}

// byFolder parts paths by their folder.
func byFolder(names []string) map[string][]string {
	out := map[string][]string{}
	for _, name := range names {
		out[path.Dir(name)] = append(out[path.Dir(name)], name)
	}
	return out
}

// readSums reads what keepSums kept, nothing where it is not whole.
func readSums(kept []byte) map[repo.OID]event.FileSum {
	check, text, _ := bytes.Cut(kept, []byte("\n"))
	if string(check) != checkOf(text) {
		return nil
	}
	var sums map[repo.OID]event.FileSum
	if json.Unmarshal(text, &sums) != nil {
		return nil
	}
	delete(sums, "")
	return sums
}

func checkOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keepSums keeps the sums for the next drain, where there are new ones. It is only
// slower without them, so that a disk which does not take them stops nobody.
func (d *drain) keepSums() {
	if d.at == nil || d.at.read == 0 { // nil where the board could not be looked at again
		return
	}
	sums := make(map[repo.OID]event.FileSum, len(d.at.sums))
	for _, s := range d.at.sums {
		sums[s.Blob] = s.Sum
	}
	delete(sums, "")
	if text, err := json.Marshal(sums); err == nil {
		_ = d.repo.Keep(sumsName, slices.Concat([]byte(checkOf(text)+"\n"), text))
	}
}

// combine is what the ledger's files come to.
func combine(sums map[string]summed) (event.Spend, error) {
	files := make([]event.FileSum, 0, len(sums))
	for _, s := range sums {
		files = append(files, s.Sum)
	}
	return event.Combine(files...)
}

// ledgerEnd is the last moment that a ledger file tells of.
func (s *snapshot) ledgerEnd(name string) (time.Time, bool) {
	f, ok := s.sums[name]
	return f.Sum.Last, ok
}

// stories are what the board's ledgers tell of the ops for which about is true, of
// which id and task are given: only the files are read that tell of one.
func (s *snapshot) stories(about func(id, task string) bool) ([]pipeline.Story, error) {
	ids := map[string]bool{}
	for _, f := range s.sums {
		for id, task := range f.Sum.Ops {
			ids[id] = ids[id] || about(id, task)
		}
	}
	var names []string
	for name, f := range s.sums {
		for id := range f.Sum.Ops {
			if ids[id] {
				names = append(names, name)
				break
			}
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	bundle, err := fs.Sub(s.files, s.cfg.Root)
	if err != nil {
		return nil, err
	}
	return pipeline.TellIn(bundle, names)
}
