package repo

import "sync"

// boundedCache remembers values that are asked for again and again, up to a weight; past it,
// what nobody asked for lately is forgotten. It is for what never changes, as what an
// object id names. Nobody changes what they are given. It is safe for concurrent use.
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

// get is what put was told, as long as it is remembered.
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

// put remembers a value of a weight.
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

// recentEntries is how many entries of directories a repository keeps that it read or
// wrote last, before it forgets the older half: some four megabytes. A commit upon
// another shares all but a few directories with it, and who makes one, moves a ref to
// it and looks at it reads those few again and again.
const recentEntries = 40_000

// readTree is the entries of one tree object, remembered.
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

// rememberTree is readTree of a tree whose bytes are known.
func (r *Repo) rememberTree(oid OID, data []byte) (listing, error) {
	l, err := parseTreeObject(oid, data)
	if err == nil {
		r.recent.put(oid, l, 1+l.len())
	}
	return l, err
}
