package mcp

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// mark is a place in a list: the question's digest and how much was told.
type place struct {
	Of string `json:"q"`
	At int    `json:"n"`
}

// maxPlace is behind the end of everything that is listed.
const maxPlace = 1 << 30

// errCursor is a cursor that another question gave, or none did.
var errCursor = errors.New("cursor: is not from this question; leave it out to begin anew")

func hashQuestion(question []string) string {
	sum := sha256.Sum256([]byte(strings.Join(question, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// readCursor reads a cursor; "" is the beginning.
func readCursor(cursor string, question ...string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	var p place
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(b, &p) != nil || p.At < 0 || p.At > maxPlace || p.Of != hashQuestion(question) {
		return 0, errCursor
	}
	return p.At, nil
}

func cursorAt(at int, question ...string) string {
	b, err := json.Marshal(place{hashQuestion(question), at})
	if err != nil {
		panic("unreachable: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// cutPage returns the part of a list from a cursor on, and the cursor behind it, "" at
// the end.
func cutPage[T any](list []T, size int, cursor string, question ...string) (part []T, next string, err error) {
	from, err := readCursor(cursor, question...)
	if err != nil {
		return nil, "", err
	}
	from = min(from, len(list))
	to := min(from+size, len(list))
	if to < len(list) {
		next = cursorAt(to, question...)
	}
	return append([]T{}, list[from:to]...), next, nil
}

// textPage is the part of a text from a cursor on, of whole lines where they are
// not longer than a page.
func textPage(s, cursor string, question ...string) (part, next string, err error) {
	from, err := readCursor(cursor, question...)
	if err != nil {
		return "", "", err
	}
	s = s[min(from, len(s)):]
	if len(s) <= maxBody {
		return s, "", nil
	}
	cut := 1 + strings.LastIndexByte(s[:maxBody], '\n')
	if cut == 0 {
		for cut = maxBody; cut > 0 && s[cut]&0xc0 == 0x80; cut-- {
		}
	}
	return s[:cut], cursorAt(from+cut, question...), nil
}
