package lint

import (
	"bytes"
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/odd-cli/odd/reconcile/policy"
	"github.com/odd-cli/odd/reconcile/secrets"
)

// repairs are signs that stand for a sign of ASCII, which a name or a line of
// code meant. "" is left out.
var repairs = sync.OnceValue(func() map[rune]string {
	out := map[rune]string{}
	for from, to := range map[string]string{
		"\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043": "-", "\u2018\u2019\u201A\u201B\u2032\u02B9\u02BC": "'", "\u201C\u201D\u201E\u201F\u2033\u2036\u00AB\u00BB": `"`,
		"\u2026": "...", "\u00A0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000": " ", "\u200B\u200C\u200D\u2060\uFEFF": "",
		"\u2022": "*", "\u2023": ">", "\u25E6": "o", "\u00D7": "x", "\u00F7": "/", "\u00B7": ".", "\u2044": "/", "\u00A7": "S", "\u00B6": "P", "\u2020": "+", "\u2021": "++",
		"\u2260": "!=", "\u2264": "<=", "\u2265": ">=", "\u2248": "~=", "\u00B1": "+/-", "\u2190": "<-", "\u2192": "->", "\u2191": "^", "\u2193": "v", "\u21D0": "<=", "\u21D2": "=>", "\u2194": "<->",
		"\u00A9": "(c)", "\u00AE": "(r)", "\u2122": "(tm)", "\u2713\u2714": "v", "\u2717\u2718": "x", "\u00B0": "deg", "\u2030": "/1000",
	} {
		for _, r := range from {
			out[r] = to
		}
	}
	return out
})

// repairName returns a name with the signs that only look like ASCII written in
// it. ok is false where that is no safe repair: a letter of another alphabet is
// somebody's meaning, and an empty name is none.
func repairName(name string) (repaired string, ok bool) {
	repaired = repairText(name)
	for _, r := range repaired {
		if lookalikes[r] != 0 || secrets.IsUnseen(r) || unicode.IsControl(r) || r == utf8.RuneError {
			return name, false
		}
	}
	return repaired, repaired != ""
}

func repairText(s string) string {
	var b strings.Builder
	for _, r := range s {
		if to, ok := repairs()[r]; ok {
			b.WriteString(to)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Mended is a sign or a name of a file that MendNames wrote in ASCII.
type Mended struct {
	Path     string
	From, To string
	Count    int // how often
}

// MendNames writes in ASCII what the names of a change hold in place of ASCII: the
// characters of no token in a Go file, and keys and ids of JSON, YAML, TOML and
// frontmatter. It touches only files that checkNames has a finding against, and only
// names that come with the change; strings, comments, values, prose and paths stay
// as they are. It is safe or not done: all that checkNames finds in the file must be
// gone with it, so that a letter of another alphabet stays to be refused, a Go file
// must scan without errors, and no key may become one that the file has already.
// What it returns are the files, those it did not touch being the same bytes, and
// what it did, by path and sign.
func MendNames(files []File) ([]File, []Mended) {
	wrong := map[string]bool{}
	for _, f := range checkNames(files) {
		wrong[f.Path] = true
	}
	out, old := slices.Clone(files), namesBefore(files)
	var did []Mended
	for i, f := range files {
		if !wrong[f.Path] {
			continue
		}
		after, done := mendFile(f.Path, f.After, old)
		if out[i].After = after; len(done) == 0 || slices.ContainsFunc(checkNames(out), func(b policy.Finding) bool { return b.Path == f.Path }) {
			out[i] = f
			continue
		}
		for _, from := range slices.Sorted(maps.Keys(done)) {
			did = append(did, Mended{Path: f.Path, From: from, To: repairText(from), Count: done[from]})
		}
	}
	slices.SortStableFunc(did, func(a, b Mended) int { return cmp.Compare(a.Path, b.Path) })
	return out, did
}

// mendFile repairs one file, but for the names there were before, and counts what it wrote
// otherwise. The file must have the same names afterwards in the same lines, but for how they
// are written: what begins like a sign of YAML's would be none.
func mendFile(p string, b []byte, old map[string]bool) ([]byte, map[string]int) {
	inGo := strings.EqualFold(path.Ext(p), ".go")
	names := namesIn(p, b)
	has, done := map[string]string{}, map[string]int{} // what a name is now, and was
	for _, n := range names {
		has[n.text] = n.text
	}
	var out []byte
	last := 0
	for i, n := range names {
		to := repairText(n.text)
		if to == n.text || old[n.text] || inGo && utf8.RuneCountInString(n.text) > 1 {
			continue
		}
		was, taken := has[to]
		if n.at < last || !bytes.HasPrefix(b[n.at:], []byte(n.text)) || !inGo && (to == "" || taken && was != n.text || strings.ContainsAny(to, "\"':#=[]{}\\\n")) {
			return b, nil
		}
		out = append(append(out, b[last:n.at]...), to...)
		last, has[to], names[i].text = n.at+len(n.text), n.text, to
		done[n.text]++
	}
	out = append(out, b[last:]...)
	_, errs := scanGo(out)
	if inGo && errs == 0 || !inGo && slices.EqualFunc(namesIn(p, out), names, func(a, b foundName) bool { return a.text == b.text && a.line == b.line }) {
		return out, done
	}
	return b, nil
}
