package okf

import (
	"hash/maphash"
	"slices"
	"strings"
)

// A text of at most wordMax bytes that occurs frequentTimes in the fields and
// links of a bundle is written once, as a word, and by its number from then on.
const (
	wordMax       = 64
	frequentTimes = 3
)

// vocabulary are texts, numbered as they were met, and how often each was. A map
// would hash all of them anew whenever it grows, and there are more texts than
// atoms.
type vocabulary struct {
	said  []saying
	slots []slot // where each is found: a power of two, at most half of them taken
}

type saying struct {
	text  string
	times uint32
	word  uint32 // what to write for it: one more than the number of its word, 0 for itself
}

// slot is the hash of a text, and one more than its number, 0 for none.
type slot struct{ hash, number uint32 }

// spelling seeds the hashes of texts, which do not outlive the process.
var spelling = maphash.MakeSeed()

// find is the slot of a text with a hash, or the one that it would have.
func (v *vocabulary) find(s string, hash uint32) *slot {
	mask := uint32(len(v.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		got := &v.slots[at]
		if got.number == 0 || got.hash == hash && v.said[got.number-1].text == s {
			return got
		}
	}
}

// note is the number of a text that occurs so many times more.
func (v *vocabulary) note(s string, times uint32) int {
	if 2*len(v.said) >= len(v.slots) {
		v.slots = widenSlots(v.slots)
	}
	hash := uint32(maphash.String(spelling, s))
	at := v.find(s, hash)
	if at.number == 0 {
		v.said = append(v.said, saying{text: s})
		*at = slot{hash, uint32(len(v.said))}
	}
	n := int(at.number - 1)
	v.said[n].times += times
	return n
}

// widenSlots returns the slots with room for as many more.
func widenSlots(slots []slot) []slot {
	out := make([]slot, max(1024, 2*len(slots)))
	mask := uint32(len(out) - 1)
	for _, s := range slots {
		if s.number == 0 {
			continue
		}
		at := s.hash & mask
		for out[at].number != 0 {
			at = (at + 1) & mask
		}
		out[at] = s
	}
	return out
}

// wordOf is what to write for a text.
func (v *vocabulary) wordOf(s string) uint32 {
	if len(v.slots) == 0 {
		return 0
	}
	if at := v.find(s, uint32(maphash.String(spelling, s))); at.number > 0 {
		return v.said[at.number-1].word
	}
	return 0
}

// agree makes words of what occurs often enough in all vocabularies together,
// and tells each of them. The words are in order; all knows them, and is nil
// where there are no vocabularies.
func agree(of []*vocabulary) (all *vocabulary, words []string) {
	if len(of) == 0 {
		return nil, nil
	}
	all = of[0]
	for _, v := range of[1:] {
		for i, s := range v.said {
			v.said[i].word = uint32(all.note(s.text, s.times))
		}
	}
	var often []int
	for i, s := range all.said {
		if s.times >= frequentTimes {
			often = append(often, i)
		}
	}
	slices.SortFunc(often, func(a, b int) int { return strings.Compare(all.said[a].text, all.said[b].text) })
	for k, i := range often {
		all.said[i].word = uint32(k) + 1
		words = append(words, all.said[i].text)
	}
	for _, v := range of[1:] {
		for i := range v.said {
			v.said[i].word = all.said[v.said[i].word].word
		}
	}
	return all, words
}
