package okf

import (
	"hash/maphash"
	"slices"
	"strings"
)

// A text of at most wordMax bytes that occurs frequentTimes in the fields and links of
// a bundle is stored once, as a word, and elsewhere by its number.
const (
	wordMax       = 64
	frequentTimes = 3
)

// vocabulary counts texts, numbered in order of first occurrence. A map would hash all
// texts again whenever it grows.
type vocabulary struct {
	texts []textCount
	slots []slot // the hash table of the texts: a power of two, at most half of it used
}

type textCount struct {
	text  string
	times uint32
	word  uint32 // one more than the number of its word; 0 if it is none
}

// slot is the hash of a text, and one more than its number; 0 for an empty slot.
type slot struct{ hash, number uint32 }

// hashSeed is the seed of hashes that are valid only within this process.
var hashSeed = maphash.MakeSeed()

// findSlot returns the slot of a text with a hash, or the empty slot where it belongs.
func (v *vocabulary) findSlot(s string, hash uint32) *slot {
	mask := uint32(len(v.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		got := &v.slots[at]
		if got.number == 0 || got.hash == hash && v.texts[got.number-1].text == s {
			return got
		}
	}
}

// addText counts a text as so many more occurrences and returns its number.
func (v *vocabulary) addText(s string, times uint32) int {
	if 2*len(v.texts) >= len(v.slots) {
		v.slots = widenSlots(v.slots)
	}
	hash := uint32(maphash.String(hashSeed, s))
	at := v.findSlot(s, hash)
	if at.number == 0 {
		v.texts = append(v.texts, textCount{text: s})
		*at = slot{hash, uint32(len(v.texts))}
	}
	n := int(at.number - 1)
	v.texts[n].times += times
	return n
}

// widenSlots returns the slots in a table of twice the size.
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

// wordOf returns what writeNumbered needs to write a text: its word number plus one, or 0.
func (v *vocabulary) wordOf(s string) uint32 {
	if len(v.slots) == 0 {
		return 0
	}
	if at := v.findSlot(s, uint32(maphash.String(hashSeed, s))); at.number > 0 {
		return v.texts[at.number-1].word
	}
	return 0
}

// mergeVocabularies makes words of the texts that are frequent in all vocabularies
// together, and sets their numbers in each. The words are sorted. all knows them; it is nil
// if there are no vocabularies.
func mergeVocabularies(of []*vocabulary) (all *vocabulary, words []string) {
	if len(of) == 0 {
		return nil, nil
	}
	all = of[0]
	for _, v := range of[1:] {
		for i, s := range v.texts {
			v.texts[i].word = uint32(all.addText(s.text, s.times))
		}
	}
	var often []int
	for i, s := range all.texts {
		if s.times >= frequentTimes {
			often = append(often, i)
		}
	}
	slices.SortFunc(often, func(a, b int) int { return strings.Compare(all.texts[a].text, all.texts[b].text) })
	for k, i := range often {
		all.texts[i].word = uint32(k) + 1
		words = append(words, all.texts[i].text)
	}
	for _, v := range of[1:] {
		for i := range v.texts {
			v.texts[i].word = all.texts[v.texts[i].word].word
		}
	}
	return all, words
}
