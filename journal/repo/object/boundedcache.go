package object

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

// How much a repository keeps of what it read or wrote last, before it drops the older half: directory entries, bytes
// of blobs (some ten megabytes of each) and commits. Commits that follow each other share most directories, and a
// walk of the history reads the others again and again.
const (
	keptEntries = 100_000
	keptBytes   = 8 << 20
	keptCommits = 20_000
)

// readTree returns the entries of one tree object and caches them; the empty id is the empty tree.
func (db *DB) readTree(oid OID) (listing, error) {
	if l, ok := db.trees.get(oid); ok {
		return l, nil
	}
	l, err := readTree(db.objs, oid)
	if err == nil && oid != "" {
		db.trees.put(oid, l, 1+l.len())
	}
	return l, err
}

// List returns the entries of a tree; the empty id is the empty tree.
func (db *DB) List(tree OID) ([]Entry, error) {
	l, err := db.readTree(tree)
	return l.entryRange(0, l.len()), err
}

// rememberTree caches a tree whose bytes are known.
func (db *DB) rememberTree(oid OID, data []byte) error {
	l, err := parseTreeObject(oid, data)
	if err == nil {
		db.trees.put(oid, l, 1+l.len())
	}
	return err
}

// rememberCommit parses a commit object and caches it.
func (db *DB) rememberCommit(oid OID, data []byte) (Commit, error) {
	c, err := parseCommit(oid, data)
	if err == nil {
		db.commits.put(oid, c, 1)
	}
	return c, err
}
