package verify

import "github.com/odd-cli/odd/journal/repo"

// cache remembers values by object id. It keeps at least the most values asked for last and at most twice as many, so
// memory does not grow with the history. With most 0 it remembers nothing.
type cache[V any] struct {
	most       int
	young, old map[repo.OID]V
}

func newCache[V any](most int) *cache[V] {
	return &cache[V]{most: most, young: map[repo.OID]V{}}
}

func (m *cache[V]) get(oid repo.OID) (V, bool) {
	v, ok := m.young[oid]
	if !ok {
		if v, ok = m.old[oid]; ok {
			m.put(oid, v)
		}
	}
	return v, ok
}

func (m *cache[V]) put(oid repo.OID, v V) {
	if m.most == 0 {
		return
	}
	if len(m.young) >= m.most {
		m.old, m.young = m.young, map[repo.OID]V{}
	}
	m.young[oid] = v
}

// Sizes of caches: enough for the folders of successive commits, and for more ledgers than runs write at the same time.
const (
	fewTrees    = 64
	someLedgers = 256
)
