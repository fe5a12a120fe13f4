package journal

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Name is the name of an entry for other entries: its file below the bundle
// root, and its line. Files only grow, so it stays true.
type Name struct {
	File string
	Line int
}

// String is "journal/2026-03-02-ann.tsv#3".
func (n Name) String() string { return n.File + "#" + strconv.Itoa(n.Line) }

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?)(?:\.tsv)?[#:](\d{1,9})$`) })

// ParseName reads an entry's name as people type it: the file may lack its
// folder and its ending, or have the bundle's folder in front, and a colon may
// stand for the #. The error says what a name looks like.
func ParseName(s string) (Name, error) {
	m := entryName().FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return Name{}, fmt.Errorf("%q names no entry; write FILE:LINE, like journal/2026-03-02-ann.tsv:3", s)
	}
	n, err := strconv.Atoi(m[2])
	return Name{path.Join("journal", path.Base(m[1])+".tsv"), n}, err
}

// File is one journal file.
type File struct {
	Name  string // below the bundle root: journal/2026-03-02-ann.tsv
	Place string // what messages call it
	Bytes []byte
}

// Files are the journal files of the bundle f, in order. Their places are their names.
func Files(f fs.FS) ([]File, error) {
	var out []File
	err := Walk(f, func(file string, b []byte) error {
		out = append(out, File{file, file, b})
		return nil
	})
	return out, err
}

// Noted is an entry where it stands.
type Noted struct {
	Entry
	Name     Name
	Place    string    // of its file
	Date     time.Time // of the file, by its name; zero where that has none
	Closed   bool      // it needs nobody any more
	ClosedBy []Name    // the entries that close it, in order; for a tension also what its status resolves it by
}

// Book is the entries of some files in the order of files and lines, with the
// links between them drawn.
type Book struct {
	Entries []Noted
	Read    []Located // what is wrong with rows and files
	Links   []Located // what claims to close something and does not
	byName  map[Name]int
}

// Book reads the files, all of a bundle's if the links are to be true. A file
// that cannot be read at all is a problem and has no entries.
func (r Registry) Book(files []File) *Book {
	b := &Book{byName: map[Name]int{}}
	for _, f := range files {
		entries, problems, err := r.Parse(f.Bytes)
		if err != nil {
			problems = []Problem{{Line: 1, Message: err.Error()}}
		}
		for _, p := range problems {
			b.Read = append(b.Read, Located{f.Place, p.Line, p.Message})
		}
		day, _ := DateOf(f.Name)
		for _, e := range entries {
			n := Noted{Entry: e, Name: Name{f.Name, e.Line}, Place: f.Place, Date: day}
			b.byName[n.Name] = len(b.Entries)
			b.Entries = append(b.Entries, n)
		}
	}
	b.link()
	return b
}

// Find is the entry of a name.
func (b *Book) Find(n Name) (Noted, bool) {
	i, ok := b.byName[n]
	if !ok {
		return Noted{}, false
	}
	return b.Entries[i], true
}

// link draws the closing links. What claims to close something that it cannot
// close is a problem and closes nothing.
func (b *Book) link() {
	for i := range b.Entries {
		e := &b.Entries[i]
		for _, ref := range e.list(closes) {
			if err := b.close(e, ref); err != nil {
				b.Links = append(b.Links, Located{e.Place, e.Line, "closes: " + err.Error()})
			}
		}
		if rest, ok := strings.CutPrefix(strings.ToLower(e.Get("status")), "resolved"); ok && e.Type == "T" {
			e.Closed = true
			if n, err := ParseName(strings.Trim(rest, " :")); err == nil {
				e.ClosedBy = append(e.ClosedBy, n)
			}
		}
	}
}

func (b *Book) close(by *Noted, ref string) error {
	n, err := ParseName(ref)
	if err != nil {
		return err
	}
	old, err := b.closable(by.Entry, n)
	if err != nil {
		return err
	}
	if old.Name == by.Name {
		return fmt.Errorf("%s is this entry itself", n)
	}
	old.Closed = true
	old.ClosedBy = append(old.ClosedBy, by.Name)
	return nil
}

// closable is the entry n where an entry like by may close it.
func (b *Book) closable(by Entry, n Name) (*Noted, error) {
	i, ok := b.byName[n]
	if !ok {
		return nil, fmt.Errorf("%s is not there", n)
	}
	e := &b.Entries[i]
	switch {
	case e.ID() == "O-open" && (by.ID() == "D" || by.ID() == "H" || by.ID() == "O"), e.Type == "T" && (by.ID() == "D" || by.ID() == "O"):
		return e, nil
	case e.ID() == "O-open":
		return nil, fmt.Errorf("%s is open, and %s closes nothing: an open question becomes a D, an H or an O", n, by.ID())
	case e.Type == "T":
		return nil, fmt.Errorf("%s is a tension, which a D or an O resolves, not %s", n, by.ID())
	}
	return nil, fmt.Errorf("%s is %s, neither an open question nor a tension", n, e.ID())
}

// Closing checks what a new entry e closes, and writes the names in full. It
// refuses what is not there, what such an entry cannot close, and what is
// closed already.
func (b *Book) Closing(e Entry) (names []Name, err error) {
	for _, ref := range e.list(closes) {
		n, err := ParseName(ref)
		if err != nil {
			return nil, notClosable(err.Error())
		}
		old, err := b.closable(e, n)
		if err != nil {
			return nil, notClosable(err.Error())
		}
		if old.Closed {
			return nil, notClosable(fmt.Sprintf("%s is closed already%s", n, by(old.ClosedBy)))
		}
		names = append(names, n)
	}
	return names, nil
}

func by(names []Name) string {
	if len(names) == 0 {
		return ""
	}
	return ", by " + names[0].String()
}

type notClosable string

func (n notClosable) Error() string   { return string(n) }
func (n notClosable) Refused() string { return "closes" }

// Opens are the open questions nobody has closed: P1 before P1.1 before P2, those without a priority last, and of two
// with the same the older first.
func (b *Book) Opens() []Noted {
	var out []Noted
	for _, e := range b.Entries {
		if e.ID() == "O-open" && !e.Closed {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Noted) int {
		return cmp.Or(comparePriority(a.Get("priority"), b.Get("priority")), a.Date.Compare(b.Date))
	})
	return out
}

func comparePriority(a, b string) int {
	bands := func(s string) []int {
		if !priority().MatchString(s) {
			return []int{1 << 30}
		}
		var out []int
		for part := range strings.SplitSeq(s[1:], ".") {
			n, _ := strconv.Atoi(part)
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(bands(a), bands(b))
}

// Tensions are the tensions nobody has resolved, the oldest first.
func (b *Book) Tensions() []Noted {
	var out []Noted
	for _, e := range b.Entries {
		if e.Type == "T" && !e.Closed {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Noted) int { return a.Date.Compare(b.Date) })
	return out
}

// Pole is one side of a tension: what it refers to, and the first digits of the git blob id that had when the tension
// was written. Blob is "" for what is not a file, and for rows of other writers.
type Pole struct {
	Ref  string `json:"ref"`
	Blob string `json:"blob,omitempty"`
}

// pinned is a reference with a blob id, docs/a.md@0123456789ab.
var pinned = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)@([0-9a-f]{12,40})$`) })

// Poles are the sides of a tension.
func (e Entry) Poles() []Pole {
	var out []Pole
	for _, s := range e.list("between") {
		p := Pole{Ref: s}
		if m := pinned().FindStringSubmatch(s); m != nil {
			p = Pole{m[1], m[2]}
		}
		out = append(out, p)
	}
	return out
}

// String is the pole as a row has it.
func (p Pole) String() string {
	if p.Blob == "" {
		return p.Ref
	}
	return p.Ref + "@" + p.Blob
}
