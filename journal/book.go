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

// Name identifies an entry for other entries: its file below the bundle root, and its line. Journal files only
// grow, so a name stays valid.
type Name struct {
	File string
	Line int
}

// String returns "journal/2026-03-02-ann.tsv#3".
func (n Name) String() string { return n.File + "#" + strconv.Itoa(n.Line) }

var entryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+?)(?:\.tsv)?[#:](\d{1,9})$`) })

// ParseName reads an entry's name as people type it: without its folder and ending, with the bundle's folder in
// front, or with a colon instead of the #. The error says what a name looks like.
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

// Files returns the journal files of the bundle f, in order. Their places are their names.
func Files(f fs.FS) ([]File, error) {
	var out []File
	err := walkFiles(f, func(file string, b []byte) error {
		out = append(out, File{file, file, b})
		return nil
	})
	return out, err
}

// Noted is an entry with its location and its links.
type Noted struct {
	Entry
	Name     Name
	Place    string    // of its file
	Date     time.Time // from the file's name; zero if it has none
	Closed   bool      // closed or resolved
	ClosedBy []Name    // the entries that close it, in order; for a tension also the one its status names
}

// Book holds the entries of some files, in the order of files and lines, with the links between them.
type Book struct {
	Entries []Noted
	Read    []Located // problems of rows and files
	Links   []Located // entries that claim to close something and do not
	byName  map[Name]int
}

// Book reads the files. For the links to be right they must be all files of a bundle. A file that cannot be read is
// a problem and has no entries.
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
		day, _ := dateOf(f.Name)
		for _, e := range entries {
			n := Noted{Entry: e, Name: Name{f.Name, e.Line}, Place: f.Place, Date: day}
			b.byName[n.Name] = len(b.Entries)
			b.Entries = append(b.Entries, n)
		}
	}
	b.linkAll()
	return b
}

// Find returns the entry of a name.
func (b *Book) Find(n Name) (Noted, bool) {
	i, ok := b.byName[n]
	if !ok {
		return Noted{}, false
	}
	return b.Entries[i], true
}

// linkAll sets the closing links. An entry that names something it cannot close is a problem and closes nothing.
func (b *Book) linkAll() {
	for i := range b.Entries {
		e := &b.Entries[i]
		for _, ref := range e.listItems(closes) {
			if err := b.closeEntry(e, ref); err != nil {
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

func (b *Book) closeEntry(by *Noted, ref string) error {
	n, err := ParseName(ref)
	if err != nil {
		return err
	}
	old, err := b.findClosable(by.Entry, n)
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

// findClosable returns the entry n if an entry like by may close it.
func (b *Book) findClosable(by Entry, n Name) (*Noted, error) {
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

// Closing checks what a new entry e closes, and returns the full names. It refuses an entry that is missing, that e
// cannot close, or that is closed already.
func (b *Book) Closing(e Entry) (names []Name, err error) {
	for _, ref := range e.listItems(closes) {
		n, err := ParseName(ref)
		if err != nil {
			return nil, notClosable(err.Error())
		}
		old, err := b.findClosable(e, n)
		if err != nil {
			return nil, notClosable(err.Error())
		}
		if old.Closed {
			return nil, notClosable(fmt.Sprintf("%s is closed already%s", n, formatClosedBy(old.ClosedBy)))
		}
		names = append(names, n)
	}
	return names, nil
}

func formatClosedBy(names []Name) string {
	if len(names) == 0 {
		return ""
	}
	return ", by " + names[0].String()
}

type notClosable string

func (n notClosable) Error() string   { return string(n) }
func (n notClosable) Refused() string { return "closes" }

// Opens returns the open questions: P1 before P1.1 before P2, those without a priority last, and the older first
// among equals.
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

// Tensions returns the unresolved tensions, the oldest first.
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

// Pole is one side of a tension: a reference, and the first digits of the git blob id it had when the tension was
// written. Blob is "" if Ref is not a file, and in rows of other writers.
type Pole struct {
	Ref  string `json:"ref"`
	Blob string `json:"blob,omitempty"`
}

// blobReference matches a reference with a blob id, docs/a.md@0123456789ab.
var blobReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)@([0-9a-f]{12,40})$`) })

// Poles returns the sides of a tension.
func (e Entry) Poles() []Pole {
	var out []Pole
	for _, s := range e.listItems("between") {
		p := Pole{Ref: s}
		if m := blobReference().FindStringSubmatch(s); m != nil {
			p = Pole{m[1], m[2]}
		}
		out = append(out, p)
	}
	return out
}

// String returns the pole as a row has it.
func (p Pole) String() string {
	if p.Blob == "" {
		return p.Ref
	}
	return p.Ref + "@" + p.Blob
}
