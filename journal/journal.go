// Package journal keeps DOLCHEO entries: typed notes of what a session decided,
// observed and learned, one row an entry, eight tab-separated columns, one file a writer.
package journal

// Entry is one row. Type and Facet together are its identity.
type Entry struct {
	Type, TypeName, Facet string
	Score, Max            string // asserted by the writer, never recomputed
	Level, Title, Content string
	Line                  int
}

// Problem is one located finding of Lint or Parse.
type Problem struct {
	Line    int
	Message string
	Fixable bool
}

// Parse reads any of the five shapes in the wild.
func Parse(b []byte) ([]Entry, []Problem, error) { return nil, nil, nil }

// Append returns the file b (empty: with the header first) with the entry as its last row.
func Append(b []byte, e Entry) ([]byte, error) { return nil, nil }

// Fix repairs the extra-tab defect and nothing else.
func Fix(b []byte) (fixed []byte, rows []int, err error) { return nil, nil, nil }
