package repo

import "sync"

// recent remembers the directories that were read or written last, as they are. A
// commit upon another shares all but a few with it, and who makes one, moves a
// ref to it and looks at it reads those few again and again. What an object id
// names never changes, so nothing here can be out of date. It is safe for concurrent use.
type recent struct {
	mu         sync.Mutex
	young, old map[OID]listing
	remembers  int // entries in young
}

// recentEntries is how many directory entries are kept before the older half is
// forgotten: some four megabytes.
const recentEntries = 40_000

// get is what keep was told of a tree.
func (m *recent) get(oid OID) (listing, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if l, ok := m.young[oid]; ok {
		return l, true
	}
	l, ok := m.old[oid]
	if ok {
		m.keepLocked(oid, l)
	}
	return l, ok
}

// keep remembers a tree's entries, in git's order.
func (m *recent) keep(oid OID, l listing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepLocked(oid, l)
}

func (m *recent) keepLocked(oid OID, l listing) {
	if m.young == nil || m.remembers > recentEntries {
		m.old, m.young, m.remembers = m.young, map[OID]listing{}, 0
	}
	if _, ok := m.young[oid]; !ok {
		m.remembers += 1 + l.len()
	}
	m.young[oid] = l
}

// readTree is the entries of one tree object, remembered; nobody may change them.
func (r *Repo) readTree(oid OID) (listing, error) {
	if l, ok := r.recent.get(oid); ok {
		return l, nil
	}
	l, err := readTree(r.objs, oid)
	if err == nil && oid != "" {
		r.recent.keep(oid, l)
	}
	return l, err
}
