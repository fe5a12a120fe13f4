package proof

import "github.com/odd-cli/odd/journal/repo"

// cache remembers what objects read as: at least the last ones that were asked for,
// up to most, and never more than twice as many, so that a long history takes no more
// memory than a short one. With most 0 it remembers nothing.
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

// How many are remembered: of directories those of commits that follow each other; of
// months more than a history has, of whole ledger files more than runs write side by
// side; and of what is summed up of a file more than a busy month has.
const (
	fewTrees    = 64
	someLedgers = 256
	manyFiles   = 4096
)
