package reconcile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/odd-cli/odd/okf"
)

// TestMergeManyIsMergingEach merges so many atoms that several goroutines share
// them: the items are those of merging each alone, by id, and canonical files.
func TestMergeManyIsMergingEach(t *testing.T) {
	t.Parallel()
	g := graph(t, "terms/cms.md", "---\ntype: term\nid: cms\ntitle: CMS\n---\n\nA store.\n")
	var in []Incoming
	var want []Item
	for i := range 100 {
		text := fmt.Sprintf("---\ntitle: 'Thing  %d'\nid: thing-%d\nzeta: [1,2]\ntype: term\n---\nOne.\r\nTwo.\n\n\n", i, i)
		if i%3 == 0 {
			text = strings.Replace(text, "zeta: [1,2]", "uses: cms", 1)
		}
		in = append(in, emit(t, text))
		want = append(want, one(t, g, in[i], agent()))
	}
	slices.SortFunc(want, compareItems)
	got, err := Merge(g, in, agent())
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d items, %v", len(got), err)
	}
	for i, it := range got {
		a, err := okf.Parse(it.Path, it.Bytes)
		if err == nil {
			a, err = okf.New(it.Path, a.Fields, string(a.Body()))
		}
		if err != nil || it.Effect != Added || it.ID != want[i].ID || !bytes.Equal(it.Bytes, want[i].Bytes) || !bytes.Equal(it.Bytes, a.Bytes()) {
			t.Errorf("%s, want %s: %v\n%s", it.ID, want[i].ID, err, it.Bytes)
		}
	}
}

// TestMergeManyMalformed lists every bad atom of many in the order of the emission.
func TestMergeManyMalformed(t *testing.T) {
	t.Parallel()
	var in []Incoming
	for i := range 100 {
		text := fmt.Sprintf("---\ntype: term\nid: t%d\n---\n\nText.\n", i)
		if i%7 == 3 {
			text = strings.Replace(text, "---\n\n", "confidence: sure\n---\n\n", 1)
		}
		in = append(in, emit(t, text))
		in[i].At = fmt.Sprintf("emission:%d", i+1)
	}
	var bad *Malformed
	if _, err := Merge(graph(t), in, agent()); !errors.As(err, &bad) || len(bad.Problems) != 14 {
		t.Fatalf("%v", err)
	}
	for i, p := range bad.Problems {
		if p.Line != 7*i+4 || p.Code != "odd-confidence" {
			t.Errorf("problem %d: %v", i, p)
		}
	}
}
