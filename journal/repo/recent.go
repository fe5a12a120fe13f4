package repo

import "sync"

// recent remembers the directories that were read or written last, parsed. A
// commit upon another shares all but a few with it, and who makes one, moves a
// ref to it and looks at it reads those few again and again. What an object id
// names never changes, so nothing here can be out of date. Nobody changes the
// entries they are given. It is safe for concurrent use.
type recent struct {
	mu         sync.Mutex
	young, old map[OID][]entry
	remembers  int // entries in young
}

// recentEntries is how many directory entries are kept before the older half is
// forgotten: some six megabytes.
const recentEntries = 20_000

// get is what keep was told of a tree.
func (m *recent) get(oid OID) ([]entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if es, ok := m.young[oid]; ok {
		return es, true
	}
	es, ok := m.old[oid]
	if ok {
		m.keepLocked(oid, es)
	}
	return es, ok
}

// keep remembers a tree's entries, in git's order.
func (m *recent) keep(oid OID, es []entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepLocked(oid, es)
}

func (m *recent) keepLocked(oid OID, es []entry) {
	if m.young == nil || m.remembers > recentEntries {
		m.old, m.young, m.remembers = m.young, map[OID][]entry{}, 0
	}
	if _, ok := m.young[oid]; !ok {
		m.remembers += 1 + len(es)
	}
	m.young[oid] = es
}

// readTree is the entries of one tree object, remembered; nobody may change them.
func (r *Repo) readTree(oid OID) ([]entry, error) {
	if es, ok := r.recent.get(oid); ok {
		return es, nil
	}
	es, err := readTree(r.objs, oid)
	if err == nil && oid != "" {
		r.recent.keep(oid, es)
	}
	return es, err
}
