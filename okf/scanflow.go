package okf

import "strings"

// scanQuoted reads a quoted scalar without escapes, except a doubled single quote.
func (s *scanner) scanQuoted(t string) (rest string, ok bool) {
	text, rest, ok := unquote(t)
	return rest, ok && s.push(kindText, text)
}

func unquote(t string) (text, rest string, ok bool) {
	q := t[0]
	for i := 1; i < len(t); i++ {
		switch {
		case t[i] == '\\' && q == '"':
			return "", "", false
		case t[i] != q:
		case q == '\'' && i+1 < len(t) && t[i+1] == q:
			i++
		default:
			text := t[1:i]
			if q == '\'' {
				text = strings.ReplaceAll(text, "''", "'")
			}
			return text, t[i+1:], true
		}
	}
	return "", "", false
}

// scanFlow reads [a, b] and {a: b}, nested at most three deep.
func (s *scanner) scanFlow(t string, depth int) (rest string, ok bool) {
	if depth == 3 {
		return "", false
	}
	kind, end := byte(kindList), byte(']')
	if t[0] == '{' {
		kind, end = kindMap, '}'
	}
	at := s.open(kind)
	t = strings.TrimLeft(t[1:], " ")
	if t != "" && t[0] == end {
		return t[1:], s.close(at)
	}
	for {
		if kind == kindMap {
			var key string
			if key, t, ok = splitKey(t); !ok || t == "" || !s.addKey(at, key) {
				return "", false
			}
		}
		if t, ok = s.scanFlowItem(t, depth); !ok {
			return "", false
		}
		t = strings.TrimLeft(t, " ")
		switch {
		case t == "":
			return "", false
		case t[0] == end:
			return t[1:], s.close(at)
		case t[0] != ',':
			return "", false
		}
		t = strings.TrimLeft(t[1:], " ")
	}
}

// flowEnds marks the bytes that may end a plain value of a flow collection.
var flowEnds = byteSet(",[]{}#?")

// scanFlowItem reads one value up to the comma or bracket that ends it.
func (s *scanner) scanFlowItem(t string, depth int) (rest string, ok bool) {
	if t == "" {
		return "", false
	}
	switch t[0] {
	case '"', '\'':
		return s.scanQuoted(t)
	case '[', '{':
		return s.scanFlow(t, depth+1)
	}
	i := 0
	for i < len(t) && !flowEnds[t[i]] {
		i++
	}
	if i == len(t) || t[i] != ',' && t[i] != ']' && t[i] != '}' {
		return "", false
	}
	return t[i:], s.scanPlain(strings.TrimRight(t[:i], " "))
}
