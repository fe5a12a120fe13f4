package state

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
)

// cacheName is what the months are kept under. It changes with what a month holds.
const cacheName = "state-5"

// worthKeeping is how many files a process must have read for the cache to be written;
// to read fewer costs less.
const worthKeeping = 32

// kept is a month in the cache: the checksum of its details, which lie behind the heads
// of all months, and their length.
type kept struct {
	month
	Sum  string `json:"sum"`
	Size int    `json:"size"`
}

// Keep writes what was read to the cache, where there is anything new. That it could not
// be written is nobody's error: without it the next process is only slower.
func (s *State) Keep() {
	if s.cache == nil || s.fresh == 0 {
		return
	}
	var heads []kept
	var rest []byte
	for _, m := range s.months {
		if m.damaged != nil || m.irregular || m.Tree == "" {
			continue
		}
		b, err := json.Marshal(m.loadDetails())
		if err != nil {
			return
		}
		heads, rest = append(heads, kept{*m, checksum(b), len(b)}), append(rest, b...)
	}
	if head, err := json.Marshal(heads); err == nil && s.cache.Keep(cacheName, slices.Concat([]byte(checksum(head)+"\n"), head, []byte("\n"), rest)) == nil {
		s.fresh = 0
	}
}

// decodeMonths reads what Keep wrote; nothing of what is not whole.
func decodeMonths(b []byte) []*month {
	sum, b, _ := bytes.Cut(b, []byte("\n"))
	head, rest, _ := bytes.Cut(b, []byte("\n"))
	var heads []kept
	if string(sum) != checksum(head) || json.Unmarshal(head, &heads) != nil {
		return nil
	}
	var out []*month
	for _, k := range heads {
		if k.Size < 0 || k.Size > len(rest) || checksum(rest[:k.Size]) != k.Sum {
			return out
		}
		k.text = rest[:k.Size]
		out, rest = append(out, &k.month), rest[k.Size:]
	}
	return out
}

// checksum tells damage; nobody is kept from writing to the cache.
func checksum(b []byte) string {
	return strconv.FormatUint(uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))), 16)
}
