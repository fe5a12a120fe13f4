package verify

import (
	"fmt"
	"testing"

	"github.com/odd-cli/odd/journal/repo"
)

// The cache keeps at least most values and at most twice as many.
func TestRecall(t *testing.T) {
	t.Parallel()
	m := newCache[int](10)
	for n := range 1000 {
		m.put(repo.OID(fmt.Sprint(n)), n)
		for last := max(0, n-9); last <= n; last++ {
			if v, ok := m.get(repo.OID(fmt.Sprint(last))); !ok || v != last {
				t.Fatalf("%d is forgotten behind %d: %d", last, n, v)
			}
		}
		if kept := len(m.young) + len(m.old); kept > 20 {
			t.Fatalf("%d are kept", kept)
		}
	}
	if _, ok := m.get("0"); ok {
		t.Error("0 is remembered behind a thousand")
	}
}
