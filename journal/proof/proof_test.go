package proof

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnHonestHistoryIsClean(t *testing.T) {
	t.Parallel()
	s := begin(t, lawful(t, ""), nil)
	s.tell()
	r := s.check("", s.tip())
	if d := cmp.Diff([]string{}, found(r)); d != "" {
		t.Error(d)
	}
	for _, row := range r.Rows {
		if row.Checked == 0 {
			t.Errorf("invariant %d judged nothing in a history that has all of it", row.Invariant)
		}
	}
	again := s.check("", s.tip())
	a, _ := json.Marshal(r)
	b, _ := json.Marshal(again)
	if string(a) != string(b) {
		t.Error("the same range gave other bytes")
	}
}
