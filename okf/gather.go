package okf

import (
	"encoding/binary"
	"encoding/hex"
	"math"
)

// gatherAtoms is GatherKept without a store.
func gatherAtoms[T any](g *Graph, fits func(typ string) bool, read func(a *Atom) T) []T {
	list := g.rowsOfType(fits)
	out, todo := make([]T, len(list)), make([]int, len(list))
	for k := range todo {
		todo[k] = k
	}
	gatherRows(g, list, todo, out, read)
	return out
}

// Form is how the store of a graph holds what was read of an atom: as texts.
type Form[T any] struct {
	Name  string                   // of the file in the store, before a dash
	Texts func(T) []string         // nil for what is to be read each time
	Value func([]string) (T, bool) // false for texts that Texts did not return; may keep them, but not the slice
}

// GatherKept calls read for each atom of the types that fits accepts, and returns the results
// in path order. It is for questions about very many atoms. An atom that was not parsed
// before is parsed for this one call and not kept. Calls run in parallel. read may keep the
// texts of the atom, but neither the atom nor a slice of it.
//
// What an earlier call read of the same bundle comes from the store of the graph, which
// [Graph.KeepWords] gives it; what changed since is read.
func GatherKept[T any](g *Graph, fits func(typ string) bool, read func(a *Atom) T, form Form[T]) []T {
	if g.store == nil || g.mark == "" {
		return gatherAtoms(g, fits, read)
	}
	name := form.Name + "-" + hex.EncodeToString([]byte(g.mark))
	kept := openKept(g.store.Cached(name))
	isStored := len(kept.s) > 0
	list := g.rowsOfType(fits)
	out, todo := make([]T, len(list)), make([]int, 0, len(list))
	row, texts := kept.nextKept(nil)
	for k, i := range list {
		isKept := false
		if !g.now.isChanged(i) {
			for row < i {
				row, texts = kept.nextKept(texts)
			}
			if row == i {
				out[k], isKept = form.Value(texts)
			}
		}
		if !isKept {
			todo = append(todo, k)
		}
	}
	gatherRows(g, list, todo, out, read)
	if !isStored && g.now == nil {
		_ = g.store.Keep(name, sealKept(list, out, form.Texts))
	}
	return out
}

// gatherRows reads the atoms of list that are numbered todo into their places in out.
func gatherRows[T any](g *Graph, list []int32, todo []int, out []T, read func(a *Atom) T) {
	runWorkers(len(todo), func() func(from, to int) {
		room, ar := newRoom(), new(arena)
		return func(from, to int) {
			for _, k := range todo[from:to] {
				*ar = room
				out[k] = read(g.peekAtom(list[k], ar))
			}
		}
	})
}

// What GatherKept stores is
//
//	4 bytes  CRC-32C of the rest
//	8 bytes  parserVersion, little endian
//	         for each row that has texts, in order: its number, how many, and the texts
const keptHeader = 4 + 8

func sealKept[T any](list []int32, values []T, textsOf func(T) []string) []byte {
	e := encoder{b: binary.LittleEndian.AppendUint64(make([]byte, 4, 128*len(list)+keptHeader), parserVersion())}
	for k, i := range list {
		if texts := textsOf(values[k]); texts != nil {
			e.writeCount(int(i))
			e.writeCount(len(texts))
			for _, s := range texts {
				e.writeText(s)
			}
		}
	}
	binary.LittleEndian.PutUint32(e.b, checksum(e.b[4:]))
	return e.b
}

// openKept returns a decoder of what sealKept returned; an empty one for anything else.
func openKept(b []byte) decoder {
	if len(b) < keptHeader || binary.LittleEndian.Uint32(b) != checksum(b[4:]) || binary.LittleEndian.Uint64(b[4:]) != parserVersion() {
		return decoder{}
	}
	return decoder{s: unsafeString(b), at: keptHeader}
}

// nextKept returns the next row that has texts, and these in place of those before. After
// the last one the row is larger than any.
func (d *decoder) nextKept(texts []string) (int32, []string) {
	if d.at >= len(d.s) {
		return math.MaxInt32, nil
	}
	row := d.readCount()
	texts = texts[:0]
	for range d.readLen() {
		texts = append(texts, d.readText())
	}
	if d.bad {
		return math.MaxInt32, nil
	}
	return int32(row), texts
}

// newRoom returns an arena for parsing many atoms, one after the other.
func newRoom() arena {
	return arena{
		least: 1, atoms: make([]Atom, 1), disks: make([]original, 1), fields: make([]Field, 32), links: make([][]Linked, 1), linked: make([]Linked, 8),
	}
}

// peekAtom returns the atom of a row, which must have one. An atom that was not parsed
// before is allocated in ar and not kept.
func (g *Graph) peekAtom(i int32, ar *arena) *Atom {
	if g.now.isChanged(i) {
		return g.atomAt(i)
	}
	return g.rows.peekAtom(i, ar)
}
