package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/odd-cli/odd/reconcile/policy"
)

// Bounds of asking for more to read.
const (
	ExpansionFiles    = 5        // files it gets in a round
	maxExpansionBytes = 32 << 10 // of the whole answer
	maxExpansionList  = 10       // entries of a category
	maxQueries        = 2        // search_queries, and explore_snippets
	minQuery          = 6        // bytes of a query
	maxQuery          = 199      // bytes of a query
	maxReasoning      = 200      // bytes
)

// Expansion is expansion.1: what a session wants to read before it begins.
type Expansion struct {
	Files     []string // paths, or ends of paths
	Packages  []string // documentation of packages, by name
	Queries   []string // words to find files by
	Snippets  []string // names to find files by
	Reasoning string
}

// ParseExpansion reads expansion.1. The error is an Unusable.
func ParseExpansion(b []byte) (Expansion, error) {
	var e Expansion
	var u Unusable
	f, err := readSchema(b, maxExpansionBytes, "expansion.1", &u)
	if err != nil {
		return e, err
	}
	e.Files = f.readTexts("additional_files_needed", true, maxExpansionList, maxPathBytes)
	e.Packages = f.readTexts("external_package_docs", false, maxExpansionList, maxName)
	e.Queries = f.readTexts("search_queries", false, maxQueries, maxQuery)
	e.Snippets = f.readTexts("explore_snippets", false, maxQueries, maxQuery)
	e.Reasoning = f.readText("reasoning", false, maxReasoning)
	f.refuseOthers("unexpected_key")
	for _, q := range e.Queries {
		if len(q) < minQuery {
			f.addFault("query_short", f.v.place(), fmt.Sprintf("the query %q has %d bytes, at least %d", q, len(q), minQuery), "say what to look for")
		}
	}
	return e, u.errorOrNil()
}

// Round is what a session gets of what it asked for.
type Round struct {
	Files []string // at most ExpansionFiles, in the order of the asking
	Not   []Denied // and the rest, each with the reason
}

// Denied is something that was asked for and is not given.
type Denied struct{ Asked, Why string }

// Resolve finds what e asks for among the files of the base, without those the
// session has. The same asking among the same files finds the same: paths first, then
// the files whose paths hold most of a query's words. A file that may hold credentials is never given.
func (e Expansion) Resolve(files, has []string) Round {
	sorted := slices.Sorted(slices.Values(files))
	r := &Round{}
	give := func(asked, path string) {
		switch {
		case slices.Contains(has, path) || slices.Contains(r.Files, path):
			r.addDenied(asked, "it was given already")
		case mayKeepSecrets(path):
			r.addDenied(asked, "it may contain credentials")
		case len(r.Files) == ExpansionFiles:
			r.addDenied(asked, fmt.Sprintf("at most %d files are given per round", ExpansionFiles))
		default:
			r.Files = append(r.Files, path)
		}
	}
	for _, asked := range e.Files {
		switch hits := filesEndingIn(sorted, asked); len(hits) {
		case 0:
			r.addDenied(asked, "there is no such file")
		case 1:
			give(asked, hits[0])
		default:
			r.addDenied(asked, "could be "+strings.Join(hits[:min(3, len(hits))], ", "))
		}
	}
	for _, q := range slices.Concat(e.Queries, e.Snippets) {
		best := filesByWords(sorted, q)
		if len(best) == 0 {
			r.addDenied(q, "no path contains these words")
		}
		for _, p := range best {
			give(q, p)
		}
	}
	for _, p := range e.Packages {
		r.addDenied(p, "package documentation is not available; name a file")
	}
	return *r
}

func (r *Round) addDenied(asked, why string) { r.Not = append(r.Not, Denied{asked, why}) }

func mayKeepSecrets(path string) bool {
	return slices.ContainsFunc(policy.CheckProtected(path, nil), func(f policy.Finding) bool { return f.Code == "protected_credential" })
}

// filesEndingIn lists the file of that path, or else those whose path ends in it.
func filesEndingIn(files []string, asked string) []string {
	asked = strings.TrimPrefix(asked, "./")
	if slices.Contains(files, asked) {
		return []string{asked}
	}
	var out []string
	for _, f := range files {
		if strings.HasSuffix(f, "/"+asked) {
			out = append(out, f)
		}
	}
	return out
}

// maxFound is how many files one query finds.
const maxFound = 2

// filesByWords lists the files whose paths hold most words of a query, at least half
// of them, the shortest path first among equals.
func filesByWords(files []string, query string) []string {
	type hit struct {
		path string
		n    int
	}
	words := pathWords(query)
	var hits []hit
	for _, f := range files {
		in := pathWords(f)
		n := 0
		for _, w := range words {
			if slices.Contains(in, w) {
				n++
			}
		}
		if n > 0 && 2*n >= len(words) {
			hits = append(hits, hit{f, n})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(b.n-a.n, len(a.path)-len(b.path)) })
	var out []string
	for _, h := range hits[:min(maxFound, len(hits))] {
		out = append(out, h.path)
	}
	return out
}

// pathWords cuts a path or a name into lower-case words: at every character that
// is no letter or digit, between letters and digits, and where upper case begins a
// word: "httpTokenV2" is http, token, v, 2.
func pathWords(s string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	rs := []rune(s)
	for i, r := range rs {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		if i > 0 && beginsWord(rs, i) {
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}

// beginsWord reports that a new word begins at i.
func beginsWord(rs []rune, i int) bool {
	before, r := rs[i-1], rs[i]
	switch {
	case unicode.IsDigit(before) != unicode.IsDigit(r):
		return true
	case unicode.IsLower(before) && unicode.IsUpper(r):
		return true
	}
	return unicode.IsUpper(before) && unicode.IsUpper(r) && i+1 < len(rs) && unicode.IsLower(rs[i+1])
}
