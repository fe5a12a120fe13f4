package okf

import (
	"strconv"
	"strings"
)

// resolve types a plain scalar. Numbers in any but the commonest spelling are
// not ok.
func resolve(t string) (kind byte, ok bool) {
	switch c := t[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return number(t)
	case c == 't' || c == 'T' || c == 'f' || c == 'F' || c == 'n' || c == 'N' || c == '~':
		switch t {
		case "true", "True", "TRUE":
			return kindTrue, true
		case "false", "False", "FALSE":
			return kindFalse, true
		case "null", "Null", "NULL", "~":
			return kindNil, true
		}
	}
	return kindText, true
}

// numeric marks the bytes that a number in any spelling may have.
var numeric = bytesIn("0123456789abcdefABCDEFxXoO_.+-:iInN")

// bytesIn marks the bytes of s.
func bytesIn(s string) (t [256]bool) {
	for i := range len(s) {
		t[s[i]] = true
	}
	return t
}

// number reads a decimal integer or fraction. A text that only starts like a
// number must hold a byte that no number can.
func number(t string) (kind byte, ok bool) {
	for i := range len(t) {
		if !numeric[t[i]] {
			return kindText, true
		}
	}
	if date(t) {
		return kindText, true
	}
	d := strings.TrimPrefix(t, "-")
	whole, frac, dot := strings.Cut(d, ".")
	if !digits(whole) || len(whole) > 1 && whole[0] == '0' || len(whole) > 15 || dot && (!digits(frac) || len(frac) > 15) {
		return kindNil, false
	}
	if dot {
		v, err := strconv.ParseFloat(t, 64)
		return kindFloat, err == nil && v != 0
	}
	return kindInt, t != "-0"
}

// date reports a plain YYYY-MM-DD, which stays text.
func date(t string) bool {
	return len(t) == 10 && t[4] == '-' && t[7] == '-' && digits(t[:4]) && digits(t[5:7]) && digits(t[8:])
}

func digits(t string) bool {
	for i := 0; i < len(t); i++ {
		if t[i] < '0' || t[i] > '9' {
			return false
		}
	}
	return t != ""
}

// yaml11Bool reports the words that YAML 1.1 reads as truth values and YAML
// 1.2 does not.
func yaml11Bool(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}
