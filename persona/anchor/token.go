package anchor

import (
	"encoding/base32"
	"fmt"
	"strings"
)

// tokenLetters is Crockford's base 32 in lower case: no i, l, o, u.
const tokenLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// tokenPrefix begins every token that odd makes.
const tokenPrefix = "oa-"

// newToken makes "oa-" and 26 letters out of 16 random bytes: a letter first, so
// that it is a word in OCTAVE and a plain file name.
func newToken(random func([]byte) error) (string, error) {
	b := make([]byte, 16)
	if err := random(b); err != nil {
		return "", fmt.Errorf("token: no random bytes: %w", err)
	}
	return tokenPrefix + base32.NewEncoding(tokenLetters).WithPadding(base32.NoPadding).EncodeToString(b), nil
}

// TokenProblem says why s cannot be a token, and returns false if it can be one: 1 to 128
// ASCII letters, digits, dots, hyphens and underscores, a letter or digit first,
// and no two dots in a row. What passes is one plain name of a directory.
func TokenProblem(s string) (Problem, bool) {
	ok := len(s) > 0 && len(s) <= 128 && !strings.Contains(s, "..") && isAlnum(s[0])
	for i := 0; ok && i < len(s); i++ {
		ok = isAlnum(s[i]) || strings.IndexByte("._-", s[i]) >= 0
	}
	if ok {
		return Problem{}, false
	}
	return Problem{
		Code: TokenFormat, At: "token", Text: "this is no token: its letters are not those of one", Found: truncate(fmt.Sprintf("%q", s)),
		Want: "the token that `odd anchor identity ROLE` answered, as oa- and 26 letters and digits",
	}, true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
