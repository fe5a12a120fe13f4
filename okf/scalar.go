package okf

import (
	"strconv"
	"strings"
)

// classifyScalar returns the kind of a plain scalar. It is not ok for numbers in any but
// the commonest form.
func classifyScalar(t string) (kind byte, ok bool) {
	switch c := t[0]; {
	case c >= '0' && c <= '9', c == '-', c == '+', c == '.':
		return classifyNumber(t)
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

// numberBytes marks the bytes that a number in any form may have.
var numberBytes = byteSet("0123456789abcdefABCDEFxXoO_.+-:iInN")

func byteSet(s string) (t [256]bool) {
	for i := range len(s) {
		t[s[i]] = true
	}
	return t
}

// classifyNumber recognizes a decimal integer or fraction. A text that only starts like a
// number must hold a byte that no number can have.
func classifyNumber(t string) (kind byte, ok bool) {
	for i := range len(t) {
		if !numberBytes[t[i]] {
			return kindText, true
		}
	}
	if isDate(t) {
		return kindText, true
	}
	d := strings.TrimPrefix(t, "-")
	whole, frac, dot := strings.Cut(d, ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || len(whole) > 15 || dot && (!isDigits(frac) || len(frac) > 15) {
		return kindNil, false
	}
	if dot {
		v, err := strconv.ParseFloat(t, 64)
		return kindFloat, err == nil && v != 0
	}
	return kindInt, t != "-0"
}

// isDate reports a plain YYYY-MM-DD, which stays text.
func isDate(t string) bool {
	return len(t) == 10 && t[4] == '-' && t[7] == '-' && isDigits(t[:4]) && isDigits(t[5:7]) && isDigits(t[8:])
}

func isDigits(t string) bool {
	for i := 0; i < len(t); i++ {
		if t[i] < '0' || t[i] > '9' {
			return false
		}
	}
	return t != ""
}

// isYAML11Bool reports the words that are bools in YAML 1.1 but not in YAML 1.2.
func isYAML11Bool(s string) bool {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}
