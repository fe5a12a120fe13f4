package repo

import "sync"

// boundedCache keeps recently used values up to a weight. Beyond it, values that were not asked for lately are
// dropped. It is for values that never change, such as objects by id; callers must not change what they get. It is
// safe for concurrent use.
type boundedCache[K comparable, V any] struct {
	most       int // weight of young before it becomes old, and old is forgotten
	mu         sync.Mutex
	young, old map[K]cacheItem[V]
	weight     int // of young
}

type cacheItem[V any] struct {
	v V
	n int
}

// get returns the value that was put under a key, while it is kept.
func (m *boundedCache[K, V]) get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.young[k]
	if !ok {
		if w, ok = m.old[k]; ok {
			m.insert(k, w)
		}
	}
	return w.v, ok
}

// put stores a value with its weight.
func (m *boundedCache[K, V]) put(k K, v V, weight int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.insert(k, cacheItem[V]{v, weight})
}

func (m *boundedCache[K, V]) insert(k K, w cacheItem[V]) {
	if m.young == nil || m.weight > m.most {
		m.old, m.young, m.weight = m.young, map[K]cacheItem[V]{}, 0
	}
	if _, ok := m.young[k]; !ok {
		m.weight += w.n
	}
	m.young[k] = w
}

// recentEntries is how many directory entries a repository keeps of those it read or wrote last, some four
// megabytes. Two commits in a row share most directories. Making a commit, moving a ref to it and comparing it read
// the others again and again.
const recentEntries = 40_000

// readTree returns the entries of one tree object and caches them.
func (r *Repo) readTree(oid OID) (listing, error) {
	if l, ok := r.recent.get(oid); ok {
		return l, nil
	}
	l, err := readTree(r.objs, oid)
	if err == nil && oid != "" {
		r.recent.put(oid, l, 1+l.len())
	}
	return l, err
}

// rememberTree caches a tree whose bytes are known and returns its entries.
func (r *Repo) rememberTree(oid OID, data []byte) (listing, error) {
	l, err := parseTreeObject(oid, data)
	if err == nil {
		r.recent.put(oid, l, 1+l.len())
	}
	return l, err
}
