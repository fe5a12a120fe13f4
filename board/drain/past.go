package drain

import (
	"slices"
	"strings"

	"github.com/odd-cli/odd/board/pipeline"
	"github.com/odd-cli/odd/journal/memory"
)

// taught is what an op taught when these blobs told of it.
type taught struct {
	by     string
	trials []memory.Trial // one, or none
}

// past are the trials that the board's ledgers tell of, of ops that may teach
// something now. It is asked for before every change, so that an op which the same
// bytes tell of is read once a drain.
func (d *drain) past() ([]memory.Trial, error) {
	by := d.at.tellers(func(id string) bool { return pipeline.Recent(id, d.Now(), d.at.cfg.ReviewTTL) })
	stale := func(id string) bool { was, known := d.taught[id]; return !known || was.by != by[id] }
	stories, err := d.at.stories(func(id, _ string) bool { return by[id] != "" && stale(id) })
	if err != nil {
		return nil, err
	}
	if d.taught == nil {
		d.taught = map[string]taught{}
	}
	for _, s := range stories {
		if id := s.Op().ID; by[id] != "" && stale(id) {
			d.taught[id] = taught{by[id], pipeline.Trials([]pipeline.Story{s})}
		}
	}
	var out []memory.Trial
	for id := range by {
		out = append(out, d.taught[id].trials...)
	}
	slices.SortFunc(out, func(a, b memory.Trial) int { return strings.Compare(a.Op, b.Op) })
	return out, nil
}

// tellers are the blobs of the ledger files that tell of an op, by its id.
func (s *snapshot) tellers(about func(id string) bool) map[string]string {
	blobs := map[string][]string{}
	for _, f := range s.sums {
		for id := range f.Sum.Ops {
			if about(id) {
				blobs[id] = append(blobs[id], string(f.Blob))
			}
		}
	}
	out := make(map[string]string, len(blobs))
	for id, all := range blobs {
		out[id] = strings.Join(slices.Sorted(slices.Values(all)), " ")
	}
	return out
}
