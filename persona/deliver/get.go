package deliver

import "fmt"

// Get returns the text or the list of texts at a key, and whether it is there:
// a text that is not empty, a list that is written, even an empty one.
func (d Deliverable) Get(key string) (text string, list []string, there bool) {
	m, ok := d.member(key)
	switch {
	case !ok:
		return "", nil, false
	case m.text != nil:
		return *m.text, nil, *m.text != ""
	case m.list != nil:
		return "", *m.list, *m.list != nil
	}
	return "", nil, m.objs.there()
}

// String is the counts in one line: "3 findings: 1 blocker, 2 finding, 0 caveat;
// 1 fix, 1 pivot, 1 accept".
func (s Summary) String() string {
	unit := "findings"
	if s.Total == 1 {
		unit = "finding"
	}
	out := fmt.Sprintf("%d %s: %d blocker, %d finding, %d caveat; %d fix, %d pivot, %d accept", s.Total, unit,
		s.ByClassification[Blocker], s.ByClassification[Defect], s.ByClassification[Caveat],
		s.ByDisposition[Fix], s.ByDisposition[Pivot], s.ByDisposition[Accept])
	if s.Unrated > 0 {
		out += fmt.Sprintf("; %d unrated", s.Unrated)
	}
	return out
}

// Set sets the text or the list of texts at a key of the schema, and leaves
// other keys alone. A nil list is one that is absent.
func (d *Deliverable) Set(key, text string, list []string) {
	switch m, _ := d.member(key); {
	case m.text != nil:
		*m.text = text
	case m.list != nil:
		*m.list = list
	}
}
